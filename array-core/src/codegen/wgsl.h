// Generates WGSL from kernels. One Kernel and one Plan give one program. A program is one dispatch.
// If a few long rows are divided among workgroups, it is two dispatches for a reduction and three
// for a scan. Pure; any thread.
//
// Binding 0 of group 0 is the uniform block, an array of vec4<u32> with a dynamic offset. Binding 1
// + s is the plan's slot s. The scratch buffer for divided rows has the last binding.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/plan.h"
#include "codegen/uniforms.h"

namespace arraycore::codegen {

enum class BindingAccess : std::uint8_t { read, read_write };

struct Binding {
  std::uint32_t slot = 0;  // the index of the plan's slot, or kScratch for the scratch buffer
  BindingAccess access = BindingAccess::read;
};
inline constexpr std::uint32_t kScratch = 0xffffffff;

struct WgslStage {
  std::string text;  // its entry point is `main`
  std::vector<Binding> bindings;
};

struct WgslProgram {
  std::vector<WgslStage> stages;      // all share one uniform block
  std::vector<UniformWord> uniforms;  // their count is a multiple of four
  std::uint32_t scratch_pairs_per_part =
      0;  // counted in pairs of words; 0: there is no scratch buffer
  Plan plan;

  // Writes the uniform words of one launch to `words`, which is as long as `uniforms`.
  void uniform_words(const ir::Kernel& kernel, const Launch& launch, const lower::Walks& walks,
                     std::span<std::uint32_t> words) const;
  std::uint64_t scratch_bytes(const lower::Walks& walks) const;
};

Result<WgslProgram> generate(const ir::Kernel& kernel, const Plan& plan);

// Returns the numbers of workgroups along x, y and z of a stage. All are 0 if there is no work.
std::array<std::uint32_t, 3> grid(const Plan& plan, const lower::Walks& walks, std::size_t stage);

}  // namespace arraycore::codegen
