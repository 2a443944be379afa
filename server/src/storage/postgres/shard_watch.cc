// Looks at the shard for a server that waits for it; see open.h.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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
// The part of the row's time for which the connection of the server that has the shard must be
// missed before it counts as dead. That server connects again within half a second.
constexpr int kMissedPart = 5;

class PostgresShardWatch final : public ShardWatch {
 public:
  explicit PostgresShardWatch(PostgresSettings settings) : settings_(std::move(settings)) {}

  Result<ShardSeen> look() override {
    try {
      if (!db_ || !db_->usable()) {
        db_ = std::make_unique<Client>(postgres::ClientSettings{
            settings_.url, settings_.password, "hyperflock spare", kLookTimeoutMs});
        connected_ = SteadyClock::now();
        lives_.reset();
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
    // The tables may be older than this server, and have no peer and no `files` yet. Shard::connect
    // gives the connection its name.
    auto& row = db_->statement(
        "SELECT server, server = $1 OR expires < clock_timestamp(), epoch,"
        " COALESCE(to_jsonb(shards) ->> 'peer', ''),"
        " COALESCE(to_jsonb(shards) ->> 'peer_secret', ''), (SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND application_name = 'hyperflock shard ' ||"
        " COALESCE(to_jsonb(shards) ->> 'files', '') || '/' || epoch) FROM shards"
        " WHERE project = ''");
    row.bind(1, std::string_view(settings_.server));
    if (!row.step()) return {.may_take = true};
    const auto settling = std::chrono::milliseconds(settings_.lease_ms / 2);
    const bool settled = SteadyClock::now() - connected_ >= settling;
    ShardSeen seen{.may_take = settled && row.integer(1) != 0,
                   .server = std::string(row.text(0)),
                   .epoch = row.integer(2),
                   .peer = {std::string(row.text(3)), std::string(row.text(4))}};
    const bool has_died = died(seen.epoch, row.integer(5) != 0);
    if (has_died && !seen.may_take) seen.may_take = end_time(seen.epoch);
    return seen;
  }

  // Returns whether the connection of the server of this epoch was there, and has been missed for
  // a while. One that was never seen is not missed: another database user may not see it.
  bool died(std::int64_t epoch, bool is_there) {
    if (is_there) {
      lives_ = epoch;
      missed_.reset();
      return false;
    }
    if (lives_ != epoch) return false;
    const auto now = SteadyClock::now();
    if (!missed_) missed_ = now;
    return now - *missed_ >= std::chrono::milliseconds(settings_.lease_ms / kMissedPart);
  }

  // Ends the row's time for a server that is dead. If it lives after all, it may renew the row.
  bool end_time(std::int64_t epoch) {
    auto& update = db_->statement(
        "UPDATE shards SET expires = clock_timestamp() - interval '1 millisecond'"
        " WHERE project = '' AND epoch = $1");
    update.bind(1, epoch);
    update.step();
    return update.rows() != 0;
  }

  const PostgresSettings settings_;
  std::unique_ptr<Client> db_;
  SteadyClock::time_point connected_{};
  std::optional<std::int64_t> lives_;  // the epoch whose server was there since connected_
  std::optional<SteadyClock::time_point> missed_;  // since when
};

}  // namespace

std::unique_ptr<ShardWatch> watch_shard(PostgresSettings settings) {
  return std::make_unique<PostgresShardWatch>(std::move(settings));
}

}  // namespace hyperflock::storage
