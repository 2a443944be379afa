// Tests where passes write, what they read, and what is refused. tests/glsl tests that they compile
// and compute.
#include "codegen/glsl/glsl.h"

#include <gtest/gtest.h>

#include <map>

#include "ir/builder.h"
#include "ir/random_kernel.h"

namespace arraycore::codegen::glsl {
namespace {

using ir::Builder;

ir::Kernel copy(DType dtype) {
  Builder k("copy");
  const auto x = k.in("x", dtype);
  const auto y = k.out("y", dtype);
  k.store(y, k.read(x));
  return k.take();
}

Operand operand(std::uint32_t storage, std::uint64_t bytes, const View& view) {
  return {storage, storage, bytes, view, {}};
}

// Analyses a copy of int32 to a view of a storage of `bytes` bytes.
LaunchAnalysis analysed(std::uint64_t bytes, const View& out) {
  const ir::Kernel kernel = copy(DType::int32);
  const View in = contiguous(out.shape, 4);
  const Launch launch{out.shape, 0, {operand(1, 4096, in), operand(2, bytes, out)}};
  LaunchAnalysis analysis;
  EXPECT_TRUE(analysis.analyze(kernel, merge_of(kernel), launch).ok());
  return analysis;
}

Program program_of(const ir::Kernel& kernel, const Launch& launch) {
  LaunchAnalysis analysis;
  EXPECT_TRUE(analysis.analyze(kernel, merge_of(kernel), launch).ok());
  const auto plan = make_plan(kernel, analysis, {});
  EXPECT_TRUE(plan.ok());
  auto program = generate(kernel, *plan);
  EXPECT_TRUE(program.ok());
  return std::move(*program);
}

std::string refusal(const ir::Kernel& kernel, const Launch& launch) {
  LaunchAnalysis analysis;
  Status status = check(kernel);
  if (status.ok()) status = analysis.analyze(kernel, merge_of(kernel), launch);
  if (status.ok()) return {};
  EXPECT_EQ(status.error().kind, ErrorKind::not_implemented);
  return status.error().message;
}

TEST(Target, WholeTexelsAreNotKept) {
  EXPECT_FALSE(analysed(40, {{10}, {4}, 0}).targets[0].keeps);  // to the storage's end
  EXPECT_TRUE(analysed(400, {{10}, {4}, 0}).targets[0].keeps);  // half of the last texel
  EXPECT_FALSE(analysed(400, {{12}, {4}, 16}).targets[0].keeps);
  EXPECT_TRUE(analysed(400, {{12}, {4}, 4}).targets[0].keeps);         // begins inside of a texel
  EXPECT_TRUE(analysed(400, {{12}, {8}, 0}).targets[0].keeps);         // gaps
  EXPECT_FALSE(analysed(400, {{3, 4}, {4, 12}, 0}).targets[0].keeps);  // transposed, without gaps
}

TEST(Target, HasTheTexelsOfItsElements) {
  const LaunchAnalysis analysis = analysed(400, {{5}, {-8}, 72});
  const Target& target = analysis.targets[0];
  EXPECT_EQ(target.first, 10);
  EXPECT_EQ(target.first_texel, 2);
  EXPECT_EQ(target.texels, 3);  // the words 10 to 18
  EXPECT_EQ(analysed(400, {{0}, {4}, 0}).targets[0].texels, 0);
}

// Does what number_of() does in a pass.
std::int64_t number_of(const Target& target, std::int64_t address) {
  std::int64_t rest = address - target.first;
  if (rest < 0) return -1;
  std::int64_t number = target.number;
  for (const Target::Axis& axis : target.axes) {
    const std::int64_t c = rest / axis.stride;
    if (c >= axis.extent) return -1;
    rest -= c * axis.stride;
    number += c * axis.step;
  }
  return rest == 0 ? number : -1;
}

TEST(Target, GivesTheNumberOfEachAddress) {
  const View views[] = {
      {{4, 5}, {4, 16}, 0},           // transposed
      {{4, 5}, {-24, 4}, 100},        // reversed rows with gaps
      {{3, 1, 4}, {4, 996, 12}, 8},   // an axis of one element
      {{2, 3, 2}, {-4, 8, -32}, 60},  // mixed
      {{6}, {20}, 4},
      {{}, {}, 12},
  };
  for (const View& view : views) {
    const LaunchAnalysis analysis = analysed(4096, view);
    std::map<std::int64_t, std::int64_t> numbers;
    Dims at;
    at.resize(view.ndim(), 0);
    for (std::int64_t n = 0; n < view.count(); ++n) {
      std::int64_t rest = n;
      std::int64_t byte = view.offset;
      for (int axis = view.ndim() - 1; axis >= 0; --axis) {
        byte += rest % view.shape[axis] * view.strides[axis];
        rest /= view.shape[axis];
      }
      numbers[byte / 4] = n;
    }
    for (std::int64_t address = 0; address < 100; ++address) {
      const auto found = numbers.find(address);
      EXPECT_EQ(number_of(analysis.targets[0], address),
                found == numbers.end() ? -1 : found->second)
          << "address " << address << " of a view with " << view.ndim() << " axes";
    }
  }
}

TEST(Refusals, NameWhatPassesCannotDo) {
  const View four{{4}, {4}, 0};
  {
    Builder k("scatter");
    const auto x = k.in("x", DType::int32);
    const auto y = k.raw("y", DType::int32, ir::Access::write);
    k.store_at(y, {k.read(x)}, k.loop_index());
    EXPECT_NE(refusal(k.take(), {{4}, 0, {operand(1, 16, four), operand(2, 16, four)}})
                  .find("places that it computes"),
              std::string::npos);
  }
  {
    Builder k("halves");
    const auto x = k.in("x", DType::int32);
    const auto y = k.out("y", DType::int32);
    const auto z = k.out("z", DType::int32);
    k.store(y, k.read(x));
    k.store(z, k.read(x));
    const ir::Kernel kernel = k.take();
    const View upper{{4}, {4}, 16};
    EXPECT_NE(refusal(kernel,
                      {{4}, 0, {operand(1, 16, four), operand(2, 32, four), operand(2, 32, upper)}})
                  .find("two arrays of one storage"),
              std::string::npos);
    EXPECT_EQ(
        refusal(kernel,
                {{4}, 0, {operand(1, 16, four), operand(2, 32, four), operand(3, 32, upper)}}),
        "");
  }
  // The elements are at 0, 2, 4 and 3, 5, 7: the larger stride leads into the other axis.
  const View interleaved{{2, 3}, {12, 8}, 0};
  EXPECT_NE(
      refusal(copy(DType::int32),
              {{2, 3}, 0, {operand(1, 24, contiguous({2, 3}, 4)), operand(2, 64, interleaved)}})
          .find("interleave"),
      std::string::npos);
  EXPECT_NE(refusal(copy(DType::float64),
                    {{4}, 0, {operand(1, 32, {{4}, {8}, 4}), operand(2, 32, {{4}, {8}, 0})}}),
            "");
}

TEST(Plan, RefusesMoreTexturesThanAShaderReads) {
  const ir::Kernel kernel = copy(DType::int32);
  const View four{{4}, {4}, 0};
  const Launch launch{{4}, 0, {operand(1, 16, four), operand(2, 16, four)}};
  LaunchAnalysis analysis;
  ASSERT_TRUE(analysis.analyze(kernel, merge_of(kernel), launch).ok());
  EXPECT_FALSE(make_plan(kernel, analysis, {.textures = 1}).ok());
  EXPECT_TRUE(make_plan(kernel, analysis, {.textures = 2}).ok());
}

TEST(Plan, KeyKnowsWhatIsKept) {
  const auto key = [](std::uint64_t bytes, const View& view) {
    return make_plan(copy(DType::int32), analysed(bytes, view), {})->key();
  };
  EXPECT_EQ(key(40, {{10}, {4}, 0}), key(80, {{20}, {4}, 0}));
  EXPECT_NE(key(40, {{10}, {4}, 0}), key(400, {{10}, {4}, 0}));
  EXPECT_NE(key(40, {{10}, {4}, 0}), key(400, {{10}, {8}, 0}));
}

TEST(Program, HasAPassForEachOutput) {
  Builder k("two");
  const auto x = k.in("x", DType::float32);
  const auto y = k.in_out("y", DType::float32);
  const auto z = k.out("z", DType::int8);
  k.store(y, k.read(x) + k.read(y));
  k.store(z, k.convert(DType::int8, k.read(x)));
  const View floats{{8}, {4}, 0};
  const View bytes{{8}, {1}, 0};
  const Launch launch{
      {8}, 0, {operand(1, 32, floats), operand(2, 32, floats), operand(3, 8, bytes)}};
  const ir::Kernel kernel = k.take();
  const Program program = program_of(kernel, launch);
  ASSERT_EQ(program.stages.size(), 1u);
  const Stage& stage = program.stages[0];
  ASSERT_EQ(stage.passes.size(), 2u);
  EXPECT_EQ(stage.passes[0].target, 1u);
  EXPECT_EQ(stage.passes[1].target, 2u);
  EXPECT_EQ(stage.passes[0].reads, (std::vector<std::uint32_t>{0, 1}));
  // Where an output is not preloaded and not kept, its texture is not read.
  for (const std::uint32_t slot : stage.passes[1].reads) EXPECT_NE(slot, 2u);
  EXPECT_EQ(stage.text().rfind("//pass target 1 range 4 reads 0 1\n#version 300 es\n", 0), 0u);
  EXPECT_NE(stage.text().find("\n//pass target 2 range 6 reads 0"), std::string::npos);

  LaunchAnalysis analysis;
  ASSERT_TRUE(analysis.analyze(kernel, merge_of(kernel), launch).ok());
  std::vector<std::uint32_t> words(program.uniforms.size());
  program.uniform_words(kernel, launch, analysis, words);
  EXPECT_EQ(words[5], 2u);  // the texels of y
  EXPECT_EQ(words[7], 1u);  // the texels of z
}

ir::Kernel sum_of_rows(bool running) {
  Builder k("sum");
  const auto x = k.in("x", DType::float32);
  const auto y = k.out("y", DType::float32);
  if (running)
    k.scan(
        {{k.read(x), std::nullopt}},
        [](const Builder::Values& a, const Builder::Values& b) {
          return Builder::Values{a[0] + b[0]};
        },
        [&](const Builder::Values& total, const Builder::Values&) { k.store(y, total[0]); });
  else
    k.reduce(
        k.read(x), std::nullopt, [](ir::Value a, ir::Value b) { return a + b; },
        [&](ir::Value total) { k.store(y, total); });
  return k.take();
}

Launch rows_of(bool running, std::int64_t rows, std::int64_t length) {
  const auto bytes = static_cast<std::uint64_t>(rows * length * 4);
  const View all{{rows, length}, {length * 4, 4}, 0};
  return {{rows, length},
          2,
          {operand(1, bytes, all),
           running ? operand(2, bytes, all)
                   : operand(2, static_cast<std::uint64_t>(rows) * 4, {{rows}, {4}, 0})}};
}

Division divided(bool running, std::int64_t rows, std::int64_t length) {
  const ir::Kernel kernel = sum_of_rows(running);
  LaunchAnalysis analysis;
  EXPECT_TRUE(analysis.analyze(kernel, merge_of(kernel), rows_of(running, rows, length)).ok());
  return analysis.division;
}

TEST(Division, DividesLongRows) {
  EXPECT_EQ(divided(false, 10, 128).rows, Rows::whole);
  EXPECT_EQ(divided(false, 10, 10000).rows, Rows::parts);
  EXPECT_EQ(divided(false, 10, 10000).parts, 100);
  EXPECT_EQ(divided(false, 1, 1000000).rows, Rows::groups);
  EXPECT_EQ(divided(false, 1, 1000000).parts, 10000);
  EXPECT_EQ(divided(false, 1, 1000000).groups, 100);
  EXPECT_EQ(divided(false, 40000, 1000).rows, Rows::whole);  // many rows keep a device busy
  EXPECT_EQ(divided(true, 2, 1000).rows, Rows::parts);
  EXPECT_EQ(divided(true, 2, 65536).rows, Rows::parts);
  EXPECT_EQ(divided(false, 10, 0).rows, Rows::whole);
}

TEST(Division, EveryPartHasElementsAndEveryGroupHasParts) {
  for (std::int64_t length = 129; length < 40000; length += 37)
    for (const std::int64_t rows : {1, 3, 20000}) {
      const Division one = divided(false, rows, length);
      ASSERT_LE(one.parts, length);
      ASSERT_LE(one.groups, one.parts);
      ASSERT_GE(one.parts * one.part_length, length);
      ASSERT_LE(rows * one.parts, std::max<std::int64_t>(1 << 19, rows));
      ASSERT_EQ(one.scratch_texels[0], rows * one.parts);
      const Division scan = divided(true, rows, length);
      ASSERT_LT((scan.parts - 1) * scan.part_length, length);
    }
}

TEST(Division, LongScansAreRefused) {
  EXPECT_NE(refusal(sum_of_rows(true), rows_of(true, 1, kLongestScan + 1)).find("scans rows"),
            std::string::npos);
}

TEST(Program, StagesPassPartsOnInScratchStorages) {
  const ir::Kernel kernel = sum_of_rows(false);
  const Program program = program_of(kernel, rows_of(false, 1, 1000000));
  ASSERT_EQ(program.stages.size(), 3u);
  const auto only = [&](std::size_t s) { return program.stages[s].passes.at(0); };
  EXPECT_EQ(only(0).reads, (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(only(0).target, 2u);
  EXPECT_EQ(only(1).reads, (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(only(1).target, 3u);
  EXPECT_EQ(only(2).reads, (std::vector<std::uint32_t>{3}));
  EXPECT_EQ(only(2).target, 1u);
}

// Every pass of random kernels has its three parts, in order.
TEST(Program, SaysWhatTheExecutorTranslates) {
  int programs = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const ir::RandomCase one = ir::random_case(seed, ir::Subset::gpu);
    Launch launch{one.loop, one.reduced, {}};
    for (std::uint32_t i = 0; i < one.arguments.size(); ++i)
      launch.operands.push_back({i, i, std::max<std::uint64_t>(one.arguments[i].bytes.size(), 1),
                                 one.arguments[i].view, one.arguments[i].scalar});
    LaunchAnalysis analysis;
    if (!check(one.kernel).ok()) continue;
    if (!analysis.analyze(one.kernel, merge_of(one.kernel), launch).ok()) continue;
    const auto plan = make_plan(one.kernel, analysis, {});
    ASSERT_TRUE(plan.ok());
    const auto program = generate(one.kernel, *plan);
    ASSERT_TRUE(program.ok()) << program.error().message;
    ++programs;
    for (const Stage& stage : program->stages)
      for (const Pass& pass : stage.passes) {
        const std::size_t code = pass.text.find(kTranslate);
        const std::size_t main = pass.text.find(kMain);
        ASSERT_LT(code, main);
        EXPECT_GT(pass.text.find("fn "), code);
        EXPECT_EQ(pass.text.find(kTranslate, code + 1), pass.text.npos);
        EXPECT_EQ(pass.text.find("void main()"), main + std::string(kMain).size());
      }
  }
  EXPECT_GT(programs, 20);
}

}  // namespace
}  // namespace arraycore::codegen::glsl
