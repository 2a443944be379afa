#include "lower/loop.h"

#include <algorithm>

namespace arraycore::lower {

std::int64_t Walk::count() const {
  std::int64_t n = 1;
  for (const std::int64_t extent : shape) n *= extent;
  return n;
}

Walk walk(const Dims& loop, std::uint32_t axes, const std::vector<View>& views, Merge merge) {
  Walk result;
  result.strides.resize(views.size());
  for (int axis = 0; axis < loop.size(); ++axis) {
    if ((axes >> axis & 1) == 0) continue;
    if (merge == Merge::on && loop[axis] == 1) continue;
    const int last = result.shape.size() - 1;
    std::vector<std::int64_t> strides;
    bool joins = merge == Merge::on && last >= 0;
    for (std::size_t v = 0; v < views.size(); ++v) {
      const int own = axis - (loop.size() - views[v].ndim());
      const bool steps = own >= 0 && views[v].shape[own] != 1;
      strides.push_back(steps ? views[v].strides[own] : 0);
      joins = joins && result.strides[v][last] == strides[v] * loop[axis];
    }
    if (joins) {
      result.shape[last] *= loop[axis];
      for (std::size_t v = 0; v < views.size(); ++v) result.strides[v][last] = strides[v];
    } else {
      result.shape.push_back(loop[axis]);
      for (std::size_t v = 0; v < views.size(); ++v) result.strides[v].push_back(strides[v]);
    }
  }
  return result;
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
