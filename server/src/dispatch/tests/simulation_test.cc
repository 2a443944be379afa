// Runs the simulation of `./run simulate` with few devices.
#include "dispatch/model/simulation.h"

#include <gtest/gtest.h>

namespace hyperflock::dispatch {
namespace {

TEST(Simulation, R70_ManyDevicesAreSharedByWeights) {
  const SimulationResult result =
      simulate({.devices = 700, .studies = 4, .virtual_ms = 30 * 60'000});
  for (std::size_t i = 0; i < kSimulatedWeights.size(); ++i)
    EXPECT_NEAR(result.share(i), expected_share(i), 0.05 * expected_share(i)) << i;
  EXPECT_EQ(result.idle_devices, 0);  // those that are lent, too
  EXPECT_EQ(result.leases, result.results + 700);
  EXPECT_NEAR(static_cast<double>(result.lent_leases), static_cast<double>(result.leases) / 10,
              static_cast<double>(result.leases) / 50);
  EXPECT_EQ(result.revoked, 0);
}

TEST(Simulation, TheSameSeedGivesTheSame) {
  const SimulationOptions options{.devices = 50, .studies = 2, .virtual_ms = 10 * 60'000};
  const SimulationResult one = simulate(options);
  const SimulationResult other = simulate(options);
  EXPECT_EQ(one.leases, other.leases);
  EXPECT_EQ(one.device_ms, other.device_ms);
}

}  // namespace
}  // namespace hyperflock::dispatch
