// The flags of commands that open a database of PostgreSQL, and the state folder's answer to what
// they are for.
#pragma once

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hyperflock::cli {

struct PostgresFlags {
  std::string database{};       // URL; empty: SQLite's file in the state folder
  std::string password_file{};  // empty: as libpq finds a password
};

// Adds --database and --database-password-file, which the variables of `serve` give, too.
void add_postgres_flags(CLI::App& command, PostgresFlags& flags);
// Adds the flag for the password's file only.
void add_password_flag(CLI::App& command, PostgresFlags& flags);
// Refuses a URL that is invalid or has a password.
void check_postgres_url(CLI::Option& option);

}  // namespace hyperflock::cli
