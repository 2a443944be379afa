// Runs another program and collects what it prints. Any thread.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/instant.h"
#include "base/result.h"

namespace hyperflock::acme {

struct Ended {
  int status = 0;      // the exit status; 128 and the number of a signal that ended it
  std::string output;  // the newest 64 KiB of both streams
};

// Runs `words` with the search path of this process, and with `variables` (NAME=value) in addition
// to its environment. The program inherits no open file and no blocked signal. It is ended if
// `cancelled` becomes true or `limit_ms` have passed. Error: `no_acme_client`, with the system's
// reason.
Result<Ended> run_program(const std::vector<std::string>& words,
                          const std::vector<std::string>& variables,
                          const std::atomic<bool>& cancelled, Millis limit_ms);

}  // namespace hyperflock::acme
