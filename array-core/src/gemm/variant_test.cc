// What the chooser takes for which product, and that every variant's check is one it takes.
#include "gemm/variant.h"

#include <gtest/gtest.h>

#include <set>

#include "gemm/self_test.h"
#include "gemm/wgsl.h"

namespace arraycore::gemm {
namespace {

Problem square(std::int64_t m, std::int64_t n, std::int64_t k) {
  Problem problem;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.a = {0, k, 1, {}};
  problem.b = {0, n, 1, {}};
  problem.out = {0, n, 1, {}};
  return problem;
}

const Device kPhone{.invocations = 128};
const Device kLarge{.invocations = 1024, .workgroup_bytes = 32768};

TEST(Choose, TakesVectorsWhereTheyAreWhole) {
  EXPECT_EQ(choose(square(1024, 1024, 1024), kLarge).variant.a, Load::terms4);
  EXPECT_EQ(choose(square(1024, 1024, 1024), kLarge).variant.b, Load::lines4);
  EXPECT_TRUE(choose(square(1024, 1024, 1024), kLarge).variant.store4);
  const Variant ragged = choose(square(1023, 1023, 1023), kLarge).variant;
  EXPECT_EQ(ragged.a, Load::terms);
  EXPECT_EQ(ragged.b, Load::lines);
  EXPECT_FALSE(ragged.store4);
  Problem offset = square(64, 64, 64);
  offset.a.offset = 1;
  EXPECT_EQ(choose(offset, kLarge).variant.a, Load::terms);
  Problem turned = square(64, 64, 64);
  std::swap(turned.a.row_stride, turned.a.column_stride);
  std::swap(turned.b.row_stride, turned.b.column_stride);
  EXPECT_EQ(choose(turned, kLarge).variant.a, Load::lines4);
  EXPECT_EQ(choose(turned, kLarge).variant.b, Load::terms4);
}

TEST(Choose, StaysWithinTheDevice) {
  for (const Device& device : {kPhone, kLarge})
    for (const std::int64_t size : {2, 40, 300, 5000}) {
      const Variant variant = choose(square(size, size, size), device).variant;
      EXPECT_EQ(variant.kind, Kind::tiled);
      EXPECT_LE(variant.tile.threads(), device.invocations);
      EXPECT_LE(variant.tile.bytes(), device.workgroup_bytes);
    }
  // An unfit tile that is asked for is not taken.
  EXPECT_LE(choose(square(64, 64, 64), kPhone, {.tile = 1}).variant.tile.threads(), 128U);
}

TEST(Choose, LargeProductsHaveLargeTilesAndLongSumsAreCut) {
  EXPECT_EQ(choose(square(4096, 4096, 4096), kLarge).variant.tile, tiles()[0]);
  EXPECT_NE(choose(square(256, 256, 256), kLarge).variant.tile, tiles()[0]);
  const Choice deep = choose(square(64, 64, 100'000), kLarge);
  EXPECT_TRUE(deep.variant.split);
  EXPECT_GE(static_cast<std::int64_t>(deep.splits) * deep.depth, 100'000);
  EXPECT_LT(static_cast<std::int64_t>(deep.splits - 1) * deep.depth, 100'000);
  EXPECT_FALSE(choose(square(4096, 4096, 100'000), kLarge).variant.split);
}

TEST(Choose, VectorsAndSoftwareDevicesHaveKernelsOfTheirOwn) {
  EXPECT_EQ(choose(square(1000, 1, 1000), kLarge).variant.kind, Kind::rows);
  EXPECT_EQ(choose(square(1000, 1, 5), kLarge).variant.kind, Kind::columns);
  Problem turned = square(1000, 1, 1000);
  turned.a = {0, 1, 1000, {}};
  EXPECT_EQ(choose(turned, kLarge).variant.kind, Kind::columns);
  EXPECT_EQ(choose(square(9, 9, 9), {.software = true}).variant.kind, Kind::direct);
}

// The check's own problem must have the strides that the variant reads by.
TEST(SelfTest, IsAProblemOfTheVariant) {
  for (const Device& device : {kPhone, kLarge, Device{.software = true}})
    for (const std::int64_t m : {40, 1000})
      for (const std::int64_t n : {1, 36, 37, 1024})
        for (const std::int64_t k : {8, 100, 5001, 8192}) {
          const Variant variant = choose(square(m, n, k), device).variant;
          const SelfTest test = self_test(variant);
          const Choice again = choose(test.problem, device);
          EXPECT_EQ(again.variant.a, variant.a) << variant.name();
          if (n > 1) {
            EXPECT_EQ(again.variant.b, variant.b) << variant.name();
          }
          EXPECT_EQ(again.variant.store4, variant.store4) << variant.name();
          EXPECT_EQ(again.variant.kind, variant.kind) << variant.name();
          EXPECT_EQ(test.choice.splits > 1, variant.split) << variant.name();
          EXPECT_EQ(test.choice.depth % 4 == 0 || !variant.split, true) << variant.name();
        }
}

TEST(Generate, EveryVariantHasATextAndANameOfItsOwn) {
  std::set<std::string> texts;
  std::set<std::string> names;
  std::size_t made = 0;
  for (const Kind kind : {Kind::direct, Kind::tiled})
    for (const Load a : {Load::terms4, Load::lines4, Load::terms, Load::lines})
      for (const Load b : {Load::terms4, Load::lines4, Load::terms, Load::lines})
        for (const bool wrong : {false, true}) {
          Variant variant;
          variant.kind = kind;
          variant.a = a;
          variant.b = b;
          variant.wrong = wrong;
          texts.insert(generate(variant));
          names.insert(variant.name());
          ++made;
        }
  EXPECT_EQ(names.size(), made);
  EXPECT_GE(texts.size(), made - 14);  // `direct` reads single elements one way
}

}  // namespace
}  // namespace arraycore::gemm
