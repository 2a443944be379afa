// Keeps the write-ahead log short without stalling commits for long. Writer thread only.
//
// Once the log has `copy_pages` pages, a commit copies it to the database; SQLite then starts it
// again from its beginning as soon as no reader uses it. Readers that overlap without a gap would
// prevent that for ever, so from eight times that length on the writer waits a bounded time for
// them.
#pragma once

#include <cstdint>

#include "storage/sqlite/db.h"

namespace hyperflock::storage::sqlite {

struct LogLimits {
  std::int64_t copy_pages = 1'000;
  int busy_timeout_ms = Db::kBusyTimeoutMs;  // the connection's own, to go back to
  int reader_patience_ms = 250;              // how long a commit may wait for readers of a long log
};

class LogKeeper {
 public:
  // `db` has a watched log (Db::watch_log) and outlives this object.
  LogKeeper(Db& db, LogLimits limits) : db_(db), limits_(limits), next_copy_(limits.copy_pages) {}

  // Call this after each commit.
  void committed();
  // Copies what can be copied without waiting for a reader.
  void copy();

 private:
  void restart();
  bool restarted();  // one try

  Db& db_;
  const LogLimits limits_;
  std::int64_t pages_ = 0;
  std::int64_t next_copy_;
};

}  // namespace hyperflock::storage::sqlite
