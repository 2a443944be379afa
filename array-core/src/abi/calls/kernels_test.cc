// Tests users' kernels that are called by words: results, and invalid words.
#include "abi/calls/kernels.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "abi/calls/calls.h"
#include "arraycore/arraycore.h"
#include "backend/cpu/cpu_backend.h"

namespace arraycore {
namespace {

struct KernelCalls : testing::Test {
  ArrayId array(const std::vector<float>& values) {
    return context.create(DType::float32, {static_cast<std::int64_t>(values.size())}, values.data())
        .value();
  }
  std::vector<float> values(ArrayId id) {
    std::vector<float> out(static_cast<std::size_t>(context.describe(id)->view.count()));
    EXPECT_TRUE(context.read(id, std::as_writable_bytes(std::span(out))));
    return out;
  }
  std::int32_t kernel(std::int32_t kind, std::initializer_list<std::string_view> texts) {
    std::string all;
    for (const std::string_view text : texts) all += std::string(text) + '\0';
    return calls::make_kernel(context, kind, all).value();
  }
  Result<std::int32_t> call(std::int32_t operation, const std::vector<std::int32_t>& numbers) {
    Words words(numbers);
    return calls::find(operation)(context, words);
  }

  ArrayTable arrays;
  Context context{make_cpu_backend(), nullptr, arrays, std::nullopt};
};

TEST_F(KernelCalls, FurtherResultsWaitUntilTheyAreAskedForOrTheNextCall) {
  const std::int32_t split =
      kernel(AC_KERNEL_ELEMENTWISE, {"k", "T x", "T y, T z", "y = x; z = -x", "", "", ""});
  const ArrayId x = array({1, 2});
  const std::vector<std::int32_t> words{split, 0, 1, -1, x, 0};
  const auto first = call(AC_CALL_KERNEL, words);
  ASSERT_TRUE(first) << first.error().message;
  const auto second = call(AC_CALL_KERNEL_RESULT, {1});
  ASSERT_TRUE(second);
  EXPECT_EQ(values(*first), (std::vector<float>{1, 2}));
  EXPECT_EQ(values(*second), (std::vector<float>{-1, -2}));
  EXPECT_EQ(*call(AC_CALL_KERNEL_RESULT, {1}), 0) << "each is given once";
  ASSERT_TRUE(call(AC_CALL_KERNEL, words));
  EXPECT_EQ(context.live_arrays(), 5);
  ASSERT_TRUE(call(AC_CALL_KERNEL, words));
  EXPECT_EQ(context.live_arrays(), 6) << "what nobody asked for is freed";
  EXPECT_EQ(call(AC_CALL_KERNEL_RESULT, {2}).error().code, "bad_call");
  EXPECT_EQ(call(AC_CALL_KERNEL_RESULT, {0}).error().code, "bad_call");
}

TEST_F(KernelCalls, AReductionTakesAxesScalarsAndAnOutput) {
  const std::int32_t total =
      kernel(AC_KERNEL_REDUCTION, {"k", "T x, T w", "T y", "x * w", "a + b", "y = a", "0", "", ""});
  const ArrayId x = array({1, 2, 3}), out = array({0});
  // The words: keepdims, one axis (0), two inputs (the second is the integer 2), one output.
  const auto none = call(AC_CALL_KERNEL, {total, 1, 1, 1, 0, 0, 2, -1, x, AC_PYTHON_INT, 0, 2, 0, 0,
                                          0, 0x40000000, 1, out});
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_EQ(*none, 0);
  EXPECT_EQ(values(out), (std::vector<float>{12}));
}

TEST_F(KernelCalls, KernelsAreCalledAsWhatTheyAre) {
  const std::int32_t elementwise =
      kernel(AC_KERNEL_ELEMENTWISE, {"k", "T x", "T y", "y = x", "", "", ""});
  const std::int32_t raw =
      kernel(AC_KERNEL_RAW, {"main", "@compute @workgroup_size(1) fn main() {}"});
  EXPECT_EQ(call(AC_CALL_RAW_KERNEL, {elementwise, 1, 1, 1, -1, 0}).error().code, "bad_call");
  EXPECT_EQ(call(AC_CALL_KERNEL, {raw, 0, 0, 0}).error().code, "bad_call");
  EXPECT_EQ(call(AC_CALL_RAW_KERNEL, {raw, 1, 1, 1, -1, 0}).error().code, "no_raw_kernels");
  EXPECT_EQ(call(AC_CALL_KERNEL, {-5, 0, 0, 0}).error().code, "unknown_kernel");
  EXPECT_EQ(calls::make_kernel(context, 3, "").error().code, "bad_call");
  EXPECT_EQ(call(AC_CALL_KERNEL, {elementwise, 0, 1, -1, 0, 0}).error().code, "array_freed");
}

TEST_F(KernelCalls, WordsThatAreCutOrChangedAreAnswered) {
  const std::int32_t axpy =
      kernel(AC_KERNEL_ELEMENTWISE, {"k", "T a, T x", "T y", "y = a * x", "", "", ""});
  const std::int32_t total =
      kernel(AC_KERNEL_REDUCTION, {"k", "T x", "T y", "x", "a + b", "y = a", "0", "", ""});
  const std::int32_t raw =
      kernel(AC_KERNEL_RAW, {"main", "@compute @workgroup_size(1) fn main() {}"});
  const ArrayId x = array({1, 2}), out = array({0, 0});
  const std::vector<std::pair<std::int32_t, std::vector<std::int32_t>>> right{
      {AC_CALL_KERNEL, {axpy, 0, 2, AC_PYTHON_FLOAT, 0, 0x40000000, -1, x, 1, out}},
      {AC_CALL_KERNEL, {total, 0, 1, 1, 0, 0, 1, -1, x, 0}},
      {AC_CALL_RAW_KERNEL, {raw, 1, 1, 1, 2, 7, 8, 1, -2, x}},
  };
  std::mt19937 random(7);
  for (const auto& [operation, words] : right) {
    for (std::size_t size = 1; size < words.size(); ++size) {
      const auto cut =
          call(operation, {words.begin(), words.begin() + static_cast<std::ptrdiff_t>(size)});
      ASSERT_FALSE(cut);
      EXPECT_EQ(cut.error().code, "bad_call") << size << " words";
    }
    for (int turn = 0; turn < 2000; ++turn) {
      std::vector<std::int32_t> changed = words;
      changed[random() % changed.size()] = static_cast<std::int32_t>(random() >> random() % 32);
      const auto answer = call(operation, changed);
      if (answer && *answer != 0) context.release(*answer);
    }
  }
}

}  // namespace
}  // namespace arraycore
