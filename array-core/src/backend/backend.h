// What computes: the seam between arrays (context.h) and a device. A back end knows storage and
// kernels, nothing of arrays, ids or Python. Touched by Python's thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "dtype/dtype.h"
#include "gemm/problem.h"
#include "gemm/stages.h"
#include "gemm/variant.h"
#include "ir/ir.h"
#include "ir/value.h"
#include "view/view.h"

namespace arraycore {

using StorageId = std::uint32_t;  // a back end's own number; never 0
using KernelId = std::uint32_t;   // a back end's own number

struct ArrayArgument {
  StorageId storage = 0;
  View view;
};

// An array, or a scalar parameter's value of the parameter's type.
using LaunchArgument = std::variant<ArrayArgument, ir::Scalar>;

// What a kernel runs over (ir::Launch, with storage in the place of addresses).
struct Launch {
  KernelId kernel = 0;
  Dims loop;
  std::uint32_t reduced = 0;  // bit k: axis k is reduced, or a scan runs along it
  std::vector<LaunchArgument> arguments;
};

// One of the sets of arrays that a batched launch (fuse/batch.h) goes over: one a parameter that is
// an array, each one run of `count` elements.
struct BatchSegment {
  std::int64_t count = 0;
  std::vector<ArrayArgument> arrays;
};

// A product of matrices (gemm/problem.h), each in its storage, and what is done to its elements on
// the way.
struct GemmLaunch {
  gemm::Problem problem;
  StorageId a = 0;
  StorageId b = 0;
  StorageId out = 0;
  gemm::Stages stages{};
  // Of the operands: the prologue's, then from kStageOperands on the epilogue's.
  std::array<StorageId, std::size_t{2} * gemm::kStageOperands> operands{};
};

// A device's own kernel, written by a user: WGSL with entry point `main`, uniforms at binding 0 of
// group 0 where there are some, storage bindings from 1 on.
struct RawText {
  std::string wgsl;
  std::string name;  // for messages
  std::uint32_t uniform_bytes = 0;
  std::uint32_t bindings = 0;
  std::uint32_t read_write_mask = 0;  // bit i: binding i is read_write, else read
  // Bindings reach to the next 16 bytes, as arrays of vectors need; else they end with the array,
  // whose length the text may ask.
  bool whole_vectors = false;
};
struct RawLaunch {
  KernelId kernel = 0;
  std::array<std::uint32_t, 3> groups{1, 1, 1};
  std::vector<StorageId> bindings;  // whole storages
  std::vector<std::uint32_t> uniforms;
};

// When a kernel ran on a device, in nanoseconds of the device's own clock; zeros where it has none.
struct DeviceSpan {
  std::uint32_t position = 0;  // of its command in the ring
  std::uint32_t tag = 0;       // Backend::kernel_name()
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
};
struct DeviceTrace {
  std::vector<DeviceSpan> spans;
  std::int64_t lost = 0;  // kernels that ran without their times being kept
};

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  // Whether it computes elsewhere, so that a download waits for a device.
  virtual bool is_device() const { return false; }
  // Of a device's buffers, those kept for the next array included; 0 on the CPU.
  virtual std::int64_t held_bytes() const { return 0; }
  // Vendor, architecture, device and description, one a line; "" for the CPU.
  virtual std::string device_text() const { return {}; }
  // Bits of ring::Capability.
  virtual std::uint32_t device_flags() const { return 0; }

  // Storage of `bytes` (0 too), its content undefined.
  virtual Result<StorageId> create_storage(std::int64_t bytes) = 0;
  virtual void destroy_storage(StorageId storage) = 0;

  // REQUIRES: the range lies inside the storage; `offset` is a multiple of 4. On a device the bytes
  // up to the next multiple of 4 behind the end are undefined afterwards.
  virtual Status upload(StorageId storage, std::int64_t offset,
                        std::span<const std::byte> bytes) = 0;
  virtual Status fill_zero(StorageId storage) = 0;
  // Waits for all that was launched before. `bytes` is written during the call only, also where the
  // wait fails: the caller's memory may be gone then.
  virtual Status download(StorageId storage, std::int64_t offset, std::span<std::byte> bytes) = 0;

  // Takes a verified kernel, once; what is compiled for it is kept by the back end.
  virtual Result<KernelId> prepare(ir::Kernel kernel) = 0;
  // What was compiled for a kernel is let go. REQUIRES: the kernel is not used again.
  virtual void forget(KernelId /*kernel*/) {}
  // Error: not_implemented, before anything has happened, for what this back end cannot run: the
  // CPU does it then. REQUIRES: every view lies inside its storage; elementwise arguments have the
  // loop's shape or broadcast to it; no written view overlaps another argument's in part.
  virtual Status launch(const Launch& launch) = 0;

