// The server's metrics in Prometheus' text form. Every member may be called on any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "protocol/messages.h"

namespace hyperflock::telemetry {

class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void trial_finished(protocol::Outcome outcome);
  void attempt_leased();
  // Counts a durable transaction with this many transitions.
  void commit(std::size_t transitions, double seconds);
  void commit_failed();
  void connection_opened();
  void connection_closed();
  // Changes the number of bytes that wait in the outgoing queues of all WebSockets.
  void queued_bytes(std::int64_t delta);
  void slow_peer_closed();
  void http_request(int status);

  // Sets the metric for `PRAGMA synchronous` to the value that was read back from the writing
  // connection (2 is FULL).
  void storage_synchronous(int value);
  // Sets the metric for the time when the TLS certificate expires (Unix seconds; 0 without TLS).
  void certificate(std::int64_t not_after_s);
  // Sets the metrics of the dispatcher's state. Call it just before the metrics are read.
  void dispatcher(std::int64_t workers, std::int64_t leased, std::int64_t queued, bool read_only);
  // Sets the metrics of ask-and-tell studies. Call it just before the metrics are read.
  void owners(std::int64_t attached, std::int64_t calls_waiting);

  std::string text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hyperflock::telemetry
