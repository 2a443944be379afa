#include "ops/tolerance.h"

#include <algorithm>

#include "codegen/accuracy.h"

namespace arraycore::ops {
namespace {

Bound cpu_bound(const UFunc& ufunc, const Loop& loop) {
  const bool complex = is_complex(loop.operands[0]);
  Bound bound{complex ? ufunc.tolerance.complex_ulp : ufunc.tolerance.ulp, ufunc.tolerance.floor};
  // float64 functions are not rounded from a wider type, neither here nor in NumPy. So both results
  // may have errors.
  if (loop.results[0] == DType::float64) bound.ulp *= 2;
  return bound;
}

}  // namespace

Bound bound_of(const UFunc& ufunc, const Loop& loop, Executor executor) {
  // Integer results are exact.
  if (!is_floating(loop.results[0]) && !is_complex(loop.results[0])) return {};
  Bound bound = cpu_bound(ufunc, loop);
  if (executor == Executor::cpu) return bound;
  KernelSpec spec{
      .ufunc = &ufunc, .loop = loop, .operands = loop.operands, .scalar = {}, .out = {}};
  spec.out = loop.results;
  const ir::Kernel kernel = make_kernel(spec);
  float sum = 0;
  for (const ir::Expr& expr : kernel.exprs) {
    // The accuracy depends on the operand's type, not on the result's: abs() of a complex number is
    // real.
    const DType type = expr.count > 0 ? kernel.exprs[kernel.args[expr.first_arg]].type : expr.type;
    const codegen::Accuracy accuracy = codegen::accuracy_of(expr.op, type);
    sum += static_cast<float>(accuracy.ulp);
    bound.floor = std::max(bound.floor, static_cast<float>(accuracy.floor));
  }
  // A half that is rounded from single precision is at most one unit from the nearest half.
  if (loop.results[0] == DType::float16) sum = std::min(sum, 1.0F);
  bound.ulp = std::max(bound.ulp, sum);
  return bound;
}

}  // namespace arraycore::ops
