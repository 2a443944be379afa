// Emulated devices in a closed loop over real WebSocket frames. Each holds one attempt, sends its
// result at once or at a fixed pace, and waits for the acknowledgement, which comes with the next
// lease. One thread and one epoll serve them all.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "device.h"
#include "tests/support/test_client.h"

namespace hyperflock::bench {

class Emulator {
 public:
  using Clock = std::chrono::steady_clock;

  // Opens a session for each device and waits for its first lease. A device lets at least `pace`
  // pass between its results. Throws std::runtime_error.
  Emulator(std::uint16_t compute_port, const std::vector<Device>& devices,
           Clock::duration pace = {});
  ~Emulator();
  Emulator(const Emulator&) = delete;
  Emulator& operator=(const Emulator&) = delete;

  // Lets at least `pace` pass between the results of a device from now on.
  void set_pace(Clock::duration pace) { pace_ = pace; }
  // Runs the loop for this time. Some results may not be acknowledged at the end. Latencies are
  // recorded only between measure() and stop_measuring().
  void run(Clock::duration duration);
  void measure() { measuring_ = true; }
  void stop_measuring() { measuring_ = false; }

  // Reads the bytes that arrived before the server was killed and that the emulator has not read
  // yet.
  void take_rest();

  // Returns the times from a result to its acknowledgement with the next lease, unordered.
  const std::vector<double>& latencies_ms() const { return latencies_ms_; }
  // Returns the latencies that were recorded since the last call.
  std::vector<double> take_latencies_ms() { return std::exchange(latencies_ms_, {}); }
  // Returns the attempts whose results were acknowledged as accepted.
  const std::vector<std::int64_t>& acknowledged() const { return acknowledged_; }
  // Returns when each of them was acknowledged.
  const std::vector<Clock::time_point>& acknowledged_at() const { return acknowledged_at_; }

 private:
  struct Worker {
    net::TestWebSocket socket;
    std::string received;
    std::int64_t attempt = 0;
    std::int64_t seq = 0;
    Clock::time_point sent;
    bool idle = false;  // waits for its time to send
  };

  void take_first(Worker& worker);
  void send_result(Worker& worker);
  void on_frames(Worker& worker);
  void send_due_results();
  // Reads what has arrived at the socket. Returns false at the end of the stream.
  bool pull(Worker& worker);

  std::vector<Worker> workers_;
  Clock::duration pace_;
  int epoll_ = -1;
  bool measuring_ = false;
  bool sending_ = true;
  std::vector<double> latencies_ms_;
  std::vector<std::int64_t> acknowledged_;
  std::vector<Clock::time_point> acknowledged_at_;
};

}  // namespace hyperflock::bench
