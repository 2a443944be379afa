// Tests the words of calls for views and copies, on the CPU back end: which results are views and
// which are copies, scalars that do not fit, and invalid words. The tests of src/view check the
// views themselves.
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "abi/calls/call_test.h"
#include "abi/calls/copies.h"
#include "abi/calls/functions.h"
#include "testing/fake_device.h"

namespace arraycore {
namespace {

using Integers = std::vector<std::int64_t>;

struct ViewCalls : CallTest {
  // Makes an array with the numbers 0, 1, 2, ... in this shape.
  ArrayId range(const Dims& shape) {
    std::vector<std::int32_t> values(static_cast<std::size_t>(contiguous(shape, 4).count()));
    std::iota(values.begin(), values.end(), 0);
    return context.create(DType::int32, shape, values.data()).value();
  }
  const View& view(ArrayId array) { return context.get(array).value()->view; }
  bool share(ArrayId a, ArrayId b) {
    return context.get(a).value()->storage == context.get(b).value()->storage;
  }
};

constexpr std::int32_t kInteger = 0;
constexpr std::int32_t kSliceItem = 1;
constexpr std::int32_t kNewaxis = 2;
constexpr std::int32_t kEllipsis = 3;

TEST_F(ViewCalls, AnIndexOfAllKindsIsAView) {
  const ArrayId a = range({2, 3, 4});
  // a[1, ..., None, ::-2]
  const ArrayId b = id(AC_CALL_INDEX, Call{}
                                          .word(a)
                                          .word(kInteger)
                                          .integer(-1)
                                          .word(kEllipsis)
                                          .word(kNewaxis)
                                          .word(kSliceItem + 4 * 4)
                                          .integer(-2));
  EXPECT_EQ(view(b).shape, (Dims{3, 1, 2}));
  EXPECT_EQ(values(b), (std::vector<std::int32_t>{15, 13, 19, 17, 23, 21}));
  EXPECT_TRUE(share(a, b));
}

TEST_F(ViewCalls, AViewKeepsTheStorageOfAnArrayThatIsFreed) {
  const ArrayId a = range({4});
  const ArrayId b = id(AC_CALL_INDEX, Call{}.word(a).word(kSliceItem + 4 * 1).integer(2));
  context.release(a);
  EXPECT_EQ(values(b), (std::vector<std::int32_t>{2, 3}));
  context.release(b);
  EXPECT_EQ(context.counters().live_bytes, 0);
}

TEST_F(ViewCalls, AxesAreTurnedMovedAndAdded) {
  const ArrayId a = range({2, 3, 4});
  const auto shape = [&](std::int32_t operation, const Call& made) {
    return view(id(operation, made)).shape;
  };
  EXPECT_EQ(shape(AC_CALL_TRANSPOSE, Call{}.word(a).word(0)), (Dims{4, 3, 2}));
  EXPECT_EQ(shape(AC_CALL_TRANSPOSE, Call{}.word(a).word(1).integers({1, 2, 0})), (Dims{3, 4, 2}));
  EXPECT_EQ(shape(AC_CALL_SWAP_AXES, Call{}.word(a).integers({0, -1})), (Dims{4, 3, 2}));
  EXPECT_EQ(shape(AC_CALL_MOVE_AXES, Call{}.word(a).word(1).integers({0, 2})), (Dims{3, 4, 2}));
  EXPECT_EQ(shape(AC_CALL_EXPAND_DIMS, Call{}.word(a).integers({0, -1})), (Dims{1, 2, 3, 4, 1}));
  EXPECT_EQ(shape(AC_CALL_DIAGONAL, Call{}.word(a).integers({1, 1, 2})), (Dims{2, 3}));
  EXPECT_EQ(shape(AC_CALL_BROADCAST_TO, Call{}.word(a).integers({5, 2, 3, 4})), (Dims{5, 2, 3, 4}));
  const ArrayId one = id(AC_CALL_RESHAPE, Call{}.word(a).word(0).word(0).integers({1, 24, 1}));
  EXPECT_EQ(shape(AC_CALL_SQUEEZE, Call{}.word(one).word(0)), (Dims{24}));
  EXPECT_EQ(shape(AC_CALL_SQUEEZE, Call{}.word(one).word(1).integers({-1})), (Dims{1, 24}));
  const ArrayId line = range({3});
  EXPECT_EQ(values(id(AC_CALL_FLIP, Call{}.word(line).word(0))),
            (std::vector<std::int32_t>{2, 1, 0}));
  EXPECT_EQ(values(id(AC_CALL_FLIP, Call{}.word(line).word(1).integers({0}))),
            (std::vector<std::int32_t>{2, 1, 0}));
}

TEST_F(ViewCalls, AReshapeIsAViewWhereStridesSayItAndElseACopy) {
  const ArrayId a = range({2, 3});
  const ArrayId turned = id(AC_CALL_TRANSPOSE, Call{}.word(a).word(0));
  const auto reshape = [&](ArrayId array, int mode, int order, const Integers& shape) {
    return Call{}.word(array).word(mode).word(order).integers(shape);
  };
  const ArrayId flat = id(AC_CALL_RESHAPE, reshape(a, 0, 0, {-1}));
  EXPECT_TRUE(share(a, flat));
  const ArrayId copied = id(AC_CALL_RESHAPE, reshape(turned, 0, 0, {6}));
  EXPECT_FALSE(share(a, copied));
  EXPECT_EQ(values(copied), (std::vector<std::int32_t>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(code(AC_CALL_RESHAPE, reshape(turned, 3, 0, {6})), "reshape_needs_copy");
  EXPECT_EQ(code(AC_CALL_RESHAPE, reshape(a, 0, 0, {4})), "cannot_reshape");

  // The transposed array is contiguous in F order, so the result is a view.
  const ArrayId f = id(AC_CALL_RESHAPE, reshape(turned, 3, 1, {6}));
  EXPECT_TRUE(share(a, f));
  EXPECT_EQ(values(f), (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(values(id(AC_CALL_RESHAPE, reshape(a, 0, 1, {3, 2}))),
            (std::vector<std::int32_t>{0, 4, 3, 2, 1, 5}));
  // For the transposed array, the order "A" means F.
  EXPECT_TRUE(share(a, id(AC_CALL_RESHAPE, reshape(turned, 3, 2, {6}))));

  EXPECT_FALSE(share(a, id(AC_CALL_RESHAPE, reshape(a, 2, 0, {6}))));
}

TEST_F(ViewCalls, RavelOfWhatIsEvenButNotDenseIsACopy) {
  const ArrayId a = range({6});
  const ArrayId even = id(AC_CALL_INDEX, Call{}.word(a).word(kSliceItem + 4 * 4).integer(2));
  const auto flat = [&](int mode) {
    return id(AC_CALL_RESHAPE, Call{}.word(even).word(mode).word(0).integer(-1));
  };
  EXPECT_TRUE(share(a, flat(0)));
  EXPECT_FALSE(share(a, flat(1)));
}

TEST_F(ViewCalls, PartsOfComplexNumbersAreViewsAndOfRealOnesZeros) {
  const std::vector<float> numbers{1, 2, 3, 4};
  const ArrayId a = context.create(DType::complex64, {2}, numbers.data()).value();
  const ArrayId imag = id(AC_CALL_IMAG, Call{}.word(a));
  EXPECT_EQ(values<float>(imag), (std::vector<float>{2, 4}));
  EXPECT_EQ(values<float>(id(AC_CALL_REAL, Call{}.word(a))), (std::vector<float>{1, 3}));
  EXPECT_TRUE(share(a, imag));
  const ArrayId line = range({3});
  EXPECT_TRUE(share(line, id(AC_CALL_REAL, Call{}.word(line))));
  EXPECT_EQ(values(id(AC_CALL_IMAG, Call{}.word(line))), (std::vector<std::int32_t>{0, 0, 0}));
}

TEST_F(ViewCalls, TheSameBytesAreShownAsAnotherDtype) {
  const ArrayId a = range({2});
  const auto as = [&](DType dtype) {
    return Call{}.word(a).word(static_cast<std::int32_t>(dtype));
  };
  const ArrayId bytes = id(AC_CALL_REINTERPRET, as(DType::uint8));
  EXPECT_EQ(values<std::uint8_t>(bytes), (std::vector<std::uint8_t>{0, 0, 0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(code(AC_CALL_REINTERPRET, as(DType::complex128)), "cannot_reinterpret");
}

TEST(DeviceViews, BytesOfTheDeviceAreNotShownAsADtypeOfTheCpu) {
  ArrayTable arrays;
  Context context{make_cpu_backend(), std::make_unique<FakeDevice>(), arrays, std::nullopt};
  const ArrayId a = context.create(DType::int64, {2}, nullptr).value();
  const auto as = [&](DType dtype) {
    const Call made = Call{}.word(a).word(static_cast<std::int32_t>(dtype));
    Words words(made.words);
    return calls::find(AC_CALL_REINTERPRET)(context, words);
  };
  EXPECT_TRUE(as(DType::complex64));
  const auto refused = as(DType::float64);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::not_implemented);
  EXPECT_EQ(refused.error().code, "cannot_share");
}

TEST_F(ViewCalls, GivenStridesShowWhatLiesInTheStorage) {
  const ArrayId a = range({6});
  const auto strided = [&](const Integers& shape, const Integers& strides) {
    const auto count = [](const Integers& dims) { return static_cast<std::int32_t>(dims.size()); };
    return Call{}.word(a).word(count(shape)).integers(shape).word(count(strides)).integers(strides);
  };
  const ArrayId windows = id(AC_CALL_AS_STRIDED, strided({4, 3}, {4, 4}));
  EXPECT_EQ(values(windows), (std::vector<std::int32_t>{0, 1, 2, 1, 2, 3, 2, 3, 4, 3, 4, 5}));
  EXPECT_TRUE(share(a, windows));
  EXPECT_EQ(values(id(AC_CALL_AS_STRIDED, strided({2, 2}, {8, 0}))),
            (std::vector<std::int32_t>{0, 0, 2, 2}));
  EXPECT_EQ(code(AC_CALL_AS_STRIDED, strided({7}, {4})), "bad_view");
  EXPECT_EQ(code(AC_CALL_AS_STRIDED, strided({2}, {-4})), "bad_view");
  EXPECT_EQ(code(AC_CALL_AS_STRIDED, strided({2}, {2})), "bad_view");
  EXPECT_EQ(code(AC_CALL_AS_STRIDED, strided({-1}, {4})), "negative_dimension");
  EXPECT_EQ(code(AC_CALL_AS_STRIDED, strided({2}, {4, 4})), "bad_view");
  EXPECT_EQ(code(AC_CALL_AS_STRIDED, strided(Integers(33, 1), Integers(33, 4))), "bad_call");
}

TEST_F(ViewCalls, CopiesKeepTheOrderThatIsAskedFor) {
  const ArrayId a = range({2, 3});
  const ArrayId turned = id(AC_CALL_TRANSPOSE, Call{}.word(a).word(0));
  const auto strides = [&](ArrayId array, std::int32_t order) {
    const ArrayId made = id(AC_CALL_COPY, Call{}.word(array).word(0).word(order));
    EXPECT_FALSE(share(array, made));
    EXPECT_EQ(values(made), values(array));
    return view(made).strides;
  };
  EXPECT_EQ(strides(a, 0), (Dims{12, 4}));
  EXPECT_EQ(strides(a, 1), (Dims{4, 8}));
  EXPECT_EQ(strides(turned, 0), (Dims{8, 4}));
  EXPECT_EQ(strides(turned, 2), (Dims{4, 12}));
  EXPECT_EQ(strides(turned, 3), (Dims{4, 12}));
  const ArrayId wide =
      id(AC_CALL_COPY, Call{}.word(a).word(1 + static_cast<int>(DType::int64)).word(0));
  EXPECT_EQ(values<std::int64_t>(wide), (Integers{0, 1, 2, 3, 4, 5}));
}

TEST_F(ViewCalls, AnAssignmentBetweenOverlappingViewsIsAsFromACopy) {
  const ArrayId a = range({6});
  const ArrayId head = id(AC_CALL_INDEX, Call{}.word(a).word(kSliceItem + 4 * 2).integer(5));
  // a[1:] = a[:5]
  id(AC_CALL_ASSIGN, Call{}.word(a).word(head).word(kSliceItem + 4 * 1).integer(1));
  EXPECT_EQ(values(a), (std::vector<std::int32_t>{0, 0, 1, 2, 3, 4}));
}

TEST_F(ViewCalls, AnAssignmentBroadcastsItsSource) {
  const ArrayId a = range({2, 3});
  const ArrayId b = id(AC_CALL_INDEX, Call{}.word(range({3})).word(kNewaxis));
  id(AC_CALL_ASSIGN, Call{}.word(a).word(b));
  EXPECT_EQ(values(a), (std::vector<std::int32_t>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(code(AC_CALL_ASSIGN, Call{}.word(a).word(range({2}))), "shapes_do_not_broadcast");
}

TEST_F(ViewCalls, WhatWasWrittenInPlaceIsNotCopiedOntoItself) {
  const ArrayId a = range({6});
  const auto part = [&] { return Call{}.word(a).word(kSliceItem + 4 * 4).integer(2); };
  const ArrayId even = id(AC_CALL_INDEX, part());
  const std::int64_t before = context.counters().dispatches;
  id(AC_CALL_ASSIGN, Call{}.word(a).word(even).word(kSliceItem + 4 * 4).integer(2));
  EXPECT_EQ(context.counters().dispatches, before);
}

TEST_F(ViewCalls, ABroadcastViewCannotBeWrittenTo) {
  const ArrayId wide = id(AC_CALL_BROADCAST_TO, Call{}.word(range({3})).integers({2, 3}));
  EXPECT_EQ(code(AC_CALL_ASSIGN, Call{}.word(wide).word(range({3}))), "read_only");
  const auto one = [] { return Call{}.word(AC_PYTHON_FLOAT).number(1); };
  Call fill{{wide}};
  for (const std::int32_t word : one().words) fill.word(word);
  EXPECT_EQ(code(AC_CALL_FILL, fill), "read_only");
  // A single row of the broadcast view can be written.
  fill.word(kInteger).integer(0);
  EXPECT_EQ(code(AC_CALL_FILL, fill), "");
}

struct Filled : ViewCalls {
  // Fills an array of this dtype. Returns the code of the error, or "".
  std::string fill(DType dtype, const Call& scalar) {
    array = context.create(dtype, {2}, nullptr).value();
    Call made{{array}};
    for (const std::int32_t word : scalar.words) made.word(word);
    return code(AC_CALL_FILL, made.word(kInteger).integer(1));
  }
  ArrayId array = 0;
};

TEST_F(Filled, PythonsIntsMustFit) {
  EXPECT_EQ(fill(DType::int8, Call{}.python_int(true, 128, false, -128)), "");
  EXPECT_EQ(values<std::int8_t>(array), (std::vector<std::int8_t>{0, -128}));
  EXPECT_EQ(fill(DType::int8, Call{}.python_int(false, 128, false, 128)), "scalar_out_of_bounds");
  EXPECT_EQ(fill(DType::uint8, Call{}.python_int(true, 1, false, -1)), "scalar_out_of_bounds");
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(fill(DType::uint64, Call{}.python_int(false, kMost, false, 0x1p64)), "");
  EXPECT_EQ(values<std::uint64_t>(array)[1], kMost);
  EXPECT_EQ(fill(DType::uint64, Call{}.python_int(false, 0, true, 0x1p70)), "scalar_out_of_bounds");
  EXPECT_EQ(fill(DType::float32, Call{}.python_int(false, 0, true, 0x1p70)), "");
  EXPECT_EQ(values<float>(array)[1], 0x1p70F);
  EXPECT_EQ(fill(DType::boolean, Call{}.python_int(false, 0, true, 0x1p70)), "");
  EXPECT_EQ(values<std::uint8_t>(array)[1], 1);
}

TEST_F(Filled, PythonsFloatsBecomeIntegersAsByInt) {
  const auto of = [](double value) { return Call{}.word(AC_PYTHON_FLOAT).number(value); };
  EXPECT_EQ(fill(DType::int32, of(-2.9)), "");
  EXPECT_EQ(values(array)[1], -2);
  EXPECT_EQ(fill(DType::uint8, of(256.5)), "scalar_out_of_bounds");
  EXPECT_EQ(fill(DType::int64, of(0x1p80)), "scalar_out_of_bounds");
  EXPECT_EQ(fill(DType::int32, of(std::numeric_limits<double>::quiet_NaN())), "nan_to_integer");
  EXPECT_EQ(fill(DType::int32, of(std::numeric_limits<double>::infinity())),
            "scalar_out_of_bounds");
  EXPECT_EQ(fill(DType::float64, of(0.1)), "");
  EXPECT_EQ(values<double>(array)[1], 0.1);
}

TEST_F(Filled, ComplexNumbersAreNoRealOnesUnlessNumPySaysSo) {
  const auto python = Call{}.word(AC_PYTHON_COMPLEX).number(1).number(2);
  EXPECT_EQ(fill(DType::float32, python), "complex_to_real");
  EXPECT_EQ(fill(DType::complex64, python), "");
  EXPECT_EQ(values<std::complex<float>>(array)[1], std::complex<float>(1, 2));
  const auto numpy = Call{}
                         .word(AC_NUMPY_SCALAR)
                         .word(static_cast<std::int32_t>(DType::complex128))
                         .number(1)
                         .number(2);
  EXPECT_EQ(fill(DType::float32, numpy), "");
  EXPECT_EQ(values<float>(array)[1], 1);
}

TEST_F(ViewCalls, ArraysWithoutElementsTakeAnyAssignment) {
  const ArrayId none = range({0, 3});
  id(AC_CALL_ASSIGN, Call{}.word(none).word(range({3})));
  id(AC_CALL_FILL, Call{}.word(none).word(AC_PYTHON_BOOL).word(1));
  EXPECT_EQ(values(id(AC_CALL_COPY, Call{}.word(none).word(0).word(3))).size(), 0U);
}

TEST_F(ViewCalls, WordsThatAreNoneAreRefused) {
  const ArrayId a = range({2, 3});
  EXPECT_EQ(code(AC_CALL_INDEX, Call{}), "bad_call");
  EXPECT_EQ(code(AC_CALL_INDEX, Call{}.word(a).word(32)), "bad_call");
  EXPECT_EQ(code(AC_CALL_INDEX, Call{}.word(a).word(kInteger).word(1)), "bad_call");
  EXPECT_EQ(code(AC_CALL_TRANSPOSE, Call{}.word(a).word(2)), "bad_call");
  EXPECT_EQ(code(AC_CALL_TRANSPOSE, Call{}.word(a).word(0).word(0)), "bad_call");
  EXPECT_EQ(code(AC_CALL_MOVE_AXES, Call{}.word(a).word(3).integers({0, 1})), "bad_call");
  EXPECT_EQ(code(AC_CALL_MOVE_AXES, Call{}.word(a).word(-1).integers({0, 1})), "bad_call");
  EXPECT_EQ(code(AC_CALL_RESHAPE, Call{}.word(a).word(4).word(0).integer(6)), "bad_call");
  EXPECT_EQ(code(AC_CALL_REINTERPRET, Call{}.word(a).word(14)), "bad_call");
  EXPECT_EQ(code(AC_CALL_COPY, Call{}.word(a).word(15).word(0)), "bad_call");
  EXPECT_EQ(code(AC_CALL_REAL, Call{}.word(a).word(0)), "bad_call");
  EXPECT_EQ(code(AC_CALL_FILL, Call{}.word(a).word(5)), "bad_call");
  EXPECT_EQ(code(AC_CALL_INDEX, Call{}.word(-7)), "array_freed");
  EXPECT_EQ(code(AC_CALL_BROADCAST_TO, Call{}.word(a).integers(Integers(33, 1))),
            "too_many_dimensions");
}

}  // namespace
}  // namespace arraycore
