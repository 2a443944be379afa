#include "view/index.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace arraycore {
namespace {

using Indices = std::vector<Index>;
constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

const View& cube() {
  static const View view = contiguous({4, 5, 6}, 1);  // strides 30, 6, 1
  return view;
}

TEST(BasicIndex, TakesIntegersSlicesNewAxesAndAnEllipsis) {
  EXPECT_EQ(*basic_index(cube(), Indices{Index::at(-1)}), (View{{5, 6}, {6, 1}, 90}));
  EXPECT_EQ(*basic_index(cube(), Indices{Index::ellipsis(), Index::at(2)}),
            (View{{4, 5}, {30, 6}, 2}));
  EXPECT_EQ(*basic_index(cube(), Indices{Index::slice(1, {}, 2), Index::newaxis()}),
            (View{{2, 1, 5, 6}, {60, 0, 6, 1}, 30}));
  EXPECT_EQ(*basic_index(cube(), Indices{Index::slice({}, {}, -1), Index::ellipsis()}),
            (View{{4, 5, 6}, {-30, 6, 1}, 90}));
  EXPECT_EQ(*basic_index(cube(), Indices{}), cube());
}

TEST(BasicIndex, NamesMistakesInNumpysWords) {
  const auto message = [](const Indices& indices) {
    const auto result = basic_index(cube(), indices);
    return result.ok() ? std::string("no error") : result.error().message;
  };
  EXPECT_EQ(message({Index::at(4)}), "index 4 is out of bounds for axis 0 with size 4");
  EXPECT_EQ(message({Index::at(0), Index::at(-6)}),
            "index -6 is out of bounds for axis 1 with size 5");
  EXPECT_EQ(message({Index::at(0), Index::at(0), Index::at(0), Index::at(0)}),
            "too many indices for array: array is 3-dimensional, but 4 were indexed");
  EXPECT_EQ(message({Index::ellipsis(), Index::ellipsis()}),
            "an index can only have a single ellipsis ('...')");
  EXPECT_EQ(message({Index::slice({}, {}, 0)}), "slice step cannot be zero");
  EXPECT_EQ(basic_index(cube(), Indices{Index::at(4)}).error().kind, ErrorKind::index);
  EXPECT_EQ(basic_index(cube(), Indices{Index::slice({}, {}, 0)}).error().kind, ErrorKind::value);
}

TEST(BasicIndex, StopsAtTheMostDimensions) {
  const Indices fits(kMaxDims - 3, Index::newaxis());
  EXPECT_EQ(basic_index(cube(), fits)->ndim(), kMaxDims);
  const Indices over(kMaxDims - 2, Index::newaxis());
  EXPECT_EQ(basic_index(cube(), over).error().code, "too_many_dimensions");
}

TEST(BasicIndex, LargestNumbersDoNotOverflow) {
  for (const std::int64_t step : {kLowest, kLowest + 1, kHighest}) {
    const auto result = basic_index(cube(), Indices{Index::slice({}, {}, step)});
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(result->shape[0], 1);
  }
  EXPECT_FALSE(basic_index(cube(), Indices{Index::at(kLowest)}).ok());
  EXPECT_FALSE(basic_index(cube(), Indices{Index::at(kHighest)}).ok());
}

TEST(SliceRange, IsPythons) {
  EXPECT_EQ(slice_range({}, {}, {}, 5), (SliceRange{0, 1, 5}));
  EXPECT_EQ(slice_range({}, {}, -2, 5), (SliceRange{4, -2, 3}));
  EXPECT_EQ(slice_range(-3, -1, {}, 5), (SliceRange{2, 1, 2}));
  EXPECT_EQ(slice_range(3, 1, {}, 5).count, 0);
  EXPECT_EQ(slice_range(-100, 100, {}, 5), (SliceRange{0, 1, 5}));
  EXPECT_EQ(slice_range(100, -100, -1, 5), (SliceRange{4, -1, 5}));
  EXPECT_EQ(slice_range({}, {}, {}, 0).count, 0);
  EXPECT_EQ(slice_range(kLowest, kHighest, kHighest, 5), (SliceRange{0, kHighest, 1}));
  EXPECT_EQ(slice_range(kHighest, kLowest, kLowest, 5), (SliceRange{4, -kHighest, 1}));
}

}  // namespace
}  // namespace arraycore
