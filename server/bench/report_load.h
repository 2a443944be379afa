// What devices log while they train: reports of points or of named series, in a closed loop. Each
// device holds one attempt, sends a report, waits for the acknowledgement, and so on. One thread,
// one epoll.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "report.h"

namespace hyperflock::bench {

// Starts a server on a state folder and measures both kinds for `seconds` each, in turns. Returns
// the figures. Throws std::runtime_error.
std::vector<Figure> measure_reports(const std::string& server, const std::string& state,
                                    double seconds);

}  // namespace hyperflock::bench
