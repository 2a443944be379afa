// The interface between the launcher of arrays (runtime/launcher.h) and the back ends that
// compute. A back end knows storages and kernels, but not arrays, ids or Python. Python's thread
// only.
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

// An array, or a scalar parameter's value in the parameter's type.
using LaunchArgument = std::variant<ArrayArgument, ir::Scalar>;

// The kernel, loop and arguments of one launch: ir::Launch with storages instead of addresses.
struct Launch {
  KernelId kernel = 0;
  Dims loop;
  std::uint32_t reduced = 0;  // bit k: axis k is reduced, or a scan runs along it
  std::vector<LaunchArgument> arguments;
};

// One set of arrays of a batched launch (fuse/batch.h): one array for each array parameter. Each
// array is `count` consecutive elements.
struct BatchSegment {
  std::int64_t count = 0;
  std::vector<ArrayArgument> arrays;
};

// A product of matrices (gemm/problem.h) that lie in storages, with its prologue and epilogue.
struct GemmLaunch {
  gemm::Problem problem;
  StorageId a = 0;
  StorageId b = 0;
  StorageId out = 0;
  gemm::Stages stages{};
  // First the prologue's operands, at most kStageOperands of them; then those of the epilogue.
  std::array<StorageId, std::size_t{2} * gemm::kStageOperands> operands{};
};

// A kernel in a device's own language, written by a user: WGSL with the entry point `main`,
// uniforms at binding 0 of group 0 if there are any, and storage bindings from 1 on.
struct RawText {
  std::string wgsl;
  std::string name;  // for messages
  std::uint32_t uniform_bytes = 0;
  std::uint32_t bindings = 0;
  std::uint32_t read_write_mask = 0;  // bit i: binding i is read_write, otherwise read
  // True: each binding's size is rounded up to 16 bytes, as arrays of vectors need. False: a
  // binding ends with its array, whose length the WGSL may query.
  bool whole_vectors = false;
};
struct RawLaunch {
  KernelId kernel = 0;
  std::array<std::uint32_t, 3> groups{1, 1, 1};
  std::vector<StorageId> bindings;  // whole storages
  std::vector<std::uint32_t> uniforms;
};

