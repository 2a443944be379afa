#include "runtime/stage_kernels.h"

#include "ir/builder.h"

namespace arraycore {

namespace {

constexpr int kScale = -1;

ir::Value activated(ir::Builder& builder, ir::Value x, Activation activation) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::relu:  // NaN stays
      return builder.apply(ir::Op::maximum, {x, builder.constant(x.type, 0)});
    case Activation::sigmoid:
      return builder.constant(x.type, 1) /
             (builder.apply(ir::Op::exp, {-x}) + builder.constant(x.type, 1));
    case Activation::tanh:
      return builder.apply(ir::Op::tanh, {x});
    case Activation::gelu: {  // x times the distribution function of the normal distribution
      constexpr double kRootOfHalf = 0.70710678118654752440;
      return x * 0.5 * (builder.apply(ir::Op::erf, {x * kRootOfHalf}) + 1.0);
    }
  }
  return x;
}

}  // namespace

Result<KernelRef> StageKernels::epilogue(DType dtype, bool bias, Activation activation) {
  const std::pair key{dtype, static_cast<int>(activation) * 2 + (bias ? 1 : 0)};
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  ir::Builder builder("finish");
  const ir::ParamRef sum = builder.in("sum", dtype);
  ir::Value x = builder.read(sum);
  if (bias) x = x + builder.read(builder.in("bias", dtype));
  builder.store(builder.out("out", dtype), activated(builder, x, activation));
  auto kernel = launcher_.prepare(builder.take());
  if (kernel) known_.emplace(key, *kernel);
  return kernel;
}

Result<KernelRef> StageKernels::prologue(DType dtype) {
  const std::pair key{dtype, kScale};
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  ir::Builder builder("scale");
  const ir::ParamRef x = builder.in("x", dtype);
  const ir::ParamRef factor = builder.in("factor", dtype);
  const ir::ParamRef shift = builder.in("shift", dtype);
  builder.store(builder.out("out", dtype),
                builder.read(x) * builder.read(factor) + builder.read(shift));
  auto kernel = launcher_.prepare(builder.take());
  if (kernel) known_.emplace(key, *kernel);
  return kernel;
}

}  // namespace arraycore
