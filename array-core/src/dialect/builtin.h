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
    floating,   // operands and result floating (integers become the literals' type)
    number,     // floating or complex
    test,       // floating or complex -> bool
    smaller,    // min, max: of integers too, of floats the one that is not NaN
    magnitude,  // abs: of integers, floats, complex
    power,
    scaled,      // ldexp(x, int)
    to_integer,  // op, then int32: __float2int_rd
    to_real,     // of complex -> its real type
    conjugate,
    bits,      // of integers -> int32
    as_bits,   // bitcast to `type`
    convert,   // to `type`
    saturate,  // into [0, 1]
    nothing,   // assert
    refused,   // known, and left out
  };
  std::string_view name;
  Rule rule;
  std::uint8_t arity;
  ir::Op op = ir::Op::constant;
  DType type = DType::int32;
};

// `single`: the name has float's suffix or is an intrinsic (expf, __expf), so float32 it is.
struct FoundBuiltin {
  const Builtin* builtin = nullptr;
  bool single = false;
};
FoundBuiltin find_builtin(std::string_view name);

// atomicAdd and its kin; `negate` for atomicSub.
struct Atomic {
  std::string_view name;
  ir::Op op;
  std::uint8_t arity;
  bool negate;
};
const Atomic* find_atomic(std::string_view name);

}  // namespace arraycore::dialect
