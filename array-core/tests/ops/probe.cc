// Gives the operation table to the tests that compare it with NumPy: the loop that a ufunc resolves
// to, and its values from the reference interpreter.
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "ir/interpret.h"
#include "ir/verify.h"
#include "ops/tolerance.h"
#include "ops/ufunc.h"

#define PROBE extern "C" __attribute__((visibility("default")))

namespace {

using namespace arraycore;

std::string last_error;  // NOLINT(*-avoid-non-const-global-variables): the probe's one state

int fail(const Error& error) {
  last_error = error.code + " " + error.message;
  return -static_cast<int>(error.kind);
}

std::size_t count(int n) { return static_cast<std::size_t>(n); }

}  // namespace

PROBE const char* probe_error() { return last_error.c_str(); }
PROBE int probe_ufuncs() { return static_cast<int>(ops::table().size()); }
PROBE const char* probe_name(int id) { return ops::table()[count(id)].name.data(); }
PROBE int probe_operands(int id) { return ops::table()[count(id)].operands; }
PROBE int probe_results(int id) { return ops::table()[count(id)].results; }

// Returns the tolerance of loop number `loop`: out[0] is in units in the last place; results
// smaller than out[1] may have the error that out[1] itself would have.
PROBE void probe_bound(int id, int loop, int executor, float* out) {
  const ops::UFunc& ufunc = ops::table()[count(id)];
  const ops::Bound bound =
      ops::bound_of(ufunc, ops::loops_of(ufunc)[count(loop)], static_cast<ops::Executor>(executor));
  out[0] = bound.ulp;
  out[1] = bound.floor;
}

// An operand is a dtype's number, 100 + that number for a NumPy scalar, or 200 + PythonScalar for a
// weak scalar.
// `out` gets the loop's operand dtypes and then its result dtypes.
PROBE int probe_resolve(int id, int mode, const int* operands, int* out) {
  const ops::UFunc& ufunc = ops::table()[count(id)];
  std::vector<ops::Operand> asked;
  for (int i = 0; i < ufunc.operands; ++i) {
    ops::Operand operand;
    if (operands[i] >= 200) {
      operand.python = static_cast<PythonScalar>(operands[i] - 200);
    } else {
      operand.dtype = static_cast<DType>(operands[i] % 100);
    }
    operand.is_scalar = operands[i] >= 100;
    asked.push_back(operand);
  }
  const auto loop = ops::resolve(ufunc, static_cast<PromotionMode>(mode), asked);
  if (!loop) return fail(loop.error());
  for (std::size_t i = 0; i < count(ufunc.operands); ++i)
    *out++ = static_cast<int>(loop->operands[i]);
  for (std::size_t i = 0; i < count(ufunc.results); ++i)
    *out++ = static_cast<int>(loop->results[i]);
  return 0;
}

// Writes the loops of a ufunc as rows of operand and result dtypes. Returns their number.
PROBE int probe_loops(int id, int* out) {
  const ops::UFunc& ufunc = ops::table()[count(id)];
  const std::vector<ops::Loop> loops = ops::loops_of(ufunc);
  for (const ops::Loop& loop : loops) {
    for (std::size_t i = 0; i < count(ufunc.operands); ++i)
      *out++ = static_cast<int>(loop.operands[i]);
    for (std::size_t i = 0; i < count(ufunc.results); ++i)
      *out++ = static_cast<int>(loop.results[i]);
  }
  return static_cast<int>(loops.size());
}

// Runs loop number `loop` over `n` contiguous elements of the loop's own dtypes.
PROBE int probe_run(int id, int loop, std::int64_t n, void** arrays) {
  const ops::UFunc& ufunc = ops::table()[count(id)];
  ops::KernelSpec spec{.ufunc = &ufunc, .loop = ops::loops_of(ufunc)[count(loop)]};
  spec.operands = spec.loop.operands;
  spec.out = spec.loop.results;
  const ir::Kernel kernel = ops::make_kernel(spec);
  if (const Status verified = ir::verify(kernel); !verified) return fail(verified.error());
  ir::Launch launch;
  launch.loop = Dims{n};
  for (std::size_t i = 0; i < kernel.params.size(); ++i) {
    const View view = contiguous(launch.loop, size_of(kernel.params[i].dtype));
    launch.arguments.push_back(ir::Argument::array(arrays[i], view));
  }
  const Status ran = ir::interpret(kernel, launch);
  return ran ? 0 : fail(ran.error());
}
