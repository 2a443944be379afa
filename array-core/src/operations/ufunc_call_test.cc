// Tests calls of ufuncs: scalars' dtypes, `out`, `where`, `dtype`, broadcasting, comparisons.
#include "operations/ufunc_call.h"

#include <gtest/gtest.h>

#include <vector>

#include "lower/gather_only.h"
#include "testing/fake_device.h"

namespace arraycore {
namespace {

UFuncOperand of(const Array& array) {
  UFuncOperand operand;
  operand.array = &array;
  return operand;
}
UFuncOperand weak(std::int64_t value) {
  UFuncOperand operand;
  operand.python = PythonScalar::integer;
  operand.integer = {value < 0, static_cast<std::uint64_t>(value < 0 ? -value : value), false};
  operand.value = ir::put(static_cast<double>(value));
  return operand;
}

struct UFuncCallTest : testing::Test {
  template <typename T>
  Array array(DType dtype, const Dims& shape, const std::vector<T>& values) {
    Array made = launcher.allocate(dtype, shape).value();
    EXPECT_TRUE(launcher.upload(made, values.data()));
    return made;
  }
  template <typename T>
  std::vector<T> read(const Array& from) {
    std::vector<T> values(static_cast<std::size_t>(from.view.count()));
    EXPECT_TRUE(launcher.download(from, std::as_writable_bytes(std::span(values))));
    return values;
  }
  Result<UFuncResults> run(std::string_view name, std::vector<UFuncOperand> operands,
                           UFuncCall call = {}) {
    call.ufunc = ops::find(name).value();
    call.operands = operands;
    return calls.run(call);
  }

