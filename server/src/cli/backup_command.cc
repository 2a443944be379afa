// See backup_command.h.
#include "cli/backup_command.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <thread>
#include <vector>

#include "auth/tokens.h"
#include "backup/backup.h"
#include "backup/requests.h"
#include "backup/restore.h"
#include "backup/standby_folder.h"
#include "backup/verify.h"
#include "names/names.h"
#include "protocol/json/json_writer.h"
#include "storage/move/move.h"
#include "storage/move/state_folder.h"
#include "storage/sqlite/check/stopped_database.h"
#include "storage/sqlite/open.h"
#include "storage/sqlite/storage.h"
#include "telemetry/utf8.h"

namespace hyperflock::cli {
namespace {

using protocol::ObjectWriter;

std::int64_t wall_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Texts of a database come from other people, and must not control the terminal.
std::string plain(const std::string& text) { return names::shown(telemetry::valid_utf8(text)); }

BackupCommands::Result failed(const Error& error) {
  return {1, plain(error.message) + " (" + error.code + ")\n"};
}

std::string lines_of(const std::vector<storage::Finding>& findings) {
  std::string out;
  for (const storage::Finding& one : findings)
    out += "  " + plain(one.text) + " (" + one.code + ")\n";
  return out;
}

void append_findings(std::string& out, ObjectWriter& body,
                     const std::vector<storage::Finding>& findings) {
  protocol::append_list(body.begin("findings"), findings, [&out](const auto& one) {
    ObjectWriter(out).text("code", one.code).text("text", one.text).end();
  });
}

std::string mib(std::int64_t bytes) { return std::to_string((bytes + 1'048'575) >> 20) + " MiB"; }

// Makes a backup of a server that does not run.
Result<backup::Made> make_stopped(const std::string& state_dir, const PostgresFlags& postgres,
                                  const std::string& folder, std::int64_t keep,
                                  const std::string& version) {
  if (postgres.database.empty()) {
    TRY(storage::check_not_moved(state_dir));
    return backup::back_up_stopped(state_dir, version, wall_now(), folder, keep);
  }
  TRY(const auto lock, storage::FileLock::take(storage::database_of(state_dir) + ".lock"));
  TRY(const auto place, storage::postgres_place(postgres.database, postgres.password_file));
  backup::Source source;
  source.state_dir = state_dir;
  source.server_version = version;
  source.now = wall_now();
  source.copy_database = [&](const std::string& target,
                             const std::function<void()>& begun) -> Status {
    TRY(storage::copy_from_postgres(place, target, begun,
                                    [](const storage::MoveProgress&) { return Status(); }));
    return {};
  };
  return backup::make_backup(source, folder, keep);
}

// Makes a backup, or has the server make it that runs on the state folder.
Result<backup::Made> make(const std::string& state_dir, const PostgresFlags& postgres,
                          const std::string& folder, std::int64_t keep,
                          const std::string& version) {
  const std::string database = storage::database_of(state_dir);
  {
    auto made = make_stopped(state_dir, postgres, folder, keep, version);
    // A running server knows its database. A folder without a file has none.
    if (made || (made.error().code != "storage_open" && made.error().code != "bad_state" &&
                 made.error().code != "state_moved"))
      return made;
    if (storage::FileLock::take(database + ".lock")) {
      if (postgres.database.empty()) TRY(storage::check_has_file(state_dir));
      return made;
    }
  }
  std::error_code error;
  const backup::BackupRequest request{
      auth::token_hash(auth::new_token(auth::TokenKind::admin)).substr(0, 32),
      std::filesystem::absolute(folder, error).lexically_normal().string(), keep};
  return backup::ask_server(state_dir, request, [&]() -> Status {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const auto stopped = storage::FileLock::take(database + ".lock");
    if (!stopped) return {};
    return Error{"backup_failed",
                 "The server ended before its backup did: look at its log, and try again."};
  });
}

Result<storage::Compacted> compact(const std::string& state_dir) {
  TRY(storage::check_not_moved(state_dir));
  TRY(storage::check_has_file(state_dir));
  TRY(const auto database, storage::StoppedDatabase::open(storage::database_of(state_dir)));
  return database->compact();
}

}  // namespace

BackupCommands::BackupCommands(CLI::App& app)
    : backup_(app.add_subcommand(
          "backup", "copy the state folder, also while a server runs on it; exit 0 or 1")),
      restore_(app.add_subcommand("restore", "make a state folder from a backup")),
      verify_(app.add_subcommand(
          "verify", "check backups, or the state folder of a server that is stopped; exit 0 or 1")),
      compact_(app.add_subcommand("compact",
                                  "shrink the database of a server that is stopped; exit 0 or 1")) {
  for (CLI::App* command : {backup_, restore_, verify_}) {
    command->add_option("DIR", folder_, "folder of the backups")->required();
    command->add_flag("--json", json_, "print the answer as JSON");
  }
  compact_->add_flag("--json", json_, "print the answer as JSON");
  for (CLI::App* command : {backup_, compact_}) {
    command->add_option("--state", state_dir_, "folder that `serve --state` was given")
        ->required()
        ->check(CLI::ExistingDirectory);
  }
  backup_->add_option("--keep", keep_, "remove the oldest backups beyond so many; 0 keeps all")
      ->check(CLI::Range(0, 100'000))
      ->capture_default_str();
  add_postgres_flags(*backup_, postgres_);
  restore_->add_option("--state", state_dir_, "new or empty folder for `serve --state`")
      ->required();
  for (CLI::App* command : {restore_, verify_})
    command->add_option(
        "--backup", name_,
        command == restore_ ? "its name; the newest by default" : "its name; all by default");
  restore_->add_flag("--standby", standby_, "DIR is the folder that `serve --standby` was given")
      ->excludes("--backup");
}

bool BackupCommands::parsed() const {
  return backup_->parsed() || restore_->parsed() || verify_->parsed() || compact_->parsed();
}

BackupCommands::Result BackupCommands::run(const std::string& server_version) const {
  std::string out;
  std::vector<storage::Finding> findings;
  std::string summary;
  if (backup_->parsed()) {
    const auto made = make(state_dir_, postgres_, folder_, keep_, server_version);
    if (!made) return failed(made.error());
    findings = made->findings;
    out = backup::to_text(*made);
    summary = "Backup " + made->name + ": " + std::to_string(made->files) + " files, " +
              mib(made->bytes) + ", " + std::to_string(made->new_files) + " of them new.";
    if (made->removed > 0) summary += " Removed " + std::to_string(made->removed) + " old ones.";
  } else if (restore_->parsed()) {
    const auto restored = standby_ ? backup::promote(folder_, state_dir_, wall_now())
                                   : backup::restore(folder_, name_, state_dir_, wall_now());
    if (!restored) return failed(restored.error());
    findings = restored->findings;
    ObjectWriter body(out);
    body.text("backup", restored->name)
        .integer("at", restored->at)
        .integer("files", restored->files);
    append_findings(out, body, findings);
    body.end();
    summary = "Restored " + std::string(standby_ ? "the " : "") + restored->name + " to " +
              state_dir_ + ".";
  } else if (compact_->parsed()) {
    const auto compacted = compact(state_dir_);
    if (!compacted) return failed(compacted.error());
    ObjectWriter(out)
        .integer("before_bytes", compacted->before_bytes)
        .integer("after_bytes", compacted->after_bytes)
        .end();
    summary = "The database had " + mib(compacted->before_bytes) + " and has " +
              mib(compacted->after_bytes) + " now.";
  } else {
    const auto verified = backup::verify(folder_, name_);
    if (!verified) return failed(verified.error());
    findings = verified->findings;
    ObjectWriter body(out);
    protocol::append_list(body.begin("backups"), verified->names,
                          [&out](const std::string& one) { protocol::append_string(out, one); });
    body.integer("files", verified->files);
    append_findings(out, body, findings);
    body.end();
    summary = verified->names.empty()
                  ? "Verified the state folder"
                  : "Verified " + std::to_string(verified->names.size()) + " backups";
    summary += " and " + std::to_string(verified->files) + " files.";
  }
  const int status = findings.empty() ? 0 : 1;
  if (json_) return {status, out + "\n"};
  if (status == 0) return {0, summary + "\n"};
  return {1, summary + " This is wrong:\n" + lines_of(findings)};
}

}  // namespace hyperflock::cli
