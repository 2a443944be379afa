// The kernel language between front ends (operation table, CuPy's C++ dialect) and back ends (WGSL,
// the CPU interpreters). It is small, typed and structured. A Kernel is plain data: builder.h
// builds it, verify.h checks it, print.h prints it, and interpret.h runs it. That interpreter is
// the reference for every back end.
//
// An elementwise kernel runs its body once for each element of its loop. The loop is a C-ordered
// n-dimensional domain of `n` elements, to which every elementwise parameter is broadcast.
//
// A reduction runs `body` for each element. `body` leaves values in the accumulators' `mapped`, and
// the reduction combines these. Then it runs `reduction.post` once for each element of the output,
// whose axes are the loop's without the reduced ones. The body reads elementwise parameters at the
// loop's element. `post` stores to the written parameters at the output's element; it may read
// those, raw parameters and scalars.
//
// A scan is a reduction whose `post` runs for every element of the loop, with the values combined
// up to and including that element. The outputs have the loop's shape, and `mapped` still holds the
// element's own values.
//
// Locals are zero when an element begins. An expression is evaluated once in each statement that
// uses it, however often it is used there. Operands of `select`, `logical_and` and `logical_or` are
// evaluated only where they are needed.
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

// Operations mean what they mean in NumPy and in C. If these differ, the operation's comment below
// decides. Operands have the expression's own type, unless that comment names another one.
// Conversions are explicit.
enum class Op : std::uint8_t {
  // ---- leaves
  constant,  // bits (and bits_high, the imaginary part of complex128) as in memory
  local,     // index: a Local
  local_at,  // index: a Local that is an array; args[0]: int32
  // `i`: the index of the element in the loop (in `post`: in the output) in C order; int32.
  loop_index,
  loop_size,   // `n`: the number of elements of the loop (in `post`: of the output); int32
  axis_index,  // the coordinate along axis `index` in the loop (in `post`: in the output); int32
  // `_j`: the index of the mapped element in its reduction, in C order over the reduced axes;
  // int32. Only in `body`.
  reduce_index,
  param,  // index: a Param. An elementwise one gives its element here, a scalar one its value
  // index: a raw Param; args: one C-order element number, or one int32 for each axis. An index
  // outside the array is undefined in C++; here it is clamped, which gives the nearest element.
  param_at,
  param_shape,  // index: a Param; args[0]: a constant axis; int32
  param_size,   // index: a Param; its number of elements; int32
  // ---- one operand
  // Converts to `type`, by C's rules where those are defined, and else by scalar.h: NaN gives 0,
  // floats out of range saturate, integers wrap, bool is x != 0.
  convert,
  bitcast,   // to a type of the same size
  negate,    // integers wrap; unsigned too
  absolute,  // INT_MIN stays; complex numbers give their modulus, of a real type
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
  rint,   // rounds half to even
  round,  // rounds half away from zero, as C's round
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
  // The operand, rounded as a store to memory would round it. A device must not combine the
  // operation that computes the operand with one that reads this result. So both round their
  // results as in separate kernels.
  stored,
  // ---- two operands
  add,
  subtract,
  multiply,      // integers wrap
  divide,        // floats as in IEEE; integers towards zero, x/0 = 0, INT_MIN/-1 = INT_MIN
  remainder,     // C's % and fmod, with the sign of the dividend; x%0 = 0 for integers
  floor_divide,  // NumPy's
  modulo,        // NumPy's, with the sign of the divisor
  power,         // integers wrap, negative exponents give 0 (or 1, -1); floats as C's pow
  atan2,
  hypot,
  copysign,
  nextafter,
  ldexp,  // (x, int32)
  minimum,
  maximum,  // NaN if either operand is NaN
  fmin,
  fmax,  // if one operand is NaN, the result is the other one
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,  // counts outside [0, bits) give 0 (for a negative x >> count, -1), as in NumPy
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,  // operands of one type; -> bool
  logical_and,
  logical_or,  // bool; the second operand is evaluated only if it decides the result
  logical_xor,
  make_complex,  // (real, imaginary)
  // ---- more
  fma,     // (a, b, c): a * b + c, rounded once or twice
  select,  // (condition, then, else); only the chosen one is evaluated
  call,    // index: a Function; args
  // Reads, changes and writes an element of a raw parameter atomically. The result is the old
  // value. The args are the index or indices, then the value. The element may be an integer or a
  // float of any size.
  atomic_add,
  atomic_min,
  atomic_max,
  atomic_exchange,
  atomic_compare_exchange,  // args: index, expected, desired
};

