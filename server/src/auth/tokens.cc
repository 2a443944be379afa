// Makes random tokens and their hashes; see tokens.h.
#include "auth/tokens.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <stdexcept>

#include "blobs/sha256.h"

namespace hyperflock::auth {
namespace {

constexpr std::size_t kTokenBytes = 32;
constexpr std::size_t kCodeBytes = 16;
constexpr std::size_t kDeviceIdBytes = 12;

std::string random_bytes(std::size_t size) {
  std::string bytes(size, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(size)) != 1) {
    throw std::runtime_error("the system gives no random bytes");
  }
  return bytes;
}

// Returns base64url without padding (RFC 4648, section 5).
std::string base64url(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  unsigned int buffer = 0;
  int bits = 0;
  for (const char byte : bytes) {
    buffer = (buffer << 8) | static_cast<unsigned char>(byte);
    for (bits += 8; bits >= 6; bits -= 6) text.push_back(kDigits[(buffer >> (bits - 6)) & 63]);
  }
  if (bits > 0) text.push_back(kDigits[(buffer << (6 - bits)) & 63]);
  return text;
}

}  // namespace

std::string new_token(TokenKind kind) {
  switch (kind) {
    case TokenKind::admin:
      return "hfa_" + base64url(random_bytes(kTokenBytes));
    case TokenKind::researcher:
      return "hfr_" + base64url(random_bytes(kTokenBytes));
    case TokenKind::device_secret:
      return "hfd_" + base64url(random_bytes(kTokenBytes));
    case TokenKind::enrolment_code:
      return "hfe_" + base64url(random_bytes(kCodeBytes));
    case TokenKind::webhook_secret:
      return "hfw_" + base64url(random_bytes(kTokenBytes));
    case TokenKind::peer_secret:
      return "hfp_" + base64url(random_bytes(kTokenBytes));
    case TokenKind::link_key:
      return "hfl_" + base64url(random_bytes(kTokenBytes));
  }
  throw std::logic_error("a token of no kind");
}

std::string new_device_id() { return "d_" + base64url(random_bytes(kDeviceIdBytes)); }

std::string token_hash(std::string_view token) { return blobs::sha256_hex(token); }

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace hyperflock::auth
