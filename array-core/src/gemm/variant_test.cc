// Tests which variant is chosen for which product, and that every variant can run its own check.
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
  for (const Tile& tile : tiles()) EXPECT_EQ(tile.threads() % tile.depth, 0U);
  for (const Device& device : {kPhone, kLarge})
    for (const std::int64_t size : {2, 40, 300, 5000}) {
      const Variant variant = choose(square(size, size, size), device).variant;
      EXPECT_EQ(variant.kind, Kind::tiled);
      EXPECT_LE(variant.tile.threads(), device.invocations);
      EXPECT_LE(variant.tile.bytes(), device.workgroup_bytes);
    }
  // A tile that does not fit is not used, even if the tuning requests it.
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

TEST(Choose, TheNextTilesAreFetchedEarlyWhereThereAreMany) {
  EXPECT_TRUE(choose(square(4096, 4096, 4096), kLarge).variant.prefetch);
  EXPECT_TRUE(choose(square(8192, 8192, 8192), kLarge).variant.prefetch);
  EXPECT_FALSE(choose(square(2048, 2048, 2048), kLarge).variant.prefetch);
  EXPECT_FALSE(choose(square(4096, 4096, 4096), kPhone).variant.prefetch);
  // A tuning that requests a tile but no prefetch turns the prefetch off. Without a tuning,
  // choose() uses a prefetch for this problem.
  EXPECT_FALSE(choose(square(4096, 4096, 4096), kLarge, {.tile = 1}).variant.prefetch);
}

TEST(Choose, VectorsAndSoftwareDevicesHaveKernelsOfTheirOwn) {
  EXPECT_EQ(choose(square(1000, 1, 1000), kLarge).variant.kind, Kind::rows);
  EXPECT_EQ(choose(square(1000, 1, 5), kLarge).variant.kind, Kind::columns);
  Problem turned = square(1000, 1, 1000);
  turned.a = {0, 1, 1000, {}};
  EXPECT_EQ(choose(turned, kLarge).variant.kind, Kind::columns);
  EXPECT_EQ(choose(square(9, 9, 9), {.software = true}).variant.kind, Kind::direct);
}

// Returns a convolution with a 3 x 3 window over images of `height` x `width`.
Problem window(std::int64_t images, std::int64_t channels, std::int64_t results,
               std::int64_t height, std::int64_t width) {
  Problem problem;
  const std::int64_t area = height * width;
  problem.m = results;
  problem.n = images * area;
  problem.k = channels * 9;
  problem.a = {0, problem.k, 9, {}};
  problem.b = {0, area, channels * area, {}};
  problem.out = {0, area, results * area, {}};
  Window window;
  window.used = 2;
  window.axes[1] = {height, 3, 1, 1, -1, height, width, width};
  window.axes[2] = {width, 3, 1, 1, -1, width, 1, 1};
  problem.window = window;
  return problem;
}

// Returns the problem of the gradient of this convolution's weights. Columns and terms are
// exchanged.
Problem weights_gradient(std::int64_t images, std::int64_t channels, std::int64_t results,
                         std::int64_t height, std::int64_t width) {
  Problem problem = window(images, channels, results, height, width);
  const std::int64_t area = height * width;
  for (WindowAxis& axis : problem.window->axes) {
    std::swap(axis.columns, axis.terms);
    std::swap(axis.column_step, axis.term_step);
  }
  problem.window->axes[1].out_stride = 3;
  problem.n = channels * 9;
  problem.k = images * area;
  problem.a = {0, area, results * area, {}};
  problem.b = {0, channels * area, area, {}};
  problem.out = {0, problem.n, 9, {}};
  return problem;
}

