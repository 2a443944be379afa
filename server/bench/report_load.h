// Emulates devices that log while they train: they report points or named series in a closed loop.
// Each device holds one attempt, sends a report, waits for the acknowledgement, and so on. One
// thread and one epoll serve them all.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "report.h"

namespace hyperflock::bench {

// Starts a server on a state folder. Measures reports of points and of series in turns, `seconds`
// for each. Returns the figures. Throws std::runtime_error.
std::vector<Figure> measure_reports(const std::string& server, const std::string& state,
                                    double seconds);

}  // namespace hyperflock::bench
