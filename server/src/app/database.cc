// See database.h.
#include "app/database.h"

#include <filesystem>
#include <string>
#include <utility>

#include "app/spare/shared_files.h"
#include "auth/tokens.h"
#include "storage/move/state_folder.h"
#include "storage/sqlite/open.h"
#include "telemetry/log.h"

namespace hyperflock::app {
namespace {

// How long a database stays with a server that does not answer, while others wait for it.
constexpr int kSpareLeaseMs = 10'000;

}  // namespace

Result<storage::PostgresSettings> postgres_settings(const ServeConfig& config) {
  TRY(const auto place, storage::postgres_place(config.database, config.database_password_file));
  storage::PostgresSettings settings{.url = place.url, .password = place.password};
  TRY(settings.server, storage::server_name(config.state_dir, auth::new_device_id));
  if (config.wait_for_shard) settings.lease_ms = kSpareLeaseMs;
  return settings;
}

Result<OpenedDatabase> open_database(const ServeConfig& config, storage::WallClock clock,
                                     std::optional<storage::StandbyTarget> standby,
                                     std::function<void()> lost, const storage::ShardPeer& peer) {
  const std::string file = storage::database_of(config.state_dir);
  OpenedDatabase opened;
  if (config.database.empty()) {
    TRY(storage::check_not_moved(config.state_dir));
    // An empty SQLite database would name no blob, so the server would remove the studies' blobs.
    TRY(storage::check_has_file(config.state_dir));
    TRY(opened.storage, storage::open_sqlite_storage(file, std::move(clock), std::move(standby)));
    return opened;
  }
  TRY(opened.lock, storage::FileLock::take(file + ".lock"));
  TRY(auto settings, postgres_settings(config));
  settings.lost = std::move(lost);
  settings.peer = peer;
  storage::TakenShard taken;
  TRY(opened.storage,
      storage::open_postgres_storage(std::move(settings), std::move(clock), &taken));
  opened.epoch = taken.epoch;
  if (!config.shared_files.empty())
    TRY(take_shared_files(config.state_dir, config.shared_files, taken.epoch, taken.files));
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) {
    telemetry::log(telemetry::LogLevel::warning, "database_file_unused",
                   {{"file", file}, {"reason", "With --database, the server does not read it."}});
  }
  return opened;
}

}  // namespace hyperflock::app
