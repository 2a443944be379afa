// Makes, stores and compares the secrets of people and devices. Uses the system's random source;
// any thread.
#pragma once

#include <string>
#include <string_view>

namespace hyperflock::auth {

enum class TokenKind { admin, researcher, device_secret, enrolment_code };

// A new secret: a prefix that tells its kind (hfa_, hfr_, hfd_, hfe_) and 32 random bytes (16 of an
// enrolment code, which people pass on) as base64url. Throws std::runtime_error where the system
// has no randomness.
std::string new_token(TokenKind kind);

// A new device's id: random, so that it says nothing about the device.
std::string new_device_id();

// Returns what is stored of a secret: its SHA-256 in hex. The secrets are random, so they need no
// salt and no slow hash.
std::string token_hash(std::string_view token);

// The time does not depend on where the texts differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace hyperflock::auth
