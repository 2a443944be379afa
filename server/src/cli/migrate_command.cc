// See migrate_command.h.
#include "cli/migrate_command.h"

#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <ctime>
#include <filesystem>

#include "backup/restore.h"
#include "names/names.h"
#include "protocol/json/json_writer.h"
#include "storage/move/move.h"
#include "storage/move/state_folder.h"
#include "storage/sqlite/check/check.h"
#include "storage/sqlite/open.h"
#include "storage/sqlite/storage.h"
#include "telemetry/utf8.h"

namespace hyperflock::cli {
namespace {

// Texts of a database come from other people, and must not control the terminal.
std::string shown_text(const std::string& text) {
  return names::shown(telemetry::valid_utf8(text));
}

MigrateCommand::Result refused(const Error& error) {
  return {1, shown_text(error.message) + " (" + error.code + ")\n"};
}

// Keeps SIGINT and SIGTERM from ending the program while it exists.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  ~HeldSignals() {
    came();  // one that came too late
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  // Returns whether one came since the last call.
  bool came() const {
    const timespec at_once{};
    return sigtimedwait(&signals_, nullptr, &at_once) > 0;
  }

 private:
  sigset_t signals_{};
  sigset_t before_{};
};

// Shows how far a move is, in one line of a terminal.
class ProgressLine {
 public:
  void show(const storage::MoveProgress& now) {
    if (!terminal_) return;
    std::string line = (now.compares ? "comparing " : "moving ") + std::string(now.table) + ": " +
                       std::to_string(now.rows);
    if (now.total > 0) line += " of " + std::to_string(now.total);
    std::fprintf(stderr, "\r\033[K%s rows", line.c_str());
    std::fflush(stderr);
  }
  void end() const {
    if (terminal_) std::fputs("\r\033[K", stderr);
  }

 private:
  const bool terminal_ = ::isatty(STDERR_FILENO) == 1;
};

Result<storage::Moved> move_rows(const std::string& state_dir, const PostgresFlags& to,
                                 storage::Unstorable unstorable, std::string& findings) {
  TRY(storage::check_not_moved(state_dir));
  TRY(storage::check_has_file(state_dir));
  std::error_code ignored;
  const std::string file = storage::database_of(state_dir);
  if (std::filesystem::exists(std::filesystem::path(state_dir) / backup::kUnfinished, ignored)) {
    return Error{"bad_state", "The restoration of " + state_dir +
                                  " was interrupted: run hyperflock-server restore again."};
  }
  if (!std::filesystem::is_regular_file(file, ignored)) {
    return Error{"bad_state",
                 "There is no " + file + ": give the folder that `serve --state` was given."};
  }
  TRY(const auto place, storage::postgres_place(to.database, to.password_file));
  TRY(const auto lock, storage::FileLock::take(file + ".lock"));
  // What is wrong would be moved, too, and nobody would know since when.
  TRY(const auto checked, storage::check_database(file, storage::DatabaseState::locked));
  for (const storage::Finding& one : checked.findings)
    findings += "  " + shown_text(one.text) + " (" + one.code + ")\n";
  if (!findings.empty()) {
    return Error{"state_damaged", "The database of " + state_dir +
                                      " is damaged: restore a backup. Nothing was "
                                      "moved. This is wrong:"};
  }
  const HeldSignals signals;
  ProgressLine progress;
  const auto control = [&](const storage::MoveProgress& now) -> Status {
    progress.show(now);
    if (!signals.came()) return {};
    return Error{"interrupted", "Interrupted: nothing was moved."};
  };
  auto moved = storage::move_to_postgres(file, place, unstorable, control);
  progress.end();
  if (!moved) return moved;
  const Status noted = storage::note_moved(state_dir, moved->place);
  if (noted) return moved;
  return Error{noted.error().code,
               "Everything was moved, but a note of it is missing. " + noted.error().message +
                   " Never start the server without --database on this folder."};
}

}  // namespace

MigrateCommand::MigrateCommand(CLI::App& app)
    : command_(app.add_subcommand(
          "migrate", "move the rows of a stopped server from SQLite to PostgreSQL; exit 0 or 1")) {
  command_->add_option("--state", state_dir_, "folder that `serve --state` was given")
      ->required()
      ->check(CLI::ExistingDirectory);
  check_postgres_url(
      *command_
           ->add_option("--to", to_.database, "empty database: postgres://USER@HOST:PORT/DATABASE")
           ->required());
  add_password_flag(*command_, to_);
  command_->add_flag("--replace-invalid", replace_invalid_,
                     "store U+FFFD in place of what PostgreSQL does not store in texts: NUL, and "
                     "what is not UTF-8");
  command_->add_flag("--json", json_, "print the answer as JSON");
}

bool MigrateCommand::parsed() const { return command_->parsed(); }

MigrateCommand::Result MigrateCommand::run() const {
  std::string findings;
  const auto moved = move_rows(
      state_dir_, to_,
      replace_invalid_ ? storage::Unstorable::replace : storage::Unstorable::refuse, findings);
  if (!moved) {
    Result result = refused(moved.error());
    result.text += findings;
    return result;
  }
  std::string out;
  if (json_) {
    protocol::ObjectWriter(out)
        .text("place", moved->place)
        .integer("tables", moved->tables)
        .integer("rows", moved->rows)
        .integer("replaced", moved->replaced)
        .end();
    return {0, out + "\n"};
  }
  out = "Moved " + std::to_string(moved->rows) + " rows of " + std::to_string(moved->tables) +
        " tables to " + shown_text(moved->place) + ", and compared each.\n";
  if (moved->replaced > 0) {
    out += "In " + std::to_string(moved->replaced) +
           " texts, U+FFFD is in place of what PostgreSQL does not store.\n";
  }
  out +=
      "Start the server with the same folder and the database:\n"
      "  hyperflock-server serve --state " +
      state_dir_ + " --database " + to_.database +
      (to_.password_file.empty() ? "" : " --database-password-file " + to_.password_file) + "\n" +
      storage::database_of(state_dir_) +
      " stays as it was. The folder still has the files of studies, so keep it.\n";
  return {0, out};
}

}  // namespace hyperflock::cli
