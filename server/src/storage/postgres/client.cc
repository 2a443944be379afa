// See client.h.
#include "storage/postgres/client.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace hyperflock::storage::postgres {
namespace {

constexpr int kBinary = 1;
constexpr std::string_view kNeverPrepared = "26000";  // SQLSTATE of an unknown statement

Oid oid(TypeId type) { return static_cast<Oid>(type); }

std::string state_of(const PGresult* result) {
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  return state == nullptr ? std::string() : std::string(state);
}

std::string trimmed(const char* message) {
  std::string text = message == nullptr ? "" : message;
  text.resize(
      std::min(text.size(), text.find("\n\t")));  // libpq's question whether the server runs
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::int64_t big_endian(const char* bytes, int size) {
  std::uint64_t value = 0;
  for (int i = 0; i < size; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  const int unused = 64 - 8 * size;  // the sign is in the highest bit that is used
  return static_cast<std::int64_t>(value << unused) >> unused;
}

// Reads a number of type `numeric`, which sums of integers have.
std::int64_t whole_numeric(const char* bytes) {
  const std::int64_t digits = big_endian(bytes, 2);
  const std::int64_t weight = big_endian(bytes + 2, 2);
  const bool negative = big_endian(bytes + 4, 2) != 0;
  std::int64_t value = 0;
  for (std::int64_t i = 0; i <= weight; ++i)  // in base 10,000
    value = value * 10'000 + (i < digits ? big_endian(bytes + 8 + 2 * i, 2) : 0);
  return negative ? -value : value;
}

}  // namespace

Error unreachable(const ConnectionLost& lost, const std::string& place) {
  return Error{lost.code(), "Cannot connect to the database (" + place + "): " + lost.what() +
                                (lost.code() == "postgres_password"
                                     ? ". Check the user and the password."
                                     : ". Check that it runs and is reachable from here.")};
}

std::optional<UrlParts> parts_of(const std::string& url) {
  if (!url.starts_with("postgres://") && !url.starts_with("postgresql://")) return std::nullopt;
  struct Free {
    void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
  };
  const std::unique_ptr<PQconninfoOption, Free> options(PQconninfoParse(url.c_str(), nullptr));
  if (!options) return std::nullopt;
  UrlParts parts;
  for (const PQconninfoOption* one = options.get(); one->keyword != nullptr; ++one) {
    const std::string_view keyword = one->keyword;
    if (one->val == nullptr || *one->val == '\0') continue;
    if (keyword == "password" || keyword == "sslpassword") parts.has_password = true;
    if (keyword == "host" || keyword == "port" || keyword == "dbname" || keyword == "user")
      parts.place += (parts.place.empty() ? "" : " ") + std::string(keyword) + '=' + one->val;
  }
  if (parts.place.empty()) parts.place = "the local server";
  return parts;
}

// ---- the connection

Client::Client(ClientSettings settings) : settings_(std::move(settings)) { reconnect(); }

Client::~Client() = default;

void Client::reconnect() {
  connection_.reset();
  sent_.clear();
  open_ = false;
  for (auto& [text, statement] : statements_) {
    statement->state_ = Prepared::State::unprepared;
    statement->wants_answer_ = false;
  }
  // A later setting replaces an earlier one, so the URL may change those before it.
  std::vector<std::pair<const char*, const char*>> all{
      {"connect_timeout", "10"},
      {"keepalives_idle", "15"},
      {"tcp_user_timeout", "30000"},
      {"dbname", settings_.url.c_str()},
      {"fallback_application_name", settings_.name.c_str()},
      {"client_encoding", "UTF8"},
  };
  if (!settings_.password.empty()) all.emplace_back("password", settings_.password.c_str());
  all.emplace_back(nullptr, nullptr);
  std::vector<const char*> keywords;
  std::vector<const char*> values;
  for (const auto& [keyword, value] : all) {
    keywords.push_back(keyword);
    values.push_back(value);
  }
  connection_.reset(PQconnectdbParams(keywords.data(), values.data(), /*expand_dbname=*/1));
  if (PQstatus(connection_.get()) != CONNECTION_OK) {
    const std::string why = trimmed(PQerrorMessage(connection_.get()));
    const bool refused = PQconnectionNeedsPassword(connection_.get()) != 0 ||
                         why.find("authentication failed") != std::string::npos ||
                         why.find("no password supplied") != std::string::npos;
    connection_.reset();
    throw ConnectionLost(refused ? "postgres_password" : "postgres_unreachable", why);
  }
  PQsetNoticeProcessor(connection_.get(), [](void*, const char*) {}, nullptr);
  if (PQenterPipelineMode(connection_.get()) != 1) lost();
  send_text(("SET statement_timeout = " + std::to_string(settings_.statement_timeout_ms)).c_str());
  // Plans are kept, and a table that is empty when its plan is made would be read as a whole for
  // ever. All that this server asks for is found by an index.
  for (const char* setting :
       {"SET jit = off", "SET plan_cache_mode = force_generic_plan", "SET enable_seqscan = off",
        "SET enable_hashjoin = off", "SET enable_mergejoin = off"})
    send_text(setting);
  finish();
}

bool Client::usable() const { return connection_ && PQstatus(connection_.get()) == CONNECTION_OK; }

bool Client::stands() { return usable() && PQconsumeInput(connection_.get()) == 1 && usable(); }

void Client::lost() {
  const std::string why = trimmed(PQerrorMessage(connection_.get()));
  connection_.reset();
  sent_.clear();
  open_ = false;
  throw ConnectionLost("postgres_unreachable", why.empty() ? "the connection was lost" : why);
}

void Client::send_text(const char* sql) {
  if (!usable()) lost();
  if (PQsendQueryParams(connection_.get(), sql, 0, nullptr, nullptr, nullptr, nullptr, kBinary) !=
      1)
    lost();
  sent_.push_back({});
}

void Client::send(Prepared& statement) {
  if (!usable()) lost();
  const auto count = static_cast<int>(statement.parameters_.size());
  if (statement.state_ == Prepared::State::unprepared) {
    std::vector<Oid> types;
    for (const auto& one : statement.parameters_) types.push_back(one.type);
    if (PQsendPrepare(connection_.get(), statement.name_.c_str(), statement.text_.c_str(), count,
                      types.data()) != 1)
      lost();
    statement.state_ = Prepared::State::preparing;
    sent_.push_back({Sent::What::prepare, &statement});
  }
  std::vector<const char*> values;
  std::vector<int> lengths;
  for (const auto& one : statement.parameters_) {
    if (one.is_null) {
      values.push_back(nullptr);
      lengths.push_back(0);
    } else if (one.is_number) {
      values.push_back(reinterpret_cast<const char*>(&one.number));
      lengths.push_back(sizeof one.number);
    } else {
      const std::string_view bytes = one.view();
      values.push_back(bytes.data() == nullptr ? "" : bytes.data());
      lengths.push_back(static_cast<int>(bytes.size()));
    }
  }
  const std::vector<int> formats(statement.parameters_.size(), kBinary);
  if (PQsendQueryPrepared(connection_.get(), statement.name_.c_str(), count, values.data(),
                          lengths.data(), formats.data(), kBinary) != 1)
    lost();
  sent_.push_back({Sent::What::run, &statement});
}

Client::Answer Client::next_answer() {
  Answer answer(PQgetResult(connection_.get()));
  if (!answer || !usable()) lost();
  return answer;
}

void Client::finish() {
  if (!usable()) lost();
  if (PQpipelineSync(connection_.get()) != 1) lost();
  std::optional<PgError> failed;
  std::string tag;
  for (const Sent& one : std::exchange(sent_, {})) {
    Answer answer = next_answer();
    // A server that stops sends a second error.
    while (const Answer more{PQgetResult(connection_.get())}) {
    }
    if (!usable()) lost();
    const ExecStatusType status = PQresultStatus(answer.get());
    const bool good = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    if (!good && status != PGRES_PIPELINE_ABORTED && !failed)
      failed.emplace(state_of(answer.get()), trimmed(PQresultErrorMessage(answer.get())));
    if (one.what == Sent::What::prepare)
      one.statement->state_ = good ? Prepared::State::ready : Prepared::State::unprepared;
    tag = good ? PQcmdStatus(answer.get()) : "";
    if (one.what == Sent::What::run && one.statement->wants_answer_) {
      one.statement->wants_answer_ = false;
      if (good) one.statement->answer_ = std::move(answer);
    }
  }
  if (PQresultStatus(next_answer().get()) != PGRES_PIPELINE_SYNC) lost();
  last_tag_ = tag;
  if (failed) {
    // A pooler between this server and the database may forget statements. They are prepared again.
    if (failed->state() == kNeverPrepared) {
      for (auto& [text, statement] : statements_) statement->state_ = Prepared::State::unprepared;
    }
    throw PgError(*failed);
  }
}

std::int64_t Client::last_id() {
  sql::Query row = query("SELECT lastval()");
  row.next();
  return row.integer(0);
}

void Client::begin(sql::Access access) {
  send_text(access == sql::Access::write ? "BEGIN"
                                         : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  open_ = true;
}

void Client::commit() {
  finish();  // so that COMMIT is sent only if all statements were good
  bool sent = false;
  try {
    send_text("COMMIT");
    sent = true;
    finish();
  } catch (const ConnectionLost&) {
    if (!sent || !was_committed) throw;
    if (!was_committed()) throw;
    open_ = false;
    return;
  }
  open_ = false;
  if (last_tag_ != "COMMIT") throw PgError("40000", "the transaction was rolled back");
}

void Client::roll_back() {
  if (!usable()) return;  // a database rolls back what its lost connections had begun
  try {
    if (!sent_.empty()) finish();
  } catch (const ConnectionLost&) {
    return;
  } catch (const PgError&) {
    // It is rolled back.
  }
  send_text("ROLLBACK");
  finish();
  open_ = false;
}

Client::Answer Client::outside_pipeline(const std::string& command) {
  finish();
  if (PQexitPipelineMode(connection_.get()) != 1) lost();
  Answer answer(PQexec(connection_.get(), command.c_str()));
  if (!usable()) lost();
  return answer;
}

void Client::back_to_pipeline(const Answer& answer) {
  const bool good = PQresultStatus(answer.get()) == PGRES_COMMAND_OK ||
                    PQresultStatus(answer.get()) == PGRES_TUPLES_OK;
  const PgError error(state_of(answer.get()), trimmed(PQresultErrorMessage(answer.get())));
  if (PQenterPipelineMode(connection_.get()) != 1) lost();
  if (!good) throw PgError(error);
}

void Client::exec(const std::string& script) { back_to_pipeline(outside_pipeline(script)); }

sql::Statement* Client::prepared(sql::Sql sql, std::size_t) {
  auto& cached = statements_[sql.text()];
  if (!cached) {
    cached = std::make_unique<Prepared>(
        *this, "s" + std::to_string(statements_.size()),
        sql.postgres() != nullptr ? std::string(sql.postgres()) : translate(sql.text()));
  }
  return cached.get();
}

Client::Prepared& Client::statement(sql::Sql sql) {
  auto& cached = statements_[sql.text()];
  if (!cached) {
    cached =
        std::make_unique<Prepared>(*this, "s" + std::to_string(statements_.size()), sql.text());
  }
  cached->reset();
  return *cached;
}

// ---- a statement

Client::Prepared::Prepared(Client& client, std::string name, std::string text)
    : client_(client), name_(std::move(name)), text_(std::move(text)), use_(lease_use(text_)) {}

Client::Prepared::Parameter& Client::Prepared::parameter(int index, Oid type) {
  const auto place = static_cast<std::size_t>(index - 1);
  if (parameters_.size() <= place) parameters_.resize(place + 1);
  Parameter& one = parameters_[place];
  one.type = type;
  one.is_null = false;
  one.is_number = false;
  one.is_own = false;
  one.bytes = {};
  return one;
}

void Client::Prepared::bind(int index, std::int64_t value) {
  Parameter& one = parameter(index, oid(TypeId::int8));
  one.is_number = true;
  one.number = static_cast<std::int64_t>(__builtin_bswap64(static_cast<std::uint64_t>(value)));
}
void Client::Prepared::bind(int index, double value) {
  bind(index, std::bit_cast<std::int64_t>(value));
  parameters_[static_cast<std::size_t>(index - 1)].type = oid(TypeId::float8);
}
void Client::Prepared::bind(int index, std::string_view value) {
  Parameter& one = parameter(index, oid(TypeId::text));
  if (auto other = storable(value)) {
    one.own = *std::move(other);
    one.is_own = true;
  } else {
    one.bytes = value;
  }
}
void Client::Prepared::bind(int index, sql::Blob value) {
  parameter(index, oid(TypeId::bytes)).bytes = value.bytes;
}
void Client::Prepared::bind_null(int index, sql::Type type) {
  constexpr TypeId kTypes[] = {TypeId::int8, TypeId::float8, TypeId::text, TypeId::bytes};
  parameter(index, oid(kTypes[static_cast<int>(type)])).is_null = true;
}
void Client::Prepared::bind(int index, const Array& values) {
  static const std::string none(12, '\0');
  Parameter& one = parameter(index, oid(values.type()));
  if (values.size() > 0) {
    one.bytes = values.bytes();
    return;
  }
  one.own = none;  // no dimensions
  one.own.replace(8, 4, values.bytes(), 8, 4);
  one.is_own = true;
}

void Client::Prepared::send() {
  if ((use_.reads || use_.changes) && !client_.direct_ && client_.before_leases) {
    const Direct direct(client_);
    client_.before_leases(use_);
  }
  answer_.reset();
  row_ = -1;
  wants_answer_ = true;
  client_.send(*this);
}

int Client::Prepared::rows() {
  if (wants_answer_) client_.finish();
  if (!answer_) return 0;
  const char* count = PQcmdTuples(answer_.get());
  return *count == '\0' ? 0 : std::stoi(count);
}

bool Client::Prepared::step() {
  if (!answer_) {
    if (!wants_answer_) send();
    client_.changes_ = rows();
  }
  return ++row_ < PQntuples(answer_.get());
}

void Client::Prepared::reset() noexcept {
  answer_.reset();
  row_ = -1;
  wants_answer_ = false;
}

void Client::Prepared::run_soon() {
  send();
  wants_answer_ = false;
}

bool Client::Prepared::null(int column) const {
  return PQgetisnull(answer_.get(), row_, column) != 0;
}

std::string_view Client::Prepared::text(int column) const {
  if (null(column)) return {};
  return {PQgetvalue(answer_.get(), row_, column),
          static_cast<std::size_t>(PQgetlength(answer_.get(), row_, column))};
}

std::int64_t Client::Prepared::integer(int column) const {
  if (null(column)) return 0;
  const char* value = PQgetvalue(answer_.get(), row_, column);
  switch (static_cast<TypeId>(PQftype(answer_.get(), column))) {
    case TypeId::int8:
      return big_endian(value, 8);
    case TypeId::int4:
      return big_endian(value, 4);
    case TypeId::int2:
      return big_endian(value, 2);
    case TypeId::boolean:
      return *value;
    case TypeId::numeric:
      return whole_numeric(value);
    default:
      throw std::logic_error("not an integer: column " + std::to_string(column) + " of " + text_);
  }
}

double Client::Prepared::real(int column) const {
  if (null(column)) return 0;
  return std::bit_cast<double>(big_endian(PQgetvalue(answer_.get(), row_, column), 8));
}

}  // namespace hyperflock::storage::postgres
