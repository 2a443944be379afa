// The library's captures by number, and the recording under way. Touched by Python's thread only.
//
//   begin(); (a step); end(); begin(); (the same step); end();
//   compare()  ->  the scalars that differ;  build(who gives them)  ->  a capture's number
//   play(number, values), as often as wanted;  close(number)
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include "base/result.h"
#include "runtime/capture/capture.h"
#include "runtime/capture/compare.h"
#include "runtime/capture/tape.h"
#include "runtime/capture/taped_backend.h"
#include "runtime/storage.h"

namespace arraycore {

class Launcher;

namespace capture {

// In the place of a value's number: nobody gives this scalar.
inline constexpr std::uint32_t kNoValue = ~0U;

class Captures {
 public:
  Captures(Launcher& launcher, Counters& counters, Recorder& recorder, const Backends& backends)
      : launcher_(launcher), counters_(counters), recorder_(recorder), backends_(backends) {}
  Captures(const Captures&) = delete;
  Captures& operator=(const Captures&) = delete;
  ~Captures() { clear(); }

  // What waits before a step, or in it, is launched outside of it, or in it.
  // Error: value, "capture_nested", within a recording.
  Status begin();
  // Error: value, "capture_none": nothing is recorded.
  Status end();
  // Ends the recording, if there is one, and forgets what was recorded.
  void abort();
  bool is_recording() const { return recorder_.tape != nullptr; }
  // Of the recording: commands so far, and whether it cannot be played any more.
  std::uint32_t position() const;
  bool is_refused() const;

  // The two newest recordings. Error: of the mismatch, which blame() then places, also of one
  // recording that no other can match; value, "capture_none", where there are no two.
  Result<std::span<const Difference>> compare();
  // The command of the last mismatch.
  std::uint32_t blame() const { return blame_; }

  // A capture of the newest recording. `values`: for each difference of compare(), which of a
  // play's values it is. Gives its number. Errors: of Capture::make; value, "capture_values" (one
  // is kNoValue; blame() places it), "capture_none".
  Result<std::int32_t> build(std::span<const std::uint32_t> values);
  // Errors: value, "capture_closed" (no such capture), "capture_nested", "capture_value_count";
  // what the back end says.
  Status play(std::int32_t number, std::span<const std::uint64_t> values);
  // Issues what a play that failed has left.
  Status resume(std::int32_t number);
  Result<const Capture*> get(std::int32_t number) const;
  // Which storage an array lies in, for a step that has just been recorded: 0 where that step made
  // it, or where it has no memory; else another number, above 0, than any other storage's.
  std::int32_t origin(const Storage& storage) const;
  // Closing what is closed does nothing.
  void close(std::int32_t number) { captures_.erase(number); }
  // Before a reset, too: the device may be gone.
  void clear();

 private:
  Status ready(std::int32_t number);

  Launcher& launcher_;
  Counters& counters_;
  Recorder& recorder_;
  Backends backends_;
  std::unique_ptr<Tape> first_;
  std::unique_ptr<Tape> second_;  // the newest
  Comparison comparison_;
  bool compared_ = false;
  std::uint32_t blame_ = 0;
  std::map<std::int32_t, std::unique_ptr<Capture>> captures_;
};

}  // namespace capture
}  // namespace arraycore
