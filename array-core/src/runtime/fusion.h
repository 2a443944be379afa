// Lazy fusion. Launches whose results are new arrays wait, and launches that belong together become
// one kernel (fuse/fuse.h) when a result is needed. This class stands between a launcher and the
// launcher's callers, and uses the launcher's kernels and arrays. Python's thread only.
//
// A group contains waiting operations over one loop that read each other's results. It is flushed
// as a whole, in the order of its calls. Results that somebody holds are stored, results that
// nobody holds any more never get memory, and nothing is computed twice. A reduction may end a
// group. Some operations cannot join a group that they read, because they do not read one element
// of its result for each element of the loop (a broadcast, a part of the result, a raw parameter),
// or because they run on another back end. They first flush the groups that they read.
//
// A write flushes the groups that read the memory which it overwrites. Limits of counts and bytes,
// and not of time, flush groups. So the same program always makes the same launches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "fuse/fuse.h"
#include "runtime/launcher.h"

namespace arraycore {

class Fusion {
 public:
  // There are limits for the operations in a group, for the groups and, where possible, for the
  // arrays that a group's kernel binds (WebGPU guarantees 8 storage buffers). A waiting group may
  // have kSpareArrays more arrays, because some of them are temporaries that are released with the
  // next call.
  static constexpr std::size_t kMaxNodes = 48;
  static constexpr std::size_t kMaxGroups = 64;
  static constexpr std::size_t kMaxArrays = 8;
  static constexpr std::size_t kSpareArrays = 7;
  static constexpr std::uint32_t kMaxExpressions = 1500;
  static constexpr std::size_t kMaxKernels = 1024;
  // Groups are flushed if the arrays that only waiting operations hold have more than a tenth of
  // the bytes of the arrays that callers hold.
  static constexpr std::int64_t kPinnedShare = 10;

  explicit Fusion(Launcher& launcher) : launcher_(launcher) {}
  Fusion(const Fusion&) = delete;
  Fusion& operator=(const Fusion&) = delete;
  ~Fusion();

  // Implements Launcher::launch: lets the launch wait, or launches it together with the groups that
  // it reads.
  Status launch(const KernelCall& call);
  // Computes the storage's content, if the operation that computes it still waits.
  Status flush(const Storage& storage);
  // Launches all waiting operations that read the storage.
  Status flush_readers(const Storage& storage);
  // Launches the waiting operations that must run before the bytes of the storage are written. Call
  // it before each such write.
  Status prepare_write(const Storage& storage);
  Status flush_all();
  // Launches waiting operations if arrays that only they hold use too much memory.
  Status reclaim();

 private:
  struct Source {
    enum class From : std::uint8_t { input, node, scalar, result };
    From from = From::scalar;
    std::uint32_t index = 0;
  };
  struct Node {
    KernelRef kernel = 0;
    std::uint32_t reduced = 0;
    bool ends = false;              // it is a reduction, which ends the group
    bool is_finished = false;       // its result is in `done`
    Storage* result = nullptr;      // null: nobody holds it
    std::shared_ptr<Storage> done;  // memory of a result that nobody holds, or that is finished
    DType dtype = DType::float32;   // of the result
    std::vector<Source> sources;    // one for each parameter
  };
  struct Group final : Waiting {
    explicit Group(Fusion& fusion) : owner(fusion) {}
    ~Group() override;
    void lost(std::uint32_t node) override;
    std::uint32_t add_input(const Array& array);
    void finish(std::uint32_t node);
    std::size_t arrays() const { return inputs.size() + held; }

    Fusion& owner;
    Backend* home = nullptr;
    Dims loop;
    std::vector<Node> nodes;
    std::vector<Array> inputs;
    std::vector<ir::Scalar> scalars;
    std::size_t held = 0;  // the number of results that somebody holds
    std::uint32_t expressions = 0;
  };
  // A fused kernel, or the fact that the device refused it.
  struct Known {
    KernelRef kernel = 0;
    bool refused = false;
  };
  struct KeyHash {
    std::size_t operator()(const std::vector<std::uint32_t>& key) const;
  };
  struct Plan;  // a launch of several nodes that is being built

  static Group* group_of(const Storage& storage) { return static_cast<Group*>(storage.group()); }
  bool can_inline(const Array& array, const ir::Param& param, const KernelCall& call) const;
  bool can_wait(const KernelCall& call) const;
  bool runs_at(Backend& home, const KernelCall& call) const;
  Status wait(const KernelCall& call);
  Status launch_with_groups(const KernelCall& call);
  // Joins two groups. Returns nullptr if the result would be too large; then both are flushed.
  Group* join(Group* a, Group* b, const KernelCall& call);
  static void merge(Group& into, Group& from);

  Status flush(Group& group, const KernelCall* last = nullptr);
  std::size_t arrays_of(const Group& group, std::span<const std::uint32_t> nodes,
                        const std::vector<bool>& stored, const KernelCall* last) const;
  Status flush_elements(Group& group, const std::vector<std::uint32_t>& nodes,
                        std::vector<bool> stored, const KernelCall* last);
  Result<bool> flush_as_one(Group& group, const std::vector<std::uint32_t>& nodes,
                            std::uint32_t end);
  bool same_order(const Group& group, std::span<const std::uint32_t> nodes, const Node& end) const;
  Status run(Group& group, std::span<const std::uint32_t> nodes, const std::vector<bool>& stored,
             const KernelCall* last);
  Status run_alone(Group& group, std::uint32_t node);
  Status give_memory(Group& group, std::uint32_t node);
  Array array_of(const Group& group, std::uint32_t node) const;
  Result<Known*> kernel_of(const Plan& plan);
  void drop(Group& group);

  Launcher& launcher_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::unordered_map<std::vector<std::uint32_t>, Known, KeyHash> known_;
};

}  // namespace arraycore
