// Makes backups while the server runs, one at a time, on a thread of its own that yields to all
// others: those that the command asks for (backup/requests.h), and those of --backup-to. tick() is
// called on one strand.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "backup/backup.h"
#include "base/instant.h"
#include "blobs/collected_blobs.h"
#include "blobs/disk_room.h"
#include "telemetry/metrics.h"

namespace hyperflock::app {

class Backups {
 public:
  // The server's own backups.
  struct Schedule {
    std::string folder;
    Millis every_ms = 6 * kHourMs;
    std::int64_t keep = 28;
  };
  struct Parts {
    std::string state_dir;
    std::string database;  // URL of PostgreSQL; empty: SQLite's file in the state folder
    std::string database_password_file;
    blobs::CollectedBlobs& blobs;
    blobs::CollectedBlobs& collected;
    const blobs::DiskRoom& room;
    telemetry::Metrics& metrics;
    std::optional<Schedule> schedule{};
  };

  // The parts outlive this object. Forgets requests to an earlier server.
  explicit Backups(const Parts& parts);
  ~Backups() { stop(); }
  Backups(const Backups&) = delete;
  Backups& operator=(const Backups&) = delete;

  // Begins the backup that is asked for or due, if any. Call it about once a second.
  void tick();
  // Has the backup that is being made end early, and begins none any more. Any thread.
  void cancel() { stopped_ = true; }
  // Cancels, and waits for the end. REQUIRES: nobody calls tick() any more.
  void stop();

  // Returns whether the server's last own backup failed. Any thread.
  bool failing() const { return failing_; }

 private:
  void begin(std::function<void()> work);
  void make_due();
  Result<backup::Made> make(const std::string& folder, std::int64_t keep);
  Status copy_rows(const backup::Source& source, const std::string& target,
                   const std::function<void()>& begun) const;

  const Parts parts_;
  std::thread thread_;
  Instant due_{};  // under busy_
  std::atomic<bool> failing_{false};
  std::atomic<bool> busy_{false};
  std::atomic<bool> stopped_{false};
};

}  // namespace hyperflock::app
