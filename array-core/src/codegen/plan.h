// How one launch of a kernel meets a GPU: which parameters share a binding, how each is laid out,
// how the loop is cut. A LaunchSignature is all of a launch that this depends on, in small
// integers: a launch cache's key. A Plan holds what the shader's text depends on and no more, so
// that its key() names a pipeline; sizes, offsets and strides travel as uniforms. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/ir.h"
#include "ir/value.h"
#include "lower/loop.h"

namespace arraycore::codegen {

struct Limits {
  std::uint32_t storage_buffers = 8;
  std::uint32_t invocations = 128;  // of one workgroup
  std::uint32_t groups = 65535;     // along one axis of a dispatch
};

// One parameter's argument. Arguments with the same `binding` are one bound range of bytes; view
// offsets count from its beginning. Bindings with the same `heap` lie in one buffer.
struct Operand {
  std::uint32_t binding = 0;
  std::uint32_t heap = 0;
  std::uint64_t bytes = 0;  // of the bound range
  View view;
  ir::Scalar scalar;
};

struct Launch {
  Dims loop;
  std::uint32_t reduced = 0;  // bit per axis, as in ir::Launch
  std::vector<Operand> operands;
};

enum class Layout : std::uint8_t {
  one,         // the same element for the whole loop
  contiguous,  // the loop's own order
  strided,     // anything else; raw: one stride per axis
};

// How a reduction or a scan is cut.
enum class Rows : std::uint8_t {
  none,    // neither
  thread,  // one invocation goes through one row
  group,   // lanes of one workgroup share a row
  split,   // several workgroups share a row by way of a scratch buffer: more dispatches follow
};

// One argument as far as a plan depends on it.
struct ParamSignature {
  std::uint8_t slot = 0;  // its binding's number among the launch's, in order of appearance
  std::uint8_t heap = 0;  // likewise its heap's
  Layout layout = Layout::contiguous;
  bool aligned = false;        // contiguous, and element 0 (of each row) begins a group of four
  bool whole_vectors = false;  // its binding is a whole number of 16 bytes
  std::uint8_t ndim = 0;       // raw: of its view
  bool operator==(const ParamSignature&) const = default;
};

struct LaunchSignature {
  std::vector<ParamSignature> params;  // scalars have an entry too, unused
  std::uint8_t loop_ndim = 0;          // axes walked; in a reduction the axes that stay
  std::uint8_t inner_ndim = 0;         // reduced axes walked
  Rows rows = Rows::none;
  std::uint8_t lanes = 0;  // 2^lanes invocations of a workgroup share a row
  bool columns = false;    // neighbouring rows lie nearer than neighbouring elements of a row
  bool operator==(const LaunchSignature&) const = default;
  std::uint64_t hash() const;
};

// What is asked of every launch of a kernel.
lower::Merge merge_of(const ir::Kernel& kernel);

// A launch as it is walked, and its signature. Kept from launch to launch, it allocates nothing.
struct LaunchAnalysis {
  lower::Walks walks;
  LaunchSignature signature;

  // `merge`: merge_of(kernel). Error: not_implemented "gpu_kernel".
  Status analyze(const ir::Kernel& kernel, lower::Merge merge, const Launch& launch);

 private:
  std::vector<const View*> views_;
  std::vector<std::uint32_t> bindings_;
  std::vector<std::uint32_t> heaps_;
};

struct ParamPlan {
  std::uint32_t slot = 0;
  Layout layout = Layout::contiguous;
  bool aligned = false;
  std::uint8_t ndim = 0;  // raw: of its view
};

struct SlotPlan {
  bool written = false;  // some parameter of it, or another binding of the same heap
  bool atomic = false;   // array<atomic<u32>>
  bool vectors = false;  // array<vec4<u32>>
};

struct Plan {
  std::vector<ParamPlan> params;  // scalars have an entry too, unused
  std::vector<SlotPlan> slots;
  std::uint8_t loop_ndim = 0;
  std::uint8_t inner_ndim = 0;
  bool quads = false;  // each invocation runs four neighbouring elements
  Rows rows = Rows::none;
  bool running = false;  // a scan
  bool columns = false;  // neighbouring invocations have neighbouring rows, not elements
  std::uint32_t workgroup = 64;
  std::uint32_t lanes = 1;  // of a workgroup, that share a row
  Limits limits;

  std::uint32_t across() const { return workgroup / lanes; }  // rows of a workgroup
  std::uint32_t unit() const { return quads ? 4 : 1; }  // elements that a lane takes at a time

  // Equal keys, equal text (for one kernel).
  std::string key() const;
};

// Rows::split: how many workgroups share a row. In a scan each takes `length` elements that follow
// each other, in a reduction those that its lanes meet.
struct Parts {
  std::int64_t count = 1;
  std::int64_t length = 0;
};
Parts parts_of(const Plan& plan, std::int64_t rows, std::int64_t length);

// Error: not_implemented "gpu_kernel".
Result<Plan> make_plan(const ir::Kernel& kernel, const LaunchSignature& signature,
                       const Limits& limits);
// LaunchAnalysis and plan at once.
Result<Plan> make_plan(const ir::Kernel& kernel, const Launch& launch, const Limits& limits);

}  // namespace arraycore::codegen
