// Measures how many trials per second the server leases, accepts and stores durably. It starts the
// release server on a disk and keeps 32 emulated workers in a closed loop. Then it kills the server
// with SIGKILL under load, and checks that each acknowledged result is in the database. Then it
// measures how fast other servers answer at 1,000 trials a second, and how fast they store the
// points of curves and the rows of series that trials log.
//
//   cycle_bench --server build/release/bin/hyperflock-server --state build/bench-state --out
//   build/reports/server.json
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <unordered_set>

#include "disk_probe.h"
#include "emulator.h"
#include "fixture.h"
#include "program.h"
#include "report.h"
#include "report_load.h"
#include "server_process.h"

namespace hyperflock::bench {
namespace {

constexpr const char* kFolder = "cycle_bench";

struct Options : ProgramOptions {
  double seconds = 30;
  double report_seconds = 6;  // for each kind of report
  double paced_seconds = 10;
  int workers = 32;
};

constexpr double kWarmUpSeconds = 2;
constexpr double kSecondsBeforeKill = 2;
constexpr int kPacedWorkers = 32;
constexpr std::chrono::milliseconds kPace{32};

// Returns how many acknowledged results are not accepted in the killed server's database.
std::int64_t lost(const Options& options, std::int64_t study,
                  const std::vector<std::int64_t>& acknowledged) {
  const std::unordered_set<std::int64_t> stored = accepted_attempts(options.state, study);
  return std::ranges::count_if(
      acknowledged, [&stored](std::int64_t attempt) { return !stored.contains(attempt); });
}

// Returns how long a cycle takes at a steady 1,000 of them a second.
std::vector<Figure> measure_paced(const Options& options) {
  const std::string state = options.state + "/paced";
  std::filesystem::create_directories(state);
  ServerProcess server(options.server, state, {"--log-level", "warning"});
  submit(server);
  Emulator emulator(server.compute_port(), join(server, kPacedWorkers), kPace);
  emulator.run(to_duration(kWarmUpSeconds));
  emulator.measure();
  const auto start = Emulator::Clock::now();
  emulator.run(to_duration(options.paced_seconds));
  const double seconds = std::chrono::duration<double>(Emulator::Clock::now() - start).count();
  const std::vector<double> ms = emulator.take_latencies_ms();
  return {
      {"paced_cycles_per_s", static_cast<double>(ms.size()) / seconds, "1/s"},
      {"paced_p50_ms", percentile(ms, 0.50), "ms"},
      {"paced_p99_ms", percentile(ms, 0.99), "ms", "<=", 10},
  };
}

int run(Options options) {
  make_state(options, kFolder);
  const double disk_before = durable_writes_per_s(options.state, 1);

  ServerProcess server(options.server, options.state, {"--log-level", "warning"});
  const std::int64_t study = submit(server);
  Emulator emulator(server.compute_port(), join(server, options.workers));
  emulator.run(to_duration(kWarmUpSeconds));

  const std::size_t cycles_before = emulator.acknowledged().size();
  const std::string before = metrics(server);
  const auto start = Emulator::Clock::now();
  emulator.measure();
  emulator.run(to_duration(options.seconds));
  emulator.stop_measuring();
  const double seconds = std::chrono::duration<double>(Emulator::Clock::now() - start).count();
  const auto cycles = static_cast<double>(emulator.acknowledged().size() - cycles_before);
  const std::string after = metrics(server);

  emulator.run(to_duration(kSecondsBeforeKill));
  server.kill();
  emulator.take_rest();
  const std::int64_t missing = lost(options, study, emulator.acknowledged());
  const double disk = (disk_before + durable_writes_per_s(options.state, 1)) / 2;

  const double commits =
      (metric(after, "hyperflock_commits_total") - metric(before, "hyperflock_commits_total")) /
      seconds;
  const double transitions = metric(after, "hyperflock_commit_transitions_sum") -
                             metric(before, "hyperflock_commit_transitions_sum");
  const double cycles_per_s = cycles / seconds;
  const std::vector<Figure> paced = measure_paced(options);
  const std::vector<Figure> reports =
      measure_reports(options.server, options.state + "/reports", options.report_seconds);
  std::vector<Figure> figures{
      // The report also shows `disk`, the best possible rate of a server that would make each
      // cycle durable by a separate disk write.
      {"cycles_per_s", cycles_per_s, "1/s", ">=", 2000, "16 KiB + fdatasync, one by one, same disk",
       disk},
      {"cycles_p50_ms", percentile(emulator.latencies_ms(), 0.50), "ms"},
      {"cycles_p99_ms", percentile(emulator.latencies_ms(), 0.99), "ms", "<=", 30},
      {"cycles_max_ms", percentile(emulator.latencies_ms(), 1.0), "ms"},
      {"cycles_per_disk_write", cycles_per_s / disk, "ratio", ">=", 2},
      {"cycles_per_commit", cycles / (commits * seconds), "cycles"},
      {"transitions_per_cycle", transitions / cycles, "transitions"},
      // The value of PRAGMA synchronous, as the server reads it from the database; 2 means FULL.
      {"storage_synchronous", metric(after, "hyperflock_storage_synchronous"), "level", ">=", 2},
      {"acknowledged", static_cast<double>(emulator.acknowledged().size()), "results"},
      {"lost_acknowledged", static_cast<double>(missing), "results", "<=", 0},
  };
  figures.insert(figures.end(), paced.begin(), paced.end());
  figures.insert(figures.end(), reports.begin(), reports.end());
  return finish(options.out, "server", figures);
}

}  // namespace
}  // namespace hyperflock::bench

int main(int argc, char** argv) {
  hyperflock::bench::Options options;
  CLI::App app{"Durable trial cycles a second of hyperflock-server."};
  hyperflock::bench::add_options(app, options, hyperflock::bench::kFolder);
  app.add_option("--seconds", options.seconds, "measured time")
      ->check(CLI::Range(1.0, 600.0))
      ->capture_default_str();
  app.add_option("--report-seconds", options.report_seconds, "measured time of each kind of report")
      ->check(CLI::Range(1.0, 60.0))
      ->capture_default_str();
  app.add_option("--paced-seconds", options.paced_seconds, "measured time of 1,000 cycles a second")
      ->check(CLI::Range(1.0, 600.0))
      ->capture_default_str();
  app.add_option("--workers", options.workers, "emulated devices")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return hyperflock::bench::exit_status([&] { return hyperflock::bench::run(options); });
}
