// The command line of `hyperflock-server`. --help explains each command and each flag.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "cli/admin.h"
#include "settings/serve_config.h"

namespace hyperflock::app {

using settings::Address;
using settings::check;
using settings::is_loopback;
using settings::parse_address;
using settings::ServeConfig;
using settings::to_text;

struct HealthcheckConfig {
  std::string url = "http://127.0.0.1:8790/healthz";
};
struct ShowVersion {};
// The program prints `text` and ends with `status`.
struct Stop {
  int status = 0;
  std::string text;
};

using Command = std::variant<ServeConfig, HealthcheckConfig, cli::AdminCommand, ShowVersion, Stop>;

// Parses the arguments. `serve` and `config` also read the environment and the file of --config. An
// error gives a Stop with status 2 and a line for each fault.
Command parse_command_line(const std::vector<std::string>& arguments);

}  // namespace hyperflock::app
