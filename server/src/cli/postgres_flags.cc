// See postgres_flags.h.
#include "cli/postgres_flags.h"

#include <CLI/CLI.hpp>

#include "storage/postgres/open.h"

namespace hyperflock::cli {

void add_postgres_flags(CLI::App& command, PostgresFlags& flags) {
  check_postgres_url(
      *command
           .add_option("--database", flags.database, "PostgreSQL that `serve --database` was given")
           ->envname("HYPERFLOCK_DATABASE"));
  add_password_flag(command, flags);
}

void add_password_flag(CLI::App& command, PostgresFlags& flags) {
  command
      .add_option("--database-password-file", flags.password_file,
                  "its first line is the password of the database's user")
      ->envname("HYPERFLOCK_DATABASE_PASSWORD_FILE");
}

void check_postgres_url(CLI::Option& option) {
  option.check(CLI::Validator(
      [](const std::string& url) {
        return url.empty() ? std::string() : storage::postgres_url_fault(url);
      },
      "URL"));
}

}  // namespace hyperflock::cli
