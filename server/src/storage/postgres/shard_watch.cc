// Looks at the shard for a server that waits for it; see open.h.
#include <chrono>
#include <memory>
#include <utility>

#include "storage/postgres/client.h"
#include "storage/postgres/open.h"

namespace hyperflock::storage {
namespace {

using postgres::Client;
using postgres::PgError;
using SteadyClock = std::chrono::steady_clock;

constexpr const char* kUndefinedTable = "42P01";
constexpr int kLookTimeoutMs = 5'000;

class PostgresShardWatch final : public ShardWatch {
 public:
  explicit PostgresShardWatch(PostgresSettings settings) : settings_(std::move(settings)) {}

  Result<ShardSeen> look() override {
    try {
      if (!db_ || !db_->usable()) {
        db_ = std::make_unique<Client>(postgres::ClientSettings{
            settings_.url, settings_.password, "hyperflock spare", kLookTimeoutMs});
        connected_ = SteadyClock::now();
      }
      return seen();
    } catch (const PgError& error) {
      db_.reset();
      if (error.state() == kUndefinedTable) return ShardSeen{.may_take = true};
      return Error{"storage_unavailable", std::string("The database did not answer (") +
                                              error.what() +
                                              "): start it, the server then goes on by itself."};
    }
  }

 private:
  ShardSeen seen() {
    // The tables may be older than this server, and have no peer yet.
    auto& row = db_->statement(
        "SELECT server, server = $1 OR expires < clock_timestamp(), epoch,"
        " COALESCE(to_jsonb(shards) ->> 'peer', ''),"
        " COALESCE(to_jsonb(shards) ->> 'peer_secret', '') FROM shards WHERE project = ''");
    row.bind(1, std::string_view(settings_.server));
    if (!row.step()) return {.may_take = true};
    const auto settling = std::chrono::milliseconds(settings_.lease_ms / 2);
    const bool settled = SteadyClock::now() - connected_ >= settling;
    return {.may_take = settled && row.integer(1) != 0,
            .server = std::string(row.text(0)),
            .epoch = row.integer(2),
            .peer = {std::string(row.text(3)), std::string(row.text(4))}};
  }

  const PostgresSettings settings_;
  std::unique_ptr<Client> db_;
  SteadyClock::time_point connected_{};
};

}  // namespace

std::unique_ptr<ShardWatch> watch_shard(PostgresSettings settings) {
  return std::make_unique<PostgresShardWatch>(std::move(settings));
}

}  // namespace hyperflock::storage
