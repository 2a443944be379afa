// Says that a thread of this process reads a database for long. Commits then do not wait for
// readers of a long write-ahead log, because one of them is this one. Any thread.
#pragma once

#include <atomic>

namespace hyperflock::storage::sqlite {

class LongRead {
 public:
  LongRead() { ++count_; }
  ~LongRead() { --count_; }
  LongRead(const LongRead&) = delete;
  LongRead& operator=(const LongRead&) = delete;

  static bool any() { return count_ > 0; }

 private:
  inline static std::atomic<int> count_ = 0;
};

}  // namespace hyperflock::storage::sqlite
