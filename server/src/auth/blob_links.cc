// See blob_links.h.
#include "auth/blob_links.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/stat.h>

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <utility>

#include "auth/replace_file.h"
#include "auth/tokens.h"
#include "base/hex.h"

namespace hyperflock::auth {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kDayS = 86'400;
// Says what is signed, so that no signature made for something else is one of an address.
constexpr std::string_view kPurpose = "hyperflock blob link 1";
constexpr std::size_t kShortestKey = 32;

Error unreadable(const fs::path& file, const std::string& why) {
  return Error{"file_unreadable", "Cannot use the key of links " + file.string() + ": " + why +
                                      " Check its permissions, or remove it: the server then makes "
                                      "another key, and links that it gave are no longer valid."};
}

Status make_key(const fs::path& file) {
  const int failed = replace_file(file.string(), new_token(TokenKind::link_key), S_IRUSR | S_IWUSR);
  if (failed == 0) return {};
  return Error{"file_unwritable", "Cannot write " + file.string() + " (" + std::strerror(failed) +
                                      "): check the folder's permissions and free room."};
}

}  // namespace

Result<BlobLinks> BlobLinks::open(const fs::path& folder) {
  const fs::path file = folder / kLinkKeyFile;
  std::error_code error;
  if (fs::symlink_status(file, error).type() == fs::file_type::not_found) TRY(make_key(file));
  // Reading a folder would throw.
  if (fs::is_directory(file, error)) return unreadable(file, "it is a folder.");
  std::ifstream in(file, std::ios::binary);
  std::string key(std::istreambuf_iterator<char>(in), {});
  if (!in.is_open() || in.bad()) return unreadable(file, "it cannot be read.");
  if (key.size() < kShortestKey) return unreadable(file, "it has too few bytes.");
  return BlobLinks(std::move(key));
}

BlobLinks::Link BlobLinks::sign(std::int64_t project, std::string_view sha256,
                                std::int64_t now_ms) const {
  const std::int64_t until_s = (now_ms / 1'000 / kDayS + 2) * kDayS;
  const std::string number = std::to_string(project);
  const std::string until = std::to_string(until_s);
  std::string path = "/blobs/" + number + '/' + until + '/' + signature_of(number, until, sha256);
  path += '/';
  path += sha256;
  return {std::move(path), until_s};
}

bool BlobLinks::is_signed(std::string_view project, std::string_view until, std::string_view sha256,
                          std::string_view signature) const {
  return equal_in_constant_time(signature_of(project, until, sha256), signature);
}

std::string BlobLinks::signature_of(std::string_view project, std::string_view until,
                                    std::string_view sha256) const {
  // A segment of a path has no slash, so the text says where each part ends.
  std::string text(kPurpose);
  for (const std::string_view part : {project, until, sha256}) {
    text += '/';
    text += part;
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(),
           &size) == nullptr)
    throw std::runtime_error("OpenSSL computes no HMAC");
  return hex(std::span(digest).first(size));
}

}  // namespace hyperflock::auth
