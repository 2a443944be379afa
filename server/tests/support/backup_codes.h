// Raises each error code of the commands `backup`, `restore` and `verify`.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "backup/backup.h"
#include "backup/repository.h"
#include "backup/restore.h"
#include "backup/standby_folder.h"
#include "base/testing/scratch_folder.h"
#include "storage/sqlite/open.h"

namespace hyperflock::app {

// A state folder that no server uses, and a folder for its backups.
class BackupCodes {
 public:
  BackupCodes() {
    std::filesystem::create_directories(state_);
    EXPECT_TRUE(storage::open_sqlite_storage(storage::database_of(state_), [] {
                  return std::int64_t{1};
                }).has_value());
  }
  std::string file(const std::string& name) const { return folder_.file(name); }
  std::string state() const { return state_; }
  std::string backups() const { return folder_.file("backups"); }

  // Return the code of the error, or an empty text if there is none.
  std::string back_up(const std::string& folder) const {
    const auto made = backup::back_up_stopped(state_, "1", 1, folder, 0);
    return made ? std::string() : made.error().code;
  }
  std::string restore(const std::string& state, const std::string& name = {}) const {
    const auto restored = backup::restore(backups(), name, state, 1);
    return restored ? std::string() : restored.error().code;
  }
  // Opens the folder of a standby as a server does.
  std::unique_ptr<backup::StandbyFolder> ship() const {
    return backup::StandbyFolder::open(file("standby"), backup::StandbyFolder::Use::ship).value();
  }
  std::string promote() const {
    const auto restored = backup::promote(file("standby"), file("promoted"), 1);
    return restored ? std::string() : restored.error().code;
  }
  // Makes a backup while no file may become longer than a page.
  std::string back_up_without_room() const {
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const auto handler = ::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{4'096, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    std::string code = back_up(backups());
    ::setrlimit(RLIMIT_FSIZE, &before);
    ::signal(SIGXFSZ, handler);
    return code;
  }
  void damage() const {
    EXPECT_EQ(back_up(backups()), "");
    const auto name =
        backup::Repository::open(backups(), backup::Repository::Use::read).value()->names().front();
    std::ofstream(backups() + "/" + name + "/files") << "another list";
  }

 private:
  ScratchFolder folder_;
  const std::string state_ = folder_.file("state");
};

}  // namespace hyperflock::app
