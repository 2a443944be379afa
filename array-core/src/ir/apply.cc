// Applies one operation to scalars, by a table of functions made from scalar.h's templates.
#include <array>
#include <cstddef>
#include <utility>

#include "ir/interpret.h"
#include "ir/op_info.h"
#include "ir/scalar.h"

namespace arraycore::ir {
namespace {

using ApplyFunction = Scalar (*)(const Scalar*);

template <Op op, DType dtype>
Scalar one(const Scalar* x) {
  using T = typename Type<dtype>::T;
  constexpr Shape kShape = info(op).shape;
  if constexpr (kShape == Shape::unary) return put(unary<op, T>(get<T>(x[0])));
  if constexpr (kShape == Shape::test) return put(test<op, T>(get<T>(x[0])));
  if constexpr (kShape == Shape::binary) return put(binary<op, T>(get<T>(x[0]), get<T>(x[1])));
  if constexpr (kShape == Shape::compare) return put(compare<op, T>(get<T>(x[0]), get<T>(x[1])));
  if constexpr (kShape == Shape::ternary)
    return put(fused(get<T>(x[0]), get<T>(x[1]), get<T>(x[2])));
}

template <std::size_t index>
constexpr ApplyFunction entry() {
  constexpr Op kOp = static_cast<Op>(index / kDTypes);
  constexpr DType kDType = static_cast<DType>(index % kDTypes);
  constexpr Shape kShape = info(kOp).shape;
  if constexpr (kShape == Shape::leaf || kShape == Shape::special || !takes(kOp, kDType))
    return nullptr;
  else
    return &one<kOp, kDType>;
}

template <std::size_t... index>
constexpr auto make_table(std::index_sequence<index...>) {
  return std::array<ApplyFunction, sizeof...(index)>{entry<index>()...};
}
constexpr auto kTable = make_table(std::make_index_sequence<kOps * kDTypes>{});

Scalar apply_special(Op op, DType operand, DType result, const Scalar* x) {
  return visit(operand, [&](auto zero) -> Scalar {
    using T = decltype(zero);
    const T value = get<T>(x[0]);
    if (op == Op::convert) return scalar_of(result, value);
    if (op == Op::bitcast) return x[0];
    if constexpr (kIsInteger<T>) {
      if (op == Op::leading_zeros) return put(leading_zeros(value));
      if (op == Op::absolute) return put(unary<Op::absolute>(value));
    } else if constexpr (kIsComplex<T>) {
      if (op == Op::real) return put(value.re);
      if (op == Op::imag) return put(value.im);
      if (op == Op::absolute) return put(std::hypot(value.re, value.im));
    } else if constexpr (kIsFloat<T>) {
      if (op == Op::absolute) return put(unary<Op::absolute>(value));
      if (op == Op::ldexp) return put(load_exponent(value, get<std::int32_t>(x[1])));
      if constexpr (!kIsHalf<T>)
        if (op == Op::make_complex) return put(Complex<T>{value, get<T>(x[1])});
    }
    return {};
  });
}

}  // namespace

Scalar apply(Op op, DType operand, DType result, const Scalar* operands) {
  const ApplyFunction f =
      kTable[static_cast<std::size_t>(op) * kDTypes + static_cast<std::size_t>(operand)];
  return f != nullptr ? f(operands) : apply_special(op, operand, result, operands);
}

}  // namespace arraycore::ir
