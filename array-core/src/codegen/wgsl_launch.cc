// Computes the data of each launch of a program: uniform words, grid, size of the scratch buffer.
// This code runs at every launch and allocates nothing.
#include "codegen/wgsl.h"

namespace arraycore::codegen {

using ir::Kernel;

void WgslProgram::uniform_words(const Kernel& kernel, const Launch& launch,
                                const lower::Walks& walks, std::span<std::uint32_t> words) const {
  for (std::size_t i = 0; i < uniforms.size(); ++i)
    words[i] = static_cast<std::uint32_t>(word_of(uniforms[i], kernel, plan, launch, walks));
}

std::uint64_t WgslProgram::scratch_bytes(const lower::Walks& walks) const {
  if (scratch_pairs_per_part == 0) return 0;
  const std::int64_t rows = walks.outer.count();
  const Parts parts = parts_of(plan, rows, walks.inner.count());
  return static_cast<std::uint64_t>(rows * parts.count) * scratch_pairs_per_part * 8;
}

namespace {

std::int64_t workgroups(const Plan& plan, const lower::Walks& walks, std::size_t stage) {
  const std::int64_t rows = walks.outer.count();
  if (plan.rows == Rows::none) return ceil_div(rows, std::int64_t{plan.workgroup} * plan.unit());
  if (plan.running && walks.inner.count() == 0) return 0;
  const std::int64_t blocks = ceil_div(rows, plan.across());
  if (plan.rows != Rows::split) return blocks;
  // The second stage combines the totals that the first stage stored for each row.
  return stage == 1 ? rows : blocks * parts_of(plan, rows, walks.inner.count()).count;
}

}  // namespace

std::array<std::uint32_t, 3> grid(const Plan& plan, const lower::Walks& walks, std::size_t stage) {
  const std::int64_t groups = workgroups(plan, walks, stage);
  if (groups == 0) return {0, 0, 0};
  const std::int64_t limit = plan.limits.groups;
  if (groups <= limit) return {static_cast<std::uint32_t>(groups), 1, 1};
  const std::int64_t y = (groups + limit - 1) / limit;
  const std::int64_t x = (groups + y - 1) / y;
  return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), 1};
}

}  // namespace arraycore::codegen
