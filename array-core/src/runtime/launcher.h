// Runs kernels over arrays: storage, the budget, where an array lives and where an operation is
// computed, and copies where a written array overlaps another operand. Knows neither ids nor
// operations. Touched by Python's thread only.
//
// With a device, an array lives there if the device computes its dtype (on_gpu), else (float64,
// complex128) in the CPU back end of the same module. A launch that the device cannot do is done by
// the CPU, with the operands brought there and back, and counted in `cpu_ops`.
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

// A kernel of this launcher; stays valid.
using KernelRef = std::uint32_t;

// One argument: an array, or (null) a scalar of the parameter's type.
struct Operand {
  const Array* array = nullptr;
  ir::Scalar scalar;
};

struct KernelCall {
  KernelRef kernel = 0;
  Dims loop;
  std::uint32_t reduced = 0;  // bit k: axis k is reduced, or a scan runs along it
  std::span<const Operand> operands;
  // It may wait for others of its kernel, and become one launch with them (batching.h): all that it
  // writes are arrays that the caller named.
  bool may_batch = false;
};

// What a product does to elements on their way (gemm/stages.h): kernels of this launcher, and whole
// storages that hold their operands.
struct ProductStage {
  std::optional<KernelRef> kernel;
  std::array<const Array*, gemm::kStageOperands> operands{};
  std::array<gemm::OperandLayout, gemm::kStageOperands> layouts;
};
struct ProductStages {
  ProductStage prologue;  // b's elements
  ProductStage epilogue;  // the sums
};

class Batching;
class Fusion;

class Launcher {
 public:
  // `device`: null where the CPU is the only back end.
  Launcher(std::unique_ptr<Backend> cpu, std::unique_ptr<Backend> device, Counters& counters,
           std::optional<std::int64_t> budget_bytes);
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  ~Launcher();

  // A new C-ordered array with storage of its own, content undefined.
  // Error: memory, "over_budget"; value, "array_too_big".
  Result<Array> allocate(DType dtype, const Dims& shape);
  // Whether so many bytes more, for what `use` names, fit the budget; launches what waits before it
  // says no. Error: memory, "over_budget".
  Status check_budget(std::int64_t bytes, std::string_view use);
  // `elements`: all of the array's, in C order. REQUIRES: the array is fresh from allocate().
  Status upload(const Array& array, const void* elements);
  Status fill_zero(const Array& array);
  // Every element in C order. Waits for what they depend on. Error: internal, "read_size".
  Status download(const Array& array, std::span<std::byte> out);

  // REQUIRES: verify(kernel) passes.
  Result<KernelRef> prepare(ir::Kernel kernel);
  const ir::Kernel& kernel(KernelRef kernel) const { return kernels_[kernel].kernel; }
  // One launch, now or (fusion) when its results are asked for; none where the loop is empty.
  // Elementwise operands broadcast to the loop; written ones have its shape (in a reduction: the
  // shape of the other axes). Error: value, "shapes_do_not_broadcast".
  Status launch(const KernelCall& call);

  // Whether each element has memory of its own: a broadcast view has not.
  // Error: value, "read_only".
  static Status writable(const Array& array);

  // `target[...] = source`, cast as Op::convert does. Right for overlapping views. REQUIRES: equal
  // shapes, or a source that broadcasts to the target's. Error: value, "read_only",
  // "shapes_do_not_broadcast".
  Status assign(const Array& target, const Array& source);
  // `target[...] = value`, a value of the target's dtype.
  Status fill(const Array& target, const ir::Scalar& value);
  // A C-ordered copy with a storage of its own.
  Result<Array> copy(const Array& array, DType dtype);

  // `out = a b` of matrices in the last two axes, each of every batch in the axes before. Done by
  // the back end's own kernel for products where it has one, else by a plain reduction. REQUIRES:
  // one dtype; the same batch axes (broadcast ones with stride 0) and fitting matrices; `out` is
  // C-ordered and overlaps no operand.
  Status multiply(const Array& a, const Array& b, const Array& out);
  // The same by the back end's own kernel alone, for what `problem` says lies in the three arrays'
  // storages. Error: not_implemented, before anything has happened. REQUIRES: as
  // Backend::launch_gemm; the arrays live where their dtype does.
  Status multiply(const gemm::Problem& problem, const Array& a, const Array& b, const Array& out,
                  const ProductStages& stages = {});

  // The back end that kernels in its own language run on: the device, or the CPU, which refuses.
  Backend& raw_backend() { return device_ ? *device_ : *cpu_; }

  // Null while nothing is profiled.
  Profile* profile() { return profile_.get(); }
  // What is launched, uploaded and read from now on is noted. Error: value, "profiled_already".
  Status begin_profile();
  // Ends that; `text` is Profile::text(), also where the device fails. Error: value,
  // "not_profiled".
  Status end_profile(std::string& text);

  // Whether launches into new arrays wait and become one with what reads them (fusion.h). What
  // waits when it ends is launched.
  bool is_fusing() const { return fusion_ != nullptr; }
  Status set_fusing(bool fusing);
  // The array's bytes may be read by way of its storage: what computes them was launched.
  Status prepare_read(const Array& array);
  // They may be written too: what reads the bytes before was launched. Any storage's bytes that are
  // touched without a launch or an assignment need one of the two.
  Status prepare_write(const Array& array);
  // Launches all that waits.
  Status flush();
  // After arrays were let go: launches what alone holds too much memory.
  Status reclaim();

  // Forgets no kernel. REQUIRES: no array is left.
  Status reset();

 private:
  friend class Batching;
  friend class Fusion;
  // Whether the CPU does what the device refuses.
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
  // The kernel's number may become another's.
  void forget(KernelRef kernel);
  // REQUIRES: what is read is there. Error with Fallback::none: not_implemented, before anything
  // has happened.
  Status launch_now(const KernelCall& call, Fallback fallback = Fallback::cpu);
  // Error: not_implemented, before anything has happened.
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
  Status separate(const Prepared& prepared, const KernelCall& call, std::vector<Array>& copies,
                  std::span<const Array*> arrays);
  Status launch_on_device(const Prepared& prepared, const KernelCall& call,
                          std::span<const Array*> arrays);
  Status launch_on(Backend& backend, KernelId kernel, const KernelCall& call,
                   std::span<const Array* const> arrays);
  // The kernel as the CPU knows it, prepared there at its first launch.
  Result<KernelId> on_cpu(Prepared& prepared);
  Status launch_on_cpu(Prepared& prepared, const KernelCall& call,
                       std::span<const Array* const> arrays);

  Counters& counters_;
  std::unique_ptr<Backend> cpu_;
  std::unique_ptr<Backend> device_;
  std::optional<std::int64_t> budget_bytes_;
  std::deque<Prepared> kernels_;                    // a launch that copies adds one: none moves
  std::vector<KernelRef> forgotten_;                // free places there
  std::vector<std::optional<KernelRef>> casts_;     // by to * kDTypes + from
  std::vector<std::optional<KernelRef>> fills_;     // by dtype
  std::vector<std::optional<KernelRef>> products_;  // by dtype
  Launch launch_;                                   // the one being made: kept for its memory
  int immediate_ = 0;                               // launches under way, whose copies do not wait
  std::unique_ptr<Profile> profile_;                // null: off
  std::unique_ptr<Batching> batching_;              // null: no device, or nothing waits
  std::unique_ptr<Fusion> fusion_;                  // null: off. Last: it lets go of arrays
};

// A device reads whole elements: a view of another dtype's bytes may begin or step between them.
bool on_whole_elements(const Array& array);

}  // namespace arraycore
