// The table of ufuncs. A row is added here and nowhere else.
#include <array>

#include "ops/bodies.h"
#include "ops/gradients.h"
#include "ops/ufunc.h"

namespace arraycore::ops {
namespace {

using ir::Op;

// ---- loops, in NumPy's order
constexpr std::string_view kArithmetic1 = "1->1:bBhHiIqQefdFD";
constexpr std::string_view kArithmetic2 = "11->1:bBhHiIqQefdFD";
constexpr std::string_view kArithmeticBool2 = "11->1:?bBhHiIqQefdFD";
constexpr std::string_view kReal1 = "1->1:?bBhHiIqQefd";
constexpr std::string_view kReal2 = "11->1:bBhHiIqQefd";
constexpr std::string_view kFloat1 = "1->1:efd";
constexpr std::string_view kFloat2 = "11->1:efd";
constexpr std::string_view kFloatComplex1 = "1->1:efdFD";
constexpr std::string_view kInteger2 = "11->1:bBhHiIqQ";
constexpr std::string_view kBits2 = "11->1:?bBhHiIqQ";
constexpr std::string_view kTest1 = "1->?:?bBhHiIqQefdFD";
constexpr std::string_view kCompare = "11->?:?bBhHiIqQ qQ->? Qq->? 11->?:efdFD";
constexpr std::string_view kLogical2 = "11->?:?bBhHiIqQefdFD";

// ---- tolerances of the CPU's library, and where a function runs through zero
constexpr Tolerance kExact{};
constexpr Tolerance kProduct{.ulp = 0, .complex_ulp = 8};
constexpr Tolerance kModulus{.ulp = 0, .complex_ulp = 16};
constexpr Tolerance kRounded{.ulp = 1, .complex_ulp = 16};
constexpr Tolerance kElementary{.ulp = 2, .complex_ulp = 32};
constexpr Tolerance kComposed{.ulp = 4, .complex_ulp = 64};
// exp(y log x): what errs in the logarithm errs as often as the result has digits before the point.
constexpr Tolerance kPower{.ulp = 4, .complex_ulp = 256};
// The larger operand and a term that nearly takes it away: as exact as 1 is.
constexpr Tolerance kLogarithmOfSum{.ulp = 4, .floor = 1};
constexpr Tolerance kSpecial{.ulp = 16};
constexpr Tolerance kSpecialThroughZero{.ulp = 16, .floor = 1};

constexpr auto kNative = UFunc::Half::native;
constexpr auto kWidened = UFunc::Half::in_float32;
constexpr bool kRefusesBool = true;

constexpr std::array kTable{
    // ---- arithmetic
    UFunc{"add", 2, 1, kArithmeticBool2, add, gradient::add, kExact},
    UFunc{"subtract", 2, 1, kArithmetic2, direct<Op::subtract>, gradient::subtract, kExact,
          kWidened, kRefusesBool},
    UFunc{"multiply", 2, 1, kArithmeticBool2, multiply, gradient::multiply, kProduct},
    UFunc{"divide", 2, 1, "11->d:?bBhHiIqQ 11->1:efdFD", divide, gradient::divide, kProduct},
    UFunc{"floor_divide", 2, 1, kReal2, direct<Op::floor_divide>, gradient::flat, kExact},
    UFunc{"remainder", 2, 1, kReal2, direct<Op::modulo>, nullptr, kExact},
    UFunc{"fmod", 2, 1, kReal2, direct<Op::remainder>, nullptr, kExact},
    UFunc{"divmod", 2, 2, "11->11:bBhHiIqQefd", divmod, nullptr, kExact},
    UFunc{"power", 2, 1, kArithmetic2, power, gradient::power, kPower},
    UFunc{"float_power", 2, 1, "dd->d DD->D", power, gradient::power, kPower},
    UFunc{"negative", 1, 1, kArithmetic1, direct<Op::negate>, gradient::negative, kExact, kWidened,
          kRefusesBool},
    UFunc{"positive", 1, 1, kArithmetic1, same, gradient::positive, kExact, kWidened, kRefusesBool},
    UFunc{"absolute", 1, 1, "1->1:?bBhHiIqQefd F->f D->d", absolute, gradient::absolute, kModulus},
    UFunc{"fabs", 1, 1, kFloat1, absolute, gradient::absolute, kExact},
    UFunc{"sign", 1, 1, kArithmetic1, sign, gradient::flat, kModulus, kWidened, kRefusesBool},
    UFunc{"conjugate", 1, 1, kArithmetic1,
          [](ir::Builder& b, const Values& x) {
            return is_complex(x[0].type) ? direct<Op::conj>(b, x) : same(b, x);
          },
          gradient::positive, kExact},
    UFunc{"square", 1, 1, kArithmetic1, square, gradient::square, kProduct},
    UFunc{"reciprocal", 1, 1, kArithmetic1, reciprocal, gradient::reciprocal, kProduct},
    UFunc{"sqrt", 1, 1, kFloatComplex1, direct<Op::sqrt>, gradient::sqrt, kRounded},
    UFunc{"cbrt", 1, 1, kFloat1, direct<Op::cbrt>, gradient::cbrt, kComposed},
    UFunc{"hypot", 2, 1, kFloat2, direct<Op::hypot>, gradient::hypot, kComposed},
    UFunc{"gcd", 2, 1, kInteger2, gcd, nullptr, kExact, kWidened, kRefusesBool},
    UFunc{"lcm", 2, 1, kInteger2, lcm, nullptr, kExact, kWidened, kRefusesBool},
    // ---- exponentials
    UFunc{"exp", 1, 1, kFloatComplex1, direct<Op::exp>, gradient::exp, kElementary},
    UFunc{"exp2", 1, 1, kFloatComplex1, exp2, gradient::exp2, kElementary},
    UFunc{"expm1", 1, 1, kFloatComplex1, expm1, gradient::expm1, kElementary},
    UFunc{"log", 1, 1, kFloatComplex1, direct<Op::log>, gradient::log, kElementary},
    UFunc{"log2", 1, 1, kFloatComplex1, log2, gradient::log2, kElementary},
    UFunc{"log10", 1, 1, kFloatComplex1, log10, gradient::log10, kElementary},
    UFunc{"log1p", 1, 1, kFloatComplex1, log1p, gradient::log1p, kElementary},
    UFunc{"logaddexp", 2, 1, kFloat2, logaddexp, gradient::logaddexp, kLogarithmOfSum},
    UFunc{"logaddexp2", 2, 1, kFloat2, logaddexp2, gradient::logaddexp2, kLogarithmOfSum},
    // ---- trigonometry
    UFunc{"sin", 1, 1, kFloatComplex1, direct<Op::sin>, gradient::sin, kElementary},
    UFunc{"cos", 1, 1, kFloatComplex1, direct<Op::cos>, gradient::cos, kElementary},
    UFunc{"tan", 1, 1, kFloatComplex1, tangent, gradient::tan, kElementary},
    UFunc{"arcsin", 1, 1, kFloatComplex1, arcsin, gradient::arcsin, kElementary},
    UFunc{"arccos", 1, 1, kFloatComplex1, arccos, gradient::arccos, kElementary},
    UFunc{"arctan", 1, 1, kFloatComplex1, arctan, gradient::arctan, kElementary},
    UFunc{"arctan2", 2, 1, kFloat2, direct<Op::atan2>, gradient::arctan2, kElementary},
    UFunc{"sinh", 1, 1, kFloatComplex1, direct<Op::sinh>, gradient::sinh, kElementary},
    UFunc{"cosh", 1, 1, kFloatComplex1, direct<Op::cosh>, gradient::cosh, kElementary},
    UFunc{"tanh", 1, 1, kFloatComplex1, tanh, gradient::tanh, kElementary},
    UFunc{"arcsinh", 1, 1, kFloatComplex1, arcsinh, gradient::arcsinh, kComposed},
    UFunc{"arccosh", 1, 1, kFloatComplex1, arccosh, gradient::arccosh, kComposed},
    UFunc{"arctanh", 1, 1, kFloatComplex1, arctanh, gradient::arctanh, kComposed},
    UFunc{"degrees", 1, 1, kFloat1, degrees, gradient::degrees, kRounded},
    UFunc{"radians", 1, 1, kFloat1, radians, gradient::radians, kRounded},
    // ---- rounding and parts
    UFunc{"floor", 1, 1, kReal1, float_or<Op::floor, same>, gradient::flat, kExact},
    UFunc{"ceil", 1, 1, kReal1, float_or<Op::ceil, same>, gradient::flat, kExact},
    UFunc{"trunc", 1, 1, kReal1, float_or<Op::trunc, same>, gradient::flat, kExact},
    UFunc{"rint", 1, 1, kFloatComplex1, rint, gradient::flat, kExact},
    UFunc{"modf", 1, 2, "1->11:efd", modf, nullptr, kExact},
    UFunc{"ldexp", 2, 1, "ei->e fi->f eq->e fq->f di->d dq->d", ldexp, nullptr, kExact},
    UFunc{"copysign", 2, 1, kFloat2, direct<Op::copysign>, nullptr, kExact},
    UFunc{"nextafter", 2, 1, kFloat2, direct<Op::nextafter>, nullptr, kExact, kNative},
    UFunc{"spacing", 1, 1, kFloat1, spacing, nullptr, kExact, kNative},
    UFunc{"heaviside", 2, 1, kFloat2, heaviside, nullptr, kExact},
    // ---- extremes
    UFunc{"maximum", 2, 1, kArithmeticBool2, extreme<Op::maximum>, gradient::maximum, kExact},
    UFunc{"minimum", 2, 1, kArithmeticBool2, extreme<Op::minimum>, gradient::minimum, kExact},
    UFunc{"fmax", 2, 1, kArithmeticBool2, extreme<Op::fmax>, gradient::maximum, kExact},
    UFunc{"fmin", 2, 1, kArithmeticBool2, extreme<Op::fmin>, gradient::minimum, kExact},
    // ---- comparisons and logic
    UFunc{"equal", 2, 1, kCompare, compare<Op::equal>, nullptr, kExact},
    UFunc{"not_equal", 2, 1, kCompare, compare<Op::not_equal>, nullptr, kExact},
    UFunc{"less", 2, 1, kCompare, compare<Op::less>, nullptr, kExact},
    UFunc{"less_equal", 2, 1, kCompare, compare<Op::less_equal>, nullptr, kExact},
    UFunc{"greater", 2, 1, kCompare, compare<Op::greater>, nullptr, kExact},
    UFunc{"greater_equal", 2, 1, kCompare, compare<Op::greater_equal>, nullptr, kExact},
    UFunc{"logical_and", 2, 1, kLogical2, logical<Op::logical_and>, nullptr, kExact},
    UFunc{"logical_or", 2, 1, kLogical2, logical<Op::logical_or>, nullptr, kExact},
    UFunc{"logical_xor", 2, 1, kLogical2, logical<Op::logical_xor>, nullptr, kExact},
    UFunc{"logical_not", 1, 1, kTest1, logical_not, nullptr, kExact},
    UFunc{"isnan", 1, 1, kTest1, float_or<Op::is_nan, bool_false>, nullptr, kExact},
    UFunc{"isinf", 1, 1, kTest1, float_or<Op::is_inf, bool_false>, nullptr, kExact},
    UFunc{"isfinite", 1, 1, kTest1, float_or<Op::is_finite, bool_true>, nullptr, kExact},
    UFunc{"signbit", 1, 1, "1->?:efd", direct<Op::sign_bit>, nullptr, kExact},
    // ---- bits
    UFunc{"bitwise_and", 2, 1, kBits2, direct<Op::bit_and>, nullptr, kExact},
    UFunc{"bitwise_or", 2, 1, kBits2, direct<Op::bit_or>, nullptr, kExact},
    UFunc{"bitwise_xor", 2, 1, kBits2, direct<Op::bit_xor>, nullptr, kExact},
    UFunc{"invert", 1, 1, "1->1:?bBhHiIqQ", direct<Op::bit_not>, nullptr, kExact},
    UFunc{"left_shift", 2, 1, kInteger2, direct<Op::shift_left>, nullptr, kExact},
    UFunc{"right_shift", 2, 1, kInteger2, direct<Op::shift_right>, nullptr, kExact},
    UFunc{"bitwise_count", 1, 1, "1->B:bBhHiIqQ", bitwise_count, nullptr, kExact},
    // ---- scipy.special, as cupyx has it
    UFunc{"erf", 1, 1, kFloat1, direct<Op::erf>, gradient::erf, kSpecial},
    UFunc{"erfc", 1, 1, kFloat1, direct<Op::erfc>, gradient::erfc, kSpecial},
    UFunc{"erfinv", 1, 1, kFloat1, direct<Op::erfinv>, gradient::erfinv, kSpecial},
    UFunc{"erfcinv", 1, 1, kFloat1, direct<Op::erfcinv>, gradient::erfcinv, kSpecial},
    UFunc{"erfcx", 1, 1, kFloat1, direct<Op::erfcx>, gradient::erfcx, kSpecial},
    UFunc{"ndtr", 1, 1, kFloat1, direct<Op::ndtr>, gradient::ndtr, kSpecial},
    UFunc{"ndtri", 1, 1, kFloat1, direct<Op::ndtri>, gradient::ndtri, kSpecial},
    UFunc{"gammaln", 1, 1, kFloat1, direct<Op::lgamma>, gradient::gammaln, kSpecialThroughZero},
    UFunc{"gamma", 1, 1, kFloat1, direct<Op::tgamma>, gradient::gamma, kSpecial},
    UFunc{"digamma", 1, 1, kFloat1, direct<Op::digamma>, nullptr, kSpecialThroughZero},
};

}  // namespace

std::span<const UFunc> table() { return kTable; }

}  // namespace arraycore::ops
