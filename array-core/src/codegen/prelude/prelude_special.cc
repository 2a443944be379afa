// Special functions in single precision, after msun's s_erff and the formulas of ir/special.cc.
#include "codegen/prelude/prelude.h"

namespace arraycore::codegen {
namespace {

constexpr std::string_view kSpecialHelpers[] = {
    // NOLINT(*-avoid-c-arrays)
    R"(fn ac_erf_centre(x: f32) -> f32 {
  let z: f32 = x * x;
  let r: f32 = 0.12837916613 + z * (-0.32504209876 + z * (-0.028481749818 + z * (-5.7702702470e-3 +
      z * -2.3763017452e-5)));
  let s: f32 = 1.0 + z * (0.39791721106 + z * (0.065022252500 + z * (5.0813062117e-3 +
      z * (1.3249473704e-4 + z * -3.9602282413e-6))));
  return x + x * (r / s);
})",
    // Returns erfc(x) * exp(x * x) * x for x from 1.25 on.
    R"(fn ac_erfc_tail(x: f32) -> f32 {
  let s: f32 = 1.0 / (x * x);
  var r: f32 = 0.0;
  var t: f32 = 1.0;
  if (x < 2.857142) {
    r = -9.8649440333e-3 + s * (-0.69385856390 + s * (-10.558626175 + s * (-62.375331879 +
        s * (-162.39666748 + s * (-184.60508728 + s * (-81.287437439 + s * -9.8143291473))))));
    t = 1.0 + s * (19.651271820 + s * (137.65776062 + s * (434.56588745 + s * (645.38726807 +
        s * (429.00814819 + s * (108.63500214 + s * (6.5702495575 + s * -0.060424413532)))))));
  } else {
    r = -9.8649431020e-3 + s * (-0.79928326607 + s * (-17.757955551 + s * (-160.63638306 +
        s * (-637.56646729 + s * (-1025.0950928 + s * -483.51919556)))));
    t = 1.0 + s * (30.338060379 + s * (325.79251099 + s * (1536.7296143 + s * (3199.8581543 +
        s * (2553.0502930 + s * (474.52853394 + s * -22.440952301))))));
  }
  // msun computes erfc(x) as exp(-x * x - 0.5625 + r / t) / x. Here exp(-x * x) / x is left out.
  return ac_exp(r / t - 0.5625);
})",
    // Returns 1 - erf(x) for x from 0.84375 to 1.25.
    R"(fn ac_erfc_middle(x: f32) -> f32 {
  let s: f32 = x - 1.0;
  let p: f32 = -2.3621185683e-3 + s * (0.41485610604 + s * (-0.37220788002 + s * (0.31834661961 +
      s * (-0.11089469492 + s * (0.035478305072 + s * -2.1663755178e-3)))));
  let q: f32 = 1.0 + s * (0.10642088205 + s * (0.54039794207 + s * (0.071828655899 + s * (0.12617121637 +
      s * (0.013637083583 + s * 0.011984500103)))));
  return (1.0 - 0.84506291151) - p / q;
})",
    // Returns erfc(x) for x from 1.25 on.
    R"(fn ac_erfc_large(x: f32) -> f32 {
  let z: f32 = bitcast<f32>(bitcast<u32>(x) & 0xffffe000u);
  return ac_exp(-z * z) * ac_exp((z - x) * (z + x)) * ac_erfc_tail(x) / x;
})",
    R"(fn ac_erf(x: f32) -> f32 {
  if (ac_is_nan(x)) { return x; }
  let size: f32 = abs(x);
  if (size < 0.84375) { return ac_erf_centre(x); }
  if (size < 1.25) { return ac_copysign(1.0 - ac_erfc_middle(size), x); }
  if (size > 6.0) { return ac_copysign(1.0, x); }
  return ac_copysign(1.0 - ac_erfc_large(size), x);
})",
    R"(fn ac_erfc(x: f32) -> f32 {
  if (ac_is_nan(x)) { return x; }
  let size: f32 = abs(x);
  if (size < 0.84375) {
    if (x < 0.25) { return 1.0 - ac_erf_centre(x); }
    return 0.5 - (x - 0.5 + (ac_erf_centre(x) - x));
  }
  if (size > 10.1) { return select(0.0, 2.0, x < 0.0); }
  var upper: f32 = 0.0;
  if (size < 1.25) {
    upper = ac_erfc_middle(size);
  } else {
    upper = ac_erfc_large(size);
  }
  return select(upper, 2.0 - upper, x < 0.0);
})",
    R"(fn ac_erfcx(x: f32) -> f32 {
  if (ac_is_nan(x)) { return x; }
  if (x >= 1.25) {
    if (x > 30.0) {
      let s: f32 = 1.0 / (x * x);
      return 0.564189583 / x * (1.0 - s * (0.5 - 0.75 * s));
    }
    return ac_erfc_tail(x) / x;
  }
  if (x < -9.5) { return ac_inf(); }
  // Computes exp(x * x), corrected by the rounding error of x * x, times erfc(x).
  let high: f32 = bitcast<f32>(bitcast<u32>(x) & 0xfffff000u);
  return ac_exp(high * high) * ac_exp((x - high) * (x + high)) * ac_erfc(x);
})",
    R"(fn ac_erfinv_central(w: f32) -> f32 {
  if (w < 5.0) {
    let c: f32 = w - 2.5;
    return 1.50140941 + c * (0.246640727 + c * (-0.00417768164 + c * (-0.00125372503 +
        c * (0.00021858087 + c * (-4.39150654e-6 + c * (-3.5233877e-6 + c * (3.43273939e-7 +
        c * 2.81022636e-8)))))));
  }
  let c: f32 = sqrt(w) - 3.0;
  return 2.83297682 + c * (1.00167406 + c * (0.00943887047 + c * (-0.0076224613 +
      c * (0.00573950773 + c * (-0.00367342844 + c * (0.00134934322 + c * (0.000100950558 +
      c * -0.000200214257)))))));
})",
    R"(fn ac_erfinv(y: f32) -> f32 {
  if (ac_is_nan(y) || !ac_nonzero(y)) { return y; }
  let size: f32 = abs(y);
  if (size > 1.0) { return ac_nan(); }
  if (size == 1.0) { return ac_copysign(ac_inf(), y); }
  return ac_erfinv_central(-ac_log((1.0 - y) * (1.0 + y))) * y;
})",
    R"(fn ac_erfcinv(y: f32) -> f32 {
  if (ac_is_nan(y)) { return y; }
  if (y < 0.0 || y > 2.0) { return ac_nan(); }
  if (!ac_nonzero(y)) { return ac_inf(); }
  if (y == 2.0) { return -ac_inf(); }
  if (y >= 0.02) { return ac_erfinv(1.0 - y); }
  // Begins with an estimate for small y. Then takes Newton's steps for log(erfc(x)) = log(y). The
  // logarithms do not underflow as erfc(x) does.
  let t: f32 = sqrt(-2.0 * (ac_log(y) - 0.693147182));
  var x: f32 = 0.707106769 * (t - (2.30753 + t * 0.27061) / (1.0 + t * (0.99229 + t * 0.04481)));
  for (var k: i32 = 0i; k < 2i; k++) {
    let scaled: f32 = ac_erfcx(x);
    let error: f32 = (ac_log(scaled) - x * x) - ac_log(y);
    x += error * scaled * 0.886226925;
  }
  return x;
})",
    R"(fn ac_ndtr(x: f32) -> f32 {
  return 0.5 * ac_erfc(-0.707106769 * x);
})",
    R"(fn ac_ndtri(y: f32) -> f32 {
  return -1.41421354 * ac_erfcinv(2.0 * y);
})",
    // Returns log(gamma(x)) for x > 0, by Stirling's series for x from 8 on. The recurrence raises
    // a smaller x to at least 8.
    R"(fn ac_lgamma_positive(x0: f32) -> f32 {
  if (x0 > 1e30) { return x0 * (ac_log(x0) - 1.0); }
  // Around the zeros at 1 and 2 a series keeps the digits that the recurrence would lose.
  if (x0 > 0.5 && x0 < 2.5) {
    let d: f32 = select(x0 - 1.0, x0 - 2.0, x0 >= 1.5);
    // log(gamma(2 + d))
    let r: f32 = d * (0.422784335 + d * (0.322467033 + d * (-0.067352301 + d * (0.0205808084 +
        d * (-7.38555102e-3 + d * (2.89051033e-3 + d * (-1.19275391e-3 + d * (5.0966952e-4 +
        d * (-2.2315476e-4 + d * (9.945751e-5 + d * (-4.492624e-5 + d * 2.050721e-5)))))))))));
    return select(r - ac_log1p(d), r, x0 >= 1.5);
  }
  var x: f32 = x0;
  var product: f32 = 1.0;
  while (x < 8.0) {
    product *= x;
    x += 1.0;
  }
  let i: f32 = 1.0 / x;
  let z: f32 = i * i;
  let series: f32 = i * (0.0833333333 + z * (-0.00277777778 + z * 7.93650794e-4));
  return (x - 0.5) * ac_log(x) - x + 0.918938533 + series - ac_log(product);
})",
    R"(fn ac_lgamma(x: f32) -> f32 {
  if (ac_is_nan(x)) { return x; }
  if (ac_is_inf(x)) { return ac_inf(); }
  if (x > 0.0) { return ac_lgamma_positive(x); }
  let rest: f32 = x - ac_rint(x);
  if (!ac_nonzero(rest)) { return ac_inf(); }
  return ac_log(3.14159274 / abs(ac_sin(3.14159274 * rest))) - ac_lgamma_positive(1.0 - x);
})",
    R"(fn ac_gamma_positive(x0: f32) -> f32 {
  if (x0 > 35.05) { return ac_inf(); }
  // gamma(t + 1) = t * gamma(t) leads from x0 to an x in [1.5, 2.5); its gamma is exp(lgamma(x)).
  var x: f32 = x0;
  var up: f32 = 1.0;
  var down: f32 = 1.0;
  while (x >= 2.5) {
    x -= 1.0;
    up *= x;
  }
  while (x < 1.5) {
    down *= x;
    x += 1.0;
  }
  return ac_exp(ac_lgamma_positive(x)) * up / down;
})",
    R"(fn ac_tgamma(x: f32) -> f32 {
  if (ac_is_nan(x) || x == ac_inf()) { return x; }
  if (!ac_nonzero(x)) { return ac_copysign(ac_inf(), x); }
  if (x > 0.0) { return ac_gamma_positive(x); }
  let rest: f32 = x - ac_rint(x);
  if (ac_is_inf(x) || !ac_nonzero(rest)) { return ac_nan(); }
  if (x < -43.0) { return 0.0; }
  let odd: bool = (i32(ac_rint(x)) & 1i) != 0i;
  let sine: f32 = ac_sin(3.14159274 * rest);
  let scale: f32 = select(sine, -sine, odd);
  // Computes pi / (sin(pi x) gamma(1 - x)), where -x * gamma(-x) replaces gamma(1 - x), because
  // gamma(1 - x) may overflow.
  return 3.14159274 / (scale * ac_gamma_positive(-x)) / (-x);
})",
    R"(fn ac_digamma(x0: f32) -> f32 {
  if (ac_is_nan(x0) || x0 == ac_inf()) { return x0; }
  if (ac_is_inf(x0)) { return ac_nan(); }
  if (!ac_nonzero(x0)) { return ac_copysign(ac_inf(), -x0); }
  var x: f32 = x0;
  var value: f32 = 0.0;
  if (x < 0.0) {
    let rest: f32 = x - ac_rint(x);
    if (!ac_nonzero(rest)) { return ac_nan(); }
    value = -3.14159274 / ac_tan(3.14159274 * rest);
    x = 1.0 - x;
  }
  while (x < 8.0) {
    value -= 1.0 / x;
    x += 1.0;
  }
  let i: f32 = 1.0 / x;
  let z: f32 = i * i;
  return value + (ac_log(x) - 0.5 * i - z * (0.0833333333 - z * (0.00833333333 - z * 0.00396825397)));
})",
};

}  // namespace

std::span<const std::string_view> special_helpers() { return kSpecialHelpers; }

}  // namespace arraycore::codegen
