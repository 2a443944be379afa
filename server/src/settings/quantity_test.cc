// Tests sizes and times: each unit, what is refused, and that the text which is shown for a number
// is read as the same number.
#include "settings/quantity.h"

#include <gtest/gtest.h>

#include <limits>

namespace hyperflock::settings {
namespace {

TEST(Quantity, ReadsNumbersAndUnits) {
  const auto size = [](std::string_view text) { return *parse_quantity(text, Measure::bytes); };
  EXPECT_EQ(size("0"), 0);
  EXPECT_EQ(size("1073741824"), 1'073'741'824);
  EXPECT_EQ(size("1 GiB"), 1'073'741'824);
  EXPECT_EQ(size("512KiB"), 524'288);
  EXPECT_EQ(size("3 kB"), 3'000);
  EXPECT_EQ(size("7 B"), 7);
  const auto time = [](std::string_view text) { return *parse_quantity(text, Measure::time); };
  EXPECT_EQ(time("250"), 250);
  EXPECT_EQ(time("250 ms"), 250);
  EXPECT_EQ(time("45s"), 45'000);
  EXPECT_EQ(time("5 min"), 300'000);
  EXPECT_EQ(time("2 h"), 7'200'000);
  EXPECT_EQ(time("1 d"), 86'400'000);
}

TEST(Quantity, RefusesEverythingElse) {
  for (const char* bad :
       {"", " ", "GiB", "1 gib", "1  GiB", "1 GiB ", " 1", "-1", "-0", "+1", "1.5 GiB", "0x10",
        "1e3", "1 s", "9223372036854775808", "9223372036854775807 KiB", "8388608 TiB"}) {
    const auto parsed = parse_quantity(bad, Measure::bytes);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().code, "bad_flag");
  }
  EXPECT_FALSE(parse_quantity("1 KiB", Measure::time));
  EXPECT_FALSE(parse_quantity("1 m", Measure::time)) << "a month or a minute?";
}

TEST(Quantity, EveryShownTextIsReadAsItsNumber) {
  for (const Measure measure : {Measure::bytes, Measure::time}) {
    for (const std::int64_t amount :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{999}, std::int64_t{1'000},
          std::int64_t{1'024}, std::int64_t{86'400'000}, std::int64_t{3} << 40,
          std::numeric_limits<std::int64_t>::max()}) {
      const std::string text = quantity_text(amount, measure);
      const auto back = parse_quantity(text, measure);
      ASSERT_TRUE(back) << text;
      EXPECT_EQ(*back, amount) << text;
    }
  }
  EXPECT_EQ(quantity_text(std::int64_t{64} << 20, Measure::bytes), "64 MiB");
  EXPECT_EQ(quantity_text(300'000, Measure::time), "5 min");
}

}  // namespace
}  // namespace hyperflock::settings
