// The time limit of waits in tests. A busy machine does not reach it; only a hang does.
//   ASSERT_TRUE(until([&] { return server.metric("sessions") == 0; }));
#pragma once

#include <chrono>
#include <thread>

namespace hyperflock {

inline constexpr std::chrono::minutes kTestLimit{15};
inline constexpr int kTestLimitMs = std::chrono::milliseconds(kTestLimit).count();

// Calls `condition` repeatedly until it is true. Returns false after the limit.
template <typename Condition>
bool until(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + kTestLimit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace hyperflock
