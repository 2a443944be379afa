// Keeps what running trials print, in memory only: the newest lines of each trial, up to a limit
// for all trials together (R39). A restart loses them. Any thread.
//
// If the lines of all trials exceed the limit, the device whose trials have the most lines loses
// lines: those of its trial that has printed nothing for the longest time, or the oldest of its
// only trial. So a device that prints much cannot push out what others print.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "protocol/messages.h"

namespace hyperflock::hub {

class OutputBook {
 public:
  static constexpr std::size_t kLinesPerTrial = 1'000;
  static constexpr std::size_t kBytesPerTrial = std::size_t{128} << 10;
  static constexpr std::size_t kBytes = std::size_t{16} << 20;

  // All lines of a trial count for the device that printed the newest of them.
  void add(TrialKey trial, AttemptId attempt, const std::string& device,
           std::vector<std::string> lines, std::int64_t dropped);

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
    std::string device;
  };
  struct Device {
    std::size_t bytes = 0;
    std::map<std::uint64_t, TrialKey> by_use;
  };
  using Trials = std::map<TrialKey, Pages>;

  static void append(Pages& pages, AttemptId attempt, std::string text);
  static void drop_oldest(Pages& pages);
  // count() adds the trial's bytes to those of its device. uncount() removes them again.
  void count(TrialKey trial, const Pages& pages);
  void uncount(const Pages& pages);
  void resize(const std::string& device, std::size_t before, std::size_t after);
  void trim();

  mutable std::mutex mutex_;  // guards everything below
  Trials trials_;
  std::map<std::string, Device> devices_;
  std::set<std::pair<std::size_t, std::string>> by_bytes_;  // the devices
  std::size_t bytes_ = 0;
  std::uint64_t uses_ = 0;
};

}  // namespace hyperflock::hub
