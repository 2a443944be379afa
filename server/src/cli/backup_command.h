// `hyperflock-server backup|restore|verify|compact`: what a day after the first needs. `backup`
// asks the server that runs on the state folder (backup/requests.h), or makes the backup itself if
// none runs. The others need no server. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cli/postgres_flags.h"

namespace CLI {
class App;
}

namespace hyperflock::cli {

class BackupCommands {
 public:
  // Adds the commands to the program.
  explicit BackupCommands(CLI::App& app);

  // Returns whether the user gave one of them.
  bool parsed() const;

  // The text is for standard output if the status is 0, or else for standard error. The status is 1
  // if anything is wrong with a backup or a state folder.
  struct Result {
    int status = 0;
    std::string text;
  };
  Result run(const std::string& server_version) const;

 private:
  std::string folder_;
  std::string state_dir_;
  std::string name_;
  PostgresFlags postgres_;
  std::int64_t keep_ = 0;
  bool json_ = false;
  bool standby_ = false;
  CLI::App* backup_;
  CLI::App* restore_;
  CLI::App* verify_;
  CLI::App* compact_;
};

}  // namespace hyperflock::cli
