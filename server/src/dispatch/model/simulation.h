// The dispatcher with very many emulated devices, on virtual time and without storage or sockets:
// `./run simulate`. Three researchers share one project's devices and those that another project
// lends. For tests and measurements.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/instant.h"

namespace hyperflock::dispatch {

struct SimulationOptions {
  std::int64_t devices = 1'000'000;
  // Of 100 devices, this many belong to a project that has no studies and lends them.
  std::int64_t lent_percent = 10;
  std::int64_t studies = 100;       // of each researcher
  Millis virtual_ms = 15 * 60'000;  // how long it runs
  Millis heartbeat_ms = 30'000;     // of each device
  std::uint64_t seed = 1;
};

// The researchers have these weights. Trials take from the first to the second of these times.
inline constexpr std::array<std::int64_t, 3> kSimulatedWeights{100, 200, 400};
inline constexpr std::array<std::pair<Millis, Millis>, 3> kSimulatedTrialMs{
    {{30'000, 90'000}, {60'000, 600'000}, {120'000, 240'000}}};

struct SimulationResult {
  std::int64_t leases = 0;
  std::int64_t lent_leases = 0;  // to devices of the other project
  std::int64_t results = 0;
  std::int64_t heartbeats = 0;
  std::array<double, 3> device_ms{};  // by researcher
  std::int64_t idle_devices = 0;      // at the end
  std::int64_t revoked = 0;
  // Returns the researcher's part of the time of all devices.
  double share(std::size_t researcher) const {
    return device_ms.at(researcher) / (device_ms[0] + device_ms[1] + device_ms[2]);
  }
};

// Returns the part that the researcher's weight stands for.
double expected_share(std::size_t researcher);

SimulationResult simulate(const SimulationOptions& options);

}  // namespace hyperflock::dispatch
