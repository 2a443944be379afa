// Makes, hashes and compares the secrets of people and devices. Uses the system's random source.
// Any thread.
#pragma once

#include <string>
#include <string_view>

namespace hyperflock::auth {

enum class TokenKind {
  admin,
  researcher,
  device_secret,
  enrolment_code,
  webhook_secret,
  peer_secret,  // of the servers of one database
  link_key,     // of signed addresses (auth/blob_links.h)
};

// Returns a new secret: a prefix for its kind (hfa_, hfr_, hfd_, hfe_, hfw_, hfp_, hfl_) and 32
// random bytes as base64url. An enrolment code has 16 bytes, because people pass it on. Throws
// std::runtime_error if the system has no random numbers.
std::string new_token(TokenKind kind);

// Returns a new device's id. It is random, so that it says nothing about the device.
std::string new_device_id();

// Returns the form in which a secret is stored: its SHA-256 in hex. The secrets are random, so they
// need no salt and no slow hash.
std::string token_hash(std::string_view token);

// Compares two texts in a time that does not depend on where they differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace hyperflock::auth
