// Records what array-core does during a profile: a row for each operation, and the single spans as
// a trace. The launcher and its callers open a Span around each piece of work for a back end. The
// device reports by its own clock when each kernel ran. Python's thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "base/result.h"

namespace arraycore {

class Profile {
 public:
  // The trace holds at most this many spans, and at most this many times of kernels. The rows also
  // count those that the trace leaves out.
  static constexpr std::size_t kMaxEvents = std::size_t{1} << 18;

  // `device` is nullptr if the CPU is the only back end.
  explicit Profile(Backend* device) : device_(device) {}
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  // Waits for earlier launches, which do not belong to this profile.
  Status begin();
  // Waits for the launches and completes text(). After an error, text() has what is known so
  // far.
  Status end();

  // Returns lines of fields separated by tabs, with times in nanoseconds:
  //   profile  <duration> <events left out> <kernels whose times were lost>
  //   row      <calls> <dispatches> <bytes up> <bytes down> <CPU time> <device time> <name>
  //   span     <row> <begin> <duration>            of the CPU; time 0 is that of begin()
  //   kernel   <row> <begin> <duration> <issued>   of the device; its first kernel begins at 0
  // Rows count from 0. `issued` is the index of the span that issued the kernel; -1: not kept.
  const std::string& text() const { return text_; }

 private:
  friend class Span;
  struct Row {
    std::string name;
    std::int64_t calls = 0, dispatches = 0, bytes_up = 0, bytes_down = 0;
    std::int64_t cpu_ns = 0, device_ns = 0;
  };
  struct Event {
    std::uint32_t row;
    std::int64_t begin_ns, duration_ns;
    std::int64_t issued = -1;
  };
  // The ring positions of a span's commands. Spans are in order and do not overlap.
  struct Issued {
    std::uint32_t begin, end;
    std::uint32_t row;
    std::int64_t span;
  };

  std::int64_t now_ns() const;
  std::uint32_t row(std::string_view name);
  void note(std::uint32_t row, std::int64_t begin_ns, std::uint32_t position);
  Status collect();
  void write_text(std::int64_t duration_ns);

  Backend* device_;
  std::int64_t began_ns_ = 0;
  std::uint32_t position_ = 0;  // the position in the ring when the device was last asked for times
  std::int64_t left_out_ = 0;
  std::int64_t lost_ = 0;
  std::vector<Row> rows_;
  std::map<std::string, std::uint32_t, std::less<>> by_name_;
  std::vector<Event> spans_;
  std::vector<Event> kernels_;
  std::vector<Issued> issued_;  // since the device was last asked for times
  std::string text_;
};

// Measures one piece of work, from the Span's construction to its destruction. Does nothing if no
// profile is recorded.
class Span {
 public:
  Span(Profile* profile, std::string_view name) : profile_(profile) {
    if (profile_ != nullptr) begin(name);
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  ~Span() {
    if (profile_ != nullptr) profile_->note(row_, begin_ns_, position_);
  }
  void moved(std::int64_t bytes_up, std::int64_t bytes_down) {
    if (profile_ == nullptr) return;
    profile_->rows_[row_].bytes_up += bytes_up;
    profile_->rows_[row_].bytes_down += bytes_down;
  }
  // Counts a launch if the CPU is the only back end. A device reports its own dispatches.
  void dispatched() {
    if (profile_ != nullptr && profile_->device_ == nullptr) ++profile_->rows_[row_].dispatches;
  }

 private:
  void begin(std::string_view name);

  Profile* profile_;
  std::uint32_t row_ = 0;
  std::uint32_t position_ = 0;
  std::int64_t begin_ns_ = 0;
};

}  // namespace arraycore
