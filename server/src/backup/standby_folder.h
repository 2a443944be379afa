// The folder of a standby:
//
//   FOLDER/hyperflock-standby    says what the folder is
//   FOLDER/standby.db            the database (storage/sqlite/standby), with its log next to it
//   FOLDER/complete              is there once the database has a whole state
//   FOLDER/blobs, checkpoints    files by SHA-256
//   FOLDER/runtimes              as in the state folder
//
// It is no state folder: a server that was started on it would fight with the one that ships. A
// restoration makes a state folder from it. Any thread; blocks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "backup/restore.h"
#include "base/result.h"

namespace hyperflock::backup {

class StandbyFolder {
 public:
  enum class Use { ship, read };
  // Opens the folder; to ship, creates it if it is missing or empty. Errors:
  // `not_a_standby_folder`; `standby_in_use` while another process uses it; `backup_no_room`,
  // `backup_failed`.
  static Result<std::unique_ptr<StandbyFolder>> open(const std::filesystem::path& folder, Use use);
  ~StandbyFolder();
  StandbyFolder(const StandbyFolder&) = delete;
  StandbyFolder& operator=(const StandbyFolder&) = delete;

  std::filesystem::path database() const { return folder_ / "standby.db"; }
  std::filesystem::path path_of(const char* name) const { return folder_ / name; }
  bool is_complete() const;
  Status set_complete() const;

 private:
  StandbyFolder(std::filesystem::path folder, int lock) : folder_(std::move(folder)), lock_(lock) {}
  const std::filesystem::path folder_;
  const int lock_;
};

// Makes a state folder from a standby, which does not change. Errors: those of open();
// `standby_incomplete`; as restore().
Result<Restored> promote(const std::string& folder, const std::string& state_dir, std::int64_t now);

}  // namespace hyperflock::backup
