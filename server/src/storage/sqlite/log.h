// Keeps the write-ahead log short without delaying commits for long. Writer thread only.
//
// Once the log has `copy_pages` pages, a commit copies it to the database. SQLite then starts the
// log again from its beginning as soon as no reader uses it. Readers that overlap without a gap
// would prevent that for ever. So if the log has eight times that length, the writer waits for the
// readers, but only for a limited time.
#pragma once

#include <cstdint>

#include "storage/sqlite/db/db.h"

namespace hyperflock::storage::sqlite {

struct LogLimits {
  std::int64_t copy_pages = 1'000;
  int busy_timeout_ms = Db::kBusyTimeoutMs;  // the usual value of the connection
  int reader_patience_ms = 250;              // how long a commit may wait for readers of a long log
};

class LogKeeper {
 public:
  // `db` outlives this object. REQUIRES: db.watch_log() was called.
  LogKeeper(Db& db, LogLimits limits) : db_(db), limits_(limits), next_copy_(limits.copy_pages) {}

  // Call this after each commit.
  void committed();
  // Copies the part of the log that can be copied without waiting for a reader.
  void copy();

 private:
  void restart();
  bool restarted();  // tries once; returns whether the log can start again

  Db& db_;
  const LogLimits limits_;
  std::int64_t pages_ = 0;
  std::int64_t next_copy_;
};

}  // namespace hyperflock::storage::sqlite
