// Prints how the dispatcher shares very many emulated devices, and what that costs: `./run
// simulate`. Time is virtual, so nothing waits.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "dispatch/model/simulation.h"

namespace hyperflock::dispatch {
namespace {

// Returns the most memory that this program has used, in GiB.
double peak_gib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / (1 << 20);  // ru_maxrss is in KiB
}

constexpr double kMostDeviation = 0.05;

// Prints the figures. Returns whether each share is as the weights say.
bool report(const SimulationOptions& options, const SimulationResult& result, double wall_s) {
  const double virtual_s = static_cast<double>(options.virtual_ms) / 1'000;
  std::printf("devices                    %lld\n", static_cast<long long>(options.devices));
  std::printf("virtual time               %.0f s\n", virtual_s);
  std::printf("leases                     %lld\n", static_cast<long long>(result.leases));
  std::printf("leases per virtual second  %.0f\n", static_cast<double>(result.leases) / virtual_s);
  std::printf("leases of lent devices     %lld\n", static_cast<long long>(result.lent_leases));
  std::printf("heartbeats                 %lld\n", static_cast<long long>(result.heartbeats));
  std::printf("idle devices at the end    %lld\n", static_cast<long long>(result.idle_devices));
  bool fair = true;
  for (std::size_t i = 0; i < kSimulatedWeights.size(); ++i) {
    const double off = result.share(i) / expected_share(i) - 1;
    fair = fair && std::abs(off) <= kMostDeviation;
    std::printf(
        "share of weight %-4lld       %.2f %% of the time, by the weight %.2f %%: %+.2f %%\n",
        static_cast<long long>(kSimulatedWeights.at(i)), 100 * result.share(i),
        100 * expected_share(i), 100 * off);
  }
  std::printf("memory                     %.2f GiB\n", peak_gib());
  std::printf("wall time                  %.0f s\n", wall_s);
  std::printf("virtual time per wall time %.1f\n", virtual_s / wall_s);
  return fair;
}

}  // namespace
}  // namespace hyperflock::dispatch

int main(int argc, char** argv) {
  using namespace hyperflock::dispatch;
  SimulationOptions options;
  double minutes = static_cast<double>(options.virtual_ms) / 60'000;
  CLI::App app("The dispatcher with very many emulated devices, on virtual time");
  app.add_option("--devices", options.devices, "how many")->check(CLI::Range(1, 10'000'000));
  app.add_option("--minutes", minutes, "of virtual time")->check(CLI::Range(1.0, 10'000.0));
  app.add_option("--studies", options.studies, "of each researcher")->check(CLI::Range(1, 100'000));
  app.add_option("--lent", options.lent_percent, "percent of the devices that are lent")
      ->check(CLI::Range(0, 100));
  app.add_option("--seed", options.seed, "of the trials' durations");
  CLI11_PARSE(app, argc, argv);
  options.virtual_ms = static_cast<hyperflock::Millis>(minutes * 60'000);
  const auto start = std::chrono::steady_clock::now();
  const SimulationResult result = simulate(options);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  return report(options, result, wall.count()) ? 0 : 1;
}
