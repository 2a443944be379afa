// Tests that floats are written as Python's repr writes them, and are read as the same double.
#include "protocol/json/json_writer.h"

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <random>

namespace hyperflock::protocol {
namespace {

std::string float_text(double value) {
  std::string out;
  append_float(out, value);
  return out;
}

TEST(JsonWriter, FloatsLookLikePython) {
  EXPECT_EQ(float_text(0.0), "0.0");
  EXPECT_EQ(float_text(-0.0), "-0.0");
  EXPECT_EQ(float_text(1), "1.0");
  EXPECT_EQ(float_text(-12.5), "-12.5");
  EXPECT_EQ(float_text(0.0001), "0.0001");
  EXPECT_EQ(float_text(0.00012345), "0.00012345");
  EXPECT_EQ(float_text(0.00001), "1e-05");
  EXPECT_EQ(float_text(9999999999999998.0), "9999999999999998.0");
  EXPECT_EQ(float_text(1e16), "1e+16");
  EXPECT_EQ(float_text(123456.789), "123456.789");
  EXPECT_EQ(float_text(1.5e300), "1.5e+300");
}

TEST(JsonWriter, EveryFloatReadsBackAsItself) {
  std::mt19937_64 random(7);
  int finite = 0;
  for (int i = 0; i < 200'000; ++i) {
    const auto value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    ++finite;
    const std::string text = float_text(value);
    double back = 0;
    std::from_chars(text.data(), text.data() + text.size(), back);
    ASSERT_EQ(std::bit_cast<std::uint64_t>(back), std::bit_cast<std::uint64_t>(value)) << text;
    ASSERT_NE(text.find_first_of(".e"), std::string::npos) << text;
  }
  EXPECT_GT(finite, 190'000);
}

TEST(JsonWriter, StringsEscapeWhatJsonRequiresOnly) {
  std::string out;
  append_string(out, std::string_view("a\"b\\c/\b\f\n\r\t\0\x1f\x7f\xc3\xa9", 16));
  EXPECT_EQ(out, "\"a\\\"b\\\\c/\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\xc3\xa9\"");
}

}  // namespace
}  // namespace hyperflock::protocol
