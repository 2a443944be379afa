// Records the calls of a step to the back ends, in order: launches, uploads, and allocations of
// storage. Two tapes of one program are compared (compare.h), and the second one is played
// (capture.h). Python's thread only.
//
// A tape refers to a storage by a Name. A storage from before both steps is named by its id. A
// storage that this step made is named by kMade and its number: each step numbers the storages that
// it makes from 0. A storage that the step before made is named by kCarried and its number in that
// step. So the same program gives the same names, wherever its arrays are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "backend/backend.h"
#include "base/result.h"

namespace arraycore::capture {

// The number of a launcher's back ends: the CPU's and, if there is one, the device's.
inline constexpr std::size_t kSides = 2;

using Name = StorageId;
inline constexpr Name kMade = 0x8000'0000;
inline constexpr Name kCarried = 0xC000'0000;  // made by the step before
inline constexpr Name kNumber = 0x3FFF'FFFF;
constexpr bool is_carried(Name name) { return (name & kCarried) == kCarried; }
constexpr bool is_made(Name name) { return (name & kCarried) == kMade; }
constexpr std::uint32_t number_of(Name name) { return name & kNumber; }

struct Upload {
  StorageId storage = 0;
  std::int64_t offset = 0;
  std::vector<std::byte> bytes;
};
struct Zero {
  StorageId storage = 0;
};
// The arguments of Backend::launch_batch.
struct BatchLaunch {
  KernelId kernel = 0;
  std::vector<ir::Scalar> scalars;
  std::vector<BatchSegment> segments;
};
using Action = std::variant<Launch, GemmLaunch, RawLaunch, BatchLaunch, Upload, Zero>;

// An operation's name in messages, the dtypes of its parameters (a raw kernel has none), and which
// of them are scalars.
struct Operation {
  std::string name;
  std::vector<DType> parameters;
  std::vector<std::uint32_t> scalars;
};

struct Command {
  std::size_t side = 0;
  const Operation* operation = nullptr;
  Action action;  // its storages are Names on a tape, and ids where it runs
};

// Returns pointers to the storages of an action, in order. Operands that a product does not have
// (0) are left out. The pointers are valid while the action is neither moved nor changed.
std::vector<StorageId*> storages_of(Action& action);

class Tape {
 public:
  struct Made {
    std::size_t side = 0;
    StorageId id = 0;
    std::int64_t bytes = 0;
    bool alive = true;  // not freed yet
  };
  struct Outside {
    std::uint64_t serial = 0;  // distinguishes it from another storage with the same id
    bool alive = true;
  };
  // The reason why this step cannot be played, whatever step it is compared with. `command` is the
  // number of commands that were recorded before the reason arose.
  struct Refusal {
    Error error;
    std::uint32_t command = 0;
  };

  // `before` is the step before this one, or nullptr. It must outlive this object.
  explicit Tape(Tape* before) : before_(before) {}
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // Adds a command that names storages by id. serials[id - 1] distinguishes the storage from
  // earlier ones with the same id.
  void add(std::size_t side, const Operation* operation, Action action,
           std::span<const std::uint64_t> serials);
  void made(std::size_t side, StorageId id, std::int64_t bytes) {
    made_at_[side][id] = static_cast<std::uint32_t>(made_.size());
    made_.push_back({side, id, bytes});
  }
  // Notes that a storage was freed. That may happen after the recording, as long as the tape
  // exists.
  void destroyed(std::size_t side, StorageId id);
  // Notes why the step cannot be played; only the first reason counts.
  void refuse(Error error);

  const std::vector<Command>& commands() const { return commands_; }
  const std::vector<Made>& made() const { return made_; }
  // Returns a storage from before the step. REQUIRES: a command names it.
  const Outside& outside(std::size_t side, StorageId id) const { return outside_[side].at(id); }
  const std::optional<Refusal>& refusal() const { return refusal_; }
  void forget_before() { before_ = nullptr; }
  // Returns whether this step made the storage that has this id now.
  bool is_of_this_step(std::size_t side, StorageId id) const;

 private:
  Name name(std::size_t side, StorageId id) const;

  Tape* before_;
  std::vector<Command> commands_;
  std::vector<Made> made_;
  std::array<std::unordered_map<StorageId, std::uint32_t>, kSides> made_at_;
  std::array<std::unordered_map<StorageId, Outside>, kSides> outside_;
  std::optional<Refusal> refusal_;
};

}  // namespace arraycore::capture
