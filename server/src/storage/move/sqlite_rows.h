// Reads and writes all rows of tables of SQLite, as tuples (tuple.h). One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "storage/move/tables.h"

struct sqlite3;
struct sqlite3_stmt;

namespace hyperflock::storage::move {

struct CloseSqlite {
  void operator()(sqlite3* db) const;
};
struct FinalizeSqlite {
  void operator()(sqlite3_stmt* statement) const;
};
using SqliteHandle = std::unique_ptr<sqlite3, CloseSqlite>;
using SqliteStatement = std::unique_ptr<sqlite3_stmt, FinalizeSqlite>;

// A connection for statements whose text is made of the schema. Each function throws
// sqlite::SqliteError.
class SqliteFile {
 public:
  enum class Use { read, create };
  // To read, the file must exist, and nothing may write to it meanwhile.
  SqliteFile(const std::string& path, Use use);

  void run(const std::string& script);
  // Returns the first column of the first row, or 0.
  std::int64_t number(const std::string& sql);
  SqliteStatement prepare(const std::string& sql);

 private:
  SqliteHandle db_;
};

// Returns a text of a row in place of one that the other database cannot store. `where` names the
// table, the column and the row.
using Replace = std::function<std::string(std::string_view text, const std::string& where)>;

// Reads the rows of a table, in no order.
class TableReader {
 public:
  TableReader(SqliteFile& file, const Table& table);
  // Appends the next row's tuple. Returns false at the end. Calls `replace` with each text that
  // PostgreSQL does not store.
  bool next(std::string& tuple, const Replace& replace);

 private:
  std::string where(int column) const;
  std::string_view bytes(int column) const;

  const Table& table_;
  SqliteStatement rows_;
};

// Writes rows to a table.
class TableWriter {
 public:
  TableWriter(SqliteFile& file, const Table& table);
  void add(std::string_view tuple);

 private:
  const Table& table_;
  SqliteStatement insert_;
};

}  // namespace hyperflock::storage::move
