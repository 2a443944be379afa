// Keeps a folder of blobs equal to another one, also while files come and go: files by SHA-256 in
// 256 folders, as blobs::BlobStore has them. Looks only into folders that have changed. One thread;
// blocks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "base/result.h"

namespace hyperflock::backup {

class Mirror {
 public:
  Mirror(std::filesystem::path source, std::filesystem::path target)
      : source_(std::move(source)), target_(std::move(target)) {}

  // Copies what is new, and removes what is gone. `may_go_on` is called before each file. Errors:
  // its own, `backup_no_room`, `backup_failed`.
  Status update(const std::function<Status()>& may_go_on);

 private:
  Status update_folder(const std::string& name, const std::function<Status()>& may_go_on);

  const std::filesystem::path source_;
  const std::filesystem::path target_;
  std::map<std::string, std::filesystem::file_time_type> seen_;  // folders that are equal
};

}  // namespace hyperflock::backup
