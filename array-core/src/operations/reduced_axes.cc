#include "operations/reduced_axes.h"

#include "view/messages.h"

namespace arraycore {

Result<std::uint32_t> axis_bits(const std::optional<Dims>& axes, int ndim) {
  if (!axes) return ndim >= 32 ? ~0U : (1U << ndim) - 1U;
  std::uint32_t bits = 0;
  for (const std::int64_t axis : *axes) {
    TRY(const auto& normal, normalize_axis(axis, ndim));
    if ((bits >> normal & 1U) != 0)
      return value_error("repeated_axis", "duplicate value in 'axis'");
    bits |= 1U << normal;
  }
  return bits;
}

View without_axes(const View& view, std::uint32_t bits) {
  View result{{}, {}, view.offset};
  for (int axis = 0; axis < view.ndim(); ++axis) {
    if ((bits >> axis & 1U) != 0) continue;
    result.shape.push_back(view.shape[axis]);
    result.strides.push_back(view.strides[axis]);
  }
  return result;
}

View with_axes(const View& view, std::uint32_t bits, int ndim) {
  View result{{}, {}, view.offset};
  for (int axis = 0, own = 0; axis < ndim; ++axis) {
    const bool added = (bits >> axis & 1U) != 0;
    result.shape.push_back(added ? 1 : view.shape[own]);
    result.strides.push_back(added ? 0 : view.strides[own]);
    if (!added) ++own;
  }
  return result;
}

}  // namespace arraycore
