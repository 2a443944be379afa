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

  // Sets the value of `PRAGMA synchronous` that the writing connection reads (2 is FULL); -1 for a
  // store without it.
  void storage_synchronous(int value);
  // Sets when the TLS certificate expires, in Unix seconds; 0 without a certificate.
  void certificate(std::int64_t not_after_s);
  // Sets the dispatcher's state, just before the metrics are read.
  void dispatcher(std::int64_t workers, std::int64_t leased, std::int64_t queued, bool read_only);
  // Sets the figures of ask-and-tell studies.
  void owners(std::int64_t attached, std::int64_t calls_waiting);

  std::string text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hyperflock::telemetry
