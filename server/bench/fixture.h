// Functions that the benchmarks of a running server share: endless studies, devices, metrics. Each
// throws std::runtime_error if the server gives an unexpected answer.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "emulator.h"
#include "server_process.h"

namespace hyperflock::bench {

// Submits a grid of 10^8 points. Returns the study's number.
std::int64_t submit(const ServerProcess& server);
// Submits an ask-and-tell study with one direction. Returns its number.
std::int64_t submit_asked(const ServerProcess& server);
std::vector<Device> join(const ServerProcess& server, int count);
std::vector<Device> join(std::uint16_t compute_port, const std::string& enrolment_code, int count);
// metrics() returns the text of /metrics. metric() finds in such a text the value of a metric
// without labels.
std::string metrics(const ServerProcess& server);
double metric(const std::string& text, const std::string& name);

// Returns the attempts whose results are accepted in the database of a stopped server.
std::unordered_set<std::int64_t> accepted_attempts(const std::string& state, std::int64_t study);

// Returns the percentile of `values` at the fraction `part` (0.5: the median), or 0 if there are no
// values.
double percentile(std::vector<double> values, double part);
std::chrono::nanoseconds to_duration(double seconds);

}  // namespace hyperflock::bench
