#include "ops/normalization.h"

#include "ir/builder.h"

namespace arraycore::ops {

namespace {

using ir::Builder;
using ir::Op;
using ir::ParamRef;
using ir::Value;
using Values = Builder::Values;

struct Reader {
  Builder& k;
  DType computed;
  Value operator()(ParamRef param) const { return k.convert(computed, k.read(param)); }
};

void store(Builder& k, ParamRef out, Value value) { k.store(out, k.convert(out.type, value)); }

// Combines the statistics of two parts. One part may have no elements. The weight of the second
// part is its share of all elements.
Values joined(Builder& k, const Values& a, const Values& b) {
  const Value count = a[0] + b[0];
  const Value share = k.select(count > 0.0, b[0] / count, k.constant(count.type, 0));
  const Value step = b[1] - a[1];
  const Value moved = step * share;
  return {count, a[1] + moved, a[2] + b[2] + moved * (step * a[0])};
}

}  // namespace

DType computed_in(const NormalizationTypes& types) {
  const bool wide = types.data == DType::float64 || types.parameter == DType::float64 ||
                    types.statistics == DType::float64;
  return wide ? DType::float64 : DType::float32;
}

ir::Kernel make_moments_kernel(const NormalizationTypes& types, std::optional<DType> running) {
  const DType computed = computed_in(types);
  Builder k("batch_norm_statistics");
  k.kernel().idiom = ir::Idiom::batch_norm_statistics;
  const ParamRef x = k.in("x", types.data);
  const ParamRef eps = k.scalar("eps", computed);
  ParamRef kept, fresh, fresh_unbiased, running_mean, running_var;
  if (running) {
    kept = k.scalar("kept", computed);
    fresh = k.scalar("fresh", computed);
    fresh_unbiased = k.scalar("fresh_unbiased", computed);
  }
  const ParamRef mean = k.out("mean", types.statistics);
  const ParamRef inv_std = k.out("inv_std", types.statistics);
  if (running) {
    running_mean = k.in_out("running_mean", *running);
    running_var = k.in_out("running_var", *running);
  }
  const Reader read{k, computed};
  const Value one = k.constant(computed, 1);
  const Value zero = k.constant(computed, 0);
  k.reduce(
      {{one, std::nullopt}, {read(x), std::nullopt}, {zero, std::nullopt}},
      [&k](const Values& a, const Values& b) { return joined(k, a, b); },
      [&](const Values& row) {
        const Value variance = row[2] / row[0];
        store(k, mean, row[1]);
        store(k, inv_std, k.apply(Op::rsqrt, {variance + k.read(eps)}));
        if (!running) return;
        store(k, running_mean, read(running_mean) * k.read(kept) + row[1] * k.read(fresh));
        store(k, running_var, read(running_var) * k.read(kept) + variance * k.read(fresh_unbiased));
      });
  return k.take();
}

ir::Kernel make_normalize_kernel(const NormalizationTypes& types) {
  Builder k("batch_norm");
  const Reader read{k, computed_in(types)};
  const ParamRef x = k.in("x", types.data);
  const ParamRef mean = k.in("mean", types.statistics);
  const ParamRef inv_std = k.in("inv_std", types.statistics);
  const ParamRef gamma = k.in("gamma", types.parameter);
  const ParamRef beta = k.in("beta", types.parameter);
  const ParamRef y = k.out("y", types.data);
  store(k, y, read(gamma) * (read(x) - read(mean)) * read(inv_std) + read(beta));
  return k.take();
}

ir::Kernel make_norm_sums_kernel(const NormalizationTypes& types) {
  Builder k("batch_norm_sums");
  k.kernel().idiom = ir::Idiom::batch_norm_sums;
  const Reader read{k, computed_in(types)};
  const ParamRef gy = k.in("gy", types.data);
  const ParamRef x = k.in("x", types.data);
  const ParamRef mean = k.in("mean", types.statistics);
  const ParamRef inv_std = k.in("inv_std", types.statistics);
  const ParamRef gbeta = k.out("gbeta", types.parameter);
  const ParamRef ggamma = k.out("ggamma", types.parameter);
  const Value gradient = read(gy);
  const Value normal = (read(x) - read(mean)) * read(inv_std);
  k.reduce(
      {{gradient, std::nullopt}, {gradient * normal, std::nullopt}},
      [](const Values& a, const Values& b) { return Values{a[0] + b[0], a[1] + b[1]}; },
      [&](const Values& row) {
        store(k, gbeta, row[0]);
        store(k, ggamma, row[1]);
      });
  return k.take();
}

ir::Kernel make_norm_gradient_kernel(const NormalizationTypes& types) {
  const DType computed = computed_in(types);
  Builder k("batch_norm_gradient");
  k.kernel().idiom = ir::Idiom::batch_norm_gradient;
  const Reader read{k, computed};
  const ParamRef gy = k.in("gy", types.data);
  const ParamRef x = k.in("x", types.data);
  const ParamRef mean = k.in("mean", types.statistics);
  const ParamRef inv_std = k.in("inv_std", types.statistics);
  const ParamRef gamma = k.in("gamma", types.parameter);
  const ParamRef ggamma = k.in("ggamma", types.parameter);
  const ParamRef gbeta = k.in("gbeta", types.parameter);
  const ParamRef share = k.scalar("share", computed);
  const ParamRef gx = k.out("gx", types.data);
  const Value normal = (read(x) - read(mean)) * read(inv_std);
  const Value common = (normal * read(ggamma) + read(gbeta)) * k.read(share);
  store(k, gx, read(gamma) * read(inv_std) * (read(gy) - common));
  return k.take();
}

}  // namespace arraycore::ops
