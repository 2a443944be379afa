// See sqlite_rows.h.
#include "storage/move/sqlite_rows.h"

#include <sqlite3.h>

#include <cerrno>
#include <optional>

#include "base/disk_full.h"
#include "storage/move/tuple.h"
#include "storage/postgres/arrays.h"

namespace hyperflock::storage::move {
namespace {

[[noreturn]] void throw_error_of(sqlite3* db, int code) {
  if (db == nullptr) throw sqlite::SqliteError(code, sqlite3_errstr(code));
  const int error = sqlite3_system_errno(db);
  const bool full = (code & 0xff) == SQLITE_IOERR && means_no_room(error);
  throw sqlite::SqliteError(full ? SQLITE_FULL : code, sqlite3_errmsg(db));
}

void expect_done(sqlite3_stmt* statement, int code) {
  if (code != SQLITE_DONE && code != SQLITE_OK) throw_error_of(sqlite3_db_handle(statement), code);
}

}  // namespace

void CloseSqlite::operator()(sqlite3* db) const { sqlite3_close_v2(db); }
void FinalizeSqlite::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

SqliteFile::SqliteFile(const std::string& path, Use use) {
  sqlite3* opened = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  db_.reset(opened);
  if (code != SQLITE_OK) throw_error_of(opened, code);
  sqlite3_busy_timeout(opened, sqlite::Db::kBusyTimeoutMs);
  if (use == Use::read) run("PRAGMA query_only = ON");
}

void SqliteFile::run(const std::string& script) {
  const int code = sqlite3_exec(db_.get(), script.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) throw_error_of(db_.get(), code);
}

std::int64_t SqliteFile::number(const std::string& sql) {
  const SqliteStatement row = prepare(sql);
  const int code = sqlite3_step(row.get());
  if (code == SQLITE_ROW) return sqlite3_column_int64(row.get(), 0);
  expect_done(row.get(), code);
  return 0;
}

SqliteStatement SqliteFile::prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(db_.get(), sql.c_str(), -1, &statement, nullptr);
  if (code != SQLITE_OK) throw_error_of(db_.get(), code);
  return SqliteStatement(statement);
}

// ---- reading

TableReader::TableReader(SqliteFile& file, const Table& table)
    : table_(table),
      rows_(file.prepare("SELECT " + table.column_list() + " FROM \"" + table.name + '"')) {}

std::string_view TableReader::bytes(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(rows_.get(), column));
  const int size = sqlite3_column_bytes(rows_.get(), column);
  return data == nullptr ? std::string_view{}
                         : std::string_view{data, static_cast<std::size_t>(size)};
}

std::string TableReader::where(int column) const {
  std::string key;
  for (std::size_t i = 0; i < table_.columns.size(); ++i) {
    if (!table_.columns[i].is_key) continue;
    key += (key.empty() ? "" : "/") + std::string(bytes(static_cast<int>(i)));
  }
  return "the column " + table_.columns[static_cast<std::size_t>(column)].name + " of the row " +
         key + " of the table " + table_.name;
}

bool TableReader::next(std::string& tuple, const Replace& replace) {
  const int code = sqlite3_step(rows_.get());
  if (code != SQLITE_ROW) {
    expect_done(rows_.get(), code);
    return false;
  }
  begin_tuple(tuple, table_.columns.size());
  int index = 0;
  for (const Column& column : table_.columns) {
    const int place = index++;
    if (sqlite3_column_type(rows_.get(), place) == SQLITE_NULL) {
      append_null(tuple);
      continue;
    }
    switch (column.kind) {
      case Kind::integer:
        append_integer(tuple, sqlite3_column_int64(rows_.get(), place));
        break;
      case Kind::real:
        append_real(tuple, sqlite3_column_double(rows_.get(), place));
        break;
      case Kind::text: {
        const std::string_view text = bytes(place);
        if (postgres::storable(text)) {
          // The place is read first: it may convert numbers of the row to texts.
          const std::string own(text);
          append_bytes(tuple, replace(own, where(place)));
        } else {
          append_bytes(tuple, text);
        }
        break;
      }
      case Kind::bytes:
        append_bytes(tuple, bytes(place));
        break;
    }
  }
  return true;
}

// ---- writing

TableWriter::TableWriter(SqliteFile& file, const Table& table) : table_(table) {
  std::string marks;
  for (std::size_t i = 0; i < table.columns.size(); ++i) marks += i == 0 ? "?" : ", ?";
  insert_ = file.prepare("INSERT INTO \"" + table.name + "\" (" + table.column_list() +
                         ") VALUES (" + marks + ')');
}

void TableWriter::add(std::string_view tuple) {
  sqlite3_stmt* row = insert_.get();
  Fields fields(tuple);
  Field field;
  int place = 0;
  while (fields.next(field)) {
    const Column& column = table_.columns.at(static_cast<std::size_t>(place++));
    int code = SQLITE_OK;
    if (field.null) {
      code = sqlite3_bind_null(row, place);
    } else if (column.kind == Kind::integer) {
      code = sqlite3_bind_int64(row, place, integer_of(field));
    } else if (column.kind == Kind::real) {
      code = sqlite3_bind_double(row, place, real_of(field));
    } else if (column.kind == Kind::text) {
      code = sqlite3_bind_text64(row, place, field.bytes.data(), field.bytes.size(), SQLITE_STATIC,
                                 SQLITE_UTF8);
    } else {
      code = sqlite3_bind_blob64(row, place, field.bytes.data(), field.bytes.size(), SQLITE_STATIC);
    }
    expect_done(row, code);
  }
  const int code = sqlite3_step(row);
  sqlite3_reset(row);
  expect_done(row, code);
}

}  // namespace hyperflock::storage::move
