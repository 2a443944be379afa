// Computes the data of each launch of a program: uniform words, grid, size of the scratch buffer.
// This code runs at every launch and allocates nothing.
#include "codegen/wgsl.h"

namespace arraycore::codegen {

using ir::Kernel;
using ir::kNone;
using From = UniformWord::From;

void WgslProgram::uniform_words(const Kernel& kernel, const Launch& launch,
                                const lower::Walks& walks, std::span<std::uint32_t> words) const {
  const auto item_of = [&](ir::Id p) {
    return static_cast<std::int64_t>(size_of(kernel.params[p].dtype));
  };
  const auto walked = [&](const lower::Walk& walk, const UniformWord& w) {
    const bool number = w.param == kNone;
    const int operand = number ? walks.number : walks.operand[w.param];
    return walk.strides[static_cast<std::size_t>(operand)][static_cast<int>(w.axis)] /
           (number ? 1 : item_of(w.param));
  };
  for (std::size_t i = 0; i < uniforms.size(); ++i) {
    const UniformWord& w = uniforms[i];
    const auto a = static_cast<int>(w.axis);
    std::int64_t value = 0;
    switch (w.from) {
      case From::bits:
        value = w.bits;
        break;
      case From::loop_size:
        value = walks.outer.count() * walks.inner.count();
        break;
      case From::rows:
        value = walks.outer.count();
        break;
      case From::row_length:
        value = walks.inner.count();
        break;
      case From::parts:
        value = parts_of(plan, walks.outer.count(), walks.inner.count()).count;
        break;
      case From::part_length:
        value = parts_of(plan, walks.outer.count(), walks.inner.count()).length;
        break;
      case From::outer_extent:
        value = walks.outer.shape[a];
        break;
      case From::inner_extent:
        value = walks.inner.shape[a];
        break;
      case From::outer_stride:
        value = walked(walks.outer, w);
        break;
      case From::inner_stride:
        value = walked(walks.inner, w);
        break;
      case From::offset:
        value = launch.operands[w.param].view.offset / item_of(w.param);
        break;
      case From::extent: {
        const View& view = launch.operands[w.param].view;
        value = a < view.ndim() ? view.shape[a] : 1;
        break;
      }
      case From::stride:
        value = launch.operands[w.param].view.strides[a] / item_of(w.param);
        break;
      case From::count:
        value = launch.operands[w.param].view.count();
        break;
      case From::scalar: {
        const std::uint64_t bits = launch.operands[w.param].scalar.bits;
        value = static_cast<std::int64_t>((w.axis == 0 ? bits : bits >> 32) & 0xffffffffU);
        break;
      }
    }
    words[i] = static_cast<std::uint32_t>(value);
  }
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
