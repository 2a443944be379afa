// Moves the rows of SQLite's file to PostgreSQL; see move.h.
#include <algorithm>
#include <chrono>
#include <thread>

#include "storage/move/move.h"
#include "storage/move/places.h"
#include "storage/move/sqlite_rows.h"
#include "storage/move/tuple.h"
#include "storage/postgres/schema.h"
#include "storage/sqlite/schema.h"

namespace hyperflock::storage {
namespace {

using move::go_on;
using move::Table;
using postgres::Client;

// How long it is tried to find out whether the commit took place whose answer was lost.
constexpr std::chrono::seconds kPatience{60};
constexpr std::chrono::milliseconds kRetry{200};

std::string quoted(const std::string& name) { return '"' + name + '"'; }

// Finds out whether a transaction was committed, on a new connection.
bool was_committed(Client& db, const std::string& transaction) {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    std::string why = "the transaction has not ended";
    try {
      db.reconnect();
      auto& row = db.statement("SELECT coalesce(pg_xact_status(CAST($1 AS xid8)), '')");
      row.bind(1, std::string_view(transaction));
      const std::string state = row.step() ? std::string(row.text(0)) : std::string();
      if (state != "in progress") return state == "committed";
    } catch (const postgres::PgError& error) {
      why = error.what();
    }
    if (std::chrono::steady_clock::now() >= give_up)
      throw postgres::FateUnknown("postgres_unreachable", why);
    std::this_thread::sleep_for(kRetry);
  }
}

class Mover {
 public:
  Mover(const std::string& path, const PostgresPlace& to, Unstorable unstorable,
        const MoveControl& control)
      : file_(path, move::SqliteFile::Use::read),
        tables_(move::newest_tables()),
        db_(move::client_settings(to)),
        unstorable_(unstorable),
        control_(control) {
    moved_.place = move::shown_place(to);
    moved_.tables = std::ssize(tables_);
  }

  Result<Moved> run() {
    TRY(check_source());
    file_.run("BEGIN");  // one view of all tables
    sql::Transaction transaction(db_, sql::Access::write);
    db_.exec(
        "SET LOCAL lock_timeout = '10s'; SET LOCAL idle_in_transaction_session_timeout = 0;"
        "SET LOCAL client_min_messages = error");
    TRY(prepare_target());
    switch_triggers("DISABLE");
    for (const Table& table : tables_) copy(table);
    switch_triggers("ENABLE");
    set_counters();
    for (std::size_t i = 0; i < tables_.size(); ++i) TRY(compare(tables_[i], sums_[i]));
    commit(transaction);
    return std::move(moved_);
  }

 private:
  Status check_source() {
    const std::int64_t version = file_.number("PRAGMA user_version");
    const std::int64_t newest = sqlite::migrations().back().version;
    if (version > newest) return sqlite::too_new("The SQLite database", version);
    if (version < newest) {
      return Error{"storage_too_old",
                   "The SQLite database has schema version " + std::to_string(version) +
                       ", this program moves version " + std::to_string(newest) +
                       ": start hyperflock-server once without --database, and stop it."};
    }
    return {};
  }

  // Makes the tables, locks them, and sees that they are empty.
  Status prepare_target() {
    const auto encoding = move::lines(db_, "SELECT current_setting('server_encoding')");
    if (encoding.empty() || encoding.front() != "UTF8") {
      return Error{"storage_open", "The database (" + moved_.place + ") is not encoded as UTF8: " +
                                       "create it with createdb --encoding=UTF8 "
                                       "--template=template0."};
    }
    if (move::schema_version(db_) == 0) {
      const auto others = move::lines(
          db_, "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() LIMIT 3");
      if (!others.empty()) return not_empty("another program's table " + others.front());
    }
    TRY(postgres::migrate_within(db_, moved_.place));
    if (const std::string why = move::difference(db_, tables_); !why.empty())
      return Error{"storage_open", "The tables of both databases differ: " + why + "."};
    std::string names;
    std::string occupied;
    for (const Table& table : tables_) {
      names += (names.empty() ? "" : ", ") + quoted(table.name);
      if (move::has_one_row(table)) continue;
      occupied += (occupied.empty() ? "" : " UNION ALL ") + std::string("SELECT '") + table.name +
                  "' WHERE EXISTS (SELECT 1 FROM " + quoted(table.name) + ")";
    }
    db_.exec("LOCK TABLE " + names + " IN ACCESS EXCLUSIVE MODE");
    const auto found = move::lines(db_, occupied);
    if (!found.empty()) return not_empty("rows in the table " + found.front());
    for (const Table& table : tables_)
      if (move::has_one_row(table)) db_.exec("DELETE FROM " + quoted(table.name));
    return {};
  }

  Error not_empty(const std::string& what) const {
    return {"target_not_empty", "The database (" + moved_.place + ") has " + what +
                                    " already: create an empty one (createdb), and name it."};
  }

  // The totals are rows, which are copied. The triggers that keep them would count twice.
  void switch_triggers(const std::string& what) {
    for (const Table& table : tables_)
      db_.exec("ALTER TABLE " + quoted(table.name) + ' ' + what + " TRIGGER USER");
  }

