// Code for the tests of calls: words in the form in which Python writes them, and a library on the
// CPU back end that executes them.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "abi/calls/calls.h"
#include "abi/calls/context.h"
#include "arraycore/arraycore.h"
#include "backend/cpu/cpu_backend.h"

namespace arraycore {

// The words of a call, in the form in which Python writes them.
struct Call {
  std::vector<std::int32_t> words;

  Call& word(std::int32_t value) {
    words.push_back(value);
    return *this;
  }
  Call& integer(std::int64_t value) {
    words.push_back(static_cast<std::int32_t>(value & 0xffffffff));
    words.push_back(static_cast<std::int32_t>(value >> 32));
    return *this;
  }
  Call& integers(const std::vector<std::int64_t>& values) {
    for (const std::int64_t value : values) integer(value);
    return *this;
  }
  Call& number(double value) { return integer(std::bit_cast<std::int64_t>(value)); }
  Call& python_float(double value) { return word(AC_PYTHON_FLOAT).number(value); }
  Call& python_int(bool negative, std::uint64_t magnitude, bool beyond, double nearest) {
    return word(AC_PYTHON_INT)
        .word(negative ? 1 : 0)
        .integer(static_cast<std::int64_t>(magnitude))
        .word(beyond ? 1 : 0)
        .number(nearest);
  }
};

struct CallTest : testing::Test {
  ArrayTable arrays;
  Context context{make_cpu_backend(), nullptr, arrays, std::nullopt};

  Result<std::int32_t> call(std::int32_t operation, const Call& made) {
    Words words(made.words);
    return calls::find(operation)(context, words);
  }
  // Runs an operation that must not fail. Returns its result.
  ArrayId id(std::int32_t operation, const Call& made) {
    const auto result = call(operation, made);
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return result ? *result : 0;
  }
  // Runs an operation. Returns the code of its error, or "".
  std::string code(std::int32_t operation, const Call& made) {
    const auto result = call(operation, made);
    return result ? "" : result.error().code;
  }
  template <typename T = std::int32_t>
  std::vector<T> values(ArrayId array) {
    std::vector<T> out(static_cast<std::size_t>(context.describe(array)->view.count()));
    EXPECT_TRUE(context.read(array, std::as_writable_bytes(std::span(out))));
    return out;
  }
};

}  // namespace arraycore
