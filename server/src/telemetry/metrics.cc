// See metrics.h.
#include "telemetry/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

namespace hyperflock::telemetry {
namespace {

using Buckets = prometheus::Histogram::BucketBoundaries;
using Labels = std::vector<std::string_view>;

constexpr std::string_view kOther = "other";

const Labels kStatuses{"1xx", "2xx", "3xx", "4xx", "5xx"};
const Labels kBands{"quick", "costly", "operators", "devices", "devices_costly", "monitors"};
const Labels kBackupCauses{
    "backup_failed",       "backup_no_room", "backup_running",       "draining",
    "not_a_backup_folder", "backup_damaged", "not_a_standby_folder", "standby_in_use"};

struct CounterRow {
  Counter id;
  const char* name;
  const char* help;
  const char* label = nullptr;
  Labels values{};
};

// The order of the enumerators, as in the next two tables.
const std::vector<CounterRow>& counters() {
  static const std::vector<CounterRow> rows{
      {Counter::trials_finished,
       "hyperflock_trials_finished_total",
       "Trials that got their outcome.",
       "outcome",
       {"complete", "pruned", "failed"}},
      {Counter::attempts_leased, "hyperflock_attempts_leased_total",
       "Attempts whose lease was committed."},
      {Counter::attempts_failed,
       "hyperflock_attempts_failed_total",
       "Attempts that ended without a result, by cause.",
       "cause",
       {"worker_lost", "user_error", "out_of_memory", "device_lost", "timeout", "invalid",
        "cancelled"}},
      {Counter::commits, "hyperflock_commits_total", "Durable transactions written."},
      {Counter::commit_failures,
       "hyperflock_commit_failures_total",
       "Transactions that storage refused, by cause.",
       "cause",
       {"storage_full", "storage_unavailable"}},
      {Counter::slow_peers_closed, "hyperflock_slow_peers_closed_total",
       "WebSockets that were closed with 4002 because their peer took nothing."},
      {Counter::http_requests, "hyperflock_http_requests_total",
       "HTTP requests answered, by class of status.", "status", kStatuses},
      {Counter::connections_refused,
       "hyperflock_connections_refused_total",
       "Connections that were refused, by reason.",
       "reason",
       {"full", "too_many_connections", "stopping"}},
      {Counter::connections_relayed, "hyperflock_connections_relayed_total",
       "Connections of clients that a spare has passed on to this server."},
      {Counter::peers_refused,
       "hyperflock_peers_refused_total",
       "Connections to --peer that were refused or ended before they named a client, by reason.",
       "reason",
       {"bad_handshake", "bad_header", "displaced", "full", "silent", "stopping"}},
      {Counter::spare_links_opened, "hyperflock_spare_links_opened_total",
       "Links that this spare has opened to the server that has the database, one a connection."},
      {Counter::spare_links_failed,
       "hyperflock_spare_links_failed_total",
       "Connections that this spare could not pass on, by reason.",
       "reason",
       {"late", "no_server", "unreachable", "wrong_key"}},
      {Counter::spare_bytes,
       "hyperflock_spare_relayed_bytes_total",
       "Bytes that this spare has passed on, without TLS.",
       "direction",
       {"to_client", "to_server"}},
      {Counter::devices_joined, "hyperflock_devices_joined_total", "Devices that joined."},
      {Counter::joins_refused,
       "hyperflock_joins_refused_total",
       "Requests to join that were refused, by reason.",
       "reason",
       {"bad_enrolment_code", "rate_limited", "too_many_devices"}},
      {Counter::backups, "hyperflock_backups_total", "Backups that this server made."},
      {Counter::backup_failures, "hyperflock_backup_failures_total",
       "Backups that failed, by cause.", "cause", kBackupCauses},
      {Counter::standby_failures, "hyperflock_standby_failures_total",
       "Times that the standby fell behind, by cause.", "cause", kBackupCauses},
      {Counter::cpu_seconds, "process_cpu_seconds_total", "Processor time that the process used."},
      {Counter::spans_exported, "hyperflock_trace_spans_exported_total",
       "Spans of traces that the collector took."},
      {Counter::spans_dropped,
       "hyperflock_trace_spans_dropped_total",
       "Spans of traces that were dropped, by reason: the queue was full, or the endpoint failed.",
       "reason",
       {"queue", "endpoint"}},
  };
  return rows;
}

struct GaugeRow {
  Gauge id;
  const char* name;
  const char* help;
  const char* label = nullptr;
  Labels values{};
};

const std::vector<GaugeRow>& gauges() {
  static const std::vector<GaugeRow> rows{
      {Gauge::connections,
       "hyperflock_connections",
       "Open connections, HTTP and WebSocket.",
       "origin",
       {"compute", "console", "peer"}},
      {Gauge::relayed_connections, "hyperflock_relayed_connections",
       "Open connections that a spare has passed on."},
      {Gauge::spare_connections, "hyperflock_spare_connections",
       "Open connections that this spare passes on."},
      {Gauge::spare_waiting, "hyperflock_spare_connections_waiting",
       "Connections that wait until this spare opens a link for them."},
      {Gauge::spare_database_away, "hyperflock_spare_database_away",
       "1 while this spare does not reach the database, so that it cannot take over."},
      {Gauge::shard_held, "hyperflock_shard_held",
       "1 on the server that has the database, 0 on a spare that waits for it."},
      {Gauge::websocket_queue_bytes, "hyperflock_websocket_queue_bytes",
       "Bytes that wait for slow WebSocket peers."},
      {Gauge::synchronous, "hyperflock_storage_synchronous",
       "PRAGMA synchronous of the writing connection, read back (2 is FULL)."},
      {Gauge::devices_connected, "hyperflock_devices_connected", "Devices with an open session."},
      {Gauge::attempts_running, "hyperflock_attempts_running", "Attempts that hold a lease."},
      {Gauge::trials_queued, "hyperflock_trials_queued",
       "Trials that wait for an attempt: another one, or the first of those asked for."},
      {Gauge::owners_attached, "hyperflock_study_owners_attached",
       "Ask-and-tell studies whose owner is connected."},
      {Gauge::owner_calls_waiting, "hyperflock_owner_calls_waiting",
       "Calls of devices that wait for a study's owner."},
      {Gauge::read_only, "hyperflock_read_only", "1 while storage refuses writes."},
      {Gauge::disk_full, "hyperflock_disk_full",
       "1 while the server does not grow, because the disk has too little room."},
      {Gauge::certificate_expiry_seconds, "hyperflock_tls_certificate_expiry_timestamp_seconds",
       "When the certificate ends, seconds since 1970; 0 without TLS."},
      {Gauge::commit_backlog, "hyperflock_commit_backlog_transitions",
       "Transitions that wait for their commit."},
      {Gauge::reader_queue, "hyperflock_reader_queue_tasks",
       "Tasks that wait for a thread that reads.", "band", kBands},
      {Gauge::disk_free_bytes, "hyperflock_disk_free_bytes",
       "Free bytes of the state folder's disk."},
      {Gauge::disk_bytes, "hyperflock_disk_size_bytes", "Size of the state folder's disk."},
      {Gauge::database_bytes, "hyperflock_database_size_bytes", "Size of the database's file."},
      {Gauge::database_log_bytes, "hyperflock_database_log_bytes",
       "Size of the database's write-ahead log."},
      {Gauge::database_reusable_bytes, "hyperflock_database_reusable_bytes",
       "Bytes of the database's file that are free for new rows."},
      {Gauge::backup_interval_seconds, "hyperflock_backup_interval_seconds",
       "How old the newest backup becomes before the next one; 0 without --backup-to."},
      {Gauge::backup_last_success_seconds, "hyperflock_backup_last_success_timestamp_seconds",
       "The moment of the newest backup that is known, seconds since 1970; 0: none is known."},
      {Gauge::backup_last_duration_seconds, "hyperflock_backup_last_duration_seconds",
       "How long the last backup took."},
      {Gauge::backup_last_bytes, "hyperflock_backup_last_size_bytes",
       "Bytes of the last backup, with the files that it shares."},
      {Gauge::standby_configured, "hyperflock_standby_configured", "1 with --standby."},
      {Gauge::standby_current, "hyperflock_standby_current",
       "1 while the standby gets each commit; 0 while it is behind or being made."},
      {Gauge::standby_lag_seconds, "hyperflock_standby_lag_seconds",
       "Age of the oldest commit that the standby has not."},
      {Gauge::resident_bytes, "process_resident_memory_bytes", "Memory of the process."},
      {Gauge::start_time_seconds, "process_start_time_seconds",
       "When the process started, seconds since 1970."},
      {Gauge::open_files, "process_open_fds", "Open files and sockets of the process."},
      {Gauge::most_open_files, "process_max_fds", "The limit of open files and sockets."},
  };
  return rows;
}

struct HistogramRow {
  Histogram id;
  const char* name;
  const char* help;
  Buckets buckets;
  const char* label = nullptr;
  Labels values{};
};

const std::vector<HistogramRow>& histograms() {
  const Buckets short_times{0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2};
  const Buckets long_times{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60};
  static const std::vector<HistogramRow> rows{
      {Histogram::http_seconds, "hyperflock_http_request_duration_seconds",
       "From the head of a request until its answer is ready to be sent.", long_times},
      {Histogram::commit_seconds, "hyperflock_commit_duration_seconds",
       "Time of one transaction until it is durable.", short_times},
      {Histogram::commit_wait_seconds, "hyperflock_commit_wait_seconds",
       "How long the first transition of a transaction waited for it to begin.", short_times},
      {Histogram::commit_transitions,
       "hyperflock_commit_transitions",
       "Guarded transitions in one transaction.",
       {1, 2, 4, 8, 16, 32, 64, 128, 256}},
      {Histogram::cycle_seconds, "hyperflock_cycle_duration_seconds",
       "From a device's result until its acknowledgement is sent, after the commit.", long_times},
      {Histogram::owner_call_seconds, "hyperflock_owner_call_duration_seconds",
       "From a device's call until the answer of the study's owner is sent.", long_times},
      {Histogram::reader_wait_seconds, "hyperflock_reader_wait_seconds",
       "How long a task waited for a thread that reads.", long_times, "band", kBands},
  };
  return rows;
}

prometheus::Labels labels_of(const char* name, std::string_view value) {
  if (name == nullptr) return {};
  return {{name, std::string(value)}};
}

// The series of one metric, by the value of its label.
template <typename Series>
class Family {
 public:
  template <typename Row, typename Make>
  Family(const Row& row, const Make& make) {
    const char* label = row.label;
    if (label == nullptr) {
      other_ = &make(prometheus::Labels{});
      return;
    }
    for (const std::string_view value : row.values)
      by_value_[value] = &make(labels_of(label, value));
    other_ = &make(labels_of(label, kOther));
  }
  Series& at(std::string_view value) const {
    const auto found = by_value_.find(value);
    return found == by_value_.end() ? *other_ : *found->second;
  }