  void copy(const Table& table) {
    MoveProgress progress{.table = table.name};
    progress.total = file_.number("SELECT count(*) FROM " + quoted(table.name));
    go_on(control_(progress));
    const move::Replace replace = [&](std::string_view text, const std::string& where) {
      if (unstorable_ == Unstorable::refuse) {
        throw move::Stopped{
            {"text_not_storable",
             "PostgreSQL does not store NUL and invalid UTF-8, which " + where +
                 " has: give --replace-invalid to store U+FFFD in their place, as a server with "
                 "PostgreSQL does."}};
      }
      ++moved_.replaced;
      return postgres::storable(text).value_or(std::string(text));
    };
    move::TableReader rows(file_, table);
    move::RowSum& sum = sums_.emplace_back();
    std::string tuple;
    bool begun = false;
    db_.copy_in(
        "COPY " + quoted(table.name) + " (" + table.column_list() + ") FROM STDIN (FORMAT binary)",
        [&](std::string& piece) {
          if (!std::exchange(begun, true)) piece += move::copy_header();
          tuple.clear();
          if (!rows.next(tuple, replace)) {
            piece += move::copy_trailer();
            return false;
          }
          sum.add(tuple);
          piece += tuple;
          progress.rows = sum.rows();
          if (progress.rows % move::kControlRows == 0) go_on(control_(progress));
          return true;
        });
    moved_.rows += sum.rows();
    progress.rows = sum.rows();
    go_on(control_(progress));
  }

  void set_counters() {
    for (const auto& [table, column] : move::counted_columns(db_)) {
      const std::int64_t last = file_.number(
          "SELECT max((SELECT coalesce(max(\"" + column + "\"), 0) FROM \"" + table +
          "\"), (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = '" + table + "'))");
      if (last <= 0) continue;
      db_.exec("SELECT setval(pg_get_serial_sequence('" + table + "', '" + column + "'), " +
               std::to_string(last) + ", true)");
    }
  }

  Status compare(const Table& table, const move::RowSum& expected) {
    MoveProgress progress{.table = table.name, .total = expected.rows(), .compares = true};
    move::RowSum sum;
    move::CopyStream stream;
    db_.copy_out(
        "COPY " + quoted(table.name) + " (" + table.column_list() + ") TO STDOUT (FORMAT binary)",
        [&](std::string_view piece) {
          stream.feed(piece, [&](std::string_view tuple) { sum.add(tuple); });
          progress.rows = sum.rows();
          if (progress.rows % move::kControlRows == 0) go_on(control_(progress));
        });
    progress.rows = sum.rows();
    TRY(control_(progress));
    if (stream.ended() && sum == expected) return {};
    return Error{"move_differs",
                 "The table " + table.name + " has other rows in the database (" + moved_.place +
                     ", " + std::to_string(sum.rows()) + " rows) than in SQLite (" +
                     std::to_string(expected.rows()) +
                     "): nothing was moved. See what else changes the database's tables."};
  }

  void commit(sql::Transaction& transaction) {
    auto& row = db_.statement("SELECT CAST(pg_current_xact_id() AS text)");
    const std::string id = row.step() ? std::string(row.text(0)) : std::string();
    row.reset();
    db_.was_committed = [this, id] { return was_committed(db_, id); };
    transaction.commit();
  }

  move::SqliteFile file_;
  const std::vector<Table> tables_;
  Client db_;
  const Unstorable unstorable_;
  const MoveControl& control_;
  std::vector<move::RowSum> sums_;  // of the tables, as they were read
  Moved moved_;
};

Error error_of(const postgres::PgError& error, const std::string& place) {
  if (error.state() == "53100") {  // disk_full
    return {"target_full", "The disk of the database (" + place +
                               ") is full: make room there. Nothing was moved."};
  }
  return {"target_failed", "The database (" + place + ") refused (" + error.state() +
                               "): " + error.what() +
                               ". Nothing was moved. Check that the user owns the database and "
                               "that nothing else uses it."};
}

}  // namespace

Result<Moved> move_to_postgres(const std::string& path, const PostgresPlace& to,
                               Unstorable unstorable, const MoveControl& control) {
  const std::string place = move::shown_place(to);
  try {
    return Mover(path, to, unstorable, control).run();
  } catch (const move::Stopped& stopped) {
    return stopped.error;
  } catch (const postgres::FateUnknown& unknown) {
    return Error{"postgres_unreachable",
                 "The connection to the database (" + place + ") was lost during the commit (" +
                     unknown.what() +
                     "). Whether everything was moved is not known: run the command again when it "
                     "answers. If it was, that ends with target_not_empty."};
  } catch (const postgres::ConnectionLost& lost) {
    return postgres::unreachable(lost, place);
  } catch (const postgres::PgError& error) {
    return error_of(error, place);
  } catch (const sqlite::SqliteError& error) {
    return Error{"storage_open", "Cannot read " + path + " (" + error.what() +
                                     "): check it with hyperflock-server verify."};
  }
}

}  // namespace hyperflock::storage
