// The server's metrics in Prometheus' text form. Every metric is a row of a table in metrics.cc,
// with its name, its help and the values that its label may have. A value that is not in the table
// counts as `other`, so that no client makes the number of series grow. Every member may be called
// on any thread.
//
//   metrics.count(Counter::commits);
//   metrics.count(Counter::http_requests, "2xx");
//   metrics.observe(Histogram::commit_seconds, 0.003);
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hyperflock::telemetry {

enum class Counter {
  trials_finished,  // outcome
  attempts_leased,
  attempts_failed,  // cause
  commits,
  commit_failures,  // cause
  slow_peers_closed,
  http_requests,        // status
  connections_refused,  // reason
  connections_relayed,
  peers_refused,  // reason
  spare_links_opened,
  spare_links_failed,  // reason
  spare_bytes,         // direction
  devices_joined,
  joins_refused,  // reason
  backups,
  backup_failures,   // cause
  standby_failures,  // cause
  cpu_seconds,
  spans_exported,
  spans_dropped,  // reason
};

enum class Gauge {
  connections,  // origin
  relayed_connections,
  spare_connections,
  spare_waiting,
  spare_database_away,
  shard_held,
  websocket_queue_bytes,
  synchronous,
  devices_connected,
  attempts_running,
  trials_queued,
  owners_attached,
  owner_calls_waiting,
  read_only,
  disk_full,
  certificate_expiry_seconds,
  commit_backlog,
  reader_queue,  // band
  disk_free_bytes,
  disk_bytes,
  database_bytes,
  database_log_bytes,
  database_reusable_bytes,
  backup_interval_seconds,
  backup_last_success_seconds,
  backup_last_duration_seconds,
  backup_last_bytes,
  standby_configured,
  standby_current,
  standby_lag_seconds,
  resident_bytes,
  start_time_seconds,
  open_files,
  most_open_files,
};

enum class Histogram {
  http_seconds,
  commit_seconds,
  commit_wait_seconds,
  commit_transitions,
  cycle_seconds,
  owner_call_seconds,
  reader_wait_seconds,  // band
};

class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // `label` is the value of the metric's label; empty for a metric without a label.
  void count(Counter counter, std::string_view label = {}, double by = 1);
  // Raises a counter without a label to a value that is measured elsewhere.
  void raise(Counter counter, double value);
  void set(Gauge gauge, double value, std::string_view label = {});
  void change(Gauge gauge, double delta, std::string_view label = {});
  void observe(Histogram histogram, double value, std::string_view label = {});

  // Sets the version that the metric of the build shows.
  void build(const std::string& version, const std::string& sqlite);

  // Adds a function that sets metrics just before they are read. It may block on the disk. Call it
  // before the first thread reads metrics.
  void before_read(std::function<void()> refresh) { refreshes_.push_back(std::move(refresh)); }
  void refresh() const;

  std::string text() const;
  // Returns only the metrics with these names.
  std::string text(std::span<const std::string_view> names) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::vector<std::function<void()>> refreshes_;
};

}  // namespace hyperflock::telemetry
