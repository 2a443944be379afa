#include "view/reinterpret.h"

#include "view/messages.h"

namespace arraycore {

Result<View> reinterpret(const View& view, DType from, DType to) {
  const auto fail = [](const char* why) { return value_error("cannot_reinterpret", why); };
  const auto from_size = static_cast<std::int64_t>(size_of(from));
  const auto to_size = static_cast<std::int64_t>(size_of(to));
  if (from_size == to_size) return view;
  if (view.ndim() == 0)
    return fail("Changing the dtype of a 0d array is only supported if the itemsize is unchanged");
  View result = view;
  const int last = view.ndim() - 1;
  if (view.shape[last] != 1 && view.count() != 0 && view.strides[last] != from_size)
    return fail("To change to a dtype of a different size, the last axis must be contiguous");
  // Sizes are powers of two, so the smaller divides the larger. No product overflows, because a
  // shape has at most kMaxCount elements.
  const std::int64_t bytes = view.shape[last] * from_size;
  if (bytes % to_size != 0)
    return fail(
        "When changing to a larger dtype, its size must be a divisor of the total size in bytes of "
        "the last axis of the array.");
  result.shape[last] = bytes / to_size;
  result.strides[last] = to_size;
  if (const auto fits = checked_count(result.shape); !fits.ok()) return fits.error();
  return result;
}

DType part_dtype(DType dtype) {
  if (dtype == DType::complex64) return DType::float32;
  return dtype == DType::complex128 ? DType::float64 : dtype;
}

View real_part(const View& view, DType /*dtype*/) { return view; }

View imag_part(const View& view, DType dtype) {
  View result = view;
  // A view without elements may begin at the storage's end, so its offset must not grow.
  if (view.count() > 0) result.offset += static_cast<std::int64_t>(size_of(part_dtype(dtype)));
  return result;
}

}  // namespace arraycore
