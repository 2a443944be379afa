// What the server counts, in Prometheus' text form. Every member may be called from any thread.
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
  // One durable transaction of `transitions` guarded transitions.
  void commit(std::size_t transitions, double seconds);
  void commit_failed();
  void connection_opened();
  void connection_closed();
  // Bytes that wait in the outgoing queues of all WebSockets.
  void queued_bytes(std::int64_t delta);
  void slow_peer_closed();
  void http_request(int status);

  // The value of `PRAGMA synchronous` as the writing connection reads it back (2 is FULL); -1 for a
  // store without one.
  void storage_synchronous(int value);
  // When the certificate of TLS ends, seconds since 1970; 0 without one.
  void certificate(std::int64_t not_after_s);
  // State of the dispatcher, set when somebody asks for the metrics.
  void dispatcher(std::int64_t workers, std::int64_t leased, std::int64_t queued, bool read_only);
  // Of ask-and-tell studies.
  void owners(std::int64_t attached, std::int64_t calls_waiting);

  std::string text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hyperflock::telemetry
