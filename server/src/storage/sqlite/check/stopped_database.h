// The database of a server that does not run. One thread; blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "storage/sqlite/storage.h"

namespace hyperflock::storage {

// The size of a database's file before and after it was compacted.
struct Compacted {
  std::int64_t before_bytes = 0;
  std::int64_t after_bytes = 0;
};

class StoppedDatabase {
 public:
  // Keeps servers away until the object is destroyed. Errors: `bad_state` if there is no such file,
  // `storage_open` while a server uses it.
  static Result<std::unique_ptr<StoppedDatabase>> open(const std::string& path);

  // As sqlite::copy_database().
  Status copy_to(const std::string& target) const;

  // Writes the database again without free pages, next to the old file, and then puts the new file
  // in its place. An interruption leaves the old file or the new one, both whole. Errors: `no_room`
  // if the disk has no room for both, `compact_failed`. After an error the old file is in use.
  Result<Compacted> compact() const;

 private:
  StoppedDatabase(std::string path, std::unique_ptr<FileLock> lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  const std::string path_;
  const std::unique_ptr<FileLock> lock_;
};

// Applies the write-ahead log that lies next to a database, as far as it is whole. Error:
// `backup_damaged`.
Status apply_log(const std::string& path);

// Prepares a database that was restored from a backup: leaves a gap in the numbers of studies,
// attempts, places in the order of finishing and entries of the audit log, because the server may
// have given the next ones after the backup, and devices and clients may still know them. Notes the
// restoration in the audit log. Does nothing to a schema before version 18. Error: `backup_failed`.
Status mark_restored(const std::string& path, const std::string& backup, std::int64_t now);

}  // namespace hyperflock::storage
