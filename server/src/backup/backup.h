// Makes a backup of a state folder, while a server uses it or not. It has the database, the blobs
// that its rows name, and the runtimes that running studies need. It has not: credentials.json,
// reports of devices, locks, and what is being uploaded. One thread; blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backup/repository.h"
#include "base/result.h"
#include "storage/sqlite/check/check.h"

namespace hyperflock::backup {

struct Source {
  std::string state_dir;
  std::string server_version;
  std::int64_t now = 0;  // the backup's time, in Unix milliseconds
  // Copies the database to a new file. Calls `begun` as soon as it is certain which state is
  // copied.
  std::function<Status(const std::string& target, const std::function<void()>& begun)>
      copy_database;
  // Is called before each file; an error ends the backup.
  std::function<Status()> may_go_on = [] { return Status(); };
  // Keeps the files of all blobs that there are now until the returned object is destroyed. Is
  // called before the copy and again when the copy has begun. A blob that came and went in between
  // may be named by the copy and gone; then the database is copied again.
  std::function<std::shared_ptr<void>()> hold_blobs = [] { return std::shared_ptr<void>(); };
};

struct Made {
  std::string name;
  std::int64_t files = 0;
  std::int64_t bytes = 0;
  std::int64_t new_files = 0;  // that earlier backups did not have
  std::int64_t removed = 0;    // backups that were more than `keep`
  // What is wrong with the state folder. The backup has everything else.
  std::vector<storage::Finding> findings;
};

// Returns the error `backup_inside_state` if one of the two folders is in the other.
Status check_apart(const std::string& state_dir, const std::string& folder);

// Makes a backup in `folder`, and keeps the newest `keep` ones (0: all). Errors: those of
// Repository::open(), `backup_inside_state`, those of copy_database().
Result<Made> make_backup(const Source& source, const std::string& folder, std::int64_t keep);

// Makes a backup of the state folder of a server that does not run. Errors: as make_backup(), and
// `bad_state`, `storage_open` while a server runs, `storage_too_new`.
Result<Made> back_up_stopped(const std::string& state_dir, const std::string& server_version,
                             std::int64_t now, const std::string& folder, std::int64_t keep);

// Returns the SHA-256 of all blobs in the folder of a store, sorted.
std::vector<std::string> blobs_in(const std::string& folder);

}  // namespace hyperflock::backup
