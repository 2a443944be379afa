// `hyperflock-server migrate --state FOLDER --to URL`: moves the rows of a state folder from
// SQLite's file to PostgreSQL. The server must be stopped. One thread.
#pragma once

#include <string>

#include "cli/postgres_flags.h"

namespace CLI {
class App;
}

namespace hyperflock::cli {

class MigrateCommand {
 public:
  // Adds the command to the program.
  explicit MigrateCommand(CLI::App& app);

  // Returns whether the user gave it.
  bool parsed() const;

  // The text is for standard output if the status is 0, or else for standard error. Meanwhile,
  // lines of progress go to standard error if it is a terminal. SIGINT and SIGTERM end the move,
  // and then nothing is moved.
  struct Result {
    int status = 0;
    std::string text;
  };
  Result run() const;

 private:
  std::string state_dir_;
  PostgresFlags to_;
  bool replace_invalid_ = false;
  bool json_ = false;
  CLI::App* command_;
};

}  // namespace hyperflock::cli
