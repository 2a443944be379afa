// Copies the database while the server writes to it.
//
// The copy is made by SQLite's backup API on a connection of its own, inside one read transaction.
// So it has the state of the moment at which it began, no commit restarts it, and no commit waits
// for it. Until it ends, the write-ahead log cannot start again from its beginning: it grows by
// what is committed meanwhile, which `control` can limit.
//
// The copy is written in pieces. Each piece is sent to the disk before the one after the next, and
// the copy rests as long as a piece took. Otherwise commits would wait for the disk to take the
// whole copy.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"

namespace hyperflock::storage {

struct CopyProgress {
  std::int64_t copied_bytes = 0;
  std::int64_t total_bytes = 0;
  std::int64_t log_bytes = 0;  // of the write-ahead log
};

// Is called after each piece. An error ends the copy.
using CopyControl = std::function<Status(const CopyProgress&)>;

namespace sqlite {

// Pauses between pieces only if other threads use the database.
enum class Pace { full, shared };

// Copies the database to a new file of mode 0600, which then is a whole database without a log, and
// is durable. If it fails, the file is removed. Errors: that of `control`; `backup_no_room` if the
// target's disk is full; `backup_failed`.
Status copy_database(const std::string& path, const std::string& target, Pace pace,
                     const CopyControl& control);

// Returns the error for a copy that cannot be written: `backup_no_room` or `backup_failed`. `error`
// is a system call's; `why` says more, in place of what the system says.
Error copy_error(const std::string& target, int error, std::string why = {});

}  // namespace sqlite
}  // namespace hyperflock::storage
