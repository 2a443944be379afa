// Limits the length of the write-ahead log; see log.h.
#include "storage/sqlite/log.h"

#include <algorithm>

#include "storage/sqlite/db/long_read.h"

namespace hyperflock::storage::sqlite {
namespace {

constexpr std::int64_t kRestartFactor = 8;
constexpr int kFirstTryMs = 10;

}  // namespace

void LogKeeper::committed() {
  const std::int64_t pages = db_.log_pages();
  if (pages < pages_) next_copy_ = limits_.copy_pages;  // SQLite has started the log again
  pages_ = pages;
  if (pages < next_copy_) return;
  // A backup or a standby reads for long. The log grows until it ends.
  if (pages < kRestartFactor * limits_.copy_pages || LongRead::any()) {
    copy();
  } else {
    restart();
  }
  // If a reader keeps the log from starting again, the next copy waits until the log has grown by
  // half of copy_pages. Otherwise every commit would copy the log.
  next_copy_ = pages + std::max<std::int64_t>(limits_.copy_pages / 2, 1);
}

void LogKeeper::copy() {
  try {
    db_.run("PRAGMA wal_checkpoint(PASSIVE)");
  } catch (const SqliteError&) {
    // The commits are durable in the log, so it can be copied later.
  }
}

// Waits for readers, so that the log can start again. Each reader occupies a slot for the state
// that it reads. SQLite waits until the slots of old states are free. If a new reader takes such a
// slot, that wait cannot succeed, but a new try sees that the reader reads the newest state. So the
// limit is split into several tries, each twice as long as the one before.
void LogKeeper::restart() {
  int left = limits_.reader_patience_ms;
  for (int wait = kFirstTryMs; left > 0; wait *= 2) {
    db_.set_busy_timeout(std::min(wait, left));
    left -= wait;
    if (restarted()) break;
  }
  db_.set_busy_timeout(limits_.busy_timeout_ms);
}

bool LogKeeper::restarted() {
  try {
    Query outcome = db_.query("PRAGMA wal_checkpoint(RESTART)");
    return outcome.next() && outcome.integer(0) == 0;  // 1: a reader was in the way
  } catch (const SqliteError&) {
    return false;  // the log stays as it is until a later try
  }
}

}  // namespace hyperflock::storage::sqlite
