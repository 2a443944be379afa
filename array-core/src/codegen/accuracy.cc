#include "codegen/accuracy.h"

namespace arraycore::codegen {

using ir::Op;

Accuracy accuracy_of(Op op, DType dtype) {
  if (is_complex(dtype)) {
    switch (op) {
      case Op::multiply:
      case Op::divide:
        return {8, 1e-6};
      case Op::exp:
      case Op::sqrt:
      case Op::sin:
      case Op::cos:
      case Op::sinh:
      case Op::cosh:
      case Op::absolute:
        return {16, 1e-5};
      case Op::log:
        return {16, 1.0};  // for a modulus near 1
      case Op::power:
        return {256, 1e-4};
      default:
        return {};
    }
  }
  if (!is_floating(dtype)) return {};
  // A half-precision result is rounded from a single-precision result. So it may be the neighbour
  // of the nearest half-precision number.
  const bool half = dtype == DType::float16;
  const auto bound = [half](std::uint32_t ulp, double floor = 0) {
    return half ? Accuracy{1, floor} : Accuracy{ulp, floor};
  };
  switch (op) {
    case Op::divide:
    case Op::sqrt:
      return bound(3);
    case Op::fma:
    case Op::rsqrt:
    case Op::hypot:
      return bound(4);
    case Op::cbrt:
    case Op::exp:
    case Op::exp2:
    case Op::exp10:
    case Op::expm1:
    case Op::log:
    case Op::log2:
    case Op::log10:
    case Op::log1p:
      return bound(4);
    case Op::sin:
    case Op::cos:
    case Op::tan:
      return bound(6);
    case Op::asin:
    case Op::acos:
    case Op::atan:
    case Op::atan2:
    case Op::sinh:
    case Op::cosh:
    case Op::tanh:
    case Op::asinh:
    case Op::acosh:
    case Op::atanh:
      return bound(6);
    case Op::power:
      return bound(8);
    case Op::floor_divide:
    case Op::modulo:
      return bound(4);
    case Op::ldexp:
      return bound(1);
    case Op::erf:
      return bound(4);
    case Op::erfc:
    case Op::erfcx:
      return bound(16);
    case Op::erfinv:
      return bound(8);
    case Op::erfcinv:
      return bound(32, 1e-6);
    case Op::ndtr:
      return bound(128);  // for large negative x, x / sqrt(2) loses its last digit
    case Op::ndtri:
      return bound(32, 1e-6);
    case Op::lgamma:
      return bound(32, 1.0);
    case Op::tgamma:
      return bound(64);
    case Op::digamma:
      return bound(32, 1.0);
    default:
      return {};
  }
}

}  // namespace arraycore::codegen
