// Compiles a text for given dtypes, checks it, and runs it on vectors, for the dialect's tests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dialect/dialect.h"
#include "ir/interpret.h"
#include "ir/print.h"
#include "ir/verify.h"

namespace arraycore::dialect {

struct Texts {
  std::string in;
  std::string out;
  std::string operation;
  std::string preamble = {};
  std::string loop_prep = {};
  std::string after_loop = {};
};

// `dtypes` are those of all parameters, inputs first; nullopt is a scalar argument.
using Dtypes = std::vector<std::optional<DType>>;

inline Result<BoundTypes> bound(const std::vector<ParamSpec>& in, const std::vector<ParamSpec>& out,
                                const Dtypes& dtypes) {
  std::vector<ArgumentType> arguments;
  for (const auto& d : dtypes)
    arguments.push_back(d ? ArgumentType::array(*d) : ArgumentType::scalar());
  const std::span<const ArgumentType> all(arguments);
  return bind_types("k", in, out, all.first(in.size()), all.subspan(in.size()));
}

inline Result<ir::Kernel> compiled(const Texts& texts, const Dtypes& dtypes) {
  ElementwiseText text;
  text.in_params = parse_params(texts.in).value();
  text.out_params = parse_params(texts.out).value();
  text.operation = texts.operation;
  text.name = "k";
  text.preamble = texts.preamble;
  text.loop_prep = texts.loop_prep;
  text.after_loop = texts.after_loop;
  TRY(const auto& types, bound(text.in_params, text.out_params, dtypes));
  auto kernel = compile_elementwise(text, types);
  if (kernel) {
    const Status verified = ir::verify(*kernel);
    EXPECT_TRUE(verified.ok()) << verified.error().message << ir::print(*kernel);
  }
  return kernel;
}

inline std::string error_of(const Texts& texts, const Dtypes& dtypes) {
  const auto kernel = compiled(texts, dtypes);
  return kernel ? "compiled:\n" + ir::print(*kernel) : kernel.error().message;
}

// One array: its values, and its shape unless it is one-dimensional.
template <typename T>
struct Array {
  std::vector<T> values;
  Dims shape = {};

  ir::Argument argument() {
    if (shape.empty()) shape = {static_cast<std::int64_t>(values.size())};
    return ir::Argument::array(values.data(), contiguous_view(shape));
  }
  static View contiguous_view(const Dims& shape) {
    View view{shape, shape, 0};
    std::int64_t stride = sizeof(T);
    for (int axis = shape.size() - 1; axis >= 0; --axis) {
      view.strides[axis] = stride;
      stride *= shape[axis];
    }
    return view;
  }
};

template <typename... Arguments>
void run(const Result<ir::Kernel>& kernel, const Dims& loop, std::uint32_t reduced,
         Arguments&&... arguments) {
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const Status status = ir::interpret(*kernel, {loop, reduced, {arguments...}});
  ASSERT_TRUE(status.ok()) << status.error().message;
}

inline constexpr DType kF16 = DType::float16;
inline constexpr DType kF32 = DType::float32;
inline constexpr DType kF64 = DType::float64;
inline constexpr DType kI32 = DType::int32;
inline constexpr DType kI64 = DType::int64;

// Runs an elementwise kernel with the input "T x", the output "T y" and this operation. T is
// float32.
inline std::vector<float> mapped(const std::string& operation, std::vector<float> x,
                                 const std::string& preamble = {}) {
  Array<float> in{std::move(x)};
  Array<float> out{std::vector<float>(in.values.size(), -77)};
  const auto n = static_cast<std::int64_t>(in.values.size());
  run(compiled({"T x", "T y", operation, preamble}, {kF32, kF32}), {n}, 0, in.argument(),
      out.argument());
  return out.values;
}

using Floats = std::vector<float>;

}  // namespace arraycore::dialect
