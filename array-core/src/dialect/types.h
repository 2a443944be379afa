// The typing rule of dialect.h, as functions of dtypes.
#pragma once

#include "dtype/dtype.h"
#include "ir/op_info.h"

namespace arraycore::dialect {

// Returns the type in which a value is computed: int32 for small integers and bool, float32 for
// float16, and the type itself for others.
constexpr DType promoted(DType d) {
  switch (d) {
    case DType::boolean:
    case DType::int8:
    case DType::uint8:
    case DType::int16:
    case DType::uint16:
      return DType::int32;
    case DType::float16:
      return DType::float32;
    default:
      return d;
  }
}

// Returns the common type of two promoted operands by C++'s usual arithmetic conversions. complex64
// with float64 gives complex128.
constexpr DType common_type(DType a, DType b) {
  a = promoted(a);
  b = promoted(b);
  if (a == b) return a;
  if (is_complex(a) || is_complex(b)) {
    const bool wide = a == DType::complex128 || b == DType::complex128 || a == DType::float64 ||
                      b == DType::float64;
    return wide ? DType::complex128 : DType::complex64;
  }
  if (a == DType::float64 || b == DType::float64) return DType::float64;
  if (a == DType::float32 || b == DType::float32) return DType::float32;
  if (size_of(a) != size_of(b)) return size_of(a) > size_of(b) ? a : b;
  return kind_of(a) == Kind::unsigned_integer ? a : b;  // at the same width, unsigned wins
}

}  // namespace arraycore::dialect
