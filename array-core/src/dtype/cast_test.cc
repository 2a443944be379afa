#include "dtype/cast.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "dtype/convert.h"

namespace arraycore {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(Convert, FloatToIntegerTruncatesSaturatesAndMakesNanZero) {
  EXPECT_EQ((convert<DType::float32, DType::int8>(-3.9F)), -3);
  EXPECT_EQ((convert<DType::float32, DType::int8>(300.0F)), 127);
  EXPECT_EQ((convert<DType::float32, DType::int8>(-kInf)), -128);
  EXPECT_EQ((convert<DType::float32, DType::uint8>(-0.9F)), 0);
  EXPECT_EQ((convert<DType::float32, DType::uint8>(-1.0F)), 0);
  EXPECT_EQ((convert<DType::float32, DType::int32>(2147483648.0F)), 2147483647);
  EXPECT_EQ((convert<DType::float32, DType::int32>(2147483520.0F)), 2147483520);
  EXPECT_EQ((convert<DType::float32, DType::uint64>(kInf)), ~std::uint64_t{0});
  EXPECT_EQ((convert<DType::float64, DType::int64>(-1e300)),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ((convert<DType::float32, DType::int64>(kNan)), 0);
  EXPECT_EQ((convert<DType::float16, DType::uint16>(0x7c00)), 65535);
  EXPECT_EQ((convert<DType::float16, DType::int16>(0x7e00)), 0);
}

TEST(Convert, IntegersWrap) {
  EXPECT_EQ((convert<DType::int32, DType::uint8>(-1)), 255);
  EXPECT_EQ((convert<DType::uint64, DType::int8>(0x180)), -128);
  EXPECT_EQ((convert<DType::int8, DType::uint64>(-2)), ~std::uint64_t{1});
}

TEST(Convert, BoolIsNotZero) {
  EXPECT_EQ((convert<DType::float32, DType::boolean>(kNan)), 1);
  EXPECT_EQ((convert<DType::float32, DType::boolean>(-0.0F)), 0);
  EXPECT_EQ((convert<DType::float32, DType::boolean>(1e-45F)), 1);
  EXPECT_EQ((convert<DType::float16, DType::boolean>(0x8000)), 0);
  EXPECT_EQ((convert<DType::complex64, DType::boolean>({0, -1})), 1);
  EXPECT_EQ((convert<DType::boolean, DType::int32>(7)), 1);
  EXPECT_EQ((convert<DType::boolean, DType::float16>(255)), 0x3c00);
}

TEST(Convert, ComplexToRealDropsTheImaginaryPart) {
  EXPECT_EQ((convert<DType::complex128, DType::float32>({1.5, 9})), 1.5F);
  EXPECT_EQ((convert<DType::complex64, DType::int8>({-300.0F, 9})), -128);
  EXPECT_EQ((convert<DType::float32, DType::complex128>(2.5F)), (Complex<double>{2.5, 0}));
}

template <typename T>
std::vector<std::byte> bytes_of(const T& value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  return {first, first + sizeof(T)};
}

// Casts strided, unaligned and long arrays, and compares each element with what convert() gives.
template <DType kFrom, DType kTo>
void expect_all_layouts_agree() {
  constexpr std::int64_t kCount = 700;  // more than two blocks
  const auto from_size = static_cast<std::int64_t>(size_of(kFrom));
  const auto to_size = static_cast<std::int64_t>(size_of(kTo));
  std::vector<std::byte> source(static_cast<std::size_t>(kCount * from_size * 3 + 64));
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i * 37 % 61);
  struct Layout {
    std::int64_t src_start, src_stride, dst_start, dst_stride;
  };
  const Layout layouts[] = {
      {0, from_size, 0, to_size},
      {1, from_size, 1, to_size},
      {(kCount - 1) * 2 * from_size, -2 * from_size, 0, to_size},
      {3, 2 * from_size + 1, (kCount - 1) * 3 * to_size, -3 * to_size},
      {from_size, 0, 0, to_size},
  };
  for (const Layout& layout : layouts) {
    std::vector<std::byte> target(static_cast<std::size_t>(kCount * to_size * 3 + 64));
    cast_elements(kFrom, source.data() + layout.src_start, layout.src_stride, kTo,
                  target.data() + layout.dst_start, layout.dst_stride, kCount);
    for (std::int64_t i = 0; i < kCount; ++i) {
      Storage<kFrom> in;
      std::memcpy(&in, source.data() + layout.src_start + i * layout.src_stride, sizeof(in));
      const Storage<kTo> expected = convert<kFrom, kTo>(in);
      const std::byte* got = target.data() + layout.dst_start + i * layout.dst_stride;
      // Compares bytes, so that NaN and -0 count. A cast to the same dtype copies and normalises
      // nothing.
      const auto wanted = kFrom == kTo ? bytes_of(in) : bytes_of(expected);
      ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), got))
          << name_of(kFrom) << " to " << name_of(kTo) << " at " << i;
    }
  }
}

template <std::size_t... kPair>
void expect_all_pairs(std::index_sequence<kPair...>) {
  (expect_all_layouts_agree<static_cast<DType>(kPair / kDTypes),
                            static_cast<DType>(kPair % kDTypes)>(),
   ...);
}

TEST(CastElements, EveryPairInEveryLayoutIsConvert) {
  expect_all_pairs(std::make_index_sequence<kDTypes * kDTypes>());
}

TEST(CastElements, OfNothingTouchesNothing) {
  cast_elements(DType::float32, nullptr, 4, DType::int64, nullptr, 8, 0);
  copy_elements(4, nullptr, 4, nullptr, 4, 0);
}

}  // namespace
}  // namespace arraycore