  // The buffer that the storage shares with others, so that many of them can be bound at once; 0:
  // none, and the storage is not for batched launches.
  virtual std::uint32_t shared_buffer(StorageId /*storage*/) const { return 0; }
  // The kernel over all segments in one launch; `scalars`: of its scalar parameters, in order.
  // REQUIRES: fuse::can_batch(kernel), at most fuse::most_segments() of them; parameter by
  // parameter the arrays of all segments lie in one shared buffer. Error: not_implemented, before
  // anything has happened.
  virtual Status launch_batch(KernelId /*kernel*/, std::span<const ir::Scalar> /*scalars*/,
                              std::span<const BatchSegment> /*segments*/) {
    return Error{ErrorKind::not_implemented, "gpu_kernel", "There are no batched launches."};
  }

  // A product, or through a window a convolution, by a kernel made for it. Error: not_implemented,
  // before anything has happened, where this back end has none for the dtype or the strides:
  // Launcher::multiply knows another way. REQUIRES: at least one batch, row, column and term; `out`
  // overlaps no operand, and without a window its columns follow each other.
  virtual Status launch_gemm(const GemmLaunch& /*launch*/) { return no_gemm(); }
  // Which of its kernels it is to take from now on, for benchmarks and tests. Gives how many were
  // found wrong so far and are taken no more.
  virtual std::uint32_t tune_gemm(const gemm::Tuning& /*tuning*/) { return 0; }

  // Kernels in the device's own language; error: not_implemented, "no_raw_kernels", on the CPU.
  virtual Result<KernelId> prepare_raw(const RawText& /*text*/) { return no_raw_kernels(); }
  virtual Status launch_raw(const RawLaunch& /*launch*/) { return no_raw_kernels(); }

  // The device's own time over the launches in between; end_timer waits for them. Gives
  // nanoseconds, 0 where the device has no clock. Error: not_implemented, "no_timer", on the CPU.
  virtual Status begin_timer() { return no_timer(); }
  virtual Result<std::int64_t> end_timer() { return no_timer(); }

  // From begin_trace() to end_trace() the device notes when each kernel runs, which then no longer
  // run side by side. Both wait for what was launched, and so does take_trace(), which gives what
  // was noted since it was asked last. `position`: where the next command will lie in the ring;
  // trace_is_full: with those since a position there may be no room for more. All that is nothing
  // on the CPU.
  virtual Status begin_trace() { return Done{}; }
  virtual Status end_trace() { return Done{}; }
  virtual Result<DeviceTrace> take_trace() { return DeviceTrace{}; }
  virtual bool trace_is_full(std::uint32_t /*since*/) const { return false; }
  virtual std::uint32_t position() const { return 0; }
  // A kernel's name by its tag.
  virtual std::string kernel_name(std::uint32_t /*tag*/) const { return {}; }

  // Blocks: what becomes of the launches, zeros and small uploads between begin_block() and
  // end_block() is kept, scratch memory included, and issued again by a copy. Several blocks of one
  // owner share their scratch. REQUIRES: nothing else is called in between, and what a block names
  // is there when it is issued. Only where keeps_blocks().
  virtual bool keeps_blocks() const { return false; }
  virtual void begin_block(const void* /*owner*/) {}
  virtual std::uint32_t end_block(const void* /*owner*/) { return 0; }
  // From `from` on, which says afterwards how far it came: all of it, or up to an error.
  virtual Status issue_block(const void* /*owner*/, std::uint32_t /*block*/,
                             std::size_t& /*from*/) {
    return Done{};
  }
  virtual void forget_blocks(const void* /*owner*/) {}

  // Begins anew, on a new device where the old one was lost; prepared kernels stay. REQUIRES: no
  // storage is in use.
  virtual Status reset() { return Done{}; }

 protected:
  static Error no_gemm() {
    return {ErrorKind::not_implemented, "gpu_operation",
            "There is no kernel of its own for this product of matrices."};
  }

 private:
  static Error no_raw_kernels() {
    return {ErrorKind::not_implemented, "no_raw_kernels",
            "A RawKernel is WGSL, which only the back end 'webgpu' runs: open arraycore with it, "
            "or write an ElementwiseKernel."};
  }
  static Error no_timer() {
    return {ErrorKind::not_implemented, "no_timer",
            "The CPU has no clock of its own: measure with time.perf_counter()."};
  }
};

}  // namespace arraycore
