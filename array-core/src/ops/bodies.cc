#include "ops/bodies.h"

#include <limits>
#include <numbers>

#include "ir/op_info.h"

namespace arraycore::ops {
namespace {

using ir::Builder;
using ir::Op;
using ir::Value;

constexpr double kPi = std::numbers::pi;
constexpr double kLn2 = std::numbers::ln2;

Value zero_of(Builder& b, Value like) { return b.constant(like.type, 0); }
Value one_of(Builder& b, Value like) { return b.constant(like.type, 1); }
bool is_bool(Value x) { return x.type == DType::boolean; }
bool is_unsigned(Value x) { return kind_of(x.type) == Kind::unsigned_integer; }

// Returns |x| of an integer in the unsigned type of the same size, which can hold |INT_MIN|.
Value magnitude(Builder& b, Value x) {
  if (is_unsigned(x)) return x;
  const auto unsigned_type = static_cast<DType>(static_cast<int>(x.type) + 1);
  return b.bitcast(unsigned_type, b.apply(Op::absolute, {x}));
}

// Computes the greatest common divisor by Euclid's algorithm.
Value unsigned_gcd(Builder& b, Value x, Value y) {
  const ir::LocalRef a = b.local("a", x);
  const ir::LocalRef c = b.local("c", y);
  const ir::LocalRef rest = b.local("rest", x.type);
  b.while_(b.read(c) != zero_of(b, x), [&] {
    b.set(rest, b.read(a) % b.read(c));
    b.set(a, b.read(c));
    b.set(c, b.read(rest));
  });
  return b.read(a);
}

}  // namespace

Values same(Builder&, const Values& x) { return {x[0]}; }
Values bool_false(Builder& b, const Values&) { return {b.constant(DType::boolean, 0)}; }
Values bool_true(Builder& b, const Values&) { return {b.constant(DType::boolean, 1)}; }

Values add(Builder& b, const Values& x) {
  return {b.apply(is_bool(x[0]) ? Op::logical_or : Op::add, x)};
}

Values multiply(Builder& b, const Values& x) {
  return {b.apply(is_bool(x[0]) ? Op::logical_and : Op::multiply, x)};
}

Values divide(Builder& b, const Values& x) {
  if (is_floating(x[0].type) || is_complex(x[0].type)) return {x[0] / x[1]};
  return {b.convert(DType::float64, x[0]) / b.convert(DType::float64, x[1])};
}

Values power(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::power, x)};
  // The power is computed with logarithms, and 0 has no logarithm. So a base of 0 is handled
  // separately: the result is 1 for the exponent 0, 0 for an exponent with a positive real part,
  // otherwise NaN.
  const Value zero = zero_of(b, x[0]);
  const Value nan = zero / zero;
  const Value positive = b.apply(Op::real, {x[1]}) > 0.0;
  const Value of_zero = b.select(x[1] == zero, one_of(b, x[0]), b.select(positive, zero, nan));
  return {b.select(x[0] == zero, of_zero, b.apply(Op::power, x))};
}

Values absolute(Builder& b, const Values& x) {
  if (is_bool(x[0]) || is_unsigned(x[0])) return {x[0]};
  return {b.apply(Op::absolute, x)};
}

Values sign(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::sign, x)};
  // NumPy 2 returns x / |x|, and 0 for 0. If one part is infinite, a finite other part counts as 0.
  const Value modulus = b.apply(Op::absolute, x);
  const Value one = one_of(b, modulus);
  const Value zero = zero_of(b, modulus);
  const Value infinite = b.apply(Op::is_inf, {modulus});
  const auto part = [&](Op op) {
    const Value value = b.apply(op, x);
    const Value unit =
        b.select(b.apply(Op::is_inf, {value}), b.apply(Op::copysign, {one, value}), zero);
    // The sign of a zero is lost, as in NumPy.
    return b.select(infinite, unit, b.select(modulus == zero, zero, value));
  };
  const Value real = part(Op::real);
  const Value imag = part(Op::imag);
  const Value both = b.apply(Op::logical_and, {infinite, (real * imag) != zero});
  const Value nan = modulus - modulus;  // NaN where the modulus is infinite
  const Value divisor = b.select(infinite, one, b.select(modulus == zero, one, modulus));
  return {b.make_complex(b.select(both, nan, real / divisor), b.select(both, nan, imag / divisor))};
}

Values square(Builder&, const Values& x) { return {x[0] * x[0]}; }

Values reciprocal(Builder& b, const Values& x) { return {one_of(b, x[0]) / x[0]}; }

Values rint(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::rint, x)};
  return {b.make_complex(b.apply(Op::rint, {b.apply(Op::real, x)}),
                         b.apply(Op::rint, {b.apply(Op::imag, x)}))};
}

Values degrees(Builder&, const Values& x) { return {x[0] * (180.0 / kPi)}; }
Values radians(Builder&, const Values& x) { return {x[0] * (kPi / 180.0)}; }

