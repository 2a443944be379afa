// Runs kernels on arrays. It manages storage and the memory budget, decides where an array is
// stored and where an operation is computed, and makes copies if a written array overlaps another
// operand. It does not know ids or operations. Python's thread only.
//
// A device, if there is one, stores the arrays whose dtype it computes (on_gpu). Arrays of float64
// and complex128 are in the CPU back end of the same module. If the device cannot run a launch, the
// CPU computes it on copies of the operands, and results are copied back; `cpu_ops` counts this.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "base/result.h"
#include "fuse/fuse.h"
#include "runtime/array_table.h"
#include "runtime/profile.h"

namespace arraycore {

// The number of a kernel of this launcher. It stays valid after reset().
using KernelRef = std::uint32_t;

// One argument: an array, or a scalar of the parameter's type if the pointer is null.
struct Operand {
  const Array* array = nullptr;
  ir::Scalar scalar;
};

struct KernelCall {
  KernelRef kernel = 0;
  Dims loop;
  std::uint32_t reduced = 0;  // bit k: axis k is reduced, or a scan runs along it
  std::span<const Operand> operands;
  // True: the launch may wait for other launches of its kernel, to be joined with them
  // (batching.h). REQUIRES then: callers hold all arrays that it writes.
  bool may_batch = false;
};

// A prologue or an epilogue of a product (gemm/stages.h): a kernel of this launcher, and the whole
// storages of its operands.
struct ProductStage {
  std::optional<KernelRef> kernel;
  std::array<const Array*, gemm::kStageOperands> operands{};
  std::array<gemm::OperandLayout, gemm::kStageOperands> layouts;
};
struct ProductStages {
  ProductStage prologue;  // changes b's elements
  ProductStage epilogue;  // changes the sums
};

class Batching;
class Fusion;

class Launcher {
 public:
  // `device` is nullptr if the CPU is the only back end.
  Launcher(std::unique_ptr<Backend> cpu, std::unique_ptr<Backend> device, Counters& counters,
           std::optional<std::int64_t> budget_bytes);
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  ~Launcher();

  // Returns a new C-ordered array with a storage of its own and undefined content. Error: memory,
  // "over_budget"; value, "array_too_big".
  Result<Array> allocate(DType dtype, const Dims& shape);
  // Checks that `bytes` more bytes fit the budget. If they do not, it first launches the waiting
  // operations, which may free memory. Error: memory, "over_budget"; `use` says in its message what
  // the bytes are for.
  Status check_budget(std::int64_t bytes, std::string_view use);
  // Writes all elements. `elements` has them in C order. REQUIRES: the array is new from
  // allocate().
  Status upload(const Array& array, const void* elements);
  Status fill_zero(const Array& array);
  // Reads all elements in C order, after they are computed. Error: internal, "read_size".
  Status download(const Array& array, std::span<std::byte> out);

  // Adds a kernel. REQUIRES: verify(kernel) passes.
  Result<KernelRef> prepare(ir::Kernel kernel);
  const ir::Kernel& kernel(KernelRef kernel) const { return kernels_[kernel].kernel; }
  // Launches a kernel, now or (with fusion) when its results are needed. An empty loop launches
  // nothing. Elementwise operands broadcast to the loop. Written ones have its shape, or in a
  // reduction the shape of the other axes. Error: value, "shapes_do_not_broadcast".
  Status launch(const KernelCall& call);

  // Checks that each element has memory of its own. The elements of a broadcast view share memory.
  // Error: value, "read_only".
  static Status writable(const Array& array);

  // Assigns source to target[...], cast by Op::convert. Views may overlap. REQUIRES: equal shapes,
  // or a source that broadcasts. Error: value, "read_only", "shapes_do_not_broadcast".
  Status assign(const Array& target, const Array& source);
  // Assigns target[...] = value, where the value has the target's dtype.
  Status fill(const Array& target, const ir::Scalar& value);
  // Returns a C-ordered copy in the given dtype, with its own storage.
  Result<Array> copy(const Array& array, DType dtype);

  // Computes out = a b for the matrices in the last two axes; the axes before are batch axes. It
  // uses the back end's own kernel for products if there is one, and otherwise a plain reduction.
  // REQUIRES: one dtype; the same batch axes (broadcast ones with stride 0) and fitting matrices;
  // `out` is C-ordered and overlaps no operand.
  Status multiply(const Array& a, const Array& b, const Array& out);
  // Computes the product `problem`, whose matrices are in the three arrays' storages, with the back
  // end's own kernel. If a device has none, the CPU computes it. Error: not_implemented, before
  // anything has happened. REQUIRES: what Backend::launch_gemm requires; each array is on the back
  // end of its dtype.
  Status multiply(const gemm::Problem& problem, const Array& a, const Array& b, const Array& out,
                  const ProductStages& stages = {});

  // Returns the back end for kernels in its own language: the device, or the CPU, which refuses
  // them.
  Backend& raw_backend() { return device_ ? *device_ : *cpu_; }

  // Returns the profile, or nullptr if none is recorded.
  Profile* profile() { return profile_.get(); }
  // Begins to record launches, uploads and downloads. Error: value, "profiled_already".
  Status begin_profile();
  // Ends the recording and sets `text` to Profile::text(), even if the device fails. Error: value,
  // "not_profiled".
  Status end_profile(std::string& text);

