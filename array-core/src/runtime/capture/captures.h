// The library's captures by number, and the recording in progress. Python's thread only.
//
//   begin(); (a step); end(); begin(); (the same step); end();
//   compare()  ->  the scalars that differ;  build(the value for each)  ->  a capture's number
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

// Stands, in the `values` of build(), for a scalar that no value of a play replaces. build()
// refuses such scalars.
inline constexpr std::uint32_t kNoValue = ~0U;

class Captures {
 public:
  Captures(Launcher& launcher, Counters& counters, Recorder& recorder, const Backends& backends)
      : launcher_(launcher), counters_(counters), recorder_(recorder), backends_(backends) {}
  Captures(const Captures&) = delete;
  Captures& operator=(const Captures&) = delete;
  ~Captures() { clear(); }

  // begin() starts a recording, and end() ends it. Both first launch waiting operations: those from
  // before begin() are not part of the step, and those from before end() are. Error of begin():
  // value, "capture_nested", during a recording.
  Status begin();
  // Ends the recording. Error: value, "capture_none", if nothing is being recorded.
  Status end();
  // Ends the recording, if there is one, and drops what was recorded.
  void abort();
  bool is_recording() const { return recorder_.tape != nullptr; }
  // position() returns the number of commands recorded so far. is_refused() returns whether this
  // recording cannot be played.
  std::uint32_t position() const;
  bool is_refused() const;

  // Compares the two newest recordings and returns the scalars that differ. Errors: that of a
  // mismatch, whose position blame() returns; that of a recording that cannot be played; value,
  // "capture_none", if there are not two recordings.
  Result<std::span<const Difference>> compare();
  // Returns the position of the command that did not match in the last comparison.
  std::uint32_t blame() const { return blame_; }

  // Makes a capture of the newest recording and returns its number. `values` has a number for each
  // difference that compare() found: the index, among the values given to a play, of the value that
  // replaces the scalar. Errors: those of Capture::make; value, "capture_values" (an index is
  // kNoValue; blame() returns the position), "capture_none".
  Result<std::int32_t> build(std::span<const std::uint32_t> values);
  // Plays a capture. Errors: value, "capture_closed" (no such capture), "capture_nested",
  // "capture_value_count"; those of the back end.
  Status play(std::int32_t number, std::span<const std::uint64_t> values);
  // Issues the remaining commands of a play that failed.
  Status resume(std::int32_t number);
  Result<const Capture*> get(std::int32_t number) const;
  // Identifies the storage of an array, for a step that was just recorded. Returns 0 if that step
  // made the storage, or if the storage has no memory; otherwise a number above 0 that no other
  // storage has.
  std::int32_t origin(const Storage& storage) const;
  // Closes a capture, if it is open.
  void close(std::int32_t number) { captures_.erase(number); }
  // Closes all captures. Must be called before a reset, because the device may be gone.
  void clear();

 private:
  Status check_playable(std::int32_t number);

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
