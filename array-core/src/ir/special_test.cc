// Compares the special functions with identities and published values.
#include "ir/special.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace arraycore::ir::special {
namespace {

void near_relative(double value, double expected, double tolerance) {
  EXPECT_NEAR(value, expected, std::abs(expected) * tolerance);
}

TEST(Special, InversesUndoTheirFunctions) {
  for (double y = -0.999; y < 1; y += 0.0137) {
    near_relative(std::erf(erfinv(y)), y, 1e-14);
    near_relative(std::erfc(erfcinv(1 + y)), 1 + y, 1e-13);
    near_relative(ndtr(ndtri((1 + y) / 2)), (1 + y) / 2, 1e-13);
  }
  for (double y = 1e-300; y < 0.1; y *= 7) near_relative(std::erfc(erfcinv(y)), y, 1e-11);
  near_relative(erfinv(1e-20), 1e-20 * 0.88622692545275801365, 1e-15);
  EXPECT_EQ(erfinv(1), std::numeric_limits<double>::infinity());
  EXPECT_EQ(ndtri(0), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(erfinv(1.5)));
}

TEST(Special, GammaFamily) {
  for (double x = 0.1; x < 170; x += 0.37) near_relative(lgamma(x), ::lgamma(x), 2e-13);
  for (double x = -20.3; x < 0; x += 0.7) EXPECT_NEAR(lgamma(x), ::lgamma(x), 1e-11);
  near_relative(lgamma(1e10), ::lgamma(1e10), 1e-14);
  near_relative(digamma(1), -0.57721566490153286061, 1e-14);
  near_relative(digamma(0.5), -1.96351002602142347944, 1e-14);
  near_relative(digamma(10), 2.25175258906672110765, 1e-14);
  near_relative(digamma(-0.5), 0.03648997397857652056, 1e-12);
  for (double x = 0.2; x < 30; x += 0.3) near_relative(digamma(x + 1), digamma(x) + 1 / x, 1e-12);
  EXPECT_TRUE(std::isnan(digamma(-2)));
}

TEST(Special, ScaledErrorFunction) {
  near_relative(erfcx(0), 1, 1e-15);
  near_relative(erfcx(1), 0.42758357615580700441, 1e-14);
  near_relative(erfcx(5), 0.11070463773306862637, 1e-14);
  near_relative(erfcx(9.999999), erfcx(10.000001), 3e-7);
  near_relative(erfcx(100), 0.00564161378298942904, 1e-14);
  EXPECT_EQ(erfcx(-30), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace arraycore::ir::special
