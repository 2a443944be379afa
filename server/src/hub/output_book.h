// Keeps what running trials print, in memory only: the newest lines of each trial, up to a limit
// for all trials together (R39). A restart loses them. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/ids.h"
#include "protocol/messages.h"

namespace hyperflock::hub {

class OutputBook {
 public:
  static constexpr std::size_t kLinesPerTrial = 1'000;
  static constexpr std::size_t kBytesPerTrial = std::size_t{128} << 10;
  static constexpr std::size_t kBytes = std::size_t{16} << 20;

  void add(TrialKey trial, AttemptId attempt, std::vector<std::string> lines, std::int64_t dropped);

  // Returns at most `limit` lines after the cursor `after`, the oldest first. The returned `cursor`
  // is the number of the last of these lines, or of the newest line if none is returned. A larger
  // `after`, which is a cursor from before a restart, counts as 0.
  protocol::TrialLog read(TrialKey trial, std::int64_t after, std::size_t limit) const;

  // Removes the lines of a deleted study's trials.
  void forget(StudyId study);

 private:
  struct Pages {
    std::list<protocol::LogLine> lines;
    std::int64_t last = 0;
    std::size_t bytes = 0;
    std::uint64_t used = 0;  // when it was last written, as a count of writes
  };

  void append(Pages& pages, AttemptId attempt, std::string text);
  void trim();

  mutable std::mutex mutex_;  // guards everything below
  std::map<TrialKey, Pages> trials_;
  std::map<std::uint64_t, TrialKey> by_use_;
  std::size_t bytes_ = 0;
  std::uint64_t uses_ = 0;
};

}  // namespace hyperflock::hub
