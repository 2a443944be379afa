// See possession.h.
#include "http/core/possession.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <utility>
#include <vector>

#include "auth/tokens.h"
#include "blobs/sha256.h"

namespace hyperflock::http {
namespace {

std::vector<std::byte> bytes_of(std::string_view hex) {
  std::vector<std::byte> out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    unsigned char byte = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    out.push_back(static_cast<std::byte>(byte));
  }
  return out;
}

}  // namespace

std::string Possession::new_salt(PossessionClaim claim) {
  // The hash of a random token is as unpredictable as the token.
  std::string text = auth::token_hash(auth::new_token(auth::TokenKind::webhook_secret));
  const std::lock_guard lock(mutex_);
  const auto is_mine = [&](const Salt& one) { return one.claim.person == claim.person; };
  const auto mine = static_cast<std::size_t>(std::ranges::count_if(salts_, is_mine));
  if (mine >= kSaltsOfPerson) {
    salts_.erase(std::ranges::find_if(salts_, is_mine));
  } else if (salts_.size() >= kSalts) {
    salts_.pop_front();
  }
  salts_.push_back({text, std::move(claim)});
  return text;
}

std::optional<PossessionClaim> Possession::take(std::string_view person, std::string_view sha256,
                                                std::string_view salt) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(salts_, [&](const Salt& one) {
    return one.text == salt && one.claim.person == person && one.claim.sha256 == sha256;
  });
  if (found == salts_.end()) return std::nullopt;
  PossessionClaim claim = std::move(found->claim);
  salts_.erase(found);
  return claim;
}

bool Possession::begin(const std::string& person) {
  const std::lock_guard lock(mutex_);
  return busy_.insert(person).second;
}

void Possession::end(const std::string& person) {
  const std::lock_guard lock(mutex_);
  busy_.erase(person);
}

std::string salted_hash(std::string_view salt, const std::optional<std::filesystem::path>& file,
                        std::int64_t bytes) {
  constexpr std::size_t kPiece = std::size_t{256} * 1024;
  std::vector<char> piece(kPiece, 0);
  std::ifstream in;
  if (file) in.open(*file, std::ios::binary);
  bool is_read = file.has_value();
  blobs::Sha256 hash;
  hash.update(bytes_of(salt));
  for (std::int64_t left = bytes; left > 0;) {
    const auto next = static_cast<std::size_t>(std::min<std::int64_t>(left, kPiece));
    if (is_read) is_read = in.read(piece.data(), static_cast<std::streamsize>(next)).good();
    hash.update(std::as_bytes(std::span(piece.data(), next)));
    left -= static_cast<std::int64_t>(next);
  }
  const std::string text = hash.hex();
  return is_read ? text : std::string();
}

}  // namespace hyperflock::http
