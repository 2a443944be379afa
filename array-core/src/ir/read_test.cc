// Tests that kernels are read from text as front ends in Python write them.
#include "ir/read.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ir/interpret.h"
#include "ir/verify.h"

namespace arraycore::ir {
namespace {

// y = x // 2 (Python's), for int32.
constexpr const char* kHalf =
    "inputs 1\n"
    "param x int32 elementwise read plain -1\n"
    "param y int32 elementwise write plain -1\n"
    "expr param int32 0 0 0\n"
    "expr constant int32 - 2 0\n"
    "expr floor_divide int32 - 0 0 0 1\n"
    "stmt store 1 2 - -\n"
    "block 0\n"
    "body 0\n";

TEST(ReadKernel, ReadsWhatTheInterpreterRuns) {
  const auto read = read_kernel("half", kHalf);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->inputs, 1U);
  ASSERT_TRUE(verify(read->kernel).ok());
  std::vector<std::int32_t> x{-3, 3, 4};
  std::vector<std::int32_t> y(3);
  const View view{{3}, {4}, 0};
  ASSERT_TRUE(interpret(
      read->kernel, {{3}, 0, {Argument::array(x.data(), view), Argument::array(y.data(), view)}}));
  EXPECT_EQ(y, (std::vector<std::int32_t>{-2, 1, 2}));
}

TEST(ReadKernel, ReadsFunctionsLocalsAndReductions) {
  const auto read = read_kernel("all",
                                "inputs 1\n"
                                "param x float32 raw read plain 2\n"
                                "param y float32 raw read_write atomic -1\n"
                                "local a float32 0\n"
                                "local b float32 8\n"
                                "expr local float32 0 0 0\n"
                                "stmt give - 0 - -\n"
                                "block 0\n"
                                "function f float32 0 0\n"
                                "function g - 0\n"
                                "accumulator 1 2 3 4 -\n"
                                "post 5\n"
                                "body 6\n");
  ASSERT_TRUE(read) << read.error().message;
  const Kernel& k = read->kernel;
  EXPECT_EQ(k.params[0].ndim, 2);
  EXPECT_TRUE(k.params[1].atomic);
  EXPECT_EQ(k.params[1].access, Access::read_write);
  EXPECT_EQ(k.locals[1].length, 8U);
  EXPECT_EQ(k.functions[0].result, DType::float32);
  EXPECT_EQ(k.functions[0].arguments, (std::vector<Id>{0}));
  EXPECT_FALSE(k.functions[1].result);
  ASSERT_TRUE(k.reduction);
  EXPECT_EQ(k.reduction->values[0].combine, 4U);
  EXPECT_EQ(k.reduction->values[0].identity, kNone);
  EXPECT_EQ(k.reduction->post, 5U);
}

TEST(ReadKernel, RefusesLinesThatItCannotRead) {
  for (const char* line : {"thing 1",
                           "expr nothing int32 - 0 0",
                           "expr add int7 - 0 0",
                           "expr add int32 - 0",
                           "expr add int32 - -1 0",
                           "expr add int32 - 0 0 x",
                           "stmt jump - - - -",
                           "stmt give - -",
                           "block 1 two",
                           "local a float32",
                           "local a float32 2000",
                           "local a float32 -1",
                           "param x int32 elementwise read plain 0",
                           "param x int32 elementwise read plain 33",
                           "param x int32 pointer read plain -1",
                           "param x int32 raw own plain -1",
                           "function f int7 0",
                           "inputs 4294967296",
                           "inputs 1 2",
                           "accumulator 1 2 3",
                           ""}) {
    const auto read = read_kernel("wrong", line);
    const bool empty = std::string(line).empty();  // an empty text is a kernel without a body
    ASSERT_EQ(read.ok(), empty) << line;
    if (empty) {
      EXPECT_FALSE(verify(read->kernel).ok());
    } else {
      EXPECT_EQ(read.error().code, "bad_kernel") << line;
      EXPECT_NE(read.error().message.find("line 1"), std::string::npos) << read.error().message;
    }
  }
  EXPECT_FALSE(read_kernel("few", "inputs 1\n"));
  EXPECT_FALSE(read_kernel("large", std::string(kMaxProgramBytes + 1, ' ')));
}

}  // namespace
}  // namespace arraycore::ir
