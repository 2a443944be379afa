// Collects the spans of sampled traces and passes them to a collector in batches. A thread of its
// own sends them, so a collector that is slow or away delays nobody: spans wait in a queue with a
// limit, and those beyond it are dropped and counted. Every member may be called on any thread.
//
// Without --otlp-endpoint there is no Tracer, and nothing is collected.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "telemetry/allowance.h"
#include "telemetry/metrics.h"
#include "telemetry/span.h"

namespace hyperflock::telemetry {

struct TracerSettings {
  double sample = 0.01;  // the share of traces that are exported
  std::string version{};
  // Sends the JSON text of a batch. It may block, for a few seconds at most.
  std::function<Status(const std::string& json)> send;
  std::size_t queue_spans = 4'096;
  std::size_t batch_spans = 512;
  // How long a span waits for others.
  std::chrono::milliseconds gather{1'000};
  // How long the thread waits after a batch that failed; doubles up to `longest_pause`.
  std::chrono::milliseconds first_pause{1'000};
  std::chrono::milliseconds longest_pause{60'000};
};

class Tracer {
 public:
  // The metrics outlive this object.
  Tracer(TracerSettings settings, Metrics& metrics);
  // Calls stop().
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  // Returns whether a trace that begins here is exported. The same for all servers with the same
  // share: it depends on the id alone.
  bool samples(const RequestContext& request) const;
  // Returns whether a trace is exported whose sender wants it. They may not want too many.
  bool admits_wish();

  // Takes a span of a sampled trace.
  void add(Span span);

  // Sends what waits, once, and ends the thread. Further calls do nothing.
  void stop();

 private:
  void run();
  std::vector<Span> next_batch();
  bool send(const std::vector<Span>& batch);

  const TracerSettings settings_;
  Metrics& metrics_;
  Allowance wishes_{200, std::chrono::milliseconds(20).count()};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Span> waiting_;  // under mutex_
  bool stopped_ = false;       // under mutex_
  bool failing_ = false;       // the thread's
  std::thread thread_;         // last, because it uses the members above
};

}  // namespace hyperflock::telemetry
