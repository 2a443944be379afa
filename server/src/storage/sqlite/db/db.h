// A connection to SQLite with cached prepared statements; see sql/connection.h.
//
// A Db is opened without SQLite's own mutex. Failures are thrown as SqliteError.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "storage/sql/connection.h"

struct sqlite3;
struct sqlite3_stmt;

namespace hyperflock::storage::sqlite {

using sql::Blob;
using sql::Connection;
using sql::Query;
using sql::Sql;
using sql::Transaction;

class SqliteError : public sql::DbError {
 public:
  SqliteError(int code, const std::string& what) : DbError(what), code_(code) {}
  int code() const { return code_; }  // SQLite's extended result code

 private:
  int code_;
};

class Db final : public Connection {
 public:
  // `immutable`: a whole file that nothing changes meanwhile. Nothing is written next to it.
  enum class Mode { read_write, read_only, immutable };

  Db(const std::string& path, Mode mode);
  ~Db() override;
  Db(const Db&) = delete;
  Db& operator=(const Db&) = delete;

  // Returns the rowid of the newest row that this connection inserted.
  std::int64_t last_id() override;
  void begin(sql::Access access) override;
  void commit() override;
  void roll_back() override;
  bool in_transaction() const override;

  // Runs a script of statements without parameters.
  void exec(const std::string& script);
  // Returns the first column of the first row.
  std::string single(const std::string& sql);

  // Sets how long a statement waits for a lock of another process (a backup, an operator's shell).
  void set_busy_timeout(int timeout_ms);
  static constexpr int kBusyTimeoutMs = 5'000;

  // Makes log_pages() return the length of the write-ahead log from now on, and stops SQLite from
  // copying the log to the database by itself.
  void watch_log();
  std::int64_t log_pages() const { return log_pages_; }

 private:
  class Prepared;

  sql::Statement* prepared(Sql sql, std::size_t parameters) override;
  int changes() const override;

  struct Close {
    void operator()(sqlite3* db) const;
  };
  std::int64_t log_pages_ = 0;  // set by SQLite's hook, so a Db never moves
  // The connection is declared before the statements, so that the statements are destroyed first.
  std::unique_ptr<sqlite3, Close> db_;
  std::unordered_map<const char*, std::unique_ptr<Prepared>> statements_;
};

}  // namespace hyperflock::storage::sqlite