// A node of the kernel's arena of expressions. Operands precede their users.
struct Expr {
  Op op = Op::constant;
  DType type = DType::int32;
  Id index = 0;      // see the operation's comment
  Id first_arg = 0;  // into Kernel::args
  std::uint32_t count = 0;
  std::uint64_t bits = 0;
  std::uint64_t bits_high = 0;
};

struct Local {
  std::string name;  // the user's name, for messages and readable code
  DType type = DType::float32;
  // If above 0, the local is an array with this number of elements (the dialect's `int idx[3]`).
  // local_at reads it, assign_at writes it, and indices are clamped.
  std::uint32_t length = 0;
};

enum class ParamKind : std::uint8_t {
  elementwise,  // broadcast to the loop; read and written at the loop's element
  raw,          // a whole array, indexed by expressions
  scalar,       // one value for the whole launch
};

enum class Access : std::uint8_t { read, write, read_write };

struct Param {
  std::string name;
  DType dtype = DType::float32;
  ParamKind kind = ParamKind::elementwise;
  Access access = Access::read;
  bool atomic = false;  // some statement updates it atomically
  // The number of axes of a raw parameter that takes one index for each axis; otherwise -1.
  std::int8_t ndim = -1;
};
inline bool is_written(const Param& param) { return param.access != Access::read; }

enum class StmtKind : std::uint8_t {
  assign,     // locals[target] = value
  assign_at,  // locals[target][args] = value (an array)
  store,      // params[target] = value, at the loop's element
  store_at,   // params[target][args] = value (raw)
  branch,     // if (value) then; else otherwise
  loop,  // while (value) { then; otherwise }, where `otherwise` is the step, which also runs after
         // `continue`
  loop_until,  // do { then; otherwise } while (value)
  leave,       // break
  next,        // continue
  give,        // return [value], from the function or from the element's body
  evaluate,    // evaluates value for its effect
};

struct Stmt {
  StmtKind kind = StmtKind::evaluate;
  Id target = kNone;
  Id value = kNone;  // Expr; in loops kNone means true
  Id first_arg = 0;  // store_at, assign_at: the index or indices
  std::uint32_t count = 0;
  Id then = kNone;       // Block
  Id otherwise = kNone;  // Block
};

using Block = std::vector<Id>;  // Stmt

// A function may call only functions before it, so there is no recursion. It sees its own locals
// and scalar arguments, not the kernel's parameters.
struct Function {
  std::string name;
  std::vector<Id> arguments;  // Local
  std::optional<DType> result;
  Id body = kNone;  // Block
};

// One of the values that a reduction combines. All accumulators are combined in one step, so that
// one can decide about another. For example, the largest value decides which position is kept.
struct Accumulator {
  Id mapped = kNone;    // Local that the body sets for each element
  Id a = kNone;         // Local: the value so far
  Id b = kNone;         // Local: one more value, of the same type as a
  Id combine = kNone;   // Expr over the a and b of all accumulators, without effects
  Id identity = kNone;  // Expr, constant; kNone: reducing no elements is an error
};

struct Reduction {
  enum class Gives : std::uint8_t {
    totals,   // one result for each row
    running,  // one result for each element: a scan, in C order over the reduced axes
  };
  // At least one accumulator. All `combine` expressions together form one associative and
  // commutative operation.
  std::vector<Accumulator> values;
  Id post = kNone;  // Block: reads every a, stores outputs
  Gives gives = Gives::totals;

  bool running() const { return gives == Gives::running; }
  // Returns whether a row without elements has a result.
  bool has_identity() const {
    for (const Accumulator& value : values)
      if (value.identity == kNone) return false;
    return true;
  }
};

// A well-known computation for which an executor may have its own loop. The body defines the same
// computation and stays the reference. ops/pooling.h and ops/normalization.h list the parameters.
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
