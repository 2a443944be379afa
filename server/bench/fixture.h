// What the benchmarks of a running server share: a study that does not end, devices, metrics.
// Each throws std::runtime_error where the server answers otherwise than it must.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "emulator.h"
#include "server_process.h"

namespace hyperflock::bench {

// A grid of 10^8 points; the study's number.
std::int64_t submit(const ServerProcess& server);
// A study whose trials its owner asks for, of one direction.
std::int64_t submit_asked(const ServerProcess& server);
std::vector<Device> join(const ServerProcess& server, int count);
std::vector<Device> join(std::uint16_t compute_port, const std::string& enrolment_code, int count);
// /metrics, and the value of a metric without labels in it.
std::string metrics(const ServerProcess& server);
double metric(const std::string& text, const std::string& name);

// 0 where there is no value.
double percentile(std::vector<double> values, double part);
std::chrono::nanoseconds to_duration(double seconds);

}  // namespace hyperflock::bench
