// Small RAII classes over the SQLite C API: a connection with cached prepared statements, a running
// query, a transaction.
//
//   Query q = db.query("SELECT name FROM t WHERE id = ?", id);
//   while (q.next()) use(q.text(0));
//
// A Db belongs to one thread at a time, because it is opened without SQLite's own mutex. Failures
// are thrown as SqliteError and become Results at the Storage interface, so nothing above storage/
// sees them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

struct sqlite3;
struct sqlite3_stmt;

namespace hyperflock::storage::sqlite {

class SqliteError : public std::runtime_error {
 public:
  SqliteError(int code, const std::string& what) : std::runtime_error(what), code_(code) {}
  int code() const { return code_; }  // SQLite's extended result code

 private:
  int code_;
};

// SQL text that must be a string literal, so it lives for ever. Its address is the cache key.
class Sql {
 public:
  consteval Sql(const char* text) : text_(text) {}  // NOLINT(google-explicit-constructor)
  const char* text() const { return text_; }

 private:
  const char* text_;
};

// Bytes that are bound as a BLOB.
struct Blob {
  std::string_view bytes;
};

// A running prepared statement; the destructor resets it. Bound texts must live as long as the
// query.
class Query {
 public:
  explicit Query(sqlite3_stmt* statement) : statement_(statement) {}
  ~Query();
  Query(Query&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)) {}
  Query& operator=(Query&&) = delete;

  // Steps to the next row. Returns false at the end.
  bool next();

  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string_view text(int column) const;  // also of a BLOB; valid until next()
  bool null(int column) const;
  std::optional<std::int64_t> maybe_integer(int column) const;

 private:
  friend class Db;

  void bind(int index, std::int64_t value);
  void bind(int index, double value);
  void bind(int index, std::string_view value);
  void bind(int index, Blob value);
  void bind(int index, std::nullopt_t);
  template <typename T>
    requires(std::is_integral_v<T> || std::is_enum_v<T>)
  void bind(int index, T value) {
    bind(index, static_cast<std::int64_t>(value));
  }
  void bind(int index, const std::string& value) { bind(index, std::string_view(value)); }
  template <typename T>
  void bind(int index, const std::optional<T>& value) {
    if (value) {
      bind(index, *value);
    } else {
      bind(index, std::nullopt);
    }
  }
  void check(int code) const;

  sqlite3_stmt* statement_;
};

class Db {
 public:
  // `immutable`: a whole file that nothing changes meanwhile. Nothing is written next to it.
  enum class Mode { read_write, read_only, immutable };

  Db(const std::string& path, Mode mode);
  ~Db();
  Db(const Db&) = delete;
  Db& operator=(const Db&) = delete;

  // Starts a query with these arguments. REQUIRES: no other query of the same text runs on this
  // connection.
  template <typename... Args>
  Query query(Sql sql, const Args&... args) {
    Query query(prepared(sql, sizeof...(Args)));
    int index = 0;
    (query.bind(++index, args), ...);
    return query;
  }

  // Runs a statement to its end. Returns how many rows it changed.
  template <typename... Args>
  int run(Sql sql, const Args&... args) {
    Query running = query(sql, args...);
    while (running.next()) {
    }
    return changes();
  }

  // Returns the rowid of the newest row that this connection inserted.
  std::int64_t last_id() const;

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

  // Returns whether a transaction is open.
  bool in_transaction() const;

 private:
  sqlite3_stmt* prepared(Sql sql, std::size_t parameters);
  int changes() const;

  struct Close {
    void operator()(sqlite3* db) const;
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::int64_t log_pages_ = 0;  // set by SQLite's hook, so a Db never moves
  // The connection is declared before the statements, so that the statements are destroyed first.
  std::unique_ptr<sqlite3, Close> db_;
  std::unordered_map<const char*, std::unique_ptr<sqlite3_stmt, Finalize>> statements_;
};

// A transaction. The destructor rolls it back unless it was committed.
class Transaction {
 public:
  enum class Kind {
    read,   // one consistent view over several queries
    write,  // takes the write lock at once, so that it never has to be upgraded
  };

  Transaction(Db& db, Kind kind);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit();

 private:
  Db& db_;
};

}  // namespace hyperflock::storage::sqlite
