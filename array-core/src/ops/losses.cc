#include "ops/losses.h"

#include "ir/builder.h"

namespace arraycore::ops {

namespace {

using ir::Builder;
using ir::Op;
using ir::ParamRef;
using ir::Value;
using Values = Builder::Values;

constexpr int kClassAxis = 1;

}  // namespace

DType loss_dtype(DType scores) {
  return scores == DType::float64 ? DType::float64 : DType::float32;
}

ir::Kernel make_log_sum_exp_kernel(DType scores) {
  const DType computed = loss_dtype(scores);
  Builder k("log_sum_exp");
  const ParamRef x = k.in("x", scores);
  const ParamRef lse = k.out("lse", computed);
  k.reduce(
      {{k.convert(computed, k.read(x)), std::nullopt}, {k.constant(computed, 1), std::nullopt}},
      [&k](const Values& a, const Values& b) {
        const Value largest = k.apply(Op::maximum, {a[0], b[0]});
        const auto scaled = [&](const Values& part) {
          return part[1] * k.apply(Op::exp, {part[0] - largest});
        };
        return Values{largest, scaled(a) + scaled(b)};
      },
      [&](const Values& row) { k.store(lse, row[0] + k.apply(Op::log, {row[1]})); });
  return k.take();
}

ir::Kernel make_cross_entropy_kernel(DType scores, DType labels) {
  const DType computed = loss_dtype(scores);
  Builder k("softmax_cross_entropy");
  const ParamRef t = k.in("t", labels);
  const ParamRef lse = k.in("lse", computed);
  const ParamRef x = k.raw("x", scores);
  const ParamRef classes = k.scalar("classes", DType::int32);
  const ParamRef inner = k.scalar("inner", DType::int32);
  const ParamRef ignore = k.scalar("ignore", labels);
  const ParamRef fixed = k.scalar("fixed", computed);
  const ParamRef loss = k.out("loss", scores);
  const ParamRef coeff = k.out("coeff", computed);
  const Value zero = k.constant(computed, 0);
  const Value one = k.constant(computed, 1);
  const Value number = k.reduce_index();
  const Value image = number / k.read(inner);
  const Value label = k.convert(DType::int32, k.read(t));
  const Value place = (image * k.read(classes) + label) * k.read(inner) + number % k.read(inner);
  const Value counts = k.read(t) != k.read(ignore);
  const Value error = k.read(lse) - k.convert(computed, k.read_at(x, {place}));
  k.reduce(
      {{k.select(counts, error, zero), std::nullopt}, {k.select(counts, one, zero), std::nullopt}},
      [](const Values& a, const Values& b) { return Values{a[0] + b[0], a[1] + b[1]}; },
      [&](const Values& total) {
        const Value counted = one / k.apply(Op::maximum, {total[1], one});
        const Value factor = k.select(k.read(fixed) < 0.0, counted, k.read(fixed));
        k.store(coeff, factor);
        k.store(loss, k.convert(scores, total[0] * factor));
      });
  return k.take();
}

ir::Kernel make_cross_entropy_gradient_kernel(DType scores, DType labels) {
  const DType computed = loss_dtype(scores);
  Builder k("softmax_cross_entropy_gradient");
  const ParamRef x = k.in("x", scores);
  const ParamRef lse = k.in("lse", computed);
  const ParamRef t = k.in("t", labels);
  const ParamRef gloss = k.in("gloss", scores);
  const ParamRef coeff = k.in("coeff", computed);
  const ParamRef ignore = k.scalar("ignore", labels);
  const ParamRef gx = k.out("gx", scores);
  const Value zero = k.constant(computed, 0);
  const Value softmax = k.apply(Op::exp, {k.convert(computed, k.read(x)) - k.read(lse)});
  const Value hit = k.axis_index(kClassAxis) == k.convert(DType::int32, k.read(t));
  const Value wanted = k.select(hit, k.constant(computed, 1), zero);
  const Value gradient = (softmax - wanted) * k.convert(computed, k.read(gloss)) * k.read(coeff);
  const Value counts = k.read(t) != k.read(ignore);
  k.store(gx, k.convert(scores, k.select(counts, gradient, zero)));
  return k.take();
}

}  // namespace arraycore::ops
