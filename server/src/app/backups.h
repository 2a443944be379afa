// Makes the backups that the command asks of a running server (backup/requests.h), one at a time,
// on a thread of its own. tick() is called on one strand.
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "blobs/collected_blobs.h"
#include "blobs/disk_room.h"

namespace hyperflock::app {

class Backups {
 public:
  struct Parts {
    std::string state_dir;
    bool has_database_file = true;  // SQLite's, which is copied
    blobs::CollectedBlobs& blobs;
    blobs::CollectedBlobs& collected;
    const blobs::DiskRoom& room;
  };

  // The parts outlive this object. Forgets requests to an earlier server.
  explicit Backups(const Parts& parts);
  ~Backups() { stop(); }
  Backups(const Backups&) = delete;
  Backups& operator=(const Backups&) = delete;

  // Begins the backup that is asked for, if any. Call it about once a second.
  void tick();
  // Has the backup that is being made end early, and begins none any more. Any thread.
  void cancel() { stopped_ = true; }
  // Cancels, and waits for the end. REQUIRES: nobody calls tick() any more.
  void stop();

 private:
  const Parts parts_;
  std::thread thread_;
  std::atomic<bool> busy_{false};
  std::atomic<bool> stopped_{false};
};

}  // namespace hyperflock::app
