// The table of ufuncs. New rows are added here only.
#include <array>

#include "ops/bodies.h"
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

// ---- tolerances of the CPU's C library, and floors for functions that pass through zero
constexpr Tolerance kExact{};
constexpr Tolerance kProduct{.ulp = 0, .complex_ulp = 8};
constexpr Tolerance kModulus{.ulp = 0, .complex_ulp = 16};
constexpr Tolerance kRounded{.ulp = 1, .complex_ulp = 16};
constexpr Tolerance kElementary{.ulp = 2, .complex_ulp = 32};
constexpr Tolerance kComposed{.ulp = 4, .complex_ulp = 64};
// The tolerance of functions that compute exp(y log x). The relative error of the result is the
// absolute error of y log x, which grows with the size of y log x.
constexpr Tolerance kPower{.ulp = 4, .complex_ulp = 256};
// The tolerance of results that are the larger operand plus a term that may nearly cancel it.
// Results below 1 may have the absolute error that a result of 1 may have.
constexpr Tolerance kLogarithmOfSum{.ulp = 4, .floor = 1};
constexpr Tolerance kSpecial{.ulp = 16};
constexpr Tolerance kSpecialThroughZero{.ulp = 16, .floor = 1};

constexpr auto kNative = UFunc::Half::native;
constexpr auto kWidened = UFunc::Half::in_float32;
constexpr bool kRefusesBool = true;

