#include "view/collapse.h"

#include <gtest/gtest.h>

#include <array>

#include "view/shape.h"

namespace arraycore {
namespace {

TEST(Collapse, MergesWhatEveryViewWalksEvenly) {
  std::array<View, 2> views{contiguous({2, 3, 4}, 4), contiguous({2, 3, 4}, 8)};
  collapse(views, AxisOrder::keep);
  EXPECT_EQ(views[0], (View{{24}, {4}, 0}));
  EXPECT_EQ(views[1], (View{{24}, {8}, 0}));
}

TEST(Collapse, KeepsApartWhatOneViewDoesNot) {
  std::array<View, 2> views{contiguous({2, 3, 4}, 4), {{2, 3, 4}, {48, 0, 4}, 0}};
  collapse(views, AxisOrder::keep);
  EXPECT_EQ(views[0], (View{{2, 3, 4}, {48, 16, 4}, 0}));
  std::array<View, 2> rows{contiguous({2, 3, 4}, 4), {{2, 3, 4}, {0, 16, 4}, 0}};
  collapse(rows, AxisOrder::keep);
  EXPECT_EQ(rows[0], (View{{2, 12}, {48, 4}, 0}));
  EXPECT_EQ(rows[1], (View{{2, 12}, {0, 4}, 0}));
}

TEST(Collapse, DropsAxesOfExtentOne) {
  std::array<View, 1> views{View{{1, 3, 1, 2, 1}, {77, 8, -5, 4, 0}, 16}};
  collapse(views, AxisOrder::keep);
  EXPECT_EQ(views[0], (View{{6}, {4}, 16}));
}

TEST(Collapse, SortsAndTurnsOnlyWhereTheOrderIsFree) {
  const View reversed = transpose(flip(contiguous({2, 3, 4}, 4)));
  std::array<View, 1> kept{reversed};
  collapse(kept, AxisOrder::keep);
  EXPECT_EQ(kept[0], reversed);
  std::array<View, 1> freed{reversed};
  collapse(freed, AxisOrder::any);
  EXPECT_EQ(freed[0], (View{{24}, {4}, 0}));
}

TEST(Collapse, TurnsNoAxisThatAViewWalksForward) {
  std::array<View, 2> views{View{{5}, {-4}, 16}, View{{5}, {4}, 0}};
  collapse(views, AxisOrder::any);
  EXPECT_EQ(views[0], (View{{5}, {-4}, 16}));
}

TEST(Collapse, OfNothingAndOfOneElement) {
  std::array<View, 1> nothing{View{{3, 0, 2}, {1, 2, 3}, 8}};
  collapse(nothing, AxisOrder::any);
  EXPECT_EQ(nothing[0], (View{{0}, {0}, 8}));
  std::array<View, 1> one{View{{1, 1}, {5, 6}, 8}};
  collapse(one, AxisOrder::any);
  EXPECT_EQ(one[0], (View{{}, {}, 8}));
}

}  // namespace
}  // namespace arraycore
