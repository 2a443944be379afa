// See backups.h.
#include "app/backups.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "app/version.h"
#include "backup/requests.h"
#include "storage/sqlite/copy.h"
#include "storage/sqlite/open.h"
#include "telemetry/log.h"

namespace hyperflock::app {
namespace {

using telemetry::LogLevel;

// The write-ahead log grows while the database is copied. A backup to a disk that is too slow must
// not fill the disk of the state folder.
constexpr std::int64_t kLongestLog = std::int64_t{4} << 30;

struct Holds {
  std::unique_ptr<blobs::CollectedBlobs::Hold> blobs;
  std::unique_ptr<blobs::CollectedBlobs::Hold> collected;
};

Result<backup::Made> make(const Backups::Parts& parts, const std::atomic<bool>& stopped,
                          const backup::BackupRequest& request) {
  if (!parts.has_database_file) {
    return Error{"backup_failed",
                 "The server's database is PostgreSQL, which `hyperflock-server backup` does not "
                 "copy: use pg_dump, and copy the state folder (server/docs/postgres.md)."};
  }
  const std::string state = parts.state_dir;
  backup::Source source;
  source.state_dir = state;
  source.server_version = std::string(kVersion);
  source.now = std::chrono::duration_cast<std::chrono::milliseconds>(
                   std::chrono::system_clock::now().time_since_epoch())
                   .count();
  source.hold_blobs = [&] {
    return std::make_shared<Holds>(parts.blobs.hold(backup::blobs_in(state + "/blobs")),
                                   parts.collected.hold(backup::blobs_in(state + "/checkpoints")));
  };
  source.copy_database = [&](const std::string& target, const std::function<void()>& begun) {
    bool first = true;
    const auto control = [&](const storage::CopyProgress& progress) -> Status {
      if (std::exchange(first, false)) begun();
      if (stopped) return Error{"draining", "The server stops: back up again after its start."};
      if (progress.log_bytes > kLongestLog || !parts.room.admits_rows()) {
        return Error{"backup_no_room",
                     "The copy takes so long that the database's log fills the disk of the state "
                     "folder: name a folder on a faster disk, or make room."};
      }
      return {};
    };
    Status copied = storage::sqlite::copy_database(storage::database_of(state), target,
                                                   storage::sqlite::Pace::shared, control);
    if (first) begun();
    return copied;
  };
  return backup::make_backup(source, request.folder, request.keep);
}

}  // namespace

Backups::Backups(const Parts& parts) : parts_(parts) { backup::forget_requests(parts.state_dir); }

void Backups::tick() {
  if (busy_ || stopped_) return;
  auto request = backup::waiting_request(parts_.state_dir);
  if (!request) return;
  if (thread_.joinable()) thread_.join();
  busy_ = true;
  thread_ = std::thread([this, asked = *std::move(request)] {
    telemetry::log(LogLevel::info, "backup_begins", {{"folder", asked.folder}});
    const auto made = make(parts_, stopped_, asked);
    if (!made) {
      telemetry::log(LogLevel::warning, "backup_failed",
                     {{"code", made.error().code}, {"reason", made.error().message}});
    } else {
      telemetry::log(made->findings.empty() ? LogLevel::info : LogLevel::warning, "backup_made",
                     {{"backup", made->name},
                      {"files", made->files},
                      {"bytes", made->bytes},
                      {"findings", static_cast<std::int64_t>(made->findings.size())}});
    }
    backup::answer_request(parts_.state_dir, asked.id, made);
    busy_ = false;
  });
}

void Backups::stop() {
  cancel();
  if (thread_.joinable()) thread_.join();
}

}  // namespace hyperflock::app
