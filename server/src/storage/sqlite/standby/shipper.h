// Ships what the writer commits to a standby (standby.h), on a thread of its own.
//
// First the standby is made equal to a snapshot: all pages of both files are compared, and those
// that differ are written. The writer takes the snapshot between two commits and from then on
// collects the pages of its commits, so the snapshot and the collected pages together are every
// later state. This also brings a standby up to date that missed something, as after a restart.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "storage/sqlite/db/db.h"
#include "storage/sqlite/standby/log_pages.h"
#include "storage/sqlite/standby/standby.h"

namespace hyperflock::storage::sqlite {

class Shipper {
 public:
  // `path` is the database that is shipped.
  Shipper(std::string path, StandbyTarget target);
  // Ships what was committed, and ends the thread.
  ~Shipper();
  Shipper(const Shipper&) = delete;
  Shipper& operator=(const Shipper&) = delete;

  // The next functions are for the writer's thread.

  // Begins to ship. The log has this many frames.
  void start(std::int64_t log_frames);
  // Says that a transaction begins.
  void begun();
  // Says that it is committed. Waits if the standby misses what began long before.
  void committed(std::int64_t log_frames);

 private:
  using Clock = std::chrono::steady_clock;
  using Lock = std::unique_lock<std::mutex>;

  void run();
  // Makes the standby equal to the snapshot. Returns false if it is not current then.
  bool synchronize();
  bool compare(Db& from, Db& to, bool is_complete);
  void ship(const ChangedPages& changed);
  void ship_until_behind();
  void take_snapshot(std::int64_t log_frames);
  void fall_behind(const Error& error);
  void note_missing();
  std::optional<Clock::time_point> oldest() const;

  const std::string path_;
  const StandbyTarget target_;
  std::unique_ptr<Db> standby_;  // shipping thread only

  std::mutex mutex_;
  std::condition_variable wake_;     // the shipping thread
  std::condition_variable shipped_;  // the writer
  bool stopped_ = false;
  bool wants_snapshot_ = true;
  bool collects_ = false;
  bool current_ = false;
  bool is_behind_ = false;        // which was reported
  std::unique_ptr<Db> snapshot_;  // a connection with an open transaction
  LogPages log_;                  // used by the writer only
  ChangedPages changed_;
  std::optional<Clock::time_point> changed_since_;   // of changed_
  std::optional<Clock::time_point> shipping_since_;  // of what is being shipped
  // The first commit that the standby may miss while it is not current.
  std::optional<Clock::time_point> behind_since_;
  Clock::time_point begun_{};
  std::thread thread_;
};

}  // namespace hyperflock::storage::sqlite