 private:
  std::map<std::string_view, Series*> by_value_;
  Series* other_ = nullptr;  // of a metric without a label: its only series
};

template <typename Id>
std::size_t index(Id id) {
  return static_cast<std::size_t>(id);
}

}  // namespace

struct Metrics::Impl {
  Impl() {
    for (const CounterRow& row : counters()) {
      auto& family = prometheus::BuildCounter().Name(row.name).Help(row.help).Register(registry);
      all_counters.emplace_back(
          row, [&family](const prometheus::Labels& labels) -> auto& { return family.Add(labels); });
    }
    for (const GaugeRow& row : gauges()) {
      auto& family = prometheus::BuildGauge().Name(row.name).Help(row.help).Register(registry);
      all_gauges.emplace_back(
          row, [&family](const prometheus::Labels& labels) -> auto& { return family.Add(labels); });
    }
    for (const HistogramRow& row : histograms()) {
      auto& family = prometheus::BuildHistogram().Name(row.name).Help(row.help).Register(registry);
      all_histograms.emplace_back(row, [&](const prometheus::Labels& labels) -> auto& {
        return family.Add(labels, row.buckets);
      });
    }
  }

  prometheus::Registry registry;
  std::vector<Family<prometheus::Counter>> all_counters;
  std::vector<Family<prometheus::Gauge>> all_gauges;
  std::vector<Family<prometheus::Histogram>> all_histograms;
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

void Metrics::count(Counter counter, std::string_view label, double by) {
  impl_->all_counters[index(counter)].at(label).Increment(by);
}

void Metrics::raise(Counter counter, double value) {
  prometheus::Counter& raised = impl_->all_counters[index(counter)].at({});
  raised.Increment(std::max(0.0, value - raised.Value()));
}

void Metrics::set(Gauge gauge, double value, std::string_view label) {
  impl_->all_gauges[index(gauge)].at(label).Set(value);
}

void Metrics::change(Gauge gauge, double delta, std::string_view label) {
  impl_->all_gauges[index(gauge)].at(label).Increment(delta);
}

void Metrics::observe(Histogram histogram, double value, std::string_view label) {
  impl_->all_histograms[index(histogram)].at(label).Observe(value);
}

void Metrics::build(const std::string& version, const std::string& sqlite) {
  prometheus::BuildGauge()
      .Name("hyperflock_build_info")
      .Help("Always 1; its labels say what runs.")
      .Register(impl_->registry)
      .Add({{"version", version}, {"sqlite", sqlite}})
      .Set(1);
}

void Metrics::refresh() const {
  for (const auto& one : refreshes_) one();
}

std::string Metrics::text(std::span<const std::string_view> names) const {
  std::vector<prometheus::MetricFamily> found = impl_->registry.Collect();
  std::erase_if(found, [names](const prometheus::MetricFamily& one) {
    return std::ranges::find(names, std::string_view(one.name)) == names.end();
  });
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, found);
  return out.str();
}

std::string Metrics::text() const {
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, impl_->registry.Collect());
  return out.str();
}

}  // namespace hyperflock::telemetry
