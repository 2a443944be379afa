// Represents the element types in shaders, in registers and in words of storage, and writes every
// operation on them. Internal to codegen/.
//
// The language is the part of WGSL that the executor on WebGL2 (docs/webgl2.md) can turn into GLSL
// ES 3.00: every `let` and `var` has its type, vectors are not compared, `&` and `|` have no bool
// operands, and functions stand before their uses. What only one of the two languages has is
// written in its own files.
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

// Returns a literal, or nullopt if the language has no literal for the value (NaN, infinity,
// subnormal numbers). Such a value becomes a uniform.
std::optional<std::string> literal(DType dtype, const ir::Scalar& value);

// Returns code for `op` on operands of type `operand` with a result of type `result`; nullopt if
// the language lacks the operation.
std::optional<std::string> operation(ir::Op op, DType operand, DType result,
                                     const std::vector<std::string>& x);

}  // namespace arraycore::codegen
