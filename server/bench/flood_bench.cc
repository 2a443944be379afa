// Measures how a flood and a slow reader affect workers. 32 emulated workers run trials at a steady
// pace. Periods of three kinds take turns: nothing else happens, 5,000 sockets connect and never
// send hello, or one researcher reads 1 KB per second of a study that changes all the time. As they
// take turns, a machine that becomes slower affects all three kinds alike.
//
//   flood_bench --server build/release/bin/hyperflock-server --state build/bench-state --out
//   build/reports/flood.json
#include <chrono>
#include <cstdio>
#include <future>
#include <stdexcept>

#include "emulator.h"
#include "fixture.h"
#include "flood.h"
#include "program.h"
#include "report.h"
#include "server_process.h"

namespace hyperflock::bench {
namespace {

constexpr const char* kFolder = "flood_bench";

struct Options : ProgramOptions {
  int rounds = 3;
  int sockets = 5'000;
  double seconds = 6;  // of each quiet period and each slow reader
};

constexpr int kWorkers = 32;
constexpr std::chrono::milliseconds kPace{20};
constexpr std::int64_t kSlowBytesPerS = 1'000;
// The time limit of a flood. The server ends a silent socket after at most 8 s: it waits 5 s for a
// hello and 3 s for the closing handshake.
constexpr std::chrono::seconds kFloodLimit{20};

void append(std::vector<double>& to, std::vector<double> from) {
  to.insert(to.end(), from.begin(), from.end());
}

int run(Options options) {
  make_state(options, kFolder);
  ServerProcess server(options.server, options.state, {"--log-level", "warning"});
  const std::int64_t study = submit(server);
  Emulator emulator(server.compute_port(), join(server, kWorkers), kPace);
  emulator.run(std::chrono::seconds(2));
  emulator.measure();

  std::vector<double> quiet;
  std::vector<double> flooded;
  std::vector<double> slowed;
  FloodOutcome refused;
  std::int64_t slow_bytes = 0;
  double slow_seconds = 0;
  const auto be_quiet = [&] {
    emulator.run(to_duration(options.seconds));
    append(quiet, emulator.take_latencies_ms());
  };
  for (int round = 0; round < options.rounds; ++round) {
    be_quiet();
    auto harm = std::async(std::launch::async, [&] {
      return flood(server.compute_port(), options.sockets, kFloodLimit);
    });
    while (harm.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
      emulator.run(std::chrono::milliseconds(100));
    const FloodOutcome one = harm.get();
    refused.full += one.full;
    refused.timed_out += one.timed_out;
    refused.cut += one.cut;
    refused.held += one.held;
    refused.seconds += one.seconds;
    append(flooded, emulator.take_latencies_ms());

    be_quiet();
    std::atomic<bool> stop{false};
    const auto start = Emulator::Clock::now();
    auto slow = std::async(std::launch::async, [&] {
      return read_slowly(server.console_port(), server.researcher_token(), study, kSlowBytesPerS,
                         stop);
    });
    emulator.run(to_duration(options.seconds));
    stop = true;
    slow_bytes += slow.get();
    slow_seconds += std::chrono::duration<double>(Emulator::Clock::now() - start).count();
    append(slowed, emulator.take_latencies_ms());
  }

  const double quiet_p99 = percentile(quiet, 0.99);
  const double flood_p99 = percentile(flooded, 0.99);
  const double slow_p99 = percentile(slowed, 0.99);
  const std::vector<Figure> figures{
      {"quiet_p99_ms", quiet_p99, "ms"},
      {"flood_p99_ms", flood_p99, "ms"},
      {"flood_p99_ratio", flood_p99 / quiet_p99, "ratio", "<=", 1.5},
      {"flood_sockets", static_cast<double>(options.sockets) * options.rounds, "sockets"},
      {"flood_refused_full", static_cast<double>(refused.full), "sockets"},
      {"flood_refused_timeout", static_cast<double>(refused.timed_out), "sockets"},
      {"flood_cut", static_cast<double>(refused.cut), "sockets"},
      {"flood_not_refused", static_cast<double>(refused.held), "sockets", "<=", 0},
      {"flood_s", refused.seconds / options.rounds, "s"},
      {"slow_reader_p99_ms", slow_p99, "ms"},
      {"slow_reader_p99_ratio", slow_p99 / quiet_p99, "ratio", "<=", 1.5},
      {"slow_reader_bytes_per_s", static_cast<double>(slow_bytes) / slow_seconds, "B/s"},
      {"cycles", static_cast<double>(emulator.acknowledged().size()), "results"},
  };
  return finish(options.out, "flood", figures);
}

}  // namespace
}  // namespace hyperflock::bench

int main(int argc, char** argv) {
  hyperflock::bench::Options options;
  CLI::App app{"What joined workers feel of a flood of strangers and of a slow reader."};
  hyperflock::bench::add_options(app, options, hyperflock::bench::kFolder);
  app.add_option("--rounds", options.rounds, "of quiet, flood, quiet and slow reader")
      ->check(CLI::Range(1, 50))
      ->capture_default_str();
  app.add_option("--sockets", options.sockets, "of a flood")
      ->check(CLI::Range(1, 20'000))
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "of each quiet time and slow reader")
      ->check(CLI::Range(0.5, 600.0))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return hyperflock::bench::exit_status([&] { return hyperflock::bench::run(options); });
}
