// The functions of CUDA and CuPy that kernels call by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "dtype/dtype.h"
#include "ir/ir.h"

namespace arraycore::dialect {

struct Builtin {
  enum class Rule : std::uint8_t {
    // Operands and result are floating. Integer operands are converted to the type that floating
    // literals have.
    floating,
    number,     // floating or complex
    test,       // floating or complex -> bool
    smaller,    // min, max, also of integers; of two floats, the one that is not NaN
    magnitude,  // abs: of integers, floats, complex
    power,
    scaled,      // ldexp(x, int)
    to_integer,  // `op`, then a conversion to int32: __float2int_rd
    to_real,     // complex -> its real type
    conjugate,
    bits,      // integers -> int32
    as_bits,   // bitcast to `type`
    convert,   // to `type`
    saturate,  // into [0, 1]
    nothing,   // does nothing: assert
    refused,   // known, but not offered
  };
  std::string_view name;
  Rule rule;
  std::uint8_t arity;
  ir::Op op = ir::Op::constant;
  DType type = DType::int32;
};

// `single` is true if the name has the suffix of float or is an intrinsic (expf, __expf). The
// function then computes in float32.
struct FoundBuiltin {
  const Builtin* builtin = nullptr;
  bool single = false;
};
FoundBuiltin find_builtin(std::string_view name);

// Describes atomicAdd and similar functions. `negate` is true for atomicSub.
struct Atomic {
  std::string_view name;
  ir::Op op;
  std::uint8_t arity;
  bool negate;
};
const Atomic* find_atomic(std::string_view name);

}  // namespace arraycore::dialect
