// Limits how often something is logged or traced that a client can cause without end. Any thread.
//   if (const auto left_out = lines.admit(steady_now())) log(..., {{"left_out", *left_out}});
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "base/instant.h"

namespace hyperflock::telemetry {

class Allowance {
 public:
  // Admits at most `burst` at once, and one each `every_ms` in the long run.
  Allowance(std::int64_t burst, Millis every_ms) : burst_(burst), every_ms_(every_ms) {}

  // Returns how many were left out since the last one that was admitted, or nullopt if this one is
  // to be left out too.
  std::optional<std::int64_t> admit(Instant now);

 private:
  const std::int64_t burst_;
  const Millis every_ms_;
  std::mutex mutex_;
  std::optional<Millis> empty_at_;  // when the allowance would have been used up
  std::int64_t left_out_ = 0;
};

}  // namespace hyperflock::telemetry
