#include "telemetry/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <array>
#include <sstream>

namespace hyperflock::telemetry {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;
using prometheus::Counter;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Registry;

Counter& counter(Registry& registry, const char* name, const char* help) {
  return BuildCounter().Name(name).Help(help).Register(registry).Add({});
}

Gauge& gauge(Registry& registry, const char* name, const char* help) {
  return BuildGauge().Name(name).Help(help).Register(registry).Add({});
}

}  // namespace

struct Metrics::Impl {
  Registry registry;
  prometheus::Family<Counter>& finished = BuildCounter()
                                              .Name("trials_finished_total")
                                              .Help("Trials that got their outcome, by outcome.")
                                              .Register(registry);
  std::array<Counter*, 3> finished_by{&finished.Add({{"outcome", "complete"}}),
                                      &finished.Add({{"outcome", "pruned"}}),
                                      &finished.Add({{"outcome", "failed"}})};
  Counter& leased =
      counter(registry, "attempts_leased_total", "Attempts whose lease was committed.");
  Counter& commits = counter(registry, "commits_total", "Durable transactions written.");
  Counter& failed_commits =
      counter(registry, "commits_failed_total", "Transactions that storage refused.");
  Histogram& batch_size =
      BuildHistogram()
          .Name("commit_batch_size")
          .Help("Guarded transitions in one transaction.")
          .Register(registry)
          .Add({}, Histogram::BucketBoundaries{1, 2, 4, 8, 16, 32, 64, 128, 256});
  Histogram& seconds = BuildHistogram()
                           .Name("commit_seconds")
                           .Help("Time of one transaction until it is durable.")
                           .Register(registry)
                           .Add({}, Histogram::BucketBoundaries{0.0005, 0.001, 0.002, 0.005, 0.01,
                                                                0.02, 0.05, 0.1, 0.5, 2});
  Gauge& connections = gauge(registry, "connections", "Open connections, HTTP and WebSocket.");
  Gauge& queue_bytes =
      gauge(registry, "outgoing_queue_bytes", "Bytes that wait for slow WebSocket peers.");
  Counter& slow_peers =
      counter(registry, "slow_peers_closed_total", "Connections closed with 4002.");
  prometheus::Family<Counter>& requests = BuildCounter()
                                              .Name("http_requests_total")
                                              .Help("HTTP requests answered, by class of status.")
                                              .Register(registry);
  std::array<Counter*, 5> requests_by{
      &requests.Add({{"status", "1xx"}}), &requests.Add({{"status", "2xx"}}),
      &requests.Add({{"status", "3xx"}}), &requests.Add({{"status", "4xx"}}),
      &requests.Add({{"status", "5xx"}})};
  Gauge& synchronous =
      gauge(registry, "storage_synchronous",
            "PRAGMA synchronous of the writing connection, read back (2 is FULL).");
  Gauge& workers = gauge(registry, "workers_connected", "Devices with an open session.");
  Gauge& attempts_running = gauge(registry, "attempts_running", "Attempts that hold a lease.");
  Gauge& trials_queued =
      gauge(registry, "trials_queued_again",
            "Trials that wait for an attempt: another one, or the first of those asked for.");
  Gauge& owners =
      gauge(registry, "study_owners_attached", "Asked studies whose owner is connected.");
  Gauge& calls_waiting =
      gauge(registry, "owner_calls_waiting", "Calls of devices that wait for a study's owner.");
  Gauge& read_only = gauge(registry, "read_only", "1 while storage refuses writes.");
  Gauge& not_after = gauge(registry, "tls_certificate_not_after_seconds",
                           "When the certificate ends, seconds since 1970; 0 without TLS.");
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

void Metrics::trial_finished(protocol::Outcome outcome) {
  impl_->finished_by[static_cast<std::size_t>(outcome)]->Increment();
}
void Metrics::attempt_leased() { impl_->leased.Increment(); }
void Metrics::commit(std::size_t transitions, double seconds) {
  impl_->commits.Increment();
  impl_->batch_size.Observe(static_cast<double>(transitions));
  impl_->seconds.Observe(seconds);
}
void Metrics::commit_failed() { impl_->failed_commits.Increment(); }
void Metrics::connection_opened() { impl_->connections.Increment(); }
void Metrics::connection_closed() { impl_->connections.Decrement(); }
void Metrics::queued_bytes(std::int64_t delta) {
  impl_->queue_bytes.Increment(static_cast<double>(delta));
}
void Metrics::slow_peer_closed() { impl_->slow_peers.Increment(); }
void Metrics::http_request(int status) {
  const int group = status / 100 - 1;
  if (group >= 0 && group < 5) impl_->requests_by[static_cast<std::size_t>(group)]->Increment();
}
void Metrics::storage_synchronous(int value) { impl_->synchronous.Set(value); }
void Metrics::certificate(std::int64_t not_after_s) {
  impl_->not_after.Set(static_cast<double>(not_after_s));
}
void Metrics::dispatcher(std::int64_t workers, std::int64_t leased, std::int64_t queued,
                         bool read_only) {
  impl_->workers.Set(static_cast<double>(workers));
  impl_->attempts_running.Set(static_cast<double>(leased));
  impl_->trials_queued.Set(static_cast<double>(queued));
  impl_->read_only.Set(read_only ? 1 : 0);
}

void Metrics::owners(std::int64_t attached, std::int64_t calls_waiting) {
  impl_->owners.Set(static_cast<double>(attached));
  impl_->calls_waiting.Set(static_cast<double>(calls_waiting));
}

std::string Metrics::text() const {
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, impl_->registry.Collect());
  return out.str();
}

}  // namespace hyperflock::telemetry
