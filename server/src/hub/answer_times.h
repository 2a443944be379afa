// How long one device waits for the answers to its result and its call. One strand.
#pragma once

#include <chrono>
#include <optional>

#include "protocol/messages.h"
#include "telemetry/metrics.h"

namespace hyperflock::hub {

class AnswerTimes {
 public:
  void came(const protocol::ClientMessage& message) {
    if (std::holds_alternative<protocol::TrialResult>(message)) {
      result_at_ = Clock::now();
    } else if (std::holds_alternative<protocol::Call>(message)) {
      call_at_ = Clock::now();
    }
  }
  void sent(const protocol::ServerMessage& message, telemetry::Metrics& metrics) {
    using telemetry::Histogram;
    if (std::holds_alternative<protocol::ResultAck>(message)) {
      end(result_at_, metrics, Histogram::cycle_seconds);
    } else if (std::holds_alternative<protocol::Reply>(message)) {
      end(call_at_, metrics, Histogram::owner_call_seconds);
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  static void end(std::optional<Clock::time_point>& begun, telemetry::Metrics& metrics,
                  telemetry::Histogram histogram) {
    if (!begun) return;
    const std::chrono::duration<double> spent = Clock::now() - *begun;
    metrics.observe(histogram, spent.count());
    begun.reset();
  }

  std::optional<Clock::time_point> result_at_;
  std::optional<Clock::time_point> call_at_;
};

}  // namespace hyperflock::hub
