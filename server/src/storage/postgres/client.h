// A connection to PostgreSQL with cached prepared statements; see sql/connection.h.
//
// All statements go through libpq's pipeline: post() and Prepared::send() only send, and the
// answers are read when a result is needed. A Client belongs to one thread at a time.
#pragma once

#include <libpq-fe.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "storage/postgres/arrays.h"
#include "storage/postgres/dialect.h"
#include "storage/sql/connection.h"

namespace hyperflock::storage::postgres {

class PgError : public sql::DbError {
 public:
  PgError(std::string state, const std::string& what) : DbError(what), state_(std::move(state)) {}
  const std::string& state() const { return state_; }  // SQLSTATE; empty: there is none

 private:
  std::string state_;
};

// The connection was lost, or could not be made.
class ConnectionLost : public PgError {
 public:
  ConnectionLost(std::string code, const std::string& what)
      : PgError("", what), code_(std::move(code)) {}
  // The code of the error that the server reports if it cannot start because of it.
  const std::string& code() const { return code_; }

 private:
  std::string code_;
};

// Returns the error of a start or a command that cannot use the database at `place` because of it.
Error unreachable(const ConnectionLost& lost, const std::string& place);

// The connection was lost during the commit, and it could not be found out whether the database has
// committed.
class FateUnknown : public ConnectionLost {
 public:
  using ConnectionLost::ConnectionLost;
};

struct ClientSettings {
  std::string url;
  std::string password;  // empty: as libpq finds one (PGPASSWORD, PGPASSFILE)
  std::string name;      // application_name, which the database's own views show
  int statement_timeout_ms = 30'000;
};

class Client final : public sql::Connection {
 public:
  class Prepared;

  // Connects. Throws ConnectionLost.
  explicit Client(ClientSettings settings);
  ~Client() override;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Connects again. Throws ConnectionLost.
  void reconnect();

  std::int64_t last_id() override;
  void begin(sql::Access access) override;
  void commit() override;
  void roll_back() override;
  bool in_transaction() const override { return open_; }
  bool usable() const override;
  // Reads what has arrived, and returns whether the connection still stands. Does not wait.
  // REQUIRES: no answer is awaited.
  bool stands();

  // Runs a script of statements without parameters.
  void exec(const std::string& script);
  // Runs `COPY ... FROM STDIN`. `more` appends bytes to a text, and returns false if they were the
  // last. If it throws, nothing is copied, and the transaction has failed.
  void copy_in(const std::string& command, const std::function<bool(std::string&)>& more);
  // Runs `COPY ... TO STDOUT`. If `use` throws, the connection is closed.
  void copy_out(const std::string& command, const std::function<void(std::string_view)>& use);

  // Returns the statement for this SQL, which is PostgreSQL's own.
  Prepared& statement(sql::Sql sql);
  // Reads all answers. Throws the first error.
  void finish();

  // Is called before each statement that uses tables of leases, unless a Direct exists.
  std::function<void(LeaseUse)> before_leases;
  // Finds out whether the transaction was committed, after the connection was lost during the
  // commit. Throws FateUnknown.
  std::function<bool()> was_committed;

  // While it exists, before_leases is not called.
  class Direct {
   public:
    explicit Direct(Client& client) : client_(client), before_(client.direct_) {
      client_.direct_ = true;
    }
    ~Direct() { client_.direct_ = before_; }
    Direct(const Direct&) = delete;
    Direct& operator=(const Direct&) = delete;

   private:
    Client& client_;
    const bool before_;
  };

 private:
  struct Disconnect {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
  };
  using Answer = std::unique_ptr<PGresult, Clear>;
  // What an answer belongs to.
  struct Sent {
    enum class What { prepare, run, text } what = What::text;
    Prepared* statement = nullptr;
  };

  sql::Statement* prepared(sql::Sql sql, std::size_t parameters) override;
  int changes() const override { return changes_; }
  void send_text(const char* sql);
  // Return the answer of a command that is sent outside of the pipeline, and go back to it.
  Answer outside_pipeline(const std::string& command);
  void back_to_pipeline(const Answer& answer);
  void send(Prepared& statement);
  [[noreturn]] void lost();
  Answer next_answer();

  const ClientSettings settings_;
  std::unique_ptr<PGconn, Disconnect> connection_;
  std::unordered_map<const char*, std::unique_ptr<Prepared>> statements_;
  std::deque<Sent> sent_;
  bool open_ = false;
  bool direct_ = false;
  int changes_ = 0;
  std::string last_tag_;  // of the newest answer
};

class Client::Prepared final : public sql::Statement {
 public:
  Prepared(Client& client, std::string name, std::string text);

  void bind(int index, std::int64_t value) override;
  void bind(int index, double value) override;
  void bind(int index, std::string_view value) override;
  void bind(int index, sql::Blob value) override;
  void bind_null(int index, sql::Type type) override;
  void bind(int index, const Array& values);

  bool step() override;
  void reset() noexcept override;
  void run_soon() override;
  // Sends the statement, so that a later step() finds its answer.
  void send();
  // Reads the answer if it is not read yet. Returns how many rows were changed or read.
  int rows();

  std::int64_t integer(int column) const override;
  double real(int column) const override;
  std::string_view text(int column) const override;
  bool null(int column) const override;

 private:
  friend class Client;
  enum class State { unprepared, preparing, ready };

  struct Parameter {
    Oid type = 0;
    std::int64_t number = 0;   // big-endian bytes of an integer or a real
    std::string_view bytes{};  // the caller's
    std::string own{};         // the bytes, if they are not the caller's
    bool is_null = true;
    bool is_number = false;
    bool is_own = false;
    // A view of `own` is made late, because the vector of parameters grows and moves them.
    std::string_view view() const { return is_own ? own : bytes; }
  };
  Parameter& parameter(int index, Oid type);

  Client& client_;
  const std::string name_;
  const std::string text_;
  const LeaseUse use_;
  State state_ = State::unprepared;
  std::vector<Parameter> parameters_;
  bool wants_answer_ = false;  // it was sent, and its answer is kept
  Answer answer_;
  int row_ = -1;
};

// What a URL of a database has.
struct UrlParts {
  std::string place;  // host, port, database and user, for messages
  bool has_password = false;
};
// Returns nullopt if the URL is invalid.
std::optional<UrlParts> parts_of(const std::string& url);

}  // namespace hyperflock::storage::postgres
