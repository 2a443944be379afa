// Cases for every operation on every type that a GPU computes, and for every conversion.
#include <cstring>
#include <iostream>

#include "case_writer.h"
#include "ir/builder.h"
#include "ir/op_info.h"
#include "values.h"

namespace arraycore::wgsl_cases {
namespace {

using ir::Builder;
using ir::Op;
using ir::Shape;

template <typename T>
CaseArgument column(const std::vector<T>& values) {
  CaseArgument argument;
  argument.bytes.resize(values.size() * sizeof(T));
  std::size_t at = 0;
  for (const T value : values) {
    std::memcpy(argument.bytes.data() + at, &value, sizeof value);
    at += sizeof value;
  }
  argument.view = {
      {static_cast<std::int64_t>(values.size())}, {static_cast<std::int64_t>(sizeof(T))}, 0};
  return argument;
}

CaseArgument result_column(DType dtype, std::int64_t count) {
  CaseArgument argument;
  argument.bytes.resize(static_cast<std::size_t>(count) * size_of(dtype));
  argument.view = {{count}, {static_cast<std::int64_t>(size_of(dtype))}, 0};
  return argument;
}

// Returns all pairs of the first 24 values of a type, as two columns.
template <typename T>
void pairs(std::vector<T>& a, std::vector<T>& b) {
  const std::vector<T> values = values_of<T>(24);
  for (const T x : values)
    for (const T y : values) {
      a.push_back(x);
      b.push_back(y);
    }
}

DType result_of(Op op, DType dtype) {
  const Shape shape = ir::info(op).shape;
  if (shape == Shape::compare || shape == Shape::test) return DType::boolean;
  if (op == Op::leading_zeros) return DType::int32;
  if (op == Op::absolute || op == Op::real || op == Op::imag) return ir::real_of(dtype);
  return dtype;
}

void one_operation(CaseWriter& writer, Op op, DType dtype) {
  ir::visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    const Shape shape = ir::info(op).shape;
    const bool two = shape == Shape::binary || shape == Shape::compare;
    std::vector<T> a;
    std::vector<T> b;
    if (two || shape == Shape::ternary)
      pairs(a, b);
    else
      a = values_of<T>(400);
    Builder k(std::string(name_of(op)));
    const auto x = k.in("x", dtype);
    const auto y = k.in("y", dtype);
    const DType result = result_of(op, dtype);
    const auto z = k.out("z", result);
    if (two)
      k.store(z, k.apply(op, {k.read(x), k.read(y)}));
    else if (shape == Shape::ternary) {
      // If operands do not cancel, it makes little difference whether the result is rounded once or
      // twice.
      const auto a_size = k.apply(Op::absolute, {k.read(x)});
      k.store(z, k.apply(op, {a_size, k.apply(Op::absolute, {k.read(y)}), a_size}));
    } else
      k.store(z, k.apply(op, {k.read(x)}));
    if (b.empty()) b = a;
    const auto n = static_cast<std::int64_t>(a.size());
    const std::string name = std::string(name_of(op)) + " " + std::string(name_of(dtype));
    if (!writer.add(name, k.take(), {n}, 0, {column(a), column(b), result_column(result, n)},
                    codegen::accuracy_of(op, dtype)))
      die(name + ": " + writer.refusal().message);
  });
}

void one_conversion(CaseWriter& writer, DType from, DType to) {
  ir::visit(from, [&](auto zero) {
    using T = decltype(zero);
    const std::vector<T> a = values_of<T>(400);
    Builder k("convert");
    const auto x = k.in("x", from);
    const auto z = k.out("z", to);
    k.store(z, k.convert(to, k.read(x)));
    const auto n = static_cast<std::int64_t>(a.size());
    const std::string name = std::string(name_of(from)) + " to " + std::string(name_of(to));
    if (!writer.add(name, k.take(), {n}, 0, {column(a), result_column(to, n)}, {0, 0}))
      die(name + ": " + writer.refusal().message);
  });
}

void special_operations(CaseWriter& writer) {
  const std::vector<float> xs = values_of<float>(40);
  std::vector<float> a;
  std::vector<std::int32_t> e;
  for (const float x : xs)
    for (const std::int32_t exponent : {0, 1, -1, 10, -10, 130, -130, 400, -400, 23}) {
      a.push_back(x);
      e.push_back(exponent);
    }
  const auto n = static_cast<std::int64_t>(a.size());
  {
    Builder k("ldexp");
    const auto x = k.in("x", DType::float32);
    const auto y = k.in("e", DType::int32);
    const auto z = k.out("z", DType::float32);
    k.store(z, k.apply(Op::ldexp, {k.read(x), k.read(y)}));
    writer.add("ldexp float32", k.take(), {n}, 0,
               {column(a), column(e), result_column(DType::float32, n)},
               codegen::accuracy_of(Op::ldexp, DType::float32));
  }
  {
    Builder k("bitcast");
    const auto x = k.in("x", DType::float32);
    const auto z = k.out("z", DType::int32);
    k.store(z, k.bitcast(DType::int32, k.read(x)));
    writer.add("bitcast", k.take(), {n}, 0, {column(a), result_column(DType::int32, n)});
  }
  {
    Builder k("make_complex");
    const auto x = k.in("x", DType::float32);
    const auto z = k.out("z", DType::complex64);
    k.store(z, k.make_complex(k.read(x), -k.read(x)));
    writer.add("make_complex", k.take(), {n}, 0, {column(a), result_column(DType::complex64, n)});
  }
  {  // constants for which WGSL has no literal
    Builder k("constants");
    const auto x = k.in("x", DType::float32);
    const auto z = k.out("z", DType::float32);
    const auto inf = k.constant(DType::float32, std::numeric_limits<double>::infinity());
    const auto nan = k.constant(DType::float32, std::numeric_limits<double>::quiet_NaN());
    const auto tiny = k.bits(DType::float32, 1);
    k.store(z, k.select(k.read(x) > 0.0, inf, k.select(k.read(x) == 0.0, tiny, nan)));
    writer.add("constants float32", k.take(), {n}, 0,
               {column(a), result_column(DType::float32, n)});
  }
}

}  // namespace

void add_operation_cases(CaseWriter& writer) {
  for (std::size_t o = 0; o < ir::kOps; ++o) {
    const auto op = static_cast<Op>(o);
    const Shape shape = ir::info(op).shape;
    const bool plain = shape != Shape::leaf && shape != Shape::special;
    const bool known =
        op == Op::absolute || op == Op::leading_zeros || op == Op::real || op == Op::imag;
    if (!plain && !known) continue;
    for (std::size_t d = 0; d < kDTypes; ++d) {
      const auto dtype = static_cast<DType>(d);
      if (on_gpu(dtype) && ir::takes(op, dtype)) one_operation(writer, op, dtype);
    }
  }
  for (std::size_t from = 0; from < kDTypes; ++from)
    for (std::size_t to = 0; to < kDTypes; ++to)
      if (on_gpu(static_cast<DType>(from)) && on_gpu(static_cast<DType>(to)))
        one_conversion(writer, static_cast<DType>(from), static_cast<DType>(to));
  special_operations(writer);
}

}  // namespace arraycore::wgsl_cases
