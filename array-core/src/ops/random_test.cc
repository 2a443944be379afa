// Compares the generator's words with those that its authors published, and checks every kernel.
#include "ops/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "ir/interpret.h"
#include "ir/verify.h"
#include "view/view.h"

namespace arraycore::ops {
namespace {

struct Drawn {
  std::array<std::uint32_t, 4> counter{};
  std::array<std::uint32_t, 2> key{};
};

// Runs a kernel by the reference interpreter.
template <typename T>
std::vector<T> run(Distribution distribution, DType dtype, const Drawn& at, std::int64_t count,
                   ir::Scalar a = {}, ir::Scalar b = {}) {
  const ir::Kernel kernel = random_kernel(distribution, dtype);
  std::vector<T> out(static_cast<std::size_t>(count));
  const std::int64_t per_turn = elements_per_turn(distribution, dtype);
  ir::Launch launch;
  launch.loop = Dims{(count + per_turn - 1) / per_turn};
  for (const std::uint32_t word : at.key)
    launch.arguments.push_back(ir::Argument::value(DType::uint32, word));
  for (const std::uint32_t word : at.counter)
    launch.arguments.push_back(ir::Argument::value(DType::uint32, word));
  launch.arguments.push_back({nullptr, {}, a});
  launch.arguments.push_back({nullptr, {}, b});
  launch.arguments.push_back(
      ir::Argument::array(out.data(), contiguous(Dims{count}, size_of(dtype))));
  const Status done = ir::interpret(kernel, launch);
  EXPECT_TRUE(done) << done.error().message;
  return out;
}

TEST(Philox, GivesTheWordsThatItsAuthorsPublished) {
  // The words are from kat_vectors of Random123, philox4x32 with 10 rounds.
  const auto words = [](const Drawn& at) {
    return run<std::uint32_t>(Distribution::bits, DType::uint32, at, 4);
  };
  EXPECT_EQ(words({}),
            (std::vector<std::uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(words({{kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}}),
            (std::vector<std::uint32_t>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(words({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}}),
            (std::vector<std::uint32_t>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, ATurnCountsTheFirstWordOn) {
  const auto long_run = run<std::uint32_t>(Distribution::bits, DType::uint32, {}, 11);
  const auto second = run<std::uint32_t>(Distribution::bits, DType::uint32, {{1, 0, 0, 0}, {}}, 4);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(long_run[4 + i], second[i]);
}

TEST(RandomKernels, AllThatAreDrawnVerify) {
  int kernels = 0;
  for (int distribution = 0; distribution < kDistributions; ++distribution) {
    for (std::size_t dtype = 0; dtype < kDTypes; ++dtype) {
      const auto which = static_cast<Distribution>(distribution);
      const auto type = static_cast<DType>(dtype);
      if (!draws(which, type)) continue;
      const Status status = ir::verify(random_kernel(which, type));
      EXPECT_TRUE(status) << distribution << ' ' << name_of(type) << ' ' << status.error().message;
      ++kernels;
    }
  }
  EXPECT_EQ(kernels, 1 + 8 * 2 + 4 * 9);
}

TEST(RandomKernels, IntegersScaleTheirWords) {
  const auto words = run<std::uint32_t>(Distribution::bits, DType::uint32, {}, 4);
  const auto drawn = run<std::int64_t>(Distribution::integers, DType::int64, {}, 2,
                                       ir::put(std::int64_t{-3}), ir::put(std::int64_t{10}));
  for (std::size_t i = 0; i < 2; ++i) {
    const double share = std::ldexp(words[2 * i], -32) + std::ldexp(words[2 * i + 1], -64);
    EXPECT_EQ(drawn[i], static_cast<std::int64_t>(std::floor(share * 10)) - 3);
  }
  const auto all = run<std::uint64_t>(Distribution::integers_wide, DType::uint64, {}, 1);
  EXPECT_EQ(all[0], std::uint64_t{words[0]} << 32 | words[1]);
}

TEST(RandomKernels, LogarithmsAreTakenOfNumbersAboveZero) {
  // Among 400,000 numbers in [0, 1), one or two are expected to be below 2^-18. None may give
  // infinity.
  const auto drawn =
      run<float>(Distribution::gumbel, DType::float32, {}, 400'000, ir::put(0.0F), ir::put(1.0F));
  for (const float value : drawn) ASSERT_TRUE(std::isfinite(value));
}

}  // namespace
}  // namespace arraycore::ops
