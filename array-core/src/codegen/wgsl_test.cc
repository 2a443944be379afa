// Tests what shaders bind, declare and refuse. tests/wgsl tests that they compile and compute.
#include "codegen/wgsl.h"

#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/op_info.h"

namespace arraycore::codegen {
namespace {

using ir::Builder;
using ir::Op;

ir::Kernel add(DType dtype) {
  Builder k("add");
  const auto x = k.in("x", dtype);
  const auto y = k.in("y", dtype);
  const auto z = k.out("z", dtype);
  k.store(z, k.read(x) + k.read(y));
  return k.take();
}

Operand whole(std::uint32_t binding, std::int64_t n, std::int64_t size, std::int64_t offset = 0) {
  return {binding, binding, 4096, {{n}, {size}, offset}, {}};
}
Launch launch_of(std::vector<Operand> operands) { return {operands[0].view.shape, 0, operands}; }

WgslProgram program_of(const ir::Kernel& kernel, const Launch& launch) {
  const auto plan = make_plan(kernel, launch, {});
  EXPECT_TRUE(plan.ok());
  auto program = generate(kernel, *plan);
  EXPECT_TRUE(program.ok());
  return std::move(*program);
}

TEST(Plan, RefusesTypesThatNoGpuComputes) {
  const Launch launch = launch_of({whole(1, 8, 8), whole(2, 8, 8), whole(3, 8, 8)});
  const auto plan = make_plan(add(DType::float64), launch, {});
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().kind, ErrorKind::not_implemented);
  EXPECT_NE(plan.error().message.find("float64"), std::string::npos);
}

TEST(Plan, RefusesMoreBuffersThanTheDeviceHas) {
  Limits limits;
  limits.storage_buffers = 2;
  const Launch apart = launch_of({whole(1, 8, 4), whole(2, 8, 4), whole(3, 8, 4)});
  EXPECT_EQ(make_plan(add(DType::float32), apart, limits).error().kind, ErrorKind::not_implemented);
  const Launch shared = launch_of({whole(1, 8, 4), whole(1, 8, 4), whole(3, 8, 4)});
  EXPECT_TRUE(make_plan(add(DType::float32), shared, limits).ok());
}

TEST(Plan, BindsEqualRangesOnce) {
  const auto plan = make_plan(add(DType::float32),
                              launch_of({whole(1, 8, 4), whole(2, 8, 4), whole(1, 8, 4)}), {});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->slots.size(), 2u);
  EXPECT_EQ(plan->params[2].slot, plan->params[0].slot);
  EXPECT_TRUE(plan->slots[0].written);
  EXPECT_FALSE(plan->slots[1].written);
}

TEST(Plan, DeclaresSlotsOfAWrittenHeapAsWritten) {
  Launch launch = launch_of({whole(1, 8, 4), whole(2, 8, 4), whole(3, 8, 4)});
  launch.operands[1].heap = launch.operands[2].heap;
  const auto plan = make_plan(add(DType::float32), launch, {});
  ASSERT_TRUE(plan.ok());
  EXPECT_FALSE(plan->slots[0].written);
  EXPECT_TRUE(plan->slots[1].written);
}

TEST(Plan, KeyKnowsLayoutsButNotSizes) {
  const auto key = [](const Launch& launch) {
    return make_plan(add(DType::float32), launch, {})->key();
  };
  const std::string eight = key(launch_of({whole(1, 8, 4), whole(2, 8, 4), whole(3, 8, 4)}));
  EXPECT_EQ(eight, key(launch_of({whole(4, 100, 4), whole(5, 100, 4), whole(6, 100, 4)})));
  EXPECT_NE(eight, key(launch_of({whole(1, 8, 8), whole(2, 8, 4), whole(3, 8, 4)})));
  EXPECT_NE(eight, key(launch_of({whole(1, 8, 4, 4), whole(2, 8, 4), whole(3, 8, 4)})));
}

TEST(Wgsl, ContiguousFloatsGoByVectors) {
  const WgslProgram program =
      program_of(add(DType::float32), launch_of({whole(1, 8, 4), whole(2, 8, 4), whole(3, 8, 4)}));
  ASSERT_EQ(program.stages.size(), 1u);
  const WgslStage& stage = program.stages[0];
  EXPECT_NE(stage.text.find("b2: array<vec4<u32>>"), std::string::npos);
  ASSERT_EQ(stage.bindings.size(), 3u);
  EXPECT_EQ(stage.bindings[0].access, BindingAccess::read);
  EXPECT_EQ(stage.bindings[2].access, BindingAccess::read_write);
}

