// Lazy fusion: launches whose results are new arrays wait, and what belongs together becomes one
// kernel (fuse/fuse.h) when a result is asked for. Only between a launcher and its callers: kernels
// and arrays are the launcher's. Touched by Python's thread only.
//
// What waits is kept in groups: operations over one loop, joined by what they read of each other. A
// group is settled as a whole, in the order in which it was asked for: results that somebody holds
// are stored, those that nobody holds any more never get memory, and nothing is computed twice. A
// reduction may end a group. Whatever is not one element for one element of the loop settles what
// it reads first: broadcasts and parts of a result, raw parameters, the other back end's dtypes.
//
// A write settles the groups that read what it overwrites. When groups settle depends on counts
// alone, so that the same program makes the same launches.
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
  // A group's operations, its groups at once, and what its kernels bind where they can: WebGPU
  // promises 8 storage buffers. A group may have as many as two such launches while it waits: some
  // are temporaries that are let go with the next call.
  static constexpr std::size_t kMaxNodes = 48;
  static constexpr std::size_t kMaxGroups = 64;
  static constexpr std::size_t kMaxArrays = 8;
  static constexpr std::size_t kSpareArrays = 7;
  static constexpr std::uint32_t kMaxExpressions = 1500;
  static constexpr std::size_t kMaxKernels = 1024;
  // Settled when operations that wait hold more than a tenth of what callers hold.
  static constexpr std::int64_t kPinnedShare = 10;

  explicit Fusion(Launcher& launcher) : launcher_(launcher) {}
  Fusion(const Fusion&) = delete;
  Fusion& operator=(const Fusion&) = delete;
  ~Fusion();

  // Launcher::launch: lets the launch wait, or launches it with what it reads of groups.
  Status launch(const KernelCall& call);
  // Computes the storage's content, if it waits.
  Status flush(const Storage& storage);
  // Computes what waits and reads the storage.
  Status flush_readers(const Storage& storage);
  // Before its bytes are written.
  Status prepare_write(const Storage& storage);
  Status flush_all();
  // Settles what alone holds too much memory.
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
    bool ends = false;              // a reduction
    bool is_finished = false;       // its result lies in `done`
    Storage* result = nullptr;      // null: nobody holds it
    std::shared_ptr<Storage> done;  // memory of a result that nobody holds, or that is finished
    DType dtype = DType::float32;   // of the result
    std::vector<Source> sources;    // one a parameter
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
    std::size_t held = 0;  // results that somebody holds
    std::uint32_t expressions = 0;
  };
  // A fused kernel, or that the device has refused it.
  struct Known {
    KernelRef kernel = 0;
    bool refused = false;
  };
  struct KeyHash {
    std::size_t operator()(const std::vector<std::uint32_t>& key) const;
  };
  struct Plan;  // a launch of several nodes that is being put together

  static Group* group_of(const Storage& storage) { return static_cast<Group*>(storage.group()); }
  bool can_inline(const Array& array, const ir::Param& param, const KernelCall& call) const;
  bool can_wait(const KernelCall& call) const;
  bool runs_at(Backend& home, const KernelCall& call) const;
  Status wait(const KernelCall& call);
  Status launch_with_groups(const KernelCall& call);
  // Null where it would be too large: then both are settled.
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
