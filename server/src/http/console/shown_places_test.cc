// Tests that the line that is drawn with few values looks like the line of all values.
#include "http/console/shown_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hyperflock::http {
namespace {

using testing::ElementsAre;
using testing::IsSupersetOf;

TEST(ShownPlaces, AreAllPlacesOfAShortSeries) {
  EXPECT_THAT(shown_places({}, 8), ElementsAre());
  EXPECT_THAT(shown_places({1, 2, 3}, 8), ElementsAre(0, 1, 2));
}

TEST(ShownPlaces, KeepPeaksAndEndsAndAreNotMoreThanAsked) {
  std::vector<double> values(10'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i));
  values[1'234] = 50;
  values[8'765] = -50;
  const auto places = shown_places(values, 64);
  EXPECT_LE(places.size(), 64U);
  EXPECT_GE(places.size(), 60U);
  EXPECT_THAT(places, IsSupersetOf({0, 1'234, 8'765, 9'999}));
  EXPECT_TRUE(std::is_sorted(places.begin(), places.end()));
}

TEST(ShownPlaces, KeepAGap) {
  std::vector<double> values(1'000, 1.0);
  values[500] = std::numeric_limits<double>::quiet_NaN();
  values[700] = std::numeric_limits<double>::infinity();
  const auto places = shown_places(values, 20);
  EXPECT_LE(places.size(), 20U);
  EXPECT_THAT(places, IsSupersetOf({0, 500, 700, 999}));
}

TEST(ShownPlaces, OfValuesThatAreAllNotFiniteAreOneOfEachPart) {
  const std::vector<double> values(100, std::numeric_limits<double>::quiet_NaN());
  EXPECT_THAT(shown_places(values, 8), ElementsAre(0, 1, 50, 99));
}

}  // namespace
}  // namespace hyperflock::http