TEST(Choose, ConvolutionsAreCutUntilThereAreEnoughWorkgroups) {
  const Problem large = weights_gradient(32, 128, 128, 56, 56);
  const Choice of_large = choose(large, kLarge);
  EXPECT_EQ(of_large.variant.tile, tiles()[3]);
  EXPECT_EQ(of_large.splits, 14U);  // of 36 tiles
  EXPECT_EQ(of_large.depth, 7168U);
  EXPECT_EQ(choose(window(64, 512, 512, 4, 4), kLarge).splits, 4U);  // of 128 tiles
  EXPECT_FALSE(choose(window(64, 128, 128, 32, 32), kLarge).variant.split);
  EXPECT_FALSE(choose(window(16, 128, 128, 16, 16), kLarge).variant.split);  // a short sum
  // A tile is not left half idle if a smaller tile suffices.
  EXPECT_EQ(choose(weights_gradient(32, 3, 64, 224, 224), kLarge).variant.tile, tiles().back());
  EXPECT_EQ(choose(window(128, 16, 16, 28, 28), kLarge).variant.tile, tiles()[4]);
  for (const Device& device : {kPhone, kLarge})
    for (const std::int64_t channels : {1, 3, 16, 64, 256, 512})
      for (const std::int64_t results : {8, 64, 512})
        for (const std::int64_t width : {7, 28, 224}) {
          const Problem problem = weights_gradient(32, channels, results, width, width);
          const Choice choice = choose(problem, device);
          const Grid grid = grid_of(choice.variant, problem);
          // The memory for the parts stays bounded, whatever the size of the problem.
          if (choice.variant.split) {
            EXPECT_LE(std::int64_t{grid.x} * grid.y * choice.splits, 512) << choice.variant.name();
          }
          EXPECT_GE(std::int64_t{choice.splits} * choice.depth, problem.k);
          EXPECT_LT(std::int64_t{choice.splits - 1} * choice.depth, problem.k);
          EXPECT_TRUE(choice.splits == 1 || choice.depth % choice.variant.tile.depth == 0);
        }
}

TEST(Choose, WindowsAreReadAsTheyLie) {
  const Variant whole = choose(window(4, 64, 64, 28, 28), kLarge).variant;
  EXPECT_EQ(whole.kind, Kind::tiled);
  EXPECT_EQ(whole.a, Load::terms4);
  EXPECT_EQ(whole.b, Load::window);
  EXPECT_EQ(whole.axes, 2);
  EXPECT_TRUE(whole.three);
  EXPECT_TRUE(whole.store4);
  EXPECT_FALSE(choose(window(4, 64, 64, 7, 7), kLarge).variant.store4);
  EXPECT_TRUE(choose(window(1, 512, 64, 7, 7), kLarge).variant.split);
  const Problem gradient = weights_gradient(4, 64, 64, 28, 28);
  const Variant turned = choose(gradient, kLarge).variant;
  EXPECT_EQ(turned.a, Load::outer);  // the terms of two images are not adjacent
  EXPECT_EQ(turned.b, Load::window_terms);
  EXPECT_FALSE(turned.three);
  EXPECT_EQ(choose(gradient, {.software = true}).variant.b, Load::window);
  // With one channel in each group, the plain kernel is used.
  EXPECT_EQ(choose(window(4, 1, 1, 28, 28), kLarge).variant.kind, Kind::plain);
  EXPECT_EQ(choose(window(4, 8, 8, 28, 28), {.software = true}).variant.kind, Kind::direct);
}

TEST(SelfTest, OfAWindowIsAProblemOfTheVariant) {
  for (const Device& device : {kPhone, kLarge, Device{.software = true}})
    for (const std::int64_t channels : {1, 5, 64, 512})
      for (const std::int64_t results : {1, 3, 70})
        for (const std::int64_t width : {1, 7, 28}) {
          Problem apart = window(2, channels, results, 14, width);
          apart.a.column_stride += 4;
          for (const Problem& problem : {window(2, channels, results, 14, width), apart,
                                         weights_gradient(2, channels, results, 14, width)}) {
            const Variant variant = choose(problem, device).variant;
            const SelfTest test = self_test(variant);
            const Variant again = choose(test.problem, device).variant;
            EXPECT_EQ(test.choice.splits > 1, variant.split) << variant.name();
            if (variant.kind == Kind::plain) continue;
            EXPECT_EQ(again.a, variant.a) << variant.name();
            EXPECT_EQ(again.b, variant.b) << variant.name();
            EXPECT_EQ(again.three, variant.three) << variant.name();
            EXPECT_EQ(again.store4, variant.store4) << variant.name();
            EXPECT_EQ(again.kind, variant.kind) << variant.name();
          }
        }
}

// If choose() is given the product of a variant's self-test, it must choose that kind of variant
// with the same strides.
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
          texts.insert(*generate(variant, {}));
          names.insert(variant.name());
          ++made;
        }
  EXPECT_EQ(names.size(), made);
  EXPECT_GE(texts.size(), made - 14);  // `direct` has only one way to read single elements
}

}  // namespace
}  // namespace arraycore::gemm
