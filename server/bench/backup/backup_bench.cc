// Measures what a running backup costs: cycles per second and their times at a steady rate, without
// and with a backup, by turns on the same server. Then it restores the newest backup, verifies the
// folder, and looks in it for each result that was acknowledged before that backup began. Then it
// kills a server with a standby by SIGKILL under the same load, restores the standby, and measures
// how old the oldest acknowledged result is that the standby does not have.
//
//   backup_bench --server build/release/bin/hyperflock-server --state build/bench-state --out
//   build/reports/backup.json
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <thread>
#include <unordered_set>

#include "auth/tokens.h"
#include "emulator.h"
#include "fixture.h"
#include "program.h"
#include "report.h"
#include "server_process.h"
#include "tests/support/test_client.h"

namespace hyperflock::bench {
namespace {

using Clock = Emulator::Clock;

constexpr const char* kFolder = "backup_bench";
constexpr int kDevices = 250;
constexpr double kWarmUpSeconds = 2;
constexpr std::size_t kFileBytes = std::size_t{256} << 10;
constexpr std::chrono::milliseconds kPiece{50};

struct Options : ProgramOptions {
  double seconds = 10;
  double fill_seconds = 30;
  double rate = 5'000;
  int rounds = 3;
  int files = 400;
};

// A command of the server's program.
class Run {
 public:
  explicit Run(const std::vector<std::string>& line) : pid_(spawn(line)) {
    if (pid_ < 0) throw std::runtime_error("cannot start " + line.front());
  }
  bool is_over() { return over_ || (over_ = ::waitpid(pid_, &status_, WNOHANG) == pid_); }
  // Waits for the end. Returns whether the command succeeded.
  bool succeeds() {
    if (!over_) over_ = ::waitpid(pid_, &status_, 0) == pid_;
    return WIFEXITED(status_) && WEXITSTATUS(status_) == 0;
  }

