// The value of one element outside of arrays: its bits as in memory. Pure; any thread.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "dtype/dtype.h"
#include "ir/scalar.h"

namespace arraycore::ir {

struct Scalar {
  std::uint64_t bits = 0;
  std::uint64_t bits_high = 0;  // the imaginary part of complex128
  bool operator==(const Scalar&) const = default;
};
static_assert(sizeof(Scalar) == 16);

template <typename T>
T get(const Scalar& scalar) {
  T value;
  std::memcpy(static_cast<void*>(&value), &scalar, sizeof value);
  return value;
}
template <>
inline bool get<bool>(const Scalar& scalar) {
  return (scalar.bits & 0xff) != 0;
}
template <typename T>
Scalar put(const T& value) {
  Scalar scalar;
  std::memcpy(static_cast<void*>(&scalar), &value, sizeof value);
  return scalar;
}

// Converts `value` to `dtype` by the rules of Op::convert.
template <typename From>
Scalar scalar_of(DType dtype, From value) {
  return visit(dtype, [&](auto zero) { return put(convert_to<decltype(zero)>(value)); });
}

// Returns a literal as print.h writes it: "1.5", "true", "0x1p-149", "(1, -2)", "nan:7fc00000".
std::string to_text(DType dtype, const Scalar& scalar);

}  // namespace arraycore::ir