// The start and the end of a kernel's run, in nanoseconds of the device's own clock. Both are 0 if
// the device has no clock.
struct DeviceSpan {
  std::uint32_t position = 0;  // of the kernel's command in the ring
  std::uint32_t tag = 0;       // Backend::kernel_name() returns the kernel's name for it
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
};
struct DeviceTrace {
  std::vector<DeviceSpan> spans;
  std::int64_t lost = 0;  // kernels that ran without their times being recorded
};

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  // Returns whether this back end computes on a device. If so, a download waits for the device.
  virtual bool is_device() const { return false; }
  // Returns the size in bytes of all buffers on the device, even of unused ones; 0 on the CPU.
  virtual std::int64_t held_bytes() const { return 0; }
  // Returns vendor, architecture, device and description, one on each line; "" on the CPU.
  virtual std::string device_text() const { return {}; }
  // Returns the bits of ring::Capability that the device has.
  virtual std::uint32_t device_flags() const { return 0; }

  // Creates a storage of `bytes` bytes, which may be 0. Its content is undefined.
  virtual Result<StorageId> create_storage(std::int64_t bytes) = 0;
  virtual void destroy_storage(StorageId storage) = 0;

  // Writes `bytes` to a storage from `offset` on. REQUIRES: the range is inside the storage;
  // `offset` is a multiple of 4. On a device, the bytes from the range's end up to the next
  // multiple of 4 are undefined afterwards.
  virtual Status upload(StorageId storage, std::int64_t offset,
                        std::span<const std::byte> bytes) = 0;
  virtual Status fill_zero(StorageId storage) = 0;
  // Copies a part of a storage to `bytes`, after everything that was launched before is done.
  // `bytes` is written only during the call, even if the wait fails, because the caller may free
  // that memory afterwards.
  virtual Status download(StorageId storage, std::int64_t offset, std::span<std::byte> bytes) = 0;

  // Adds a verified kernel. What the back end compiles for it is kept until forget().
  virtual Result<KernelId> prepare(ir::Kernel kernel) = 0;
  // Drops what was compiled for a kernel. REQUIRES: the kernel is not used again.
  virtual void forget(KernelId /*kernel*/) {}
  // Launches a kernel. Error: not_implemented, before anything has happened, if this back end
  // cannot run the launch; then the CPU runs it. REQUIRES: every view is inside its storage;
  // elementwise arguments have the loop's shape or broadcast to it; no written view partly overlaps
  // the view of another argument.
  virtual Status launch(const Launch& launch) = 0;

  // Returns the device's buffer in which the storage lies together with other storages, so that one
  // binding can contain many of them. Returns 0 if the storage has its own buffer. Such a storage
  // cannot be part of batched launches.
  virtual std::uint32_t shared_buffer(StorageId /*storage*/) const { return 0; }
  // Launches the kernel once over all segments. `scalars` are the values of its scalar parameters
  // in order. REQUIRES: fuse::can_batch(kernel); at most fuse::most_segments() segments; for each
  // parameter, the arrays of all segments are in one shared buffer. Error: not_implemented, before
  // anything has happened.
  virtual Status launch_batch(KernelId /*kernel*/, std::span<const ir::Scalar> /*scalars*/,
                              std::span<const BatchSegment> /*segments*/) {
    return Error{ErrorKind::not_implemented, "gpu_kernel", "There are no batched launches."};
  }

  // Computes a product (or, through a window, a convolution) with a specialised kernel. Error:
  // not_implemented, before anything has happened, if this back end has no such kernel for the
  // dtype or the strides; then Launcher::multiply computes it another way. REQUIRES: at least one
  // batch, row, column and term; `out` overlaps no operand, and without a window its columns are
  // consecutive.
  virtual Status launch_gemm(const GemmLaunch& /*launch*/) { return no_gemm(); }
  // Sets which kernels compute products from now on, for benchmarks and tests. Returns how many
  // kernels have computed wrong results so far and are no longer used.
  virtual std::uint32_t tune_gemm(const gemm::Tuning& /*tuning*/) { return 0; }

  // The next two functions add and launch kernels in the device's own language. Error on the CPU:
  // not_implemented, "no_raw_kernels".
  virtual Result<KernelId> prepare_raw(const RawText& /*text*/) { return no_raw_kernels(); }
  virtual Status launch_raw(const RawLaunch& /*launch*/) { return no_raw_kernels(); }

  // Measures the device's own time for the launches between the two calls. end_timer() waits for
  // these launches. It returns nanoseconds, or 0 if the device has no clock. Error on the CPU:
  // not_implemented, "no_timer".
  virtual Status begin_timer() { return no_timer(); }
  virtual Result<std::int64_t> end_timer() { return no_timer(); }

  // Between begin_trace() and end_trace() the device records when each kernel runs, and runs one
  // kernel at a time. Both calls wait for earlier launches. take_trace() waits too, and returns the
  // records since its last call. position() returns where the next command will be in the ring.
  // trace_is_full() returns whether the commands since a position may have filled the memory for
  // recorded times. On the CPU all these calls do nothing.
  virtual Status begin_trace() { return Done{}; }
  virtual Status end_trace() { return Done{}; }
  virtual Result<DeviceTrace> take_trace() { return DeviceTrace{}; }
  virtual bool trace_is_full(std::uint32_t /*since*/) const { return false; }
  virtual std::uint32_t position() const { return 0; }
  // Returns the name of the kernel that has this tag in a trace.
  virtual std::string kernel_name(std::uint32_t /*tag*/) const { return {}; }

  // A block is a record of the launches, zero fills and small uploads between begin_block() and
  // end_block(), with their scratch memory. issue_block() issues them again by copying the
  // commands. The blocks of one owner share their scratch memory. REQUIRES: keeps_blocks() is true;
  // between begin_block() and end_block() the caller makes only launches, zero fills and small
  // uploads; every storage and kernel of a block still exists when the block is issued.
  virtual bool keeps_blocks() const { return false; }
  virtual void begin_block(const void* /*owner*/) {}
  virtual std::uint32_t end_block(const void* /*owner*/) { return 0; }
  // Issues the commands of a block from position `from` on. Afterwards `from` is the position of
  // the first command that was not issued: of the command that failed, or the block's end.
  virtual Status issue_block(const void* /*owner*/, std::uint32_t /*block*/,
                             std::size_t& /*from*/) {
    return Done{};
  }
  virtual void forget_blocks(const void* /*owner*/) {}

  // Resets the back end, and opens a new device if the old one was lost. Prepared kernels remain
  // valid. REQUIRES: no storage is in use.
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
