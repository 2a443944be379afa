// Represents the element types in WGSL, in registers and in words of storage, and writes the WGSL
// of every operation on them. Internal to codegen/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/ir.h"
#include "ir/value.h"

namespace arraycore::codegen {

// Returns "f32" for float16 and float32, "vec2<u32>" for 64-bit integers, "vec2<f32>" for
// complex64, and so on.
std::string register_type(DType dtype);
bool is_wide(DType dtype);  // whether it is a 64-bit integer
std::string zero_of(DType dtype);

// Convert between a value and its bits. A type of up to 32 bits takes the low bits of a u32, a
// 64-bit type takes a vec2<u32>.
std::string to_bits(DType dtype, const std::string& value);
std::string from_bits(DType dtype, const std::string& bits);

// Returns a literal, or nullopt if WGSL has no literal for the value (NaN, infinity, subnormal
// numbers). Such a value becomes a uniform.
std::optional<std::string> literal(DType dtype, const ir::Scalar& value);

// Returns the WGSL of `op` on operands of type `operand` with a result of type `result`; nullopt if
// WGSL lacks the operation.
std::optional<std::string> operation(ir::Op op, DType operand, DType result,
                                     const std::vector<std::string>& x);

// Returns the helper functions (ac_...) that `text` uses, directly or through other helpers.
std::string prelude_for(const std::string& text);

}  // namespace arraycore::codegen
