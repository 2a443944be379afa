#include "view/copy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "view/index.h"
#include "view/shape.h"

namespace arraycore {
namespace {

std::byte* bytes_of(std::vector<std::int32_t>& values) {
  return reinterpret_cast<std::byte*>(values.data());
}

std::vector<std::int32_t> counting(std::size_t count) {
  std::vector<std::int32_t> values(count);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST(CopyView, TransposesLargePlanes) {
  constexpr std::int64_t kRows = 67;  // not a multiple of a tile
  constexpr std::int64_t kColumns = 131;
  auto source = counting(kRows * kColumns);
  std::vector<std::int32_t> target(source.size());
  ASSERT_TRUE(copy_view(bytes_of(target), contiguous({kColumns, kRows}, 4), bytes_of(source),
                        transpose(contiguous({kRows, kColumns}, 4)), 4)
                  .ok());
  for (std::int64_t i = 0; i < kColumns; ++i)
    for (std::int64_t j = 0; j < kRows; ++j)
      ASSERT_EQ(target[static_cast<std::size_t>(i * kRows + j)], j * kColumns + i);
}

TEST(CopyView, OntoItselfShiftedActsAsIfTheSourceWereCopiedFirst) {
  for (const std::int64_t shift : {-3, -1, 0, 1, 3}) {
    auto values = counting(20);
    const View source{{10}, {4}, 20};
    const View target{{10}, {4}, 20 + 4 * shift};
    ASSERT_TRUE(copy_view(bytes_of(values), target, bytes_of(values), source, 4).ok());
    for (int i = 0; i < 10; ++i)
      EXPECT_EQ(values[static_cast<std::size_t>(5 + shift + i)], 5 + i) << shift;
  }
}

TEST(CopyView, ReversesInPlace) {
  auto values = counting(9);
  const View view = contiguous({9}, 4);
  ASSERT_TRUE(copy_view(bytes_of(values), view, bytes_of(values), flip(view), 4).ok());
  for (int i = 0; i < 9; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i)], 8 - i);
}

TEST(CopyView, SeesThatTwoPointersLeadIntoOneStorage) {
  auto values = counting(12);
  ASSERT_TRUE(
      copy_view(bytes_of(values) + 8, contiguous({10}, 4), bytes_of(values), contiguous({10}, 4), 4)
          .ok());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i) + 2], i);
}

TEST(CopyView, OfZeroDimensionsAndOfNothing) {
  auto values = counting(2);
  ASSERT_TRUE(copy_view(bytes_of(values), {{}, {}, 0}, bytes_of(values), {{}, {}, 4}, 4).ok());
  EXPECT_EQ(values[0], 1);
  ASSERT_TRUE(copy_view(nullptr, {{0}, {4}, 0}, nullptr, {{0}, {4}, 0}, 4).ok());
}

// Copies each item size through a strided three-dimensional view, and compares with one memcpy for
// each element.
TEST(CopyView, EveryItemSizeMatchesElementByElement) {
  std::mt19937 random(7);
  for (const std::size_t item : {1U, 2U, 4U, 8U, 16U}) {
    const auto size = static_cast<std::int64_t>(item);
    std::vector<std::byte> source(static_cast<std::size_t>(40 * 36 * 34) * item);
    for (std::byte& byte : source) byte = static_cast<std::byte>(random());
    const View from =
        *basic_index(*transpose(contiguous({40, 36, 34}, item), std::vector<std::int64_t>{2, 0, 1}),
                     std::vector<Index>{Index::slice({}, {}, -1), Index::slice({}, {}, 2)});
    std::vector<std::byte> target(static_cast<std::size_t>(from.count()) * item);
    const View to = contiguous(from.shape, item);
    ASSERT_TRUE(copy_view(target.data(), to, source.data(), from, item).ok());
    for (std::int64_t i = 0; i < from.shape[0]; ++i)
      for (std::int64_t j = 0; j < from.shape[1]; ++j)
        for (std::int64_t k = 0; k < from.shape[2]; ++k) {
          const std::int64_t at =
              from.offset + i * from.strides[0] + j * from.strides[1] + k * from.strides[2];
          const std::int64_t out = ((i * from.shape[1] + j) * from.shape[2] + k) * size;
          ASSERT_EQ(std::memcmp(source.data() + at, target.data() + out, item), 0);
        }
  }
}

TEST(CastView, ConvertsStridedAndOverlappingElements) {
  auto values = counting(16);
  // The doubles are written over the integers from which they are computed.
  const View integers = contiguous({8}, 4);
  ASSERT_TRUE(cast_view(bytes_of(values), contiguous({8}, 8), DType::float64, bytes_of(values),
                        flip(integers), DType::int32)
                  .ok());
  for (std::size_t i = 0; i < 8; ++i) {
    double value = 0;
    std::memcpy(&value, values.data() + std::size_t{2} * i, sizeof(value));
    EXPECT_EQ(value, 7.0 - static_cast<double>(i));
  }
}

}  // namespace
}  // namespace arraycore
