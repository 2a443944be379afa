// Tells the operator in the log that a peer sends X-Forwarded-For and is not trusted: the flag
// --trusted-proxy was probably forgotten. Everybody may send this header, so the log has at most
// one such line an hour. Any thread.
#pragma once

#include <atomic>
#include <string>

#include "base/instant.h"
#include "telemetry/log.h"

namespace hyperflock::net {

class ForwardedNotice {
 public:
  // Logs the warning, unless one was logged less than an hour ago. Returns whether it was logged.
  bool note(const std::string& peer, Instant now) {
    constexpr Millis kPauseMs = 3'600'000;
    Millis due = due_;
    if (now.ms < due || !due_.compare_exchange_strong(due, now.ms + kPauseMs)) return false;
    telemetry::log(telemetry::LogLevel::warning, "forwarded_ignored",
                   {{"peer", peer},
                    {"reason",
                     "X-Forwarded-For came from an address that is not trusted, so all clients "
                     "behind it count as one. If it is your proxy, give --trusted-proxy."}});
    return true;
  }

 private:
  std::atomic<Millis> due_{0};
};

}  // namespace hyperflock::net
