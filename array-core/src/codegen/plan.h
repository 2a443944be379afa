// Plans how one launch of a kernel runs on a GPU: which parameters share a binding, what the layout
// of each is, and how the loop is divided. A LaunchSignature has everything that this depends on,
// as small integers; launches are cached by it. A Plan has everything that the shader's text
// depends on, so its key() identifies a pipeline. Sizes, offsets and strides are uniforms. Pure;
// any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/ir.h"
#include "ir/value.h"
#include "lower/loop.h"

namespace arraycore::codegen {

// Returns a / b, rounded up. REQUIRES: a >= 0, b > 0.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

struct Limits {
  std::uint32_t storage_buffers = 8;
  std::uint32_t invocations = 128;  // of one workgroup
  std::uint32_t groups = 65535;     // along one axis of a dispatch
};

// The argument of one parameter. Arguments with the same `binding` are one bound range of bytes,
// and view offsets count from its beginning. Bindings with the same `heap` are in one buffer.
struct Operand {
  std::uint32_t binding = 0;
  std::uint32_t heap = 0;
  std::uint64_t bytes = 0;  // of the bound range
  View view;
  ir::Scalar scalar;
};

struct Launch {
  Dims loop;
  std::uint32_t reduced = 0;  // one bit for each axis, as in ir::Launch
  std::vector<Operand> operands;
};

enum class Layout : std::uint8_t {
  one,         // the same element for the whole loop
  contiguous,  // the loop's own order
  strided,     // anything else; a raw parameter has one stride for each axis
};

// The ways to divide the work of a reduction or a scan. A row has the elements for one result.
enum class Rows : std::uint8_t {
  none,    // neither a reduction nor a scan
  thread,  // one invocation computes a row
  group,   // the lanes of one workgroup share a row
  split,   // several workgroups share a row through a scratch buffer, in two or three dispatches
};

// The properties of one argument that a plan depends on.
struct ParamSignature {
  // The index of the argument's binding. Bindings are numbered in the order in which the launch's
  // parameters use them.
  std::uint8_t slot = 0;
  std::uint8_t heap = 0;  // the index of its heap; heaps are numbered in the same order
  Layout layout = Layout::contiguous;
  bool aligned = false;        // contiguous, and element 0 (of each row) begins a group of four
  bool whole_vectors = false;  // its binding's size is a multiple of 16 bytes
  std::uint8_t ndim = 0;       // axes of a raw parameter's view
  bool operator==(const ParamSignature&) const = default;
};

struct LaunchSignature {
  std::vector<ParamSignature> params;  // a scalar has an entry too, which is unused
  // The number of axes of Walks::outer (lower/loop.h); in a reduction, the axes that remain.
  std::uint8_t loop_ndim = 0;
  std::uint8_t inner_ndim = 0;  // axes of Walks::inner, which are the reduced ones
  Rows rows = Rows::none;
  std::uint8_t lanes = 0;  // 2^lanes invocations of a workgroup share a row
  bool columns = false;    // neighbouring rows are nearer than neighbouring elements of a row
  bool operator==(const LaunchSignature&) const = default;
  std::uint64_t hash() const;
};

// Returns the information about a kernel that analyze() needs. It is the same for all launches.
lower::Merge merge_of(const ir::Kernel& kernel);

// The order in which a launch's loop visits its elements (see lower::Walks), and the launch's
// signature. An object that is used again allocates nothing.
struct LaunchAnalysis {
  lower::Walks walks;
  LaunchSignature signature;

  // Analyses a launch. `merge` is merge_of(kernel). Error: not_implemented "gpu_kernel".
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
  std::uint8_t ndim = 0;  // axes of a raw parameter's view
};

struct SlotPlan {
  bool written = false;  // a parameter writes to it or to another binding of the same heap
  bool atomic = false;   // array<atomic<u32>>
  bool vectors = false;  // array<vec4<u32>>
};

struct Plan {
  std::vector<ParamPlan> params;  // a scalar has an entry too, which is unused
  std::vector<SlotPlan> slots;
  std::uint8_t loop_ndim = 0;
  std::uint8_t inner_ndim = 0;
  bool quads = false;  // each invocation computes four neighbouring elements
  Rows rows = Rows::none;
  bool running = false;  // it is a scan
  bool columns = false;  // neighbouring invocations compute neighbouring rows, not elements
  std::uint32_t workgroup = 64;
  std::uint32_t lanes = 1;  // how many lanes of a workgroup share a row
  Limits limits;

  std::uint32_t across() const { return workgroup / lanes; }  // the rows of a workgroup
  std::uint32_t unit() const { return quads ? 4 : 1; }  // the elements that a lane takes at a time

  // Returns the key of the plan. For one kernel, equal keys mean equal texts.
  std::string key() const;
};

// The number of workgroups that share a row (for Rows::split; otherwise 1). In a scan, each
// workgroup takes `length` consecutive elements. In a reduction, neighbouring elements go to
// neighbouring lanes of all the row's workgroups in turn.
struct Parts {
  std::int64_t count = 1;
  std::int64_t length = 0;
};
Parts parts_of(const Plan& plan, std::int64_t rows, std::int64_t length);

// Makes the plan of a launch that was analysed. Error: not_implemented "gpu_kernel".
Result<Plan> make_plan(const ir::Kernel& kernel, const LaunchSignature& signature,
                       const Limits& limits);
// Analyses the launch and makes its plan.
Result<Plan> make_plan(const ir::Kernel& kernel, const Launch& launch, const Limits& limits);

}  // namespace arraycore::codegen
