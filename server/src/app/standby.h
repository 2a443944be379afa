// The standby of --standby: its folder, its files, and what operators are told of it. The database
// itself is shipped by the storage (storage/sqlite/standby). Outlives the storage. Any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "backup/standby_folder.h"
#include "base/result.h"
#include "storage/sqlite/standby/standby.h"
#include "telemetry/metrics.h"

namespace hyperflock::app {

class Standby {
 public:
  // Begins to copy files. `folder` is where the standby is.
  Standby(std::string state_dir, std::string folder);
  ~Standby();
  Standby(const Standby&) = delete;
  Standby& operator=(const Standby&) = delete;

  // Returns where the storage ships to. Call it once.
  storage::StandbyTarget target();

  // Returns whether the standby misses something.
  bool is_behind() const { return !status_->current() || files_fail_; }
  void observe(telemetry::Metrics& metrics);

 private:
  Status open();
  void copy_files();
  Status may_go_on() const;
  void note(const Error& error);

  const std::string state_dir_;
  const std::string folder_path_;
  const std::shared_ptr<storage::StandbyStatus> status_ =
      std::make_shared<storage::StandbyStatus>();
  std::atomic<bool> files_fail_{false};
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::unique_ptr<backup::StandbyFolder> folder_;
  std::vector<std::string> failures_;  // codes that no metric has yet
  std::thread thread_;                 // last, because it uses the members above
};

}  // namespace hyperflock::app
