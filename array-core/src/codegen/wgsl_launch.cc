// What travels with each launch of a program: uniform words, grid, scratch. Runs at every launch
// and allocates nothing.
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
  return static_cast<std::uint64_t>(walks.outer.count()) * scratch_word_pairs_per_row * 8;
}

std::array<std::uint32_t, 3> grid(const Plan& plan, const lower::Walks& walks, std::size_t stage) {
  const std::int64_t rows = walks.outer.count();
  std::int64_t threads = plan.quads ? (rows + 3) / 4 : rows;
  if (plan.rows == Rows::group) threads *= plan.workgroup;
  if (plan.rows == Rows::split) threads *= plan.workgroup * (stage == 0 ? plan.parts : 1);
  const std::int64_t groups = (threads + plan.workgroup - 1) / plan.workgroup;
  if (groups == 0) return {0, 0, 0};
  const std::int64_t limit = plan.limits.groups;
  if (groups <= limit) return {static_cast<std::uint32_t>(groups), 1, 1};
  const std::int64_t y = (groups + limit - 1) / limit;
  const std::int64_t x = (groups + y - 1) / y;
  return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), 1};
}

}  // namespace arraycore::codegen
