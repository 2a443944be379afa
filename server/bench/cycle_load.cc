// Emulated devices for a grid of a running server. They join by an enrolment code and keep the
// server busy in a closed loop (emulator.h). The program prints "measuring" after a warm-up, and at
// its end one line of JSON.
//
//   cycle_load --port 8780 --code hfe_... --devices 256 --seconds 8
#include <chrono>
#include <cstdio>
#include <string>

#include "emulator.h"
#include "fixture.h"
#include "program.h"

namespace hyperflock::bench {
namespace {

constexpr double kLoadWarmUpSeconds = 2;

struct LoadOptions {
  std::uint16_t port = 0;
  std::string code;
  int devices = 256;
  double seconds = 8;
};

int run_load(const LoadOptions& options) {
  Emulator emulator(options.port, join(options.port, options.code, options.devices));
  emulator.run(to_duration(kLoadWarmUpSeconds));
  std::printf("measuring\n");
  std::fflush(stdout);
  emulator.measure();
  const auto start = Emulator::Clock::now();
  emulator.run(to_duration(options.seconds));
  const double seconds = std::chrono::duration<double>(Emulator::Clock::now() - start).count();
  const std::vector<double> latencies = emulator.take_latencies_ms();
  std::printf(R"({"cycles": %zu, "seconds": %.6f, "p50_ms": %.3f, "p99_ms": %.3f})"
              "\n",
              latencies.size(), seconds, percentile(latencies, 0.5), percentile(latencies, 0.99));
  std::fflush(stdout);
  return 0;
}

}  // namespace
}  // namespace hyperflock::bench

int main(int argc, char** argv) {
  hyperflock::bench::LoadOptions options;
  CLI::App app{"Emulated devices in a closed loop, for a running server."};
  app.add_option("--port", options.port, "of the compute origin, on 127.0.0.1")->required();
  app.add_option("--code", options.code, "enrolment code")->required();
  app.add_option("--devices", options.devices, "emulated devices")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "measured time")
      ->check(CLI::Range(1.0, 600.0))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return hyperflock::bench::exit_status([&] { return hyperflock::bench::run_load(options); });
}
