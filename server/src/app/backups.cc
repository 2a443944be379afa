// See backups.h.
#include "app/backups.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "app/machine/version.h"
#include "app/machine/yielding.h"
#include "backup/repository.h"
#include "backup/requests.h"
#include "base/steady_clock.h"
#include "storage/move/move.h"
#include "storage/move/state_folder.h"
#include "storage/sqlite/copy.h"
#include "storage/sqlite/open.h"
#include "telemetry/log.h"

namespace hyperflock::app {
namespace {

using telemetry::Counter;
using telemetry::Gauge;
using telemetry::LogLevel;

// The write-ahead log grows while the database is copied. A backup to a disk that is too slow must
// not fill the disk of the state folder.
constexpr std::int64_t kLongestLog = std::int64_t{4} << 30;
// After a failure, the next try does not wait for the whole interval.
constexpr Millis kRetryMs = 10 * kMinuteMs;

struct Holds {
  std::unique_ptr<blobs::CollectedBlobs::Hold> blobs;
  std::unique_ptr<blobs::CollectedBlobs::Hold> collected;
};

std::int64_t wall_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Returns the moment of the newest backup; 0 if there is none that can be read.
std::int64_t newest_in(const std::string& folder) {
  const auto repository = backup::Repository::open(folder, backup::Repository::Use::read);
  if (!repository) return 0;
  const auto names = (*repository)->names();
  if (names.empty()) return 0;
  const auto manifest = (*repository)->manifest(names.back());
  return manifest ? manifest->at : 0;
}

}  // namespace

Backups::Backups(const Parts& parts) : parts_(parts) {
  backup::forget_requests(parts.state_dir);
  if (parts.schedule) {
    parts.metrics.set(Gauge::backup_interval_seconds,
                      static_cast<double>(parts.schedule->every_ms) / 1'000);
  }
}

void Backups::tick() {
  if (busy_ || stopped_) return;
  if (auto request = backup::waiting_request(parts_.state_dir)) {
    begin([this, asked = *std::move(request)] {
      backup::answer_request(parts_.state_dir, asked.id, make(asked.folder, asked.keep));
    });
  } else if (parts_.schedule && steady_now() >= due_) {
    begin([this] { make_due(); });
  }
}

void Backups::begin(std::function<void()> work) {
  if (thread_.joinable()) thread_.join();
  busy_ = true;
  thread_ = std::thread([this, work = std::move(work)] {
    yield_to_all_others();
    work();
    busy_ = false;
  });
}

void Backups::make_due() {
  const Schedule& schedule = *parts_.schedule;
  const std::int64_t newest = newest_in(schedule.folder);
  if (newest > 0) {
    parts_.metrics.set(Gauge::backup_last_success_seconds, static_cast<double>(newest) / 1'000);
    // A clock that was set back must not keep the server from making backups.
    const Millis age = std::max<Millis>(0, wall_now() - newest);
    if (age < schedule.every_ms) {
      due_ = steady_now() + (schedule.every_ms - age);
      return;
    }
  }
  const Instant begun = steady_now();
  const auto made = make(schedule.folder, schedule.keep);
  // One with findings has everything that there is. The log says what is missing.
  failing_ = !made && made.error().code != "draining";
  due_ = begun + (made ? schedule.every_ms : std::min(schedule.every_ms, kRetryMs));
}

Result<backup::Made> Backups::make(const std::string& folder, std::int64_t keep) {
  telemetry::log(LogLevel::info, "backup_begins", {{"folder", folder}});
  const Instant begun = steady_now();
  const std::string& state = parts_.state_dir;
  backup::Source source;
  source.state_dir = state;
  source.server_version = std::string(kVersion);
  source.now = wall_now();
  source.hold_blobs = [&] {
    return std::make_shared<Holds>(parts_.blobs.hold(backup::blobs_in(state + "/blobs")),
                                   parts_.collected.hold(backup::blobs_in(state + "/checkpoints")));
  };
  source.may_go_on = [&]() -> Status {
    if (stopped_) return Error{"draining", "The server stops: back up again after its start."};
    if (parts_.room.admits_rows()) return {};
    return Error{"backup_no_room", "The disk of the state folder is nearly full: make room."};
  };
  source.copy_database = [&](const std::string& target, const std::function<void()>& taken) {
    return copy_rows(source, target, taken);
  };
  auto made = backup::make_backup(source, folder, keep);
  if (!made) {
    parts_.metrics.count(Counter::backup_failures, made.error().code);
    telemetry::log(LogLevel::warning, "backup_failed",
                   {{"code", made.error().code}, {"reason", made.error().message}});
    return made;
  }
  parts_.metrics.count(Counter::backups);
  parts_.metrics.set(Gauge::backup_last_success_seconds, static_cast<double>(source.now) / 1'000);
  parts_.metrics.set(Gauge::backup_last_duration_seconds,
                     static_cast<double>(steady_now() - begun) / 1'000);
  parts_.metrics.set(Gauge::backup_last_bytes, static_cast<double>(made->bytes));
  telemetry::log(made->findings.empty() ? LogLevel::info : LogLevel::warning, "backup_made",
                 {{"backup", made->name},
                  {"files", made->files},
                  {"bytes", made->bytes},
                  {"findings", static_cast<std::int64_t>(made->findings.size())}});
  return made;
}

Status Backups::copy_rows(const backup::Source& source, const std::string& target,
                          const std::function<void()>& begun) const {
  if (!parts_.database.empty()) {
    TRY(const auto place, storage::postgres_place(parts_.database, parts_.database_password_file));
    TRY(storage::copy_from_postgres(place, target, begun, [&source](const storage::MoveProgress&) {
      return source.may_go_on();
    }));
    return {};
  }
  bool first = true;
  const auto control = [&](const storage::CopyProgress& progress) -> Status {
    if (std::exchange(first, false)) begun();
    TRY(source.may_go_on());
    if (progress.log_bytes <= kLongestLog) return {};
    return Error{"backup_no_room",
                 "The copy takes so long that the database's log fills the disk of the state "
                 "folder: name a folder on a faster disk, or make room."};
  };
  Status copied = storage::sqlite::copy_database(storage::database_of(parts_.state_dir), target,
                                                 storage::sqlite::Pace::shared, control);
  if (first) begun();
  return copied;
}

void Backups::stop() {
  cancel();
  if (thread_.joinable()) thread_.join();
}

}  // namespace hyperflock::app
