// One recorded step that can be played again without Python. Its commands work on storage of the
// capture, which has the same addresses each time. The commands that do not change between plays
// are sent to a device as one block of words (Backend::issue_block). Uploads, and launches with
// scalars from the caller, are issued one by one in between. Used by Python's thread only.
//
// Storage from before the step, and storage that the step left alive, is pinned: it stays in place.
// Storage that lived only during the step is replaced by the capture's own. Arrays that are never
// alive at the same time share that storage. A step may make new state from the last step's state.
// Then each play begins by copying the new state over the old one.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/capture/compare.h"
#include "runtime/capture/tape.h"
#include "runtime/capture/taped_backend.h"
#include "runtime/storage.h"

namespace arraycore {
class Launcher;
}

namespace arraycore::capture {

using Backends = std::array<TapedBackend*, kSides>;  // null: there is none

// A scalar that the caller passes to each play. `value` is its index among the play's values.
struct Given {
  std::uint32_t command = 0;
  std::uint32_t argument = 0;
  std::uint32_t value = 0;
};

class Capture {
 public:
  // Makes a capture of a step in which compare() found no mismatch. Errors: value, "capture_arrays"
  // (the step reads an array of the step before, and frees its own array that would replace it; or
  // it works on an older array that has been freed since); memory.
  static Result<std::unique_ptr<Capture>> make(const Backends& backends, Launcher& launcher,
                                               Counters& counters, const Tape& tape,
                                               std::span<const Given> given);
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture();

  // Runs the step with these values, each as the bits of a scalar of the argument's dtype. If an
  // error interrupts it (Ctrl-C while the ring is full), nothing is lost: resume() issues the rest.
  // REQUIRES: as many values as build() named; nothing is left to resume.
  Status play(std::span<const std::uint64_t> values);
  bool is_interrupted() const { return run_ != 0 || within_ != 0; }
  Status resume();

  // Returns whether a launch has a scalar with this dtype and these bits that plays do not replace.
  // Without `dtype`, it searches the uniforms of raw kernels for these 32 bits.
  bool keeps(std::optional<DType> dtype, std::uint64_t bits) const;

  std::uint32_t values() const { return values_; }
  std::size_t commands() const { return commands_.size(); }
  // Returns the number of arrays that each step makes from those of the step before.
  std::size_t carried() const { return carried_; }
  // Returns the size of the capture's own storage in bytes.
  std::int64_t bytes() const { return bytes_; }

 private:
  // The commands [first, first + count), which are issued as one block or one by one.
  struct Run {
    std::size_t first = 0;
    std::size_t count = 0;
    bool constant = false;
    std::optional<std::uint32_t> block;
  };

  Capture(const Backends& backends, Launcher& launcher, Counters& counters)
      : backends_(backends), launcher_(launcher), counters_(counters) {}
  Status place(const Tape& tape);
  Status carry(const Tape& tape);
  void take_apart(std::vector<Given>& given);
  void cut(std::span<const Given> given);
  Result<StorageId> lend(std::size_t side, std::int64_t bytes);
  void pin(std::size_t side, StorageId storage);
  Status issue(const Command& command);
  Status issue(Run& run);

  Backends backends_;
  Launcher& launcher_;
  Counters& counters_;
  std::vector<Command> commands_;
  std::vector<Given> given_;
  std::vector<Run> runs_;
  std::uint32_t values_ = 0;
  std::size_t carried_ = 0;
  std::int64_t launches_ = 0;  // the launches of a play, for the counters
  std::int64_t bytes_ = 0;
  std::vector<std::unique_ptr<Storage>> own_;
  std::vector<std::pair<std::size_t, StorageId>> pinned_;
  std::size_t run_ = 0;     // the run at which the current play is
  std::size_t within_ = 0;  // the position in that run, in commands or in words of its block
};

}  // namespace arraycore::capture
