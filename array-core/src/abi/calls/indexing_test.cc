// Tests the words of indexing calls on the CPU back end: results, and invalid words.
#include <gtest/gtest.h>

#include <vector>

#include "abi/calls/call_test.h"
#include "abi/calls/functions.h"

namespace arraycore {
namespace {

constexpr std::int32_t kArray = -1;
constexpr std::int32_t kNone = -2;
constexpr std::int32_t kSlice = 1;
constexpr std::int32_t kIntegers = 32;
constexpr std::int32_t kChecked = 33;
constexpr std::int32_t kMask = 34;
constexpr std::int32_t kPositions = 35;
constexpr std::int32_t kFlat = 36;
constexpr std::int32_t kOutside = 38;

struct IndexingCalls : CallTest {
  template <typename T>
  ArrayId array(DType dtype, const Dims& shape, const std::vector<T>& values) {
    return context.create(dtype, shape, values.data()).value();
  }
  ArrayId ints(const Dims& shape, const std::vector<std::int32_t>& values) {
    return array(DType::int32, shape, values);
  }
  ArrayId bools(const Dims& shape, const std::vector<std::uint8_t>& values) {
    return array(DType::boolean, shape, values);
  }
};

using Ints = std::vector<std::int32_t>;

TEST_F(IndexingCalls, EveryKindOfItemIsRead) {
  const ArrayId a = ints({2, 3}, {0, 1, 2, 3, 4, 5});
  const ArrayId i = ints({2}, {-1, 0});
  const ArrayId checked = ints({2}, {1, 0});
  const ArrayId mask = bools({2, 3}, {0, 1, 0, 0, 0, 1});
  const ArrayId positions = ints({2}, {1, 5});
  const auto read = [&](Call made) { return values(id(AC_CALL_KEY_READ, made)); };
  EXPECT_EQ(read(Call{}.word(a).word(kSlice).word(kIntegers).word(i)), (Ints{2, 0, 5, 3}));
  EXPECT_EQ(read(Call{}.word(a).word(kChecked).word(checked)), (Ints{3, 4, 5, 0, 1, 2}));
  EXPECT_EQ(read(Call{}.word(a).word(kMask).word(mask)), (Ints{1, 5}));
  EXPECT_EQ(read(Call{}.word(a).word(kPositions).word(positions).word(2).integer(2).integer(3)),
            (Ints{1, 5}));
  EXPECT_EQ(read(Call{}.word(a).word(kFlat).word(i).word(2)), (Ints{5, 0}));
}

TEST_F(IndexingCalls, WritesTakeArraysAndScalars) {
  const ArrayId a = ints({4}, {0, 1, 2, 3});
  const ArrayId i = ints({2}, {3, 1});
  EXPECT_EQ(id(AC_CALL_KEY_WRITE, Call{}.word(a).word(i).word(kIntegers).word(i)), 0);
  EXPECT_EQ(values(a), (Ints{0, 1, 2, 3}));
  EXPECT_EQ(id(AC_CALL_KEY_FILL, Call{}.word(a).python_float(7.9).word(kIntegers).word(i)), 0);
  EXPECT_EQ(values(a), (Ints{0, 7, 2, 7}));
  const ArrayId mask = bools({4}, {1, 0, 0, 1});
  EXPECT_EQ(id(AC_CALL_WRITE_WHERE, Call{}.word(a).word(mask).word(kArray).word(a)), 0);
  EXPECT_EQ(id(AC_CALL_WRITE_WHERE, Call{}.word(a).word(mask).python_float(-1)), 0);
  EXPECT_EQ(values(a), (Ints{-1, 7, 2, -1}));
}

TEST_F(IndexingCalls, UpdatesFindTheirLoop) {
  const ArrayId a = ints({3}, {0, 0, 0});
  const ArrayId i = ints({3}, {0, 0, 2});
  const std::int32_t add = *ops::find("add");
  const std::int32_t negative = *ops::find("negative");
  EXPECT_EQ(id(AC_CALL_KEY_UPDATE,
               Call{}.word(a).word(add).word(0).word(kArray).word(i).word(kIntegers).word(i)),
            0);
  EXPECT_EQ(values(a), (Ints{0, 0, 2}));
  // The index 0 occurs twice. Each time 1.75 is added in float64 and the sum is cast to an integer.
  EXPECT_EQ(id(AC_CALL_KEY_UPDATE,
               Call{}.word(a).word(add).word(0).python_float(1.75).word(kIntegers).word(i)),
            0);
  EXPECT_EQ(values(a), (Ints{2, 0, 3}));
  EXPECT_EQ(id(AC_CALL_KEY_UPDATE,
               Call{}.word(a).word(negative).word(0).word(kNone).word(kIntegers).word(i)),
            0);
  EXPECT_EQ(values(a), (Ints{2, 0, -3}));
  EXPECT_EQ(code(AC_CALL_KEY_UPDATE,
                 Call{}.word(a).word(add).word(0).word(kNone).word(kIntegers).word(i)),
            "bad_call");
}

TEST_F(IndexingCalls, NonzeroAndSelect) {
  const ArrayId a = ints({2, 2}, {0, 5, 6, 0});
  EXPECT_EQ(values<std::int64_t>(id(AC_CALL_NONZERO, Call{}.word(a))),
            (std::vector<std::int64_t>{0, 1, 1, 0}));
  const ArrayId made = id(AC_CALL_SELECT, Call{}.word(a).word(kArray).word(a).python_float(0.5));
  EXPECT_EQ(context.describe(made)->dtype, DType::float64);
  EXPECT_EQ(values<double>(made), (std::vector<double>{0.5, 5, 6, 0.5}));
}

TEST_F(IndexingCalls, WhatIsNoIndexIsAnError) {
  const ArrayId a = ints({2}, {0, 1});
  const ArrayId floats = array(DType::float32, {1}, std::vector<float>{0});
  EXPECT_EQ(code(AC_CALL_KEY_READ, Call{}.word(a).word(kIntegers).word(floats)), "index_dtype");
  EXPECT_EQ(code(AC_CALL_KEY_READ, Call{}.word(a).word(kMask).word(a)), "index_dtype");
  EXPECT_EQ(code(AC_CALL_KEY_READ, Call{}.word(a).word(kOutside).word(a).integer(9)),
            "index_out_of_bounds");
  EXPECT_EQ(code(AC_CALL_WRITE_WHERE, Call{}.word(a).word(a).word(kArray).word(a)), "where_dtype");
}

TEST_F(IndexingCalls, WordsThatAreNoneAreRefused) {
  const ArrayId a = ints({2}, {0, 1});
  const ArrayId mask = bools({2}, {0, 1});
  const std::vector<std::pair<std::int32_t, Call>> whole{
      {AC_CALL_KEY_READ, Call{}.word(a).word(kPositions).word(a).word(1).integer(2)},
      {AC_CALL_KEY_WRITE, Call{}.word(a).word(a).word(kFlat).word(a).word(1)},
      {AC_CALL_KEY_FILL, Call{}.word(a).python_float(1).word(kOutside).word(a).integer(1)},
      {AC_CALL_SELECT, Call{}.word(mask).word(kArray).word(a).python_float(1)},
      {AC_CALL_WRITE_WHERE, Call{}.word(a).word(mask).python_float(1)},
      {AC_CALL_NONZERO, Call{}.word(a)}};
  for (const auto& [operation, made] : whole) {
    Call longer = made;
    longer.word(kArray);
    EXPECT_EQ(code(operation, longer), "bad_call") << operation;
    Call shorter = made;
    shorter.words.pop_back();
    EXPECT_EQ(code(operation, shorter), "bad_call") << operation;
  }
  EXPECT_EQ(code(AC_CALL_KEY_READ, Call{}.word(a).word(39).word(a)), "bad_call");
}

}  // namespace
}  // namespace arraycore
