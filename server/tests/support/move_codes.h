// Raises each error code of `hyperflock-server migrate` and `compact`, and of commands that meet a
// state folder whose rows are in PostgreSQL.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "app/config.h"
#include "base/testing/scratch_folder.h"
#include "cli/admin.h"
#include "storage/postgres/testing/test_postgres.h"
#include "storage/sqlite/db/db.h"
#include "storage/sqlite/open.h"

namespace hyperflock::app {

// A state folder that no server uses, and an empty database of PostgreSQL.
class MoveCodes {
 public:
  MoveCodes() {
    std::filesystem::create_directories(state_);
    EXPECT_TRUE(storage::open_sqlite_storage(storage::database_of(state_), [] {
                  return std::int64_t{1};
                }).has_value());
    change("INSERT INTO principals (id, name, role) VALUES (1, 'ada', 0)");
  }
  const std::string& state() const { return state_; }
  const std::string& url() const { return url_; }
  std::string file(const std::string& name) const { return folder_.file(name); }

  // Changes the state folder's database.
  void change(const std::string& sql) const {
    storage::sqlite::Db(storage::database_of(state_), storage::sqlite::Db::Mode::read_write)
        .exec(sql);
  }

  // Runs a command to its end, and returns what it prints if it fails.
  static std::string run(const std::vector<std::string>& line) {
    const Command command = parse_command_line(line);
    if (const auto* stop = std::get_if<Stop>(&command)) return stop->status == 0 ? "" : stop->text;
    return cli::run_admin(std::get<cli::AdminCommand>(command)).error;
  }
  std::string move(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> line{"migrate", "--state", state_, "--to", url_};
    line.insert(line.end(), more.begin(), more.end());
    return run(line);
  }
  // Moves while an event of the database runs this in the move's transaction.
  std::string move_while(const std::string& statement) const {
    storage::TestPostgres& server = storage::TestPostgres::instance();
    server.sql("CREATE FUNCTION change() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN " +
                   statement +
                   "; END $$;CREATE EVENT TRIGGER changes_a_move ON ddl_command_end"
                   " WHEN TAG IN ('ALTER TABLE') EXECUTE FUNCTION change()",
               url_);
    std::string text = move();
    server.sql("DROP EVENT TRIGGER changes_a_move", url_);
    return text;
  }
  // Moves, and is interrupted at once.
  std::string move_interrupted() const {
    sigset_t signals;
    sigset_t before;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    ::raise(SIGINT);
    std::string text = move();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return text;
  }

  // Returns the code at the end of a message's line.
  static std::string code_in(const std::string& text) {
    const std::size_t line = text.find('\n');
    const std::size_t begin = text.rfind('(', line);
    return line == std::string::npos || begin == std::string::npos
               ? std::string()
               : text.substr(begin + 1, line - begin - 2);
  }

 private:
  ScratchFolder folder_;
  const std::string state_ = folder_.file("state");
  const std::string url_ = storage::TestPostgres::instance().new_schema();
};

// Adds a way to raise each of the codes to a table of such ways.
inline std::map<std::string, std::string (*)()> with_moves(
    std::map<std::string, std::string (*)()> table) {
  table.insert({
      {"storage_too_old",
       [] {
         const MoveCodes codes;
         codes.change("PRAGMA user_version = 20");
         return MoveCodes::code_in(codes.move());
       }},
      {"state_damaged",
       [] {
         const MoveCodes codes;
         codes.change("UPDATE audit_total SET entries = 7");
         return MoveCodes::code_in(codes.move());
       }},
      {"target_not_empty",
       [] {
         const MoveCodes codes;
         storage::TestPostgres::instance().sql("CREATE TABLE other (a INT)", codes.url());
         return MoveCodes::code_in(codes.move());
       }},
      {"target_full",
       [] {
         return MoveCodes::code_in(
             MoveCodes().move_while("RAISE EXCEPTION 'full' USING ERRCODE = '53100'"));
       }},
      {"target_failed",
       [] { return MoveCodes::code_in(MoveCodes().move_while("RAISE EXCEPTION 'no'")); }},
      {"move_differs",
       [] {
         return MoveCodes::code_in(MoveCodes().move_while("UPDATE kept_time SET at = at + 1"));
       }},
      {"text_not_storable",
       [] {
         const MoveCodes codes;
         codes.change("UPDATE principals SET note = CAST(x'ff' AS TEXT)");
         return MoveCodes::code_in(codes.move());
       }},
      {"interrupted", [] { return MoveCodes::code_in(MoveCodes().move_interrupted()); }},
      {"state_moved",
       [] {
         const MoveCodes codes;
         EXPECT_EQ(codes.move(), "");
         return MoveCodes::code_in(codes.move());
       }},
      {"database_needed",
       [] {
         const MoveCodes codes;
         EXPECT_EQ(codes.move(), "");
         EXPECT_EQ(MoveCodes::run(
                       {"token", "recover", "--state", codes.state(), "--database", codes.url()}),
                   "");
         std::filesystem::remove(codes.state() + "/moved-to-postgres");
         std::filesystem::remove(storage::database_of(codes.state()));
         return MoveCodes::code_in(
             MoveCodes::run({"backup", codes.file("backups"), "--state", codes.state()}));
       }},
      {"compact_failed",
       [] {
         const MoveCodes codes;
         std::filesystem::create_directories(storage::database_of(codes.state()) + ".compact/x");
         return MoveCodes::code_in(MoveCodes::run({"compact", "--state", codes.state()}));
       }},
  });
  return table;
}

}  // namespace hyperflock::app