constexpr std::array kTable{
    // ---- arithmetic
    UFunc{"add", 2, 1, kArithmeticBool2, add, kExact},
    UFunc{"subtract", 2, 1, kArithmetic2, direct<Op::subtract>, kExact, kWidened, kRefusesBool},
    UFunc{"multiply", 2, 1, kArithmeticBool2, multiply, kProduct},
    UFunc{"divide", 2, 1, "11->d:?bBhHiIqQ 11->1:efdFD", divide, kProduct},
    UFunc{"floor_divide", 2, 1, kReal2, direct<Op::floor_divide>, kExact},
    UFunc{"remainder", 2, 1, kReal2, direct<Op::modulo>, kExact},
    UFunc{"fmod", 2, 1, kReal2, direct<Op::remainder>, kExact},
    UFunc{"divmod", 2, 2, "11->11:bBhHiIqQefd", divmod, kExact},
    UFunc{"power", 2, 1, kArithmetic2, power, kPower},
    UFunc{"float_power", 2, 1, "dd->d DD->D", power, kPower},
    UFunc{"negative", 1, 1, kArithmetic1, direct<Op::negate>, kExact, kWidened, kRefusesBool},
    UFunc{"positive", 1, 1, kArithmetic1, same, kExact, kWidened, kRefusesBool},
    UFunc{"absolute", 1, 1, "1->1:?bBhHiIqQefd F->f D->d", absolute, kModulus},
    UFunc{"fabs", 1, 1, kFloat1, absolute, kExact},
    UFunc{"sign", 1, 1, kArithmetic1, sign, kModulus, kWidened, kRefusesBool},
    UFunc{"conjugate", 1, 1, kArithmetic1,
          [](ir::Builder& b, const Values& x) {
            return is_complex(x[0].type) ? direct<Op::conj>(b, x) : same(b, x);
          },
          kExact},
    UFunc{"square", 1, 1, kArithmetic1, square, kProduct},
    UFunc{"reciprocal", 1, 1, kArithmetic1, reciprocal, kProduct},
    UFunc{"sqrt", 1, 1, kFloatComplex1, sqrt, kRounded},
    UFunc{"cbrt", 1, 1, kFloat1, direct<Op::cbrt>, kComposed},
    UFunc{"hypot", 2, 1, kFloat2, direct<Op::hypot>, kComposed},
    UFunc{"gcd", 2, 1, kInteger2, gcd, kExact, kWidened, kRefusesBool},
    UFunc{"lcm", 2, 1, kInteger2, lcm, kExact, kWidened, kRefusesBool},
    // ---- exponentials
    UFunc{"exp", 1, 1, kFloatComplex1, exp, kElementary},
    UFunc{"exp2", 1, 1, kFloatComplex1, exp2, kElementary},
    UFunc{"expm1", 1, 1, kFloatComplex1, expm1, kElementary},
    UFunc{"log", 1, 1, kFloatComplex1, log, kElementary},
    UFunc{"log2", 1, 1, kFloatComplex1, log2, kElementary},
    UFunc{"log10", 1, 1, kFloatComplex1, log10, kElementary},
    UFunc{"log1p", 1, 1, kFloatComplex1, log1p, kElementary},
    UFunc{"logaddexp", 2, 1, kFloat2, logaddexp, kLogarithmOfSum},
    UFunc{"logaddexp2", 2, 1, kFloat2, logaddexp2, kLogarithmOfSum},
    // ---- trigonometry
    UFunc{"sin", 1, 1, kFloatComplex1, sin, kElementary},
    UFunc{"cos", 1, 1, kFloatComplex1, cos, kElementary},
    UFunc{"tan", 1, 1, kFloatComplex1, tan, kElementary},
    UFunc{"arcsin", 1, 1, kFloatComplex1, arcsin, kElementary},
    UFunc{"arccos", 1, 1, kFloatComplex1, arccos, kElementary},
    UFunc{"arctan", 1, 1, kFloatComplex1, arctan, kElementary},
    UFunc{"arctan2", 2, 1, kFloat2, direct<Op::atan2>, kElementary},
    UFunc{"sinh", 1, 1, kFloatComplex1, sinh, kElementary},
    UFunc{"cosh", 1, 1, kFloatComplex1, cosh, kElementary},
    UFunc{"tanh", 1, 1, kFloatComplex1, tanh, kElementary},
    UFunc{"arcsinh", 1, 1, kFloatComplex1, arcsinh, kComposed},
    UFunc{"arccosh", 1, 1, kFloatComplex1, arccosh, kComposed},
    UFunc{"arctanh", 1, 1, kFloatComplex1, arctanh, kComposed},
    UFunc{"degrees", 1, 1, kFloat1, degrees, kRounded},
    UFunc{"radians", 1, 1, kFloat1, radians, kRounded},
    // ---- rounding and parts
    UFunc{"floor", 1, 1, kReal1, float_or<Op::floor, same>, kExact},
    UFunc{"ceil", 1, 1, kReal1, float_or<Op::ceil, same>, kExact},
    UFunc{"trunc", 1, 1, kReal1, float_or<Op::trunc, same>, kExact},
    UFunc{"rint", 1, 1, kFloatComplex1, rint, kExact},
    UFunc{"modf", 1, 2, "1->11:efd", modf, kExact},
    UFunc{"ldexp", 2, 1, "ei->e fi->f eq->e fq->f di->d dq->d", ldexp, kExact},
    UFunc{"copysign", 2, 1, kFloat2, direct<Op::copysign>, kExact},
    UFunc{"nextafter", 2, 1, kFloat2, direct<Op::nextafter>, kExact, kNative},
    UFunc{"spacing", 1, 1, kFloat1, spacing, kExact, kNative},
    UFunc{"heaviside", 2, 1, kFloat2, heaviside, kExact},
    // ---- extremes
    UFunc{"maximum", 2, 1, kArithmeticBool2, extreme<Op::maximum>, kExact},
    UFunc{"minimum", 2, 1, kArithmeticBool2, extreme<Op::minimum>, kExact},
    UFunc{"fmax", 2, 1, kArithmeticBool2, extreme<Op::fmax>, kExact},
    UFunc{"fmin", 2, 1, kArithmeticBool2, extreme<Op::fmin>, kExact},
    // ---- comparisons and logic
    UFunc{"equal", 2, 1, kCompare, compare<Op::equal>, kExact},
    UFunc{"not_equal", 2, 1, kCompare, compare<Op::not_equal>, kExact},
    UFunc{"less", 2, 1, kCompare, compare<Op::less>, kExact},
    UFunc{"less_equal", 2, 1, kCompare, compare<Op::less_equal>, kExact},
    UFunc{"greater", 2, 1, kCompare, compare<Op::greater>, kExact},
    UFunc{"greater_equal", 2, 1, kCompare, compare<Op::greater_equal>, kExact},
    UFunc{"logical_and", 2, 1, kLogical2, logical<Op::logical_and>, kExact},
    UFunc{"logical_or", 2, 1, kLogical2, logical<Op::logical_or>, kExact},
    UFunc{"logical_xor", 2, 1, kLogical2, logical<Op::logical_xor>, kExact},
    UFunc{"logical_not", 1, 1, kTest1, logical_not, kExact},
    UFunc{"isnan", 1, 1, kTest1, float_or<Op::is_nan, bool_false>, kExact},
    UFunc{"isinf", 1, 1, kTest1, float_or<Op::is_inf, bool_false>, kExact},
    UFunc{"isfinite", 1, 1, kTest1, float_or<Op::is_finite, bool_true>, kExact},
    UFunc{"signbit", 1, 1, "1->?:efd", direct<Op::sign_bit>, kExact},
    // ---- bits
    UFunc{"bitwise_and", 2, 1, kBits2, direct<Op::bit_and>, kExact},
    UFunc{"bitwise_or", 2, 1, kBits2, direct<Op::bit_or>, kExact},
    UFunc{"bitwise_xor", 2, 1, kBits2, direct<Op::bit_xor>, kExact},
    UFunc{"invert", 1, 1, "1->1:?bBhHiIqQ", direct<Op::bit_not>, kExact},
    UFunc{"left_shift", 2, 1, kInteger2, direct<Op::shift_left>, kExact},
    UFunc{"right_shift", 2, 1, kInteger2, direct<Op::shift_right>, kExact},
    UFunc{"bitwise_count", 1, 1, "1->B:bBhHiIqQ", bitwise_count, kExact},
    // ---- scipy.special, as cupyx has it
    UFunc{"erf", 1, 1, kFloat1, direct<Op::erf>, kSpecial},
    UFunc{"erfc", 1, 1, kFloat1, direct<Op::erfc>, kSpecial},
    UFunc{"erfinv", 1, 1, kFloat1, direct<Op::erfinv>, kSpecial},
    UFunc{"erfcinv", 1, 1, kFloat1, direct<Op::erfcinv>, kSpecial},
    UFunc{"erfcx", 1, 1, kFloat1, direct<Op::erfcx>, kSpecial},
    UFunc{"ndtr", 1, 1, kFloat1, direct<Op::ndtr>, kSpecial},
    UFunc{"ndtri", 1, 1, kFloat1, direct<Op::ndtri>, kSpecial},
    UFunc{"gammaln", 1, 1, kFloat1, direct<Op::lgamma>, kSpecialThroughZero},
    UFunc{"gamma", 1, 1, kFloat1, direct<Op::tgamma>, kSpecial},
    UFunc{"digamma", 1, 1, kFloat1, direct<Op::digamma>, kSpecialThroughZero},
};

}  // namespace

std::span<const UFunc> table() { return kTable; }

}  // namespace arraycore::ops