  // Returns whether fusion is on. While it is on, launches into new arrays wait and are joined with
  // launches that read these arrays (fusion.h). Turning it off launches all waiting operations.
  bool is_fusing() const { return fusion_ != nullptr; }
  Status set_fusing(bool fusing);
  // Launches the operations that compute the array's bytes, so that they can be read.
  Status prepare_read(const Array& array);
  // Launches the operations that compute the array's bytes, and those that read the old bytes, so
  // that the bytes can be written. Code that accesses a storage's bytes without a launch or an
  // assignment must call prepare_read() or prepare_write().
  Status prepare_write(const Array& array);
  // Launches all waiting operations.
  Status flush();
  // Launches waiting operations that hold too much memory. Call it after arrays were released.
  Status reclaim();

  // Resets the back ends. Kernels stay valid. REQUIRES: no array is left.
  Status reset();

 private:
  friend class Batching;
  friend class Fusion;
  // The ways to handle a launch that the device refuses: return the error, or use the CPU.
  enum class Fallback : std::uint8_t { none, cpu };
  struct Prepared {
    ir::Kernel kernel;
    fuse::Traits traits;
    bool only_cpu = false;  // the device has no such dtype or operation
    bool can_batch = false;
    std::optional<KernelId> device;
    std::optional<KernelId> cpu;
  };
  Backend& home(DType dtype) { return device_ && on_gpu(dtype) ? *device_ : *cpu_; }
  bool is_device(const Backend& backend) const { return &backend == device_.get(); }
  bool only_cpu(KernelRef kernel) const { return kernels_[kernel].only_cpu; }
  bool can_batch(KernelRef kernel) const { return kernels_[kernel].can_batch; }
  const fuse::Traits& traits(KernelRef kernel) const { return kernels_[kernel].traits; }
  // Drops a kernel. Its number may be given to another kernel.
  void forget(KernelRef kernel);
  // Launches a kernel at once. REQUIRES: its operands are computed. Error with Fallback::none:
  // not_implemented, before anything has happened.
  Status launch_now(const KernelCall& call, Fallback fallback = Fallback::cpu);
  // Launches a batch (batching.h). Error: not_implemented, before anything has happened.
  Status launch_batch(KernelRef kernel, std::span<const ir::Scalar> scalars,
                      std::span<const BatchSegment> segments);
  Status on_device(Prepared& prepared);
  Status launch_apart(const KernelCall& call, std::span<const Array*> arrays, Fallback fallback);
  Result<KernelRef> cast_kernel(DType to, DType from);
  Result<KernelRef> fill_kernel(DType dtype);
  Result<KernelRef> product_kernel(DType dtype);
  Status prepare_stage(const ProductStage& stage, bool on_device, gemm::Stage& to,
                       StorageId* storages);
  Status multiply_plainly(const Array& a, const Array& b, const Array& out);
  // Does what multiply() does, but never on the CPU for a device.
  Status multiply_at_home(const gemm::Problem& problem, const Array& a, const Array& b,
                          const Array& out, const ProductStages& stages);
  Status multiply_on_cpu(const gemm::Problem& problem, const Array& a, const Array& b,
                         const Array& out, const ProductStages& stages);
  Status separate(const Prepared& prepared, const KernelCall& call, std::vector<Array>& copies,
                  std::span<const Array*> arrays);
  Status launch_on_device(const Prepared& prepared, const KernelCall& call,
                          std::span<const Array*> arrays);
  Status launch_on(Backend& backend, KernelId kernel, const KernelCall& call,
                   std::span<const Array* const> arrays);
  // Returns the CPU's number of the kernel, and prepares the kernel there at its first launch.
  Result<KernelId> on_cpu(Prepared& prepared);
  Status launch_on_cpu(Prepared& prepared, const KernelCall& call,
                       std::span<const Array* const> arrays);

  Counters& counters_;
  std::unique_ptr<Backend> cpu_;
  std::unique_ptr<Backend> device_;
  std::optional<std::int64_t> budget_bytes_;
  std::deque<Prepared>
      kernels_;  // a deque: a launch that makes copies adds kernels, and none may move
  std::vector<KernelRef> forgotten_;                // free places in kernels_
  std::vector<std::optional<KernelRef>> casts_;     // by to * kDTypes + from
  std::vector<std::optional<KernelRef>> fills_;     // by dtype
  std::vector<std::optional<KernelRef>> products_;  // by dtype
  Launch launch_;                       // the launch that is being made; keeps its memory
  int immediate_ = 0;                   // launches in progress, whose copies do not wait
  std::unique_ptr<Profile> profile_;    // null: nothing is recorded
  std::unique_ptr<Batching> batching_;  // null: there is no device, or nothing may wait
  std::unique_ptr<Fusion> fusion_;      // null: off. The last member, because it releases arrays
};

// Returns whether the array's offset and strides are whole elements, as a device needs. Those of a
// view of another dtype's bytes may not be.
bool on_whole_elements(const Array& array);

}  // namespace arraycore
