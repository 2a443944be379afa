// Compares the blocked interpreter with the reference on random kernels, and tests its special
// cases.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

#include "cpu/loops.h"
#include "cpu/program.h"
#include "ir/builder.h"
#include "ir/print.h"
#include "ir/random_kernel.h"

namespace arraycore::cpu {
namespace {

using ir::Builder;

// Runs a random kernel on both interpreters. Returns the first difference as text, or "".
std::string difference(std::uint64_t seed) {
  ir::RandomCase expected = ir::random_case(seed, ir::Subset::all);
  ir::RandomCase got = expected;
  if (!ir::interpret(expected.kernel, expected.launch())) return "the reference refused";
  const ir::Launch launch = got.launch();
  if (!Program::compile(got.kernel).run(launch)) return "refused";
  for (std::size_t p = 0; p < got.kernel.params.size(); ++p) {
    const DType dtype = got.kernel.params[p].dtype;
    const std::size_t size = size_of(dtype);
    const auto& want = expected.arguments[p].bytes;
    for (std::size_t at = 0; at + size <= want.size(); at += size)
      if (!ir::same_value(dtype, want.data() + at, got.arguments[p].bytes.data() + at))
        return "argument " + std::to_string(p) + " byte " + std::to_string(at);
  }
  return "";
}

TEST(Blocks, EqualTheReferenceOnRandomKernels) {
  const char* count = std::getenv("ARRAYCORE_RANDOM_KERNELS");
  const std::uint64_t seeds = count != nullptr ? std::strtoull(count, nullptr, 10) : 2000;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const std::string where = difference(seed);
    ASSERT_EQ(where, "") << "seed " << seed << "\n"
                         << print(ir::random_case(seed, ir::Subset::all).kernel);
  }
}

template <typename T>
ir::Argument argument(std::vector<T>& data) {
  return ir::Argument::array(
      data.data(),
      {{static_cast<std::int64_t>(data.size())}, {static_cast<std::int64_t>(sizeof(T))}, 0});
}

TEST(Blocks, WorksInPlace) {
  Builder k("double");
  const auto x = k.in("x", DType::float32);
  const auto y = k.out("y", DType::float32);
  k.store(y, k.read(x) + k.read(x));
  const Program program = Program::compile(k.take());
  std::vector<float> data(1000, 1.5f);
  ASSERT_TRUE(program.run({{1000}, 0, {argument(data), argument(data)}}).ok());
  EXPECT_EQ(data, std::vector<float>(1000, 3.0f));
}

ir::Kernel sum() {
  Builder k("sum");
  const auto x = k.in("x", DType::float32);
  const auto y = k.out("y", DType::float32);
  k.reduce(
      k.read(x), k.constant(DType::float32, 0), [](ir::Value a, ir::Value b) { return a + b; },
      [&](ir::Value total) { k.store(y, total); });
  return k.take();
}

TEST(Blocks, SumsFloatsLikeNumPysPairwise) {
  const Program program = Program::compile(sum());
  std::vector<float> x(1 << 20, 0.1f);
  float y = 0;
  ASSERT_TRUE(program.run({{1 << 20}, 1, {argument(x), ir::Argument::array(&y, View{})}}).ok());
  EXPECT_NEAR(y, 0.1f * (1 << 20), 0.1f * (1 << 20) * 1e-6);
  // The relative error of each column's sum is bounded like that of the whole matrix's sum above.
  std::vector<float> columns(32);
  const View matrix{{1 << 15, 32}, {128, 4}, 0};
  ASSERT_TRUE(
      program.run({{1 << 15, 32}, 1, {ir::Argument::array(x.data(), matrix), argument(columns)}})
          .ok());
  for (const float column : columns) EXPECT_NEAR(column, 0.1f * (1 << 15), 0.1f * (1 << 15) * 1e-6);
}

TEST(Blocks, ReducesNothingToTheIdentity) {
  const Program program = Program::compile(sum());
  std::vector<float> x;
  float y = 5;
  ASSERT_TRUE(program.run({{0}, 1, {argument(x), ir::Argument::array(&y, View{})}}).ok());
  EXPECT_EQ(y, 0);
}

// If all divisors are the same positive number and no dividend is negative, the loop multiplies
// instead of dividing.
TEST(Blocks, DividesIntegersExactly) {
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
  std::vector<std::int32_t> x;
  for (int shift = 0; shift < 31; ++shift)
    for (const std::int32_t near : {-1, 0, 1}) x.push_back((1 << shift) + near);
  for (std::int32_t i = 0; i < 50; ++i) x.push_back(kMost - i * 40'503'001);
  std::vector<std::int32_t> divisors{0, -1, -7, kMost, kMost - 1, kMost / 2 + 1};
  for (std::int32_t d = 1; d < 300; ++d) divisors.push_back(d);
  for (std::int32_t d = 301; d < kMost / 3; d *= 3) divisors.push_back(d);
  for (const ir::Op op :
       {ir::Op::divide, ir::Op::remainder, ir::Op::floor_divide, ir::Op::modulo}) {
    const Loop loop = loop_of(op, DType::int32, DType::int32);
    const auto check = [&](const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
      std::vector<std::int32_t> got(a.size());
      const auto bytes = [](const auto& data) {
        return reinterpret_cast<const std::byte*>(data.data());
      };
      loop(reinterpret_cast<std::byte*>(got.data()), bytes(a), bytes(b), bytes(b),
           static_cast<int>(a.size()));
      for (std::size_t i = 0; i < a.size(); ++i) {
        const ir::Scalar operands[] = {ir::put(a[i]), ir::put(b[i])};
        ASSERT_EQ(ir::put(got[i]), ir::apply(op, DType::int32, DType::int32, operands))
            << a[i] << " by " << b[i];
      }
    };
    for (const std::int32_t d : divisors) check(x, std::vector<std::int32_t>(x.size(), d));
    check({6, 7, 8, 9}, {2, 2, 3, 2});
    check({6, -7, 8, 9}, {2, 2, 2, 2});
  }
}

// The second block of lanes must not see what the first block left in the local `sometimes`.
TEST(Blocks, LocalsAreZeroWhereAnElementReadsThemFirst) {
  Builder k("locals");
  const auto y = k.out("y", DType::int32);
  const auto sometimes = k.local("sometimes", DType::int32);
  const auto always = k.local("always", DType::int32);
  k.if_(k.loop_index() < k.integer(DType::int32, 300),
        [&] { k.set(sometimes, k.loop_index() + k.integer(DType::int32, 1)); });
  k.set(always, k.read(sometimes) * k.integer(DType::int32, 2));
  k.store(y, k.read(always));
  const Program program = Program::compile(k.take());
  std::vector<std::int32_t> y_data(600, -1);
  ASSERT_TRUE(program.run({{600}, 0, {argument(y_data)}}).ok());
  for (int i = 0; i < 600; ++i)
    EXPECT_EQ(y_data[static_cast<std::size_t>(i)], i < 300 ? 2 * (i + 1) : 0);
}

TEST(Blocks, LeavesUnstoredElementsAlone) {
  Builder k("even");
  const auto y = k.out("y", DType::int32);
  k.if_(k.loop_index() % k.integer(DType::int32, 2) == 0.0, [&] { k.store(y, k.loop_index()); });
  const Program program = Program::compile(k.take());
  std::vector<std::int32_t> y_data(600, -1);
  ASSERT_TRUE(program.run({{600}, 0, {argument(y_data)}}).ok());
  for (int i = 0; i < 600; ++i) EXPECT_EQ(y_data[static_cast<std::size_t>(i)], i % 2 == 0 ? i : -1);
}

}  // namespace
}  // namespace arraycore::cpu
