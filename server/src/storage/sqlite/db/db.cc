// RAII over the SQLite C API: see db.h.
#include "storage/sqlite/db/db.h"

#include <sqlite3.h>

#include "base/disk_full.h"

namespace hyperflock::storage::sqlite {
namespace {

// Returns whether a system call failed because of a full disk, a quota or a limit of the file's
// size. SQLite reports only the first of these as SQLITE_FULL, and only while it writes.
bool is_full(sqlite3* db, int code) {
  if ((code & 0xff) != SQLITE_IOERR && (code & 0xff) != SQLITE_CANTOPEN) return false;
  const int error = sqlite3_system_errno(db);
  return means_no_room(error);
}

[[noreturn]] void fail(sqlite3* db, int code) {
  if (db == nullptr) throw SqliteError(code, sqlite3_errstr(code));
  code = sqlite3_extended_errcode(db);
  throw SqliteError(is_full(db, code) ? SQLITE_FULL : code, sqlite3_errmsg(db));
}

std::string immutable_uri(const std::string& path) {
  constexpr const char* kDigits = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      uri += '%';
      uri += kDigits[c >> 4];
      uri += kDigits[c & 15];
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

class Db::Prepared final : public sql::Statement {
 public:
  explicit Prepared(sqlite3_stmt* statement) : statement_(statement) {}

  void bind(int index, std::int64_t value) override {
    check(sqlite3_bind_int64(statement_.get(), index, value));
  }
  void bind(int index, double value) override {
    check(sqlite3_bind_double(statement_.get(), index, value));
  }
  void bind(int index, std::string_view value) override {
    // A null pointer would bind NULL instead of an empty text.
    check(sqlite3_bind_text64(statement_.get(), index, value.data() == nullptr ? "" : value.data(),
                              value.size(), SQLITE_STATIC, SQLITE_UTF8));
  }
  void bind(int index, Blob value) override {
    check(sqlite3_bind_blob64(statement_.get(), index,
                              value.bytes.data() == nullptr ? "" : value.bytes.data(),
                              value.bytes.size(), SQLITE_STATIC));
  }
  void bind_null(int index, sql::Type) override {
    check(sqlite3_bind_null(statement_.get(), index));
  }

  bool step() override {
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    fail(sqlite3_db_handle(statement_.get()), code);
  }
  void reset() noexcept override { sqlite3_reset(statement_.get()); }
  void run_soon() override {
    while (step()) {
    }
  }

  std::int64_t integer(int column) const override {
    return sqlite3_column_int64(statement_.get(), column);
  }
  double real(int column) const override { return sqlite3_column_double(statement_.get(), column); }
  std::string_view text(int column) const override {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
    const int size = sqlite3_column_bytes(statement_.get(), column);
    return bytes == nullptr ? std::string_view{}
                            : std::string_view{bytes, static_cast<std::size_t>(size)};
  }
  bool null(int column) const override {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
  }

  bool runs() const { return sqlite3_stmt_busy(statement_.get()) != 0; }
  int parameters() const { return sqlite3_bind_parameter_count(statement_.get()); }

 private:
  void check(int code) const {
    if (code != SQLITE_OK) fail(sqlite3_db_handle(statement_.get()), code);
  }

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

void Db::Close::operator()(sqlite3* db) const { sqlite3_close_v2(db); }

Db::Db(const std::string& path, Mode mode) {
  sqlite3* opened = nullptr;
  int flags = SQLITE_OPEN_NOMUTEX;
  if (mode == Mode::immutable) {
    flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  } else {
    // A reader uses the shared memory of the write-ahead log, so it opens the file for writing.
    // SQLite then forbids it to write.
    flags |= SQLITE_OPEN_READWRITE | (mode == Mode::read_write ? SQLITE_OPEN_CREATE : 0);
  }
  const std::string name = mode == Mode::immutable ? immutable_uri(path) : path;
  const int code = sqlite3_open_v2(name.c_str(), &opened, flags, nullptr);
  db_.reset(opened);  // SQLite gives a handle also on failure, for the message
  if (code != SQLITE_OK) fail(opened, code);
  sqlite3_extended_result_codes(opened, 1);
  set_busy_timeout(kBusyTimeoutMs);
  if (mode == Mode::read_only) exec("PRAGMA query_only = ON");
}

Db::~Db() = default;

sql::Statement* Db::prepared(Sql sql, std::size_t parameters) {
  auto& cached = statements_[sql.text()];
  if (!cached) {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v3(db_.get(), sql.text(), -1, SQLITE_PREPARE_PERSISTENT,
                                        &statement, nullptr);
    if (code != SQLITE_OK) fail(db_.get(), code);
    cached = std::make_unique<Prepared>(statement);
  }
  if (cached->runs()) throw std::logic_error(std::string("statement already runs: ") + sql.text());
  if (static_cast<std::size_t>(cached->parameters()) != parameters)
    throw std::logic_error(std::string("wrong number of parameters: ") + sql.text());
  return cached.get();
}

void Db::watch_log() {
  const auto hook = [](void* pages, sqlite3*, const char*, int count) {
    *static_cast<std::int64_t*>(pages) = count;
    return SQLITE_OK;
  };
  sqlite3_wal_hook(db_.get(), hook, &log_pages_);
}

void Db::set_busy_timeout(int timeout_ms) { sqlite3_busy_timeout(db_.get(), timeout_ms); }
std::int64_t Db::last_id() { return sqlite3_last_insert_rowid(db_.get()); }

int Db::changes() const { return sqlite3_changes(db_.get()); }
bool Db::in_transaction() const { return sqlite3_get_autocommit(db_.get()) == 0; }

void Db::exec(const std::string& script) {
  const int code = sqlite3_exec(db_.get(), script.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(db_.get(), code);
}

std::string Db::single(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(db_.get(), sql.c_str(), -1, &statement, nullptr);
  if (code != SQLITE_OK) fail(db_.get(), code);
  Prepared prepared(statement);
  return prepared.step() ? std::string(prepared.text(0)) : std::string();
}

void Db::begin(sql::Access access) {
  if (access == sql::Access::write) {
    run("BEGIN IMMEDIATE");
  } else {
    run("BEGIN DEFERRED");
  }
}
void Db::commit() { run("COMMIT"); }
void Db::roll_back() { run("ROLLBACK"); }

}  // namespace hyperflock::storage::sqlite
