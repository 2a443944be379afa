// Limits what one device can make the server store and read, whichever attempts it takes and
// connections it opens. Pure: callers pass the time.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>

#include "auth/token_bucket.h"
#include "base/instant.h"
#include "protocol/messages.h"
#include "storage/transition.h"

namespace hyperflock::hub {

struct DeviceLimits {
  double attempts_burst = 100;  // attempts without a result
  double attempts_per_s = 0.2;
  double kib_burst = 32.0 * 1'024;  // of points and series
  double kib_per_s = 4;
};

// Limits a device's attempts without a result, and its bytes of points and series. One thread at a
// time.
//
// A device has a supply of attempts, which refills slowly. Each attempt takes one from the supply,
// and gives it back when it brings a result. So a device that computes never waits.
class DeviceBudget {
 public:
  explicit DeviceBudget(const DeviceLimits& limits);

  struct Kept {
    bool passes = true;  // false: the message was answered, and is handled no further
    std::optional<protocol::ServerMessage> answer{};
  };
  // Takes out of a message what is beyond the device's budget (R66): points, series, and the
  // request for a trial.
  Kept keep(const std::string& device, protocol::ClientMessage& message, Instant now);
  // Counts an attempt when it begins. Gives it back when it ends with a result that counts, or when
  // its failure fails the trial.
  void note(const storage::Transition& transition, const storage::Outcome& outcome, Instant now);

 private:
  auth::RateLimiter attempts_;
  auth::RateLimiter records_;
};

// The default limits are above what a device sends if it reports as often and as much as its agent
// permits.
struct MessageLimits {
  double kib_burst = 16.0 * 1'024;
  double kib_per_s = 1'024;
};

// Limits the bytes of a device's messages that the server parses. Any thread.
class MessageBudget {
 public:
  explicit MessageBudget(const MessageLimits& limits);

  // Counts these bytes. Returns false, and counts nothing, if they are beyond the device's budget.
  bool admit(const std::string& device, std::size_t bytes, Instant now);

 private:
  std::mutex mutex_;
  auth::RateLimiter kib_;
};

}  // namespace hyperflock::hub