 private:
  pid_t pid_;
  int status_ = -1;
  bool over_ = false;
};

void must_succeed(const std::vector<std::string>& line) {
  if (!Run(line).succeeds()) throw std::runtime_error(line.at(1) + " failed");
}

// Cycles that were finished in some time.
struct Phase {
  double seconds = 0;
  std::vector<double> ms;
  double rate() const { return static_cast<double>(ms.size()) / seconds; }
};

// Runs the emulator until `is_over` returns true, and adds what it did to `phase`.
template <typename IsOver>
void run_until(Emulator& emulator, Phase& phase, IsOver is_over) {
  const auto begun = Clock::now();
  emulator.measure();
  while (!is_over()) emulator.run(kPiece);
  emulator.stop_measuring();
  phase.seconds += std::chrono::duration<double>(Clock::now() - begun).count();
  const auto more = emulator.take_latencies_ms();
  phase.ms.insert(phase.ms.end(), more.begin(), more.end());
}

Clock::duration pace_of(const Options& options) {
  return std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(kDevices / options.rate));
}

// Uploads files, as a researcher does with data sets.
void upload(const ServerProcess& server, int files) {
  for (int i = 0; i < files; ++i) {
    std::string bytes(kFileBytes, 'x');
    const std::string number = std::to_string(i);
    bytes.replace(0, number.size(), number);
    const auto answer =
        net::http_request(server.console_port(), "PUT", "/api/blobs/" + auth::token_hash(bytes),
                          {{"Authorization", "Bearer " + server.researcher_token()}}, bytes);
    if (answer.status != 201) throw std::runtime_error("a file was not stored: " + answer.body);
  }
}

std::int64_t bytes_of(const std::string& path) {
  std::error_code none;
  const auto size = std::filesystem::file_size(path, none);
  return none ? 0 : static_cast<std::int64_t>(size);
}

std::vector<Figure> measure_backups(const Options& options) {
  const std::string state = options.state + "/served";
  const std::string backups = options.state + "/backups";
  const std::string restored = options.state + "/restored";
  std::filesystem::create_directories(state);
  ServerProcess server(options.server, state, {"--log-level", "warning"});
  upload(server, options.files);
  const std::int64_t study = submit(server);
  Emulator emulator(server.compute_port(), join(server, kDevices));
  emulator.run(to_duration(options.fill_seconds));
  emulator.set_pace(pace_of(options));
  emulator.run(to_duration(kWarmUpSeconds));
  std::size_t before = 0;  // how many results were acknowledged before the newest backup began
  Phase quiet;
  Phase busy;
  std::int64_t log_bytes = 0;
  for (int round = 0; round < options.rounds; ++round) {
    const auto end = Clock::now() + to_duration(options.seconds);
    run_until(emulator, quiet, [&] { return Clock::now() >= end; });
    before = emulator.acknowledged().size();
    Run backup({options.server, "backup", backups, "--state", state});
    run_until(emulator, busy, [&] {
      log_bytes = std::max(log_bytes, bytes_of(state + "/hyperflock.db-wal"));
      return backup.is_over();
    });
    if (!backup.succeeds()) throw std::runtime_error("a backup failed");
  }
  const std::int64_t bytes = bytes_of(state + "/hyperflock.db");
  server.kill();
  must_succeed({options.server, "verify", backups});
  must_succeed({options.server, "restore", backups, "--state", restored});
  must_succeed({options.server, "verify", restored});
  const std::unordered_set<std::int64_t> stored = accepted_attempts(restored, study);
  const auto missing =
      std::ranges::count_if(std::span(emulator.acknowledged()).first(before),
                            [&](std::int64_t one) { return !stored.contains(one); });
  const double quiet_ms = percentile(quiet.ms, 0.99);
  const double busy_ms = percentile(busy.ms, 0.99);
  return {
      {"quiet_cycles_per_s", quiet.rate(), "1/s"},
      {"quiet_p50_ms", percentile(quiet.ms, 0.5), "ms"},
      {"quiet_p99_ms", quiet_ms, "ms"},
      {"backup_cycles_per_s", busy.rate(), "1/s", ">=", 0.95 * options.rate},
      {"backup_p50_ms", percentile(busy.ms, 0.5), "ms"},
      {"backup_p99_ms", busy_ms, "ms"},
      {"backup_p99_ratio", busy_ms / quiet_ms, "ratio", "<=", 2},
      {"backup_seconds", busy.seconds / options.rounds, "s"},
      {"database_mb", static_cast<double>(bytes) / 1e6, "MB"},
      {"log_mb", static_cast<double>(log_bytes) / 1e6, "MB"},
      {"acknowledged_before", static_cast<double>(before), "results"},
      {"lost_acknowledged", static_cast<double>(missing), "results", "<=", 0},
  };
}

std::vector<Figure> measure_standby(const Options& options) {
  const std::string state = options.state + "/with_standby";
  const std::string standby = options.state + "/standby";
  const std::string restored = options.state + "/from_standby";
  std::filesystem::create_directories(state);
  ServerProcess server(options.server, state, {"--log-level", "warning", "--standby", standby});
  const std::int64_t study = submit(server);
  const auto is_current = [&] {
    return metric(metrics(server), "hyperflock_standby_current") == 1;
  };
  while (!is_current()) std::this_thread::sleep_for(kPiece);
  Emulator emulator(server.compute_port(), join(server, kDevices), pace_of(options));
  emulator.run(to_duration(kWarmUpSeconds));
  Phase shipped;
  const auto end = Clock::now() + to_duration(options.seconds);
  run_until(emulator, shipped, [&] { return Clock::now() >= end; });
  const bool current = is_current();
  emulator.run(kPiece);  // the metrics took some time
  server.kill();
  emulator.take_rest();
  must_succeed({options.server, "restore", standby, "--standby", "--state", restored});
  must_succeed({options.server, "verify", restored});
  const std::unordered_set<std::int64_t> stored = accepted_attempts(restored, study);
  const auto& acknowledged = emulator.acknowledged();
  const auto& at = emulator.acknowledged_at();
  Clock::time_point oldest = at.back();
  std::int64_t missing = 0;
  for (std::size_t i = 0; i < acknowledged.size(); ++i) {
    if (stored.contains(acknowledged[i])) continue;
    ++missing;
    oldest = std::min(oldest, at[i]);
  }
  const double lost_s = std::chrono::duration<double>(at.back() - oldest).count();
  return {
      {"standby_cycles_per_s", shipped.rate(), "1/s"},
      {"standby_p99_ms", percentile(shipped.ms, 0.99), "ms"},
      {"standby_current", current ? 1.0 : 0.0, "flag", ">=", 1},
      {"standby_missing", static_cast<double>(missing), "results"},
      {"standby_lost_s", lost_s, "s", "<=", 1},
  };
}

int run(Options options) {
  make_state(options, kFolder);
  std::vector<Figure> figures = measure_backups(options);
  const std::vector<Figure> standby = measure_standby(options);
  figures.insert(figures.end(), standby.begin(), standby.end());
  return finish(options.out, "backup", figures);
}

}  // namespace
}  // namespace hyperflock::bench

int main(int argc, char** argv) {
  hyperflock::bench::Options options;
  CLI::App app{"What a backup and a standby cost a server under load, and what they miss."};
  hyperflock::bench::add_options(app, options, hyperflock::bench::kFolder);
  app.add_option("--seconds", options.seconds, "measured time before each backup")
      ->check(CLI::Range(1.0, 600.0))
      ->capture_default_str();
  app.add_option("--fill-seconds", options.fill_seconds, "time to fill the database at first")
      ->check(CLI::Range(1.0, 3'600.0))
      ->capture_default_str();
  app.add_option("--rate", options.rate, "cycles a second")
      ->check(CLI::Range(10.0, 100'000.0))
      ->capture_default_str();
  app.add_option("--rounds", options.rounds, "backups")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_option("--files", options.files, "files of 256 KiB that the backup has too")
      ->check(CLI::Range(0, 100'000))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return hyperflock::bench::exit_status([&] { return hyperflock::bench::run(options); });
}
