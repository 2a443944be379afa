// Writes the rows of PostgreSQL to a file of SQLite; see move.h.
#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "storage/move/move.h"
#include "storage/move/places.h"
#include "storage/move/sqlite_rows.h"
#include "storage/move/tuple.h"
#include "storage/postgres/schema.h"
#include "storage/sqlite/copy.h"
#include "storage/sqlite/new_file.h"
#include "storage/sqlite/schema.h"

namespace hyperflock::storage {
namespace {

using move::Table;

// SQLite stores the two zeros as one.
std::string with_one_zero(const Table& table, std::string_view tuple) {
  std::string out;
  move::Fields fields(tuple);
  move::begin_tuple(out, fields.count());
  move::Field field;
  for (std::size_t i = 0; fields.next(field); ++i) {
    if (field.null) {
      move::append_null(out);
    } else if (table.columns.at(i).kind == move::Kind::real && move::real_of(field) == 0) {
      move::append_real(out, 0);
    } else {
      move::append_bytes(out, field.bytes);
    }
  }
  return out;
}

class Exporter {
 public:
  Exporter(const PostgresPlace& from, const std::string& target, const std::function<void()>& begun,
           const MoveControl& control)
      : target_(target),
        tables_(move::newest_tables()),
        db_(move::client_settings(from)),
        begun_(begun),
        control_(control) {
    moved_.place = move::shown_place(from);
    moved_.tables = std::ssize(tables_);
  }

  Result<Moved> run() {
    sql::Transaction snapshot(db_, sql::Access::read);
    TRY(check_source());  // its first statement fixes the moment
    begun_();
    sqlite::NewFile created(target_);
    if (!created.create()) return sqlite::copy_error(target_, errno);
    {
      move::SqliteFile file(target_, move::SqliteFile::Use::create);
      file.run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
      for (const sqlite::Migration& migration : sqlite::migrations()) file.run(migration.sql);
      const std::string triggers = drop_triggers(file);
      for (const Table& table : tables_) TRY(copy(file, table));
      file.run(triggers);
      set_counters(file);
      file.run("PRAGMA user_version = " + std::to_string(sqlite::migrations().back().version) +
               "; PRAGMA application_id = " + sqlite::kApplicationId + "; COMMIT");
    }
    if (!created.sync()) return sqlite::copy_error(target_, errno);
    created.keep();
    return std::move(moved_);
  }

 private:
  Status check_source() {
    const std::int64_t version = move::schema_version(db_);
    const std::int64_t newest = postgres::migrations().back().version;
    const std::string where = "The database (" + moved_.place + ")";
    if (version == 0) {
      return Error{"storage_open",
                   where + " has no tables of a server: name the one that `serve` was given."};
    }
    if (version != newest) {
      return Error{version > newest ? "storage_too_new" : "storage_too_old",
                   where + " has schema version " + std::to_string(version) +
                       ", this program knows " + std::to_string(newest) + ": " +
                       (version > newest ? "take a newer hyperflock-server."
                                         : "start hyperflock-server with it once.")};
    }
    if (const std::string why = move::difference(db_, tables_); !why.empty())
      return Error{"storage_open", "The tables of both databases differ: " + why + "."};
    return {};
  }

  // The totals are rows, which are copied. Returns the text that makes the triggers again.
  static std::string drop_triggers(move::SqliteFile& file) {
    std::string made_by;
    std::string drops;
    {
      const auto rows =
          file.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid");
      const auto text = [&](int column) {
        return std::string(reinterpret_cast<const char*>(sqlite3_column_text(rows.get(), column)));
      };
      while (sqlite3_step(rows.get()) == SQLITE_ROW) {
        drops += "DROP TRIGGER \"" + text(0) + "\";";
        made_by += text(1) + ";\n";
      }
    }
    file.run(drops);
    return made_by;
  }

  Status copy(move::SqliteFile& file, const Table& table) {
    MoveProgress progress{.table = table.name};
    file.run("DELETE FROM \"" + table.name + '"');
    move::RowSum sent;
    {
      move::TableWriter rows(file, table);
      move::CopyStream stream;
      const auto add = [&](std::string_view tuple) {
        const std::string row = with_one_zero(table, tuple);
        sent.add(row);
        rows.add(row);
        progress.rows = sent.rows();
        if (progress.rows % move::kControlRows == 0) move::go_on(control_(progress));
      };
      db_.copy_out(
          "COPY \"" + table.name + "\" (" + table.column_list() + ") TO STDOUT (FORMAT binary)",
          [&](std::string_view piece) { stream.feed(piece, add); });
    }
    move::RowSum written;
    move::TableReader rows(file, table);
    const move::Replace keep = [](std::string_view text, const std::string&) {
      return std::string(text);
    };
    std::string tuple;
    for (; rows.next(tuple, keep); tuple.clear()) written.add(tuple);
    if (written != sent) {
      return Error{"backup_failed",
                   "The table " + table.name + " was written to " + target_ +
                       " with other rows than the database sent: look at the disk."};
    }
    moved_.rows += sent.rows();
    progress.rows = sent.rows();
    return control_(progress);
  }

  // SQLite's counters also know ids of rows that are gone.
  void set_counters(move::SqliteFile& file) {
    for (const auto& [table, column] : move::counted_columns(db_)) {
      const auto known = std::ranges::find(tables_, table, &Table::name);
      if (known == tables_.end() || !known->counts_ids) continue;
      const auto last =
          move::lines(db_, "SELECT coalesce(pg_sequence_last_value(CAST(pg_get_serial_sequence('" +
                               table + "', '" + column + "') AS regclass)), 0)");
      if (last.empty() || last.front() == "0") continue;
      file.run("DELETE FROM sqlite_sequence WHERE name = '" + table +
               "'; INSERT INTO sqlite_sequence (name, seq) VALUES ('" + table + "', max(" +
               last.front() + ", (SELECT coalesce(max(\"" + column + "\"), 0) FROM \"" + table +
               "\")))");
    }
  }

  const std::string target_;
  const std::vector<Table> tables_;
  postgres::Client db_;
  const std::function<void()>& begun_;
  const MoveControl& control_;
  Moved moved_;
};

}  // namespace

Result<Moved> copy_from_postgres(const PostgresPlace& from, const std::string& target,
                                 const std::function<void()>& begun, const MoveControl& control) {
  const std::string place = move::shown_place(from);
  try {
    return Exporter(from, target, begun, control).run();
  } catch (const move::Stopped& stopped) {
    return stopped.error;
  } catch (const postgres::ConnectionLost& lost) {
    return postgres::unreachable(lost, place);
  } catch (const postgres::PgError& error) {
    return Error{"backup_failed", "Cannot read the database (" + place + "): " + error.what() +
                                      ". Look at its log."};
  } catch (const sqlite::SqliteError& error) {
    return sqlite::copy_error(target, (error.code() & 0xff) == SQLITE_FULL ? ENOSPC : 0,
                              error.what());
  }
}

}  // namespace hyperflock::storage
