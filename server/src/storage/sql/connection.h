// What the code of the back ends that speak SQL needs from a database: a connection with prepared
// statements, a running query, a transaction.
//
//   Query q = db.query("SELECT name FROM t WHERE id = ?", id);
//   while (q.next()) use(q.text(0));
//
// The SQL is the common part of the dialects of SQLite and PostgreSQL, with SQLite's parameters. A
// statement that the dialects do not share has a second text for PostgreSQL; what is translated is
// in postgres/dialect.h. A Connection belongs to one thread at a time. Failures are thrown as
// DbError and become Results at the Storage interface, so nothing above storage/ sees them.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace hyperflock::storage::sql {

class DbError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// SQL text that must be a string literal, so it lives for ever. Its address is the cache key.
class Sql {
 public:
  consteval Sql(const char* text) : text_(text) {}  // NOLINT(google-explicit-constructor)
  consteval Sql(const char* text, const char* postgres) : text_(text), postgres_(postgres) {}
  const char* text() const { return text_; }
  // Returns the text for PostgreSQL; nullptr if it is translated from text().
  const char* postgres() const { return postgres_; }

 private:
  const char* text_;
  const char* postgres_ = nullptr;
};

// Bytes that are bound as a BLOB.
struct Blob {
  std::string_view bytes;
};

enum class Type { integer, real, text, blob };

// A prepared statement of a connection, which owns it.
class Statement {
 public:
  virtual ~Statement() = default;

  // Bound texts must live until the statement was reset or sent.
  virtual void bind(int index, std::int64_t value) = 0;
  virtual void bind(int index, double value) = 0;
  virtual void bind(int index, std::string_view value) = 0;
  virtual void bind(int index, Blob value) = 0;
  virtual void bind_null(int index, Type type) = 0;

  // Runs the statement until its next row. Returns false at the end.
  virtual bool step() = 0;
  virtual void reset() noexcept = 0;
  // Runs the statement to its end. Its failure may be thrown later, at the latest by the commit.
  virtual void run_soon() = 0;

  virtual std::int64_t integer(int column) const = 0;
  virtual double real(int column) const = 0;
  virtual std::string_view text(int column) const = 0;  // also of a BLOB; valid until step()
  virtual bool null(int column) const = 0;
};

// A running prepared statement; the destructor resets it. Bound texts must live as long as the
// query.
class Query {
 public:
  explicit Query(Statement* statement) : statement_(statement) {}
  ~Query() {
    if (statement_ != nullptr) statement_->reset();
  }
  Query(Query&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)) {}
  Query& operator=(Query&&) = delete;

  // Steps to the next row. Returns false at the end.
  bool next() { return statement_->step(); }

  std::int64_t integer(int column) const { return statement_->integer(column); }
  double real(int column) const { return statement_->real(column); }
  std::string_view text(int column) const { return statement_->text(column); }
  bool null(int column) const { return statement_->null(column); }
  std::optional<std::int64_t> maybe_integer(int column) const {
    if (null(column)) return std::nullopt;
    return integer(column);
  }

 private:
  friend class Connection;

  template <typename T>
  static constexpr Type type_of() {
    if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      return Type::integer;
    } else if constexpr (std::is_floating_point_v<T>) {
      return Type::real;
    } else if constexpr (std::is_same_v<T, Blob>) {
      return Type::blob;
    } else {
      return Type::text;
    }
  }

  template <typename T>
  void bind(int index, const T& value) {
    if constexpr (type_of<T>() == Type::integer) {
      statement_->bind(index, static_cast<std::int64_t>(value));
    } else if constexpr (type_of<T>() == Type::text) {
      statement_->bind(index, std::string_view(value));
    } else {
      statement_->bind(index, value);
    }
  }
  template <typename T>
  void bind(int index, const std::optional<T>& value) {
    if (value) {
      bind(index, *value);
    } else {
      statement_->bind_null(index, type_of<T>());
    }
  }

  Statement* statement_;
};

enum class Access {
  read,   // one consistent view over several queries
  write,  // takes the write lock at once, so that it never has to be upgraded
};

class Connection {
 public:
  virtual ~Connection() = default;

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

  // Runs a statement whose number of changed rows nobody needs. Its failure may be thrown later, at
  // the latest by the commit.
  template <typename... Args>
  void post(Sql sql, const Args&... args) {
    Query posted = query(sql, args...);
    posted.statement_->run_soon();
  }

  // Returns the id that the database gave to the newest row that this connection inserted.
  virtual std::int64_t last_id() = 0;

  virtual void begin(Access access) = 0;
  virtual void commit() = 0;
  virtual void roll_back() = 0;
  // Returns whether a transaction is open.
  virtual bool in_transaction() const = 0;
  // Returns false if the connection was lost.
  virtual bool usable() const { return true; }

 protected:
  virtual Statement* prepared(Sql sql, std::size_t parameters) = 0;
  virtual int changes() const = 0;
};

// A transaction. The destructor rolls it back unless it was committed.
class Transaction {
 public:
  using Kind = Access;

  Transaction(Connection& db, Kind kind) : db_(db) { db_.begin(kind); }
  ~Transaction() {
    // Some failures (such as a full disk) have rolled back the transaction already. If the rollback
    // below fails, there is nothing left to do.
    if (!db_.in_transaction()) return;
    try {
      db_.roll_back();
    } catch (const DbError&) {
    }
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit() { db_.commit(); }

 private:
  Connection& db_;
};

}  // namespace hyperflock::storage::sql
