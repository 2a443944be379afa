// Devices that run the trials of an ask-and-tell study in a closed loop over real WebSocket frames.
// In each trial a device asks for three suggestions, sends ten reports, each followed by
// should_prune, and sends the result, whose acknowledgement brings the next lease. The devices
// compute the objective of python/bench/vs_objective.py. One thread and one epoll serve them all.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "emulator.h"
#include "protocol/messages.h"
#include "tests/support/test_client.h"

namespace hyperflock::bench {

class AskedEmulator {
 public:
  struct Counts {
    std::int64_t complete = 0;
    std::int64_t pruned = 0;
    std::int64_t calls = 0;  // answered suggest and should_prune calls
    std::int64_t trials() const { return complete + pruned; }
  };

  // Opens a session for each device and asks for work on each. Throws std::runtime_error.
  AskedEmulator(std::uint16_t compute_port, const std::vector<Device>& devices);
  ~AskedEmulator();
  AskedEmulator(const AskedEmulator&) = delete;
  AskedEmulator& operator=(const AskedEmulator&) = delete;

  // Runs the loop until `done`, which is called every few milliseconds, returns true. Returns false
  // if the server closes a connection first.
  bool run(const std::function<bool()>& done);
  const Counts& counts() const { return counts_; }

 private:
  struct Worker {
    net::TestWebSocket socket;
    std::string received{};
    AttemptId attempt{};
    std::int64_t id = 0;   // of its last call
    std::int64_t seq = 0;  // of its last message
    std::size_t next_name = 0;
    std::int64_t step = 0;
    bool stalls = false;  // whether its curve stalls
    double value = 0;     // of the objective, from the suggested values
    protocol::Outcome outcome = protocol::Outcome::complete;
  };

  void begin(Worker& worker, const protocol::Lease& lease);
  void go_on(Worker& worker);
  void finish(Worker& worker, protocol::Outcome outcome);
  void on_message(Worker& worker, const protocol::ServerMessage& message);
  bool pull(Worker& worker);

  std::vector<Worker> workers_;
  int epoll_ = -1;
  Counts counts_;
};

}  // namespace hyperflock::bench
