// The kernel language between front ends (operation table, CuPy's C++ dialect) and back ends (WGSL,
// GLSL, the CPU interpreters): small, typed, structured. A Kernel is plain data; build it with
// builder.h, check it with verify.h, read it with print.h, and run it with interpret.h, the
// reference that judges every back end.
//
// An elementwise kernel runs its body once for each element of its loop, a C-ordered n-dimensional
// domain of `n` elements to which every elementwise parameter is broadcast. A reduction runs `body`
// for each element, combines what it left in the accumulators' `mapped`, and runs `reduction.post`
// once for each element of the output. The body reads elementwise parameters at the loop's element;
// `post` stores to the written ones at the output's (the loop's axes without the reduced ones), and
// may read those back, raw parameters and scalars. A scan is a reduction that gives what was
// combined up to each element: its `post` runs for every element of the loop, which is also its
// outputs' shape, and finds the element's own values in `mapped` still.
//
// Locals are zero when an element begins. An expression is evaluated once in each statement that
// uses it, however often; operands of `select`, `logical_and` and `logical_or` only where needed.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "dtype/dtype.h"

namespace arraycore::ir {

using Id = std::uint32_t;
inline constexpr Id kNone = std::numeric_limits<Id>::max();

// Semantics are NumPy's and C's where they agree; where they do not, the comment decides. Operands
// have the expression's own type, except where the comment names another: conversions are explicit.
enum class Op : std::uint8_t {
  // ---- leaves
  constant,      // bits (and bits_high: the imaginary part of complex128), in memory's layout
  local,         // index: a Local
  local_at,      // index: a Local that is an array; args[0]: int32
  loop_index,    // `i`: the element's number in the loop, C order; in `post` the output's; int32
  loop_size,     // `n`: elements of the loop; in `post` of the output; int32
  axis_index,    // the loop's coordinate along axis `index`; in `post` the output's; int32
  reduce_index,  // `_j`: the mapped element's number in its reduction: C order over reduced axes;
                 // int32. In `body` only
  param,         // index: a Param. Elementwise: its element here; scalar: its value
  param_at,      // index: a raw Param; args: one C-order element number, or one int32 per axis.
                 // Outside the array: undefined in C++; here the nearest element (index clamped)
  param_shape,   // index: a Param; args[0]: a constant axis; int32
  param_size,    // index: a Param; its number of elements; int32
  // ---- one operand
  convert,   // to `type`, C's rules made total (dtype/convert.h): NaN -> 0, floats out of range
             // saturate, integers wrap, bool is x != 0
  bitcast,   // same size
  negate,    // integers wrap; unsigned too
  absolute,  // INT_MIN stays; complex gives the modulus (a real type)
  sign,      // NaN stays NaN
  bit_not,
  logical_not,  // -> bool
  sqrt,
  rsqrt,
  cbrt,
  exp,
  exp2,
  exp10,
  expm1,
  log,
  log2,
  log10,
  log1p,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  floor,
  ceil,
  trunc,
  rint,   // half to even
  round,  // half away from zero (C's round)
  is_nan,
  is_inf,
  is_finite,
  sign_bit,  // -> bool
  erf,
  erfc,
  erfinv,
  erfcinv,
  erfcx,
  lgamma,
  tgamma,
  digamma,
  ndtr,
  ndtri,
  popcount,
  leading_zeros,  // -> int32
  real,
  imag,  // complex -> its real type
  conj,
  stored,  // the operand as memory would hold it: a device joins nothing across it, so that what
           // makes the value and what reads it are rounded as in kernels of their own
  // ---- two operands
  add,
  subtract,
  multiply,      // integers wrap
  divide,        // floats IEEE; integers towards zero, x/0 = 0, INT_MIN/-1 = INT_MIN
  remainder,     // C's % and fmod: sign of the dividend; x%0 = 0 for integers
  floor_divide,  // NumPy's
  modulo,        // NumPy's: sign of the divisor
  power,         // integers wrap, negative exponents give 0 (or 1, -1); floats C's pow
  atan2,
  hypot,
  copysign,
  nextafter,
  ldexp,  // (x, int32)
  minimum,
  maximum,  // NaN if either is
  fmin,
  fmax,  // the other where one is NaN
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,  // counts outside [0, bits) give 0 (-1 for negative x >> big), as NumPy
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,  // operands alike; -> bool
  logical_and,
  logical_or,  // bool; the second operand is evaluated only where it decides
  logical_xor,
  make_complex,  // (real, imaginary)
  // ---- more
  fma,     // (a, b, c): a * b + c, rounded once or twice
  select,  // (condition, then, else): only the chosen one is evaluated
  call,    // index: a Function; args
  // Read-modify-write of a raw parameter's element; args: the index or indices, then the value.
  // Gives the old value. Integers and floats of any size.
  atomic_add,
  atomic_min,
  atomic_max,
  atomic_exchange,
  atomic_compare_exchange,  // args: index, expected, desired
};

// A node of the kernel's expression arena. Operands precede their users in the arena.
struct Expr {
  Op op = Op::constant;
  DType type = DType::int32;
  Id index = 0;      // what the op's comment says
  Id first_arg = 0;  // into Kernel::args
  std::uint32_t count = 0;
  std::uint64_t bits = 0;
  std::uint64_t bits_high = 0;
};

struct Local {
  std::string name;  // the user's, for messages and readable code
  DType type = DType::float32;
  // Over 0: an array of that many elements (the dialect's `int idx[3]`), read by local_at and
  // written by assign_at, index clamped.
  std::uint32_t length = 0;
};

enum class ParamKind : std::uint8_t {
  elementwise,  // broadcast to the loop; read and written at the loop's own element
  raw,          // whole array, indexed by expressions
  scalar,       // one value, passed with the launch
};

enum class Access : std::uint8_t { read, write, read_write };

struct Param {
  std::string name;
  DType dtype = DType::float32;
  ParamKind kind = ParamKind::elementwise;
  Access access = Access::read;
  bool atomic = false;    // some statement updates it atomically
  std::int8_t ndim = -1;  // raw with one index per axis: how many; else -1
};

enum class StmtKind : std::uint8_t {
  assign,     // locals[target] = value
  assign_at,  // locals[target][args] = value (an array)
  store,      // params[target] = value, at the loop's element
  store_at,   // params[target][args] = value (raw)
  branch,     // if (value) then else otherwise
  loop,  // while (value) { then; otherwise }: `otherwise` is the step, run after `continue` too
  loop_until,  // do { then; otherwise } while (value)
  leave,       // break
  next,        // continue
  give,        // return [value]: of the function, or of the element's body
  evaluate,    // value, for its effect
};

struct Stmt {
  StmtKind kind = StmtKind::evaluate;
  Id target = kNone;
  Id value = kNone;  // Expr; for loops kNone means true
  Id first_arg = 0;  // store_at, assign_at: the index or indices
  std::uint32_t count = 0;
  Id then = kNone;       // Block
  Id otherwise = kNone;  // Block
};

using Block = std::vector<Id>;  // Stmt

// No recursion: a function calls earlier ones only. It sees its own locals and scalar arguments,
// not the kernel's parameters.
struct Function {
  std::string name;
  std::vector<Id> arguments;  // Local
  std::optional<DType> result;
  Id body = kNone;  // Block
};

// One of the values that a reduction combines; all in step, so that one may decide for another.
struct Accumulator {
  Id mapped = kNone;    // Local that the body sets for each element
  Id a = kNone;         // Local: so far
  Id b = kNone;         // Local: one more. The same type as a
  Id combine = kNone;   // Expr over all accumulators' a and b without effects
  Id identity = kNone;  // Expr, constant; kNone: an empty reduction is an error
};

struct Reduction {
  enum class Gives : std::uint8_t {
    totals,   // one a row
    running,  // one an element: a scan, in C order over the reduced axes
  };
  // At least one. Together their `combine` is associative and commutative.
  std::vector<Accumulator> values;
  Id post = kNone;  // Block: reads every a, stores outputs
  Gives gives = Gives::totals;

  bool running() const { return gives == Gives::running; }
  // Whether a row of no elements has a result.
  bool has_identity() const {
    for (const Accumulator& value : values)
      if (value.identity == kNone) return false;
    return true;
  }
};

// What a kernel of this library computes, in the field's words, so that an executor may have a loop
// of its own for it. The body says it too and decides; ops/pooling.h and ops/normalization.h have
// the parameters.
enum class Idiom : std::uint8_t {
  none,
  max_pool,
  max_pool_gradient,
  mean_pool,
  mean_pool_gradient,
  batch_norm_statistics,
  batch_norm_sums,
  batch_norm_gradient,
};

struct Kernel {
  std::string name;
  Idiom idiom = Idiom::none;
  std::vector<Param> params;
  std::vector<Local> locals;
  std::vector<Function> functions;
  std::vector<Expr> exprs;
  std::vector<Id> args;  // Expr
  std::vector<Stmt> stmts;
  std::vector<Block> blocks;
  Id body = kNone;  // Block
  std::optional<Reduction> reduction;
};

}  // namespace arraycore::ir