TEST(Wgsl, BytesThatShareWordsGoThroughAtomics) {
  const auto text = [](std::int64_t offset, std::int64_t stride) {
    return program_of(add(DType::uint8),
                      launch_of({whole(1, 8, 1), whole(2, 8, 1), whole(3, 8, stride, offset)}))
        .stages[0]
        .text;
  };
  EXPECT_EQ(text(0, 1).find("atomic"), std::string::npos);  // one invocation writes whole words
  EXPECT_NE(text(1, 1).find("atomicOr"), std::string::npos);
  EXPECT_NE(text(0, 2).find("atomicOr"), std::string::npos);
}

TEST(Wgsl, NanAndInfinityTravelAsUniforms) {
  Builder k("constants");
  const auto z = k.out("z", DType::float32);
  k.store(z, k.bits(DType::float32, 0x7fc00001));
  const Launch launch = launch_of({whole(1, 8, 4)});
  const ir::Kernel kernel = k.take();
  const WgslProgram program = program_of(kernel, launch);
  LaunchAnalysis analysis;
  ASSERT_TRUE(analysis.analyze(kernel, merge_of(kernel), launch).ok());
  std::vector<std::uint32_t> words(program.uniforms.size());
  program.uniform_words(kernel, launch, analysis.walks, words);
  EXPECT_EQ(words.size() % 4, 0u);
  EXPECT_EQ(words[0], 8u);
  EXPECT_NE(std::find(words.begin(), words.end(), 0x7fc00001u), words.end());
}

TEST(Wgsl, WhatIsStoredPassesThroughBitsThatNoCompilerKnows) {
  Builder k("multiply_add");
  const auto x = k.in("x", DType::float32);
  const auto y = k.in("y", DType::float32);
  const auto z = k.out("z", DType::float32);
  k.store(z, k.apply(Op::stored, {k.read(x) * k.read(y)}) + k.read(x));
  const std::string text =
      program_of(k.take(), launch_of({whole(1, 8, 4), whole(2, 8, 4), whole(3, 8, 4)}))
          .stages[0]
          .text;
  EXPECT_NE(text.find(" = ac_stored("), std::string::npos);
  EXPECT_NE(text.find("bitcast<u32>(x) | (u.w[0].y & 0x007fffffu)"), std::string::npos);
}

TEST(Wgsl, ComparisonsAskForNanByBits) {
  for (const Op op :
       {Op::equal, Op::not_equal, Op::less, Op::less_equal, Op::greater, Op::greater_equal}) {
    Builder k("compare");
    const auto x = k.in("x", DType::float32);
    const auto z = k.out("z", DType::boolean);
    k.store(z, k.apply(op, {k.read(x), k.read(x)}));
    const std::string text =
        program_of(k.take(), launch_of({whole(1, 8, 4), whole(2, 8, 1)})).stages[0].text;
    EXPECT_NE(text.find("fn ac_ordered("), std::string::npos) << ir::name_of(op);
  }
}

// Returns a kernel with an atomic sum of int64. `used` says whether it uses the old value.
ir::Kernel wide_sum(bool used) {
  Builder k("total");
  const auto x = k.raw("x", DType::int64, ir::Access::read_write);
  const auto y = k.out("y", DType::int64);
  const ir::Value old = k.atomic(Op::atomic_add, x, {k.loop_index(), k.integer(DType::int64, 1)});
  if (used)
    k.store(y, old);
  else
    k.evaluate(old);
  return k.take();
}

TEST(Wgsl, NamesWhatAGpuLacks) {
  const Launch launch{{8}, 0, {whole(1, 8, 8), whole(2, 8, 8)}};
  const auto plan = make_plan(wide_sum(true), launch, {});
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.error().message.find("int64"), std::string::npos);
}

TEST(Wgsl, SumsOf64BitsCarry) {
  const Launch launch{{8}, 0, {whole(1, 8, 8), whole(2, 8, 8)}};
  const std::string text = program_of(wide_sum(false), launch).stages[0].text;
  EXPECT_NE(text.find("low + v.x < low"), std::string::npos);
}

