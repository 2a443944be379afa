// Tests the commands of launches for an executor with WebGL2: which passes are made, what they
// bind, and what is refused before anything is sent.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "testing/recorded_ring.h"

namespace arraycore {
namespace {

struct RingPassesTest : testing::Test, RecordedRing {
  RingPassesTest() : RecordedRing(ring::Backend::webgl2) {
    EXPECT_TRUE(opened) << opened.error().message;
  }

  // Returns the first pass' line without the place of its range: "target 1 reads 0 1".
  std::string pass_of(const ring::RecordedCommand& dispatch) {
    const std::smatch line = line_of(dispatch);
    return "target " + line[1].str() + " reads" + line[3].str();
  }
  // Returns the first texel that the first pass writes, and the number of texels.
  std::pair<std::uint32_t, std::uint32_t> range_of(const ring::RecordedCommand& dispatch) {
    const auto& words = dispatch.operands;
    const std::size_t at =
        6 + std::size_t{3} * (words[5] & 0xffff) + std::stoul(line_of(dispatch)[2].str());
    return {words.at(at), words.at(at + 1)};
  }
  std::smatch line_of(const ring::RecordedCommand& dispatch) {
    static const std::regex pattern(R"(^//pass target (\d+) range (\d+) reads((?: \d+)*)\n)");
    std::smatch line;
    EXPECT_TRUE(std::regex_search(executor->pipelines().at(dispatch.operands[1]).text, line,
                                  pattern, std::regex_constants::match_continuous));
    return line;
  }
};

ir::Kernel plus_one() {
  ir::Builder k("plus_one");
  const auto x = k.in("x", DType::float32);
  const auto y = k.out("y", DType::float32);
  k.store(y, k.read(x) + 1.0);
  return k.take();
}

ir::Kernel sum() {
  ir::Builder k("sum");
  const auto x = k.in("x", DType::float32);
  const auto y = k.out("y", DType::float32);
  k.reduce(
      k.read(x), std::nullopt, [](ir::Value a, ir::Value b) { return a + b; },
      [&](ir::Value total) { k.store(y, total); });
  return k.take();
}

TEST_F(RingPassesTest, AKernelIsOnePassOverWholeTextures) {
  const ArrayArgument x = array({10});
  const ArrayArgument y = array({10});
  const KernelId kernel = backend->prepare(plus_one()).value();
  ASSERT_TRUE(backend->launch({kernel, {10}, 0, {x, y}}));
  const auto dispatches = of(ring::Opcode::dispatch);
  ASSERT_EQ(dispatches.size(), 1U);
  const auto& words = dispatches[0].operands;
  EXPECT_EQ(pass_of(dispatches[0]), "target 1 reads 0");
  EXPECT_EQ(range_of(dispatches[0]), (std::pair{0U, 3U}));  // ten elements in texels of four
  EXPECT_EQ(std::vector(words.begin() + 2, words.begin() + 5),
            (std::vector<std::uint32_t>{1, 1, 1}));
  EXPECT_EQ(words[5] & 0xffff, 2U);
  EXPECT_EQ((words[5] >> 16) % 4, 0U);
  EXPECT_NE(words[6], words[9]);  // two buffers, each from its beginning
  EXPECT_EQ(words[7], 0U);
  EXPECT_EQ(words[10], 0U);
}

TEST_F(RingPassesTest, AKnownLaunchMakesNoPipeline) {
  const KernelId kernel = backend->prepare(plus_one()).value();
  for (const std::int64_t count : {10, 20, 12'000, 10}) {
    const ArrayArgument x = array({count});
    const ArrayArgument y = array({count});
    ASSERT_TRUE(backend->launch({kernel, {count}, 0, {x, y}}));
  }
  EXPECT_EQ(of(ring::Opcode::dispatch).size(), 4U);
  EXPECT_EQ(of(ring::Opcode::create_pipeline).size(), 1U);
  // A result that ends inside of a texel, in a larger array, keeps what follows.
  const ArrayArgument x = array({10});
  ArrayArgument y = array({40});
  y.view = {{10}, {4}, 0};
  ASSERT_TRUE(backend->launch({kernel, {10}, 0, {x, y}}));
  const auto dispatches = of(ring::Opcode::dispatch);
  EXPECT_EQ(pass_of(dispatches.back()), "target 1 reads 0 1");
}

TEST_F(RingPassesTest, ALongReductionGoesThroughScratchBuffers) {
  const ArrayArgument x = array({1'000'000});
  const ArrayArgument y = array({1});
  const KernelId kernel = backend->prepare(sum()).value();
  ASSERT_TRUE(backend->launch({kernel, {1'000'000}, 1, {x, y}}));
  const auto dispatches = of(ring::Opcode::dispatch);
  ASSERT_EQ(dispatches.size(), 3U);
  for (const auto& dispatch : dispatches) EXPECT_EQ(dispatch.operands[5] & 0xffff, 4U);
  EXPECT_EQ(pass_of(dispatches[0]), "target 2 reads 0");
  EXPECT_EQ(pass_of(dispatches[1]), "target 3 reads 2");
  EXPECT_EQ(pass_of(dispatches[2]), "target 1 reads 3");
  EXPECT_EQ(range_of(dispatches[0]), (std::pair{0U, 10'000U}));  // parts of 100 elements
  EXPECT_EQ(range_of(dispatches[1]), (std::pair{0U, 100U}));     // groups of parts
}

TEST_F(RingPassesTest, WhatNoFragmentCanDoIsRefused) {
  ir::Builder k("scatter");
  const auto x = k.in("x", DType::float32);
  const auto y = k.raw("y", DType::float32, ir::Access::read_write);
  k.store_at(y, {k.loop_size() - k.loop_index()}, k.read(x));
  const auto prepared = backend->prepare(k.take());
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().kind, ErrorKind::not_implemented);
  EXPECT_NE(prepared.error().message.find("scatter"), std::string::npos);

  const auto raw = backend->prepare_raw({.wgsl = "text", .name = "own", .bindings = 1});
  ASSERT_FALSE(raw);
  EXPECT_EQ(raw.error().code, "no_raw_kernels");

  const ArrayArgument a = array({4, 4});
  const Status product = backend->launch_gemm(
      {gemm::problem_of(DType::float32, a.view, a.view, a.view), a.storage, a.storage, a.storage});
  ASSERT_FALSE(product);
  EXPECT_EQ(product.error().kind, ErrorKind::not_implemented);
  EXPECT_TRUE(of(ring::Opcode::create_pipeline).empty());
}

TEST_F(RingPassesTest, MoreArraysThanTexturesGoThroughABlock) {
  ir::Builder k("many");
  std::vector<ir::ParamRef> inputs;
  for (int i = 0; i < 12; ++i) inputs.push_back(k.in("x" + std::to_string(i), DType::float32));
  const auto y = k.out("y", DType::float32);
  ir::Value total = k.read(inputs[0]);
  for (std::size_t i = 1; i < inputs.size(); ++i) total = total + k.read(inputs[i]);
  k.store(y, total);
  const KernelId kernel = backend->prepare(k.take()).value();
  Launch launch{kernel, {100}, 0, {}};
  for (int i = 0; i < 13; ++i) launch.arguments.emplace_back(array({100}));
  ASSERT_TRUE(backend->launch(launch));
  const auto dispatches = of(ring::Opcode::dispatch);
  ASSERT_EQ(dispatches.size(), 1U);
  EXPECT_EQ(dispatches[0].operands[5] & 0xffff, 8U);  // what the recording executor binds
  EXPECT_GE(of(ring::Opcode::copy).size(), 6U);
}

}  // namespace
}  // namespace arraycore
