#include "codegen/uniforms.h"

namespace arraycore::codegen {

using From = UniformWord::From;

std::int64_t word_of(const UniformWord& word, const ir::Kernel& kernel, const Plan& plan,
                     const Launch& launch, const lower::Walks& walks) {
  const auto item_of = [&](ir::Id p) {
    return static_cast<std::int64_t>(size_of(kernel.params[p].dtype));
  };
  const auto a = static_cast<int>(word.axis);
  const auto walked = [&](const lower::Walk& walk) {
    const bool number = word.param == ir::kNone;
    const int operand = number ? walks.number : walks.operand[word.param];
    return walk.strides[static_cast<std::size_t>(operand)][a] / (number ? 1 : item_of(word.param));
  };
  switch (word.from) {
    case From::bits:
      return word.bits;
    case From::loop_size:
      return walks.outer.count() * walks.inner.count();
    case From::rows:
      return walks.outer.count();
    case From::row_length:
      return walks.inner.count();
    case From::parts:
      return parts_of(plan, walks.outer.count(), walks.inner.count()).count;
    case From::part_length:
      return parts_of(plan, walks.outer.count(), walks.inner.count()).length;
    case From::outer_extent:
      return walks.outer.shape[a];
    case From::inner_extent:
      return walks.inner.shape[a];
    case From::outer_stride:
      return walked(walks.outer);
    case From::inner_stride:
      return walked(walks.inner);
    case From::offset:
      return launch.operands[word.param].view.offset / item_of(word.param);
    case From::extent: {
      const View& view = launch.operands[word.param].view;
      return a < view.ndim() ? view.shape[a] : 1;
    }
    case From::stride:
      return launch.operands[word.param].view.strides[a] / item_of(word.param);
    case From::count:
      return launch.operands[word.param].view.count();
    case From::scalar: {
      const std::uint64_t bits = launch.operands[word.param].scalar.bits;
      return static_cast<std::int64_t>((word.axis == 0 ? bits : bits >> 32) & 0xffffffffU);
    }
    case From::target:
      break;
  }
  return 0;
}

}  // namespace arraycore::codegen
