#include "ir/special.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace arraycore::ir::special {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kLn2 = std::numbers::ln2;
constexpr double kSqrtPi = 1.77245385090551602730;
constexpr double kSqrtHalf = std::numbers::sqrt2 / 2;
constexpr double kSqrtHalfRest =
    -4.83364665672645672e-17;  // the digits of the number beyond the double
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Returns exp(x * x), corrected by the rounding error of the product.
double exp_square(double x) {
  const double square = x * x;
  const double rest = std::fma(x, x, -square);
  const double value = std::exp(square);
  return value == kInf ? value : value + value * rest;
}

// Returns the inverse of erfc on (0, 1]. It starts from an estimate with a few digits (Giles 2010
// for the centre, the asymptotic form for the tail). Then it takes four steps of Halley's method,
// or of Newton's method if y is below 1e-290.
double inverse_erfc_upper(double y) {
  double x = 0;
  if (y > 0.05) {
    const double w = -std::log(y * (2 - y));
    const double a = 2 / (kPi * 0.147) - w / 2;
    x = std::sqrt(std::sqrt(a * a + w / 0.147) - a);
  } else {
    const double t = std::sqrt(-2 * (std::log(y) - kLn2));  // y / 2 may round to 0
    x = kSqrtHalf * (t - (2.30753 + t * 0.27061) / (1 + t * (0.99229 + t * 0.04481)));
  }
  if (y < 1e-290) {  // computed in logarithms: exp(x * x) overflows, and erfc may be subnormal
    for (int step = 0; step < 4; ++step) {
      const double scaled = erfcx(x);
      x += (std::log(scaled) - x * x - std::log(y)) * kSqrtPi / 2 * scaled;
    }
    return x;
  }
  for (int step = 0; step < 4; ++step) {
    // This is Newton's step: erfc(x) - y divided by the slope of erfc. The dividend and the divisor
    // are scaled by exp(x * x), so that the tail does not underflow.
    const double error = (std::erfc(x) - y) * kSqrtPi / 2 * exp_square(x);
    x += error / (1 + x * error);
  }
  return x;
}

}  // namespace

double erfcinv(double y) {
  if (std::isnan(y) || y < 0 || y > 2) return kNan;
  if (y == 0) return kInf;
  if (y == 2) return -kInf;
  if (y >= 0.5 && y <= 1.5) return erfinv(1 - y);  // the difference is exact and keeps every digit
  return y <= 1 ? inverse_erfc_upper(y) : -inverse_erfc_upper(2 - y);
}

double erfinv(double y) {
  if (std::isnan(y) || y < -1 || y > 1) return kNan;
  if (y == 0) return y;
  const double size = std::abs(y);
  if (size == 1) return std::copysign(kInf, y);
  if (size > 0.5) return std::copysign(inverse_erfc_upper(1 - size), y);
  double x = size * kSqrtPi / 2;
  x += kPi * kSqrtPi / 24 * size * size * size;
  for (int step = 0; step < 5; ++step) {
    const double error = (std::erf(x) - size) * kSqrtPi / 2 * exp_square(x);
    x -= error / (1 + x * error);
  }
  return std::copysign(x, y);
}

double erfcx(double x) {
  if (x < 10) return exp_square(x) * std::erfc(x);
  // Evaluates Laplace's continued fraction from its end.
  double value = x;
  for (int k = 40; k > 0; --k) value = x + k * 0.5 / value;
  return 1 / kSqrtPi / value;
}

double lgamma(double x) {
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return kInf;
  if (x <= 0) {
    const double whole =
        std::nearbyint(x);  // the nearest integer, so that the difference keeps its digits
    if (whole == x) return kInf;
    const double sine = std::sin(kPi * (x - whole));
    return std::log(kPi / std::abs(sine)) - lgamma(1 - x);
  }
  if (x < 0.5) return lgamma(x + 1) - std::log(x);
  if (x < 3) return std::log(std::tgamma(x));
  // Stirling's series is used above 12; smaller x are shifted there by the recurrence.
  double shift = 1;
  while (x < 12) shift *= x++;
  const double r = 1 / (x * x);
  const double series =
      1 / (12 * x) *
      (1 - r * (1.0 / 30 - r * (1.0 / 105 - r * (1.0 / 140 - r * (1.0 / 99 - r * 691.0 / 30030)))));
  return (x - 0.5) * std::log(x) - x + 0.91893853320467274178 + series - std::log(shift);
}

double tgamma(double x) { return std::tgamma(x); }

double digamma(double x) {
  if (std::isnan(x) || x == -kInf) return kNan;
  if (x == kInf) return kInf;
  if (x == 0) return std::copysign(kInf, -x);
  double value = 0;
  if (x < 0) {
    const double rest = x - std::nearbyint(x);
    if (rest == 0) return kNan;
    value = -kPi / std::tan(kPi * rest);
    x = 1 - x;
  }
  while (x < 10) value -= 1 / x++;
  const double r = 1 / (x * x);
  return value + std::log(x) - 0.5 / x -
         r * (1.0 / 12 -
              r * (1.0 / 120 -
                   r * (1.0 / 252 -
                        r * (1.0 / 240 - r * (1.0 / 132 - r * (691.0 / 32760 - r / 12))))));
}

double ndtr(double x) {
  const double t = -x * kSqrtHalf;
  const double value = 0.5 * std::erfc(t);
  if (!std::isfinite(t)) return value;
  // The rounding error of -x * kSqrtHalf matters in the tail, because its effect on the result is
  // multiplied by 2 * t.
  const double rest = -std::fma(x, kSqrtHalf, t) - x * kSqrtHalfRest;
  return value - rest * std::exp(-t * t) / kSqrtPi;
}

double ndtri(double y) {
  const double value = erfcinv(2 * y);
  return value == 0 ? 0 : -value / kSqrtHalf;
}

}  // namespace arraycore::ir::special
