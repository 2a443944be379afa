// The length of the write-ahead log: see sqlite_log.h.
#include "storage/sqlite_log.h"

#include <algorithm>

namespace hyperflock::storage::sqlite {
namespace {

constexpr std::int64_t kRestartFactor = 8;
// A reader's longest query is a page of trials: a few milliseconds.
constexpr int kReaderPatienceMs = 250;

}  // namespace

void LogKeeper::committed() {
  const std::int64_t pages = db_.log_pages();
  if (pages < pages_) next_copy_ = limits_.copy_pages;  // it started again
  pages_ = pages;
  if (pages < next_copy_) return;
  if (pages < kRestartFactor * limits_.copy_pages) {
    copy();
  } else {
    restart();
  }
  // Copying is not repeated for each commit while a reader keeps the log from starting again.
  next_copy_ = pages + std::max<std::int64_t>(limits_.copy_pages / 2, 1);
}

void LogKeeper::copy() {
  try {
    db_.run("PRAGMA wal_checkpoint(PASSIVE)");
  } catch (const SqliteError&) {
    // The commits are safe in the log; it is copied another time.
  }
}

void LogKeeper::restart() {
  db_.set_busy_timeout(kReaderPatienceMs);
  try {
    db_.run("PRAGMA wal_checkpoint(RESTART)");
  } catch (const SqliteError&) {
    // As above.
  }
  db_.set_busy_timeout(limits_.busy_timeout_ms);
}

}  // namespace hyperflock::storage::sqlite
