// See standby.h.
#include "app/standby.h"

#include <chrono>
#include <filesystem>
#include <utility>

#include "backup/files.h"
#include "backup/mirror.h"
#include "telemetry/log.h"

namespace hyperflock::app {
namespace {

namespace fs = std::filesystem;
using telemetry::LogLevel;

constexpr std::chrono::milliseconds kLook{200};
constexpr std::chrono::milliseconds kRetry{10'000};

// Copies the runtimes of browsers, which do not change while the server runs.
Status copy_runtimes(const fs::path& source, const fs::path& target) {
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(source, error)) {
    std::error_code none;
    if (!entry.is_regular_file(none) || entry.is_symlink(none)) continue;
    const fs::path copy = target / fs::relative(entry.path(), source);
    if (fs::exists(copy, none) && fs::file_size(copy, none) == entry.file_size(none)) continue;
    TRY(backup::make_folder(copy.parent_path()));
    TRY(backup::place(entry.path(), copy, backup::How::link));
    TRY(backup::sync_folder(copy.parent_path()));
  }
  return {};
}

}  // namespace

Standby::Standby(std::string state_dir, std::string folder)
    : state_dir_(std::move(state_dir)),
      folder_path_(std::move(folder)),
      thread_([this] { copy_files(); }) {}

Standby::~Standby() {
  stopped_ = true;
  {
    const std::lock_guard lock(mutex_);
  }
  wake_.notify_all();
  thread_.join();
}

storage::StandbyTarget Standby::target() {
  storage::StandbyTarget target;
  target.database = (fs::path(folder_path_) / "standby.db").string();
  target.prepare = [this] { return open(); };
  target.is_complete = [this] { return folder_->is_complete(); };
  target.complete = [this] { return folder_->set_complete(); };
  target.behind = [this](const Error& error) { note(error); };
  target.caught_up = [this] {
    telemetry::log(LogLevel::info, "standby_current", {{"folder", folder_path_}});
  };
  target.retry = kRetry;
  target.status = status_;
  return target;
}

// Opens the folder unless it is open.
Status Standby::open() {
  const std::lock_guard lock(mutex_);
  if (folder_) return {};
  TRY(folder_, backup::StandbyFolder::open(folder_path_, backup::StandbyFolder::Use::ship));
  return {};
}

Status Standby::may_go_on() const {
  if (!stopped_) return {};
  return Error{"draining", "The server stops."};
}

void Standby::copy_files() {
  const fs::path state(state_dir_);
  const fs::path target(folder_path_);
  backup::Mirror blobs(state / "blobs", target / "blobs");
  backup::Mirror checkpoints(state / "checkpoints", target / "checkpoints");
  bool has_runtimes = false;
  const auto copy = [&]() -> Status {
    TRY(open());
    if (!has_runtimes) TRY(copy_runtimes(state / "runtimes", target / "runtimes"));
    has_runtimes = true;
    TRY(blobs.update([this] { return may_go_on(); }));
    return checkpoints.update([this] { return may_go_on(); });
  };
  std::unique_lock lock(mutex_, std::defer_lock);
  while (!stopped_) {
    const Status copied = copy();
    const bool failed = !copied && copied.error().code != "draining";
    if (failed && !files_fail_) note(copied.error());
    files_fail_ = failed;
    lock.lock();
    wake_.wait_for(lock, failed ? kRetry : kLook, [this] { return stopped_.load(); });
    lock.unlock();
  }
  (void)blobs.update([] { return Status(); });
  (void)checkpoints.update([] { return Status(); });
}

void Standby::note(const Error& error) {
  telemetry::log(LogLevel::warning, "standby_behind",
                 {{"code", error.code}, {"reason", error.message}});
  const std::lock_guard lock(mutex_);
  failures_.push_back(error.code);
}

void Standby::observe(telemetry::Metrics& metrics) {
  using telemetry::Gauge;
  metrics.set(Gauge::standby_configured, 1);
  metrics.set(Gauge::standby_current, is_behind() ? 0 : 1);
  metrics.set(Gauge::standby_lag_seconds, status_->lag().count());
  const std::lock_guard lock(mutex_);
  for (const std::string& code : std::exchange(failures_, {}))
    metrics.count(telemetry::Counter::standby_failures, code);
}

}  // namespace hyperflock::app