TEST(Wgsl, NarrowAtomicsExchangeTheWordThatHoldsThem) {
  Builder k("total");
  const auto x = k.raw("x", DType::float16, ir::Access::read_write);
  k.evaluate(k.atomic(Op::atomic_add, x, {k.loop_index(), k.constant(DType::float16, 1)}));
  const std::string text = program_of(k.take(), {{8}, 0, {whole(1, 8, 2)}}).stages[0].text;
  EXPECT_NE(text.find("atomicCompareExchangeWeak(&b0[e >> 1u], word, "), std::string::npos);
}

ir::Kernel sum_of_rows() {
  Builder k("sum");
  const auto x = k.in("x", DType::float32);
  const auto y = k.out("y", DType::float32);
  k.reduce(
      k.read(x), std::nullopt, [](ir::Value a, ir::Value b) { return a + b; },
      [&](ir::Value total) { k.store(y, total); });
  return k.take();
}

TEST(Wgsl, LongRowsAreSplitAndJoined) {
  const ir::Kernel kernel = sum_of_rows();
  const auto stages = [&](std::int64_t rows, std::int64_t length) {
    const Launch launch{{rows, length},
                        2,
                        {{1, 1, 1 << 30, {{rows, length}, {length * 4, 4}, 0}, {}},
                         {2, 2, 1 << 20, {{rows}, {4}, 0}, {}}}};
    const auto plan = make_plan(kernel, launch, {});
    EXPECT_EQ(generate(kernel, *plan)->stages.size(), plan->rows == Rows::split ? 2u : 1u);
    return plan->rows;
  };
  EXPECT_EQ(stages(1, 1 << 20), Rows::split);
  EXPECT_EQ(stages(1000, 1 << 15), Rows::group);
  EXPECT_EQ(stages(1000, 8), Rows::thread);
  // A few rows of 2^16 elements are divided. Many rows are divided only if they are longer, because
  // they keep a device busy anyway.
  EXPECT_EQ(stages(16, 1 << 16), Rows::split);
  EXPECT_EQ(stages(64, 1 << 16), Rows::group);
  EXPECT_EQ(stages(64, 1 << 17), Rows::split);
}

TEST(Wgsl, RowsOfSeveralAxesAreReadByFoursWhereTheLastHasWholeOnes) {
  const ir::Kernel kernel = sum_of_rows();
  const auto by_fours = [&](std::int64_t images, std::int64_t places) {
    const std::int64_t channels = 64;
    const View data{{images, channels, places}, {channels * places * 4, places * 4, 4}, 0};
    const Launch launch{{images, channels, places},
                        5,
                        {{1, 1, 1 << 30, data, {}}, {2, 2, 1 << 20, {{channels}, {4}, 0}, {}}}};
    const auto plan = make_plan(kernel, launch, {});
    return plan->quads;
  };
  EXPECT_TRUE(by_fours(16, 1024));
  EXPECT_FALSE(by_fours(16, 49));
}

TEST(Grid, GoesTwoDimensionalBeyondTheLimit) {
  const ir::Kernel kernel = add(DType::float32);
  const std::int64_t n = std::int64_t{65535} * 128 * 4 + 1;
  Launch launch = launch_of({whole(1, n, 4), whole(2, n, 4), whole(3, n, 4)});
  for (Operand& operand : launch.operands) operand.bytes = std::uint64_t(n) / 4 * 16 + 16;
  const auto plan = make_plan(kernel, launch, {});
  ASSERT_TRUE(plan.ok());
  LaunchAnalysis analysis;
  ASSERT_TRUE(analysis.analyze(kernel, merge_of(kernel), launch).ok());
  const auto groups = grid(*plan, analysis.walks, 0);
  EXPECT_EQ(groups[1], 2u);
  EXPECT_GE(std::uint64_t{groups[0]} * groups[1], 65536u);
  launch.loop = {0};
  launch.operands[0] = launch.operands[1] = launch.operands[2] = whole(1, 0, 4);
  ASSERT_TRUE(analysis.analyze(kernel, merge_of(kernel), launch).ok());
  EXPECT_EQ(grid(*plan, analysis.walks, 0)[0], 0u);
}

}  // namespace
}  // namespace arraycore::codegen
