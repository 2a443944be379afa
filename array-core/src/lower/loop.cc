#include "lower/loop.h"

#include <algorithm>

namespace arraycore::lower {
namespace {

// Makes a view of an output over the whole loop. Each reduced axis has one element in the output.
void widen(const View& own, const Dims& loop, std::uint32_t reduced, View& wide) {
  wide.shape.clear();
  wide.strides.clear();
  wide.offset = own.offset;
  for (int axis = 0, kept = 0; axis < loop.size(); ++axis) {
    const bool gone = (reduced >> axis & 1) != 0;
    wide.shape.push_back(gone ? 1 : own.shape[kept]);
    wide.strides.push_back(gone ? 0 : own.strides[kept]);
    if (!gone) ++kept;
  }
}

}  // namespace

std::int64_t Walk::count() const {
  std::int64_t n = 1;
  for (const std::int64_t extent : shape) n *= extent;
  return n;
}

void walk(const Dims& loop, std::uint32_t axes, std::span<const View* const> views, Merge merge,
          Walk& result) {
  result.shape.clear();
  result.strides.resize(views.size());
  for (Dims& strides : result.strides) strides.clear();
  for (int axis = 0; axis < loop.size(); ++axis) {
    if ((axes >> axis & 1) == 0) continue;
    if (merge == Merge::on && loop[axis] == 1) continue;
    const auto stride_of = [&](const View& view) {
      const int own = axis - (loop.size() - view.ndim());
      return own >= 0 && view.shape[own] != 1 ? view.strides[own] : 0;
    };
    const int last = result.shape.size() - 1;
    bool joins = merge == Merge::on && last >= 0;
    for (std::size_t v = 0; joins && v < views.size(); ++v)
      joins = result.strides[v][last] == stride_of(*views[v]) * loop[axis];
    if (joins) {
      result.shape[last] *= loop[axis];
      for (std::size_t v = 0; v < views.size(); ++v) result.strides[v][last] = stride_of(*views[v]);
    } else {
      result.shape.push_back(loop[axis]);
      for (std::size_t v = 0; v < views.size(); ++v)
        result.strides[v].push_back(stride_of(*views[v]));
    }
  }
}

void Walks::set(const ir::Kernel& kernel, const Dims& loop, std::uint32_t reduced,
                std::span<const View* const> views, Merge merge) {
  const bool reduction = kernel.reduction.has_value();
  const std::uint32_t all = loop.size() >= 32 ? ~0U : (1U << loop.size()) - 1;
  const std::uint32_t gone = reduction ? reduced & all : 0;
  operand.clear();
  seen_.clear();
  widened_.resize(kernel.params.size());
  for (std::size_t p = 0; p < kernel.params.size(); ++p) {
    const ir::Param& param = kernel.params[p];
    if (param.kind != ir::ParamKind::elementwise) {
      operand.push_back(-1);
      continue;
    }
    operand.push_back(static_cast<int>(seen_.size()));
    const bool wide = reduction && !kernel.reduction->running() && param.access != ir::Access::read;
    if (wide) widen(*views[p], loop, gone, widened_[p]);
    seen_.push_back(wide ? &widened_[p] : views[p]);
  }
  number = static_cast<int>(seen_.size());
  number_.shape = loop;
  number_.strides = c_strides(loop);
  seen_.push_back(&number_);
  walk(loop, all & ~gone, seen_, merge, outer);
  walk(loop, gone, seen_, merge, inner);
}

Dims c_strides(const Dims& shape) {
  Dims strides;
  strides.resize(shape.size());
  std::int64_t step = 1;
  for (int axis = shape.size() - 1; axis >= 0; --axis) {
    strides[axis] = step;
    step *= shape[axis];
  }
  return strides;
}

bool uses(const ir::Kernel& kernel, ir::Op op) {
  return std::any_of(kernel.exprs.begin(), kernel.exprs.end(),
                     [op](const ir::Expr& e) { return e.op == op; });
}

}  // namespace arraycore::lower
