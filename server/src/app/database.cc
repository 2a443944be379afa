// See database.h.
#include "app/database.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "app/spare/shared_files.h"
#include "auth/tokens.h"
#include "storage/sqlite/open.h"
#include "telemetry/log.h"

namespace hyperflock::app {
namespace {

namespace fs = std::filesystem;

// How long a database stays with a server that does not answer, while others wait for it.
constexpr int kSpareLeaseMs = 10'000;

// Returns the first line of a file, which may be empty.
Result<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file.is_open() || !(std::getline(file, line) || file.eof()))
    return Error{"file_unreadable", "Cannot read " + path + "."};
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

// Returns the name by which this state folder's server is known in a shared database. It is made at
// the first start, and stays, so that the server gets its shard back at once after a crash.
Result<std::string> server_name(const fs::path& state) {
  const fs::path path = state / "server-name";
  std::error_code ignored;
  if (fs::exists(path, ignored)) {
    TRY(std::string name, first_line(path));
    if (!name.empty()) return name;
  }
  const std::string name = auth::new_device_id();
  std::ofstream file(path);
  if (!(file << name << '\n' << std::flush))
    return Error{"bad_state",
                 "Cannot write " + path.string() + ": check the folder's permissions."};
  return name;
}

}  // namespace

Result<storage::PostgresSettings> postgres_settings(const ServeConfig& config) {
  storage::PostgresSettings settings{.url = config.database};
  if (!config.database_password_file.empty()) {
    TRY(settings.password, first_line(config.database_password_file));
  }
  TRY(settings.server, server_name(config.state_dir));
  if (config.wait_for_shard) settings.lease_ms = kSpareLeaseMs;
  return settings;
}

Result<OpenedDatabase> open_database(const ServeConfig& config, storage::WallClock clock,
                                     std::optional<storage::StandbyTarget> standby,
                                     std::function<void()> lost) {
  const std::string file = storage::database_of(config.state_dir);
  OpenedDatabase opened;
  if (config.database.empty()) {
    TRY(opened.storage, storage::open_sqlite_storage(file, std::move(clock), std::move(standby)));
    return opened;
  }
  TRY(opened.lock, storage::FileLock::take(file + ".lock"));
  TRY(auto settings, postgres_settings(config));
  settings.lost = std::move(lost);
  storage::TakenShard taken;
  TRY(opened.storage,
      storage::open_postgres_storage(std::move(settings), std::move(clock), &taken));
  if (!config.shared_files.empty())
    TRY(take_shared_files(config.state_dir, config.shared_files, taken.epoch, taken.files));
  std::error_code ignored;
  if (fs::exists(file, ignored)) {
    telemetry::log(telemetry::LogLevel::warning, "database_file_unused",
                   {{"file", file}, {"reason", "With --database, the server does not read it."}});
  }
  return opened;
}

}  // namespace hyperflock::app