  Counters counters;
  Launcher launcher{make_cpu_backend(), nullptr, counters, std::nullopt};
  UFuncCalls calls{launcher};
};

TEST_F(UFuncCallTest, TheCastingRuleIsForOperandsAndResults) {
  const Array a = array<std::int64_t>(DType::int64, {2}, {1, 2});
  const Array b = array<double>(DType::float64, {2}, {0.5, 1.5});
  UFuncCall call;
  call.casting = Casting::no;
  EXPECT_EQ(run("add", {of(a), of(b)}, call).error().code, "cannot_cast");
  EXPECT_EQ(run("divide", {of(a), of(a)}, call).error().code, "cannot_cast");
  EXPECT_TRUE(run("add", {of(a), of(a)}, call));
  EXPECT_TRUE(run("add", {of(a), weak(300)}, call));
  call.dtype = DType::int64;
  call.casting = Casting::same_kind;
  EXPECT_EQ(run("add", {of(b), of(b)}, call).error().code, "no_loop");
  call.casting = Casting::unsafe;
  const auto sum = run("add", {of(b), of(b)}, call);
  ASSERT_TRUE(sum) << sum.error().message;
  EXPECT_EQ(read<std::int64_t>(sum->arrays[0]), (std::vector<std::int64_t>{0, 2}));
}

TEST_F(UFuncCallTest, NumbersBeyondTheDtypeAreDividedByAndTested) {
  const Array a = array<std::uint8_t>(DType::uint8, {2}, {0, 64});
  const auto share = run("divide", {of(a), weak(256)});
  ASSERT_TRUE(share) << share.error().message;
  EXPECT_EQ(read<double>(share->arrays[0]), (std::vector<double>{0, 0.25}));
  const auto both = run("logical_and", {weak(-1), of(a)});
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_EQ(read<std::uint8_t>(both->arrays[0]), (std::vector<std::uint8_t>{0, 1}));
  EXPECT_EQ(run("add", {of(a), weak(256)}).error().code, "scalar_out_of_bounds");
}

TEST_F(UFuncCallTest, OperandsBroadcastAndMeetInOneDtype) {
  const Array a = array<std::int8_t>(DType::int8, {2, 1}, {1, 2});
  const Array b = array<std::int16_t>(DType::int16, {3}, {10, 20, 30});
  const auto sum = run("add", {of(a), of(b)});
  ASSERT_TRUE(sum) << sum.error().message;
  EXPECT_EQ(sum->arrays[0].dtype, DType::int16);
  EXPECT_EQ(read<std::int16_t>(sum->arrays[0]),
            (std::vector<std::int16_t>{11, 21, 31, 12, 22, 32}));
  EXPECT_EQ(counters.dispatches, 1);
  const Array c = array<std::int8_t>(DType::int8, {4}, {0, 0, 0, 0});
  EXPECT_EQ(run("add", {of(a), of(b)}).ok(), true);
  EXPECT_EQ(run("add", {of(b), of(c)}).error().code, "shapes_do_not_broadcast");
}

TEST_F(UFuncCallTest, AWeakScalarTakesTheArraysDtypeOrIsRefused) {
  const Array a = array<std::uint8_t>(DType::uint8, {2}, {1, 255});
  const auto sum = run("add", {of(a), weak(1)});
  ASSERT_TRUE(sum);
  EXPECT_EQ(read<std::uint8_t>(sum->arrays[0]), (std::vector<std::uint8_t>{2, 0}));
  EXPECT_EQ(run("add", {of(a), weak(256)}).error().code, "scalar_out_of_bounds");
  EXPECT_EQ(run("add", {weak(-1), of(a)}).error().code, "scalar_out_of_bounds");
}

TEST_F(UFuncCallTest, ComparisonsWithAnyPythonIntAreExact) {
  const Array a = array<std::uint8_t>(DType::uint8, {2}, {0, 255});
  const auto compare = [&](std::string_view name, const UFuncOperand& left,
                           const UFuncOperand& right) {
    const auto result = run(name, {left, right});
    EXPECT_TRUE(result);
    EXPECT_EQ(result->arrays[0].dtype, DType::boolean);
    return read<std::uint8_t>(result->arrays[0]);
  };
  using Bools = std::vector<std::uint8_t>;
  EXPECT_EQ(compare("less", of(a), weak(300)), (Bools{1, 1}));
  EXPECT_EQ(compare("less", weak(300), of(a)), (Bools{0, 0}));
  EXPECT_EQ(compare("greater", of(a), weak(-1)), (Bools{1, 1}));
  EXPECT_EQ(compare("equal", of(a), weak(256)), (Bools{0, 0}));
  UFuncOperand huge = weak(0);
  huge.integer = {false, 0, true};  // 2^64 or more
  for (const auto& [name, left, right] :
       {std::tuple{"less", 1, 0}, std::tuple{"less_equal", 1, 0}, std::tuple{"greater", 0, 1},
        std::tuple{"greater_equal", 0, 1}, std::tuple{"equal", 0, 0},
        std::tuple{"not_equal", 1, 1}}) {
    const auto l = static_cast<std::uint8_t>(left), r = static_cast<std::uint8_t>(right);
    EXPECT_EQ(compare(name, of(a), huge), (Bools{l, l})) << name;
    EXPECT_EQ(compare(name, huge, of(a)), (Bools{r, r})) << name;
  }
  huge.integer.negative = true;
  EXPECT_EQ(compare("less", of(a), huge), (Bools{0, 0}));
  EXPECT_EQ(compare("less", huge, of(a)), (Bools{1, 1}));
}

TEST_F(UFuncCallTest, ResultsGoToOutByTheCastingRule) {
  const Array a = array<float>(DType::float32, {3}, {1.5F, 2.5F, 3.5F});
  const Array narrow = array<std::int32_t>(DType::int32, {3}, {0, 0, 0});
  UFuncCall call;
  call.out[0] = &narrow;
  EXPECT_EQ(run("add", {of(a), of(a)}, call).error().code, "cannot_cast");
  call.casting = Casting::unsafe;
  ASSERT_TRUE(run("add", {of(a), of(a)}, call));
  EXPECT_EQ(read<std::int32_t>(narrow), (std::vector<std::int32_t>{3, 5, 7}));
  const Array other = array<float>(DType::float32, {2}, {0, 0});
  call.out[0] = &other;
  EXPECT_FALSE(run("add", {of(a), of(a)}, call));
  const Array one = array<float>(DType::float32, {1}, {0});
  call.out[0] = &one;
  EXPECT_EQ(run("add", {of(a), of(a)}, call).error().code, "out_shape");
}

TEST_F(UFuncCallTest, WhereLeavesTheRestOfOutAndZeroOfAFreshResult) {
  const Array a = array<float>(DType::float32, {3}, {1, 2, 3});
  const Array mask = array<std::uint8_t>(DType::boolean, {3}, {1, 0, 1});
  const Array out = array<float>(DType::float32, {3}, {7, 7, 7});
  UFuncCall call;
  call.where = &mask;
  const auto fresh = run("negative", {of(a)}, call);
  ASSERT_TRUE(fresh);
  EXPECT_EQ(read<float>(fresh->arrays[0]), (std::vector<float>{-1, 0, -3}));
  call.out[0] = &out;
  ASSERT_TRUE(run("negative", {of(a)}, call));
  EXPECT_EQ(read<float>(out), (std::vector<float>{-1, 7, -3}));
}

TEST_F(UFuncCallTest, DtypeChoosesTheLoop) {
  const Array a = array<std::int32_t>(DType::int32, {2}, {1, 3});
  UFuncCall call;
  call.dtype = DType::float32;
  const auto half = run("divide", {of(a), weak(2)}, call);
  ASSERT_TRUE(half) << half.error().message;
  EXPECT_EQ(read<float>(half->arrays[0]), (std::vector<float>{0.5F, 1.5F}));
  call.dtype = DType::int32;
  EXPECT_EQ(run("divide", {of(a), of(a)}, call).error().code, "no_loop");
}

TEST_F(UFuncCallTest, CuPysModeKeepsAnArraysDtypeAgainstANumPyScalar) {
  const Array a = array<float>(DType::float32, {1}, {1});
  UFuncOperand two;
  two.dtype = DType::float64;
  two.value = ir::put(2.0);
  UFuncCall call;
  EXPECT_EQ(run("multiply", {of(a), two}, call)->arrays[0].dtype, DType::float64);
  call.mode = PromotionMode::cupy;
  EXPECT_EQ(run("multiply", {of(a), two}, call)->arrays[0].dtype, DType::float32);
}

// In every kernel of a ufunc, an element writes only its own results. WebGL2 can run no other
// kernels.
TEST(UFuncKernels, EachOnlyGathers) {
  int kernels = 0;
  for (const ops::UFunc& ufunc : ops::table())
    for (const ops::Loop& loop : ops::loops_of(ufunc))
      for (const bool where : {false, true}) {
        const ir::Kernel kernel =
            ops::make_kernel({&ufunc, loop, loop.operands, {}, loop.results, where});
        const lower::Gather gather = lower::gather_only(kernel);
        EXPECT_TRUE(gather.only) << ufunc.name << ": " << gather.reasons.front();
        ++kernels;
      }
  EXPECT_GT(kernels, 1000);
}

TEST_F(UFuncCallTest, ManyCombinationsAreEachDecidedOnce) {
  std::vector<Array> arrays;
  for (std::size_t d = 0; d < kDTypes; ++d)
    arrays.push_back(array<std::uint64_t>(static_cast<DType>(d), {1}, {0, 0}));
  const auto all = [&] {
    int found = 0;
    for (const Array& a : arrays)
      for (const Array& b : arrays)
        for (const std::string_view name : {"add", "multiply", "equal", "maximum"})
          found += run(name, {of(a), of(b)}).ok() ? 1 : 0;
    return found;
  };
  EXPECT_EQ(all(), static_cast<int>(4 * kDTypes * kDTypes));
  EXPECT_EQ(all(), static_cast<int>(4 * kDTypes * kDTypes));
}

}  // namespace
}  // namespace arraycore
