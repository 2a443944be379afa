// A folder of backups:
//
//   FOLDER/hyperflock-backups        says what the folder is
//   FOLDER/blobs/ab/cdef...          content by SHA-256, which the backups share
//   FOLDER/20261127T040506Z/         one backup, whose name is its time
//       hyperflock.db                the database
//       files                        a line for each other file: SHA-256, bytes, path
//       backup.json                  what the backup has
//   FOLDER/part/                     one that is being made, or that was interrupted
//
// A backup has its name only when all of it is durable. Everything is readable by its owner only.
// One process at a time changes the folder. Any thread; blocks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace hyperflock::backup {

// A file of a backup other than the database. `path` is relative to the state folder.
struct BackupFile {
  std::string sha256;
  std::int64_t bytes = 0;
  std::string path;
  bool operator==(const BackupFile&) const = default;
};

struct Manifest {
  std::int64_t at = 0;  // its moment, in Unix milliseconds
  std::string server;   // the version that made it
  std::int64_t schema = 0;
  std::string database_sha256;
  std::string files_sha256;  // of the list
  std::int64_t files = 0;
  std::int64_t bytes = 0;  // of the database and all files
};

class Repository {
 public:
  enum class Use { change, read };

  // Opens the folder. To change it, creates it if it is missing or empty. Errors:
  // `not_a_backup_folder`, `backup_running` if another process changes the folder, or if it is to
  // be changed while another process reads it, `backup_no_room`, `backup_failed`.
  static Result<std::unique_ptr<Repository>> open(const std::filesystem::path& folder, Use use);
  ~Repository();
  Repository(const Repository&) = delete;
  Repository& operator=(const Repository&) = delete;

  // Returns the names of the complete backups, the oldest first.
  std::vector<std::string> names() const;
  std::filesystem::path path_of(const std::string& name) const { return folder_ / name; }
  std::filesystem::path content_of(const std::string& sha256) const {
    return folder_ / "blobs" / sha256.substr(0, 2) / sha256.substr(2);
  }
  std::filesystem::path part() const { return folder_ / "part"; }
  // Errors: `backup_damaged`.
  Result<Manifest> manifest(const std::string& name) const;
  Result<std::vector<BackupFile>> files(const std::string& name) const;

  // The next functions REQUIRE Use::change.
  // Gives the folder part() its name. Returns the name.
  Result<std::string> complete(std::int64_t at);
  // Removes all but the newest `keep` backups, what interrupted ones left, and content that no
  // backup names. 0 keeps all backups. Returns how many backups were removed.
  Result<std::int64_t> prune(std::int64_t keep);

 private:
  Repository(std::filesystem::path folder, int lock) : folder_(std::move(folder)), lock_(lock) {}

  const std::filesystem::path folder_;
  const int lock_;
};

std::string to_text(const Manifest& manifest);
std::string to_text(const std::vector<BackupFile>& files);

}  // namespace hyperflock::backup