Values logaddexp(Builder& b, const Values& x) {
  // Equal operands are handled separately: the difference of two equal infinities is NaN.
  const Value larger = b.apply(Op::maximum, x);
  const Value distance = b.apply(Op::absolute, {x[0] - x[1]});
  const Value sum = larger + b.apply(Op::log1p, {b.apply(Op::exp, {-distance})});
  return {b.select(x[0] == x[1], x[0] + b.constant(x[0].type, kLn2), sum)};
}

Values logaddexp2(Builder& b, const Values& x) {
  const Value larger = b.apply(Op::maximum, x);
  const Value distance = b.apply(Op::absolute, {x[0] - x[1]});
  const Value tail = b.apply(Op::log1p, {b.apply(Op::exp2, {-distance})});
  return {b.select(x[0] == x[1], x[0] + one_of(b, x[0]), larger + tail * (1.0 / kLn2))};
}

Values heaviside(Builder& b, const Values& x) {
  // A value that is neither less than nor greater than 0 is 0, or a device treats it as 0.
  const Value zero = zero_of(b, x[0]);
  const Value rest = b.select(b.apply(Op::is_nan, {x[0]}), x[0], x[1]);
  return {b.select(x[0] < zero, zero, b.select(x[0] > zero, one_of(b, x[0]), rest))};
}

Values spacing(Builder& b, const Values& x) {
  const Value size = b.apply(Op::absolute, x);
  const Value infinity = one_of(b, x[0]) / zero_of(b, x[0]);
  const Value step = b.apply(Op::nextafter, {size, infinity}) - size;
  const Value not_finite = b.constant(x[0].type, std::numeric_limits<double>::quiet_NaN());
  const Value finite = b.apply(Op::is_finite, x);
  if (x[0].type == DType::float16) {
    // NumPy defines spacing differently for half precision: the distance to the next larger half.
    const Value inner = size - b.apply(Op::nextafter, {size, zero_of(b, size)});
    const Value distance = b.select(x[0] < 0.0, inner, step);
    return {b.select(finite, distance, not_finite)};
  }
  return {b.select(finite, b.select(x[0] < 0.0, -step, step), not_finite)};
}

Values gcd(Builder& b, const Values& x) {
  const DType type = x[0].type;
  const Value divisor = unsigned_gcd(b, magnitude(b, x[0]), magnitude(b, x[1]));
  return {b.bitcast(type, divisor)};
}

Values lcm(Builder& b, const Values& x) {
  const Value first = magnitude(b, x[0]);
  const Value second = magnitude(b, x[1]);
  // The IR defines 0 / 0 = 0, so lcm(0, 0) is 0.
  const Value quotient = first / unsigned_gcd(b, first, second);
  return {b.bitcast(x[0].type, quotient * second)};
}

Values ldexp(Builder& b, const Values& x) {
  if (x[1].type == DType::int32) return {b.apply(Op::ldexp, x)};
  // The exponent is clamped to limits that no float's exponent reaches. Otherwise the conversion of
  // an int64 to int32 could wrap.
  const Value low = b.integer(x[1].type, -100'000);
  const Value high = b.integer(x[1].type, 100'000);
  const Value clamped = b.apply(Op::maximum, {low, b.apply(Op::minimum, {high, x[1]})});
  return {b.apply(Op::ldexp, {x[0], b.convert(DType::int32, clamped)})};
}

Values modf(Builder& b, const Values& x) {
  const Value whole = b.apply(Op::trunc, x);
  const Value infinite = b.apply(Op::is_inf, x);
  const Value fraction = b.select(infinite, zero_of(b, x[0]), x[0] - whole);
  return {b.apply(Op::copysign, {fraction, x[0]}), whole};
}

Values divmod(Builder& b, const Values& x) {
  return {b.apply(Op::floor_divide, x), b.apply(Op::modulo, x)};
}

Values bitwise_count(Builder& b, const Values& x) {
  return {b.apply(Op::popcount, {absolute(b, x)[0]})};
}

Values compare_mixed(Builder& b, Op op, const Values& x) {
  const bool signed_first = !is_unsigned(x[0]);
  const Value negative = signed_first ? x[0] < zero_of(b, x[0]) : x[1] < zero_of(b, x[1]);
  const Value as_unsigned =
      b.apply(op, {b.convert(DType::uint64, x[0]), b.convert(DType::uint64, x[1])});
  const bool less = op == Op::less || op == Op::less_equal;
  const bool greater = op == Op::greater || op == Op::greater_equal;
  // The result of the comparison if the signed operand is negative.
  const bool decides = op == Op::not_equal || (signed_first ? less : greater);
  return {b.select(negative, b.constant(DType::boolean, decides ? 1 : 0), as_unsigned)};
}

Values logical_not(Builder& b, const Values& x) {
  return {b.apply(Op::logical_not, {b.convert(DType::boolean, x[0])})};
}

}  // namespace arraycore::ops
