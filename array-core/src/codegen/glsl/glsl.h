// Generates passes in GLSL ES 3.00 from kernels, for WebGL2. docs/webgl2.md explains the design.
// Pure; any thread.
//
// A storage is one texture of RGBA32UI: a texel has four words, 16 bytes of the storage, and a row
// has kRowTexels texels. A kernel becomes one fragment shader, a *pass*, for each parameter that it
// writes. A fragment computes the elements of one texel. So a pass writes whole texels. Where a
// view has only a part of a texel, the pass keeps the other words, and so reads its own target.
//
// All passes of a stage read the storages as they were before the first one. The executor therefore
// renders a storage that any pass of the stage reads into a second texture.
//
// A reduction or a scan of long rows has further stages before, each with one pass. They combine
// parts of rows in scratch storages, which later stages read.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/plan.h"
#include "codegen/uniforms.h"

namespace arraycore::codegen::glsl {

inline constexpr std::int64_t kTexelBytes = 16;
inline constexpr std::int64_t kRowTexels = 2048;  // every WebGL2 device has textures of this width

struct Limits {
  std::uint32_t textures = 16;  // that a fragment shader reads
};

// Where a pass writes: a parameter's elements in its storage. The pass finds an element's number in
// the loop (in a reduction: in the output) from its address. It divides the address by the strides,
// from the largest to the smallest.
struct Target {
  struct Axis {
    std::int64_t extent = 1;
    std::int64_t stride = 1;  // in elements, above 0
    std::int64_t step = 0;    // what one step adds to the element's number; below 0 if reversed
  };
  ir::Id param = 0;
  // The elements are consecutive, in the order of their numbers.
  bool contiguous = false;
  // Some words of the texels belong to other elements, and the pass keeps them.
  bool keeps = false;
  std::int64_t first_texel = 0;
  std::int64_t texels = 0;
  std::int64_t first = 0;   // the lowest address of an element, in elements
  std::int64_t number = 0;  // the number of the element at this address
  // Of lower::Walks::outer, in a scan also of Walks::inner, in the order of their strides.
  std::vector<Axis> axes;

  // Returns number `index` of the words that describe the target (UniformWord::From::target):
  // first_texel, texels, first, number, then extent, stride and step of each axis.
  std::int64_t number_at(std::uint32_t index) const;
};
inline constexpr std::uint32_t kTargetAxes = 4;  // the index of the first axis' extent

// How the rows of a reduction or a scan are divided. A row has the elements for one result.
enum class Rows : std::uint8_t {
  whole,   // neither, or the last stage takes all elements of a row
  parts,   // a first stage combines each part of a row
  groups,  // and a second stage combines groups of parts; only in reductions
};
struct Division {
  Rows rows = Rows::whole;
  // The parts of a row. In a reduction, part p has the elements p, p + parts, p + 2 * parts, ...
  // In a scan it has `part_length` consecutive elements.
  std::int64_t parts = 1;
  std::int64_t part_length = 0;
  std::int64_t groups = 1;  // of a row; group g has the parts g, g + groups, g + 2 * groups, ...
  std::array<std::int64_t, 2> scratch_texels{};  // of the parts, and of the groups

  // Returns number `index` of the words that describe the division (UniformWord::From::target with
  // param kNone), which are at the indices below.
  std::int64_t number_at(std::uint32_t index) const;
};
inline constexpr std::uint32_t kParts = 0;
inline constexpr std::uint32_t kGroups = 1;
inline constexpr std::uint32_t kPartLength = 2;
inline constexpr std::uint32_t kScratchRange = 3;  // two words for each scratch storage
// A scan of longer rows is refused, because each element combines up to twice the square root of
// this number.
inline constexpr std::int64_t kLongestScan = 65536;

// Error: not_implemented "gpu_kernel", if passes cannot compute any launch of the kernel.
Status check(const ir::Kernel& kernel);

// Returns how many texels the values of all accumulators take. REQUIRES: the kernel is a reduction.
std::int64_t texels_per_total(const ir::Kernel& kernel);

// A launch's walks, signature and targets. An object that is used again allocates nothing.
struct LaunchAnalysis {
  codegen::LaunchAnalysis base;
  Division division;
  std::vector<Target> targets;  // in the order of the parameters
  std::size_t target_count = 0;

  // Analyses a launch. `merge` is merge_of(kernel). Error: not_implemented "gpu_kernel", if passes
  // cannot compute the launch. REQUIRES: check(kernel) has no error; the `bytes` of an operand are
  // the size of its storage, not rounded up.
  Status analyze(const ir::Kernel& kernel, lower::Merge merge, const Launch& launch);
  std::span<const Target> all_targets() const { return {targets.data(), target_count}; }
  // Returns what a plan depends on beyond base.signature. Equal values and signatures of one kernel
  // mean equal plans.
  std::uint64_t variant() const;
};

struct Plan {
  codegen::Plan base;
  Rows rows = Rows::whole;
  std::vector<Target> targets;  // only their param, contiguous, keeps, and the number of axes

  // Returns the key of the plan. For one kernel, equal keys mean equal texts.
  std::string key() const;
};
Result<Plan> make_plan(const ir::Kernel& kernel, const LaunchAnalysis& analysis,
                       const Limits& limits);

// One fragment shader. It reads the textures `b<slot>` and has the uniform `u.w`, an array of
// uvec4. Between the lines kTranslate and kMain its text is in the language of
// codegen/shader_types.h, which the executor translates
// (worker-runtime/src/gpu/webgl2/translate.ts). The rest is GLSL ES 3.00.
inline constexpr const char* kTranslate = "//translate\n";
inline constexpr const char* kMain = "//main\n";
struct Pass {
  std::string text;
  std::uint32_t target = 0;  // the slot that it writes
  // The uniform word with the first texel that the pass writes. The next word has the number of
  // texels.
  std::uint32_t range = 0;
  std::vector<std::uint32_t> reads;  // slots
};

// The passes of one dispatch.
struct Stage {
  std::vector<Pass> passes;

  // Returns the text of a pipeline: all passes. The executor finds each by the line in front of it,
  // `//pass target <slot> range <word> reads <slot> <slot> ...`.
  std::string text() const;
};

// The scratch storages have the slots after those of the plan: first that of the parts, then that
// of the groups.
struct Program {
  std::vector<Stage> stages;
  std::vector<UniformWord> uniforms;  // their count is a multiple of four; shared by all stages
  Plan plan;

  // Writes the uniform words of one launch to `words`, which is as long as `uniforms`.
  void uniform_words(const ir::Kernel& kernel, const Launch& launch, const LaunchAnalysis& analysis,
                     std::span<std::uint32_t> words) const;
};
Result<Program> generate(const ir::Kernel& kernel, const Plan& plan);

}  // namespace arraycore::codegen::glsl
