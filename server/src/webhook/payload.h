// Makes the body that is posted to a webhook, and its signature. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "storage/webhook.h"

namespace hyperflock::webhook {

// Returns the body of a delivery. It is the same for each attempt. `console` is the origin at which
// researchers open the console; empty: unknown.
std::string body_of(const storage::DueDelivery& due, const std::string& console);

// Returns the value of the header Hyperflock-Signature: `t=<seconds>,v1=<hex>`, the HMAC-SHA256 of
// `<seconds>.<body>`.
std::string signature_of(std::string_view secret, std::int64_t seconds, std::string_view body);

// Returns how long to wait before the next attempt when this many attempts have failed; nullopt if
// no further attempt is made. The first wait is 5 s. Each is twice as long as the one before, up to
// an hour.
std::optional<std::int64_t> back_off_ms(std::int64_t attempts);

// A delivery has at most this many attempts. The last one is about six and a half hours after the
// first.
inline constexpr std::int64_t kMostAttempts = 16;

}  // namespace hyperflock::webhook
