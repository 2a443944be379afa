// CuPy's C++ kernel dialect. It compiles the texts of an ElementwiseKernel or a ReductionKernel to
// an ir::Kernel.
//
//   auto in = parse_params("T x, raw S y, float32 z");             // once for each kernel
//   auto types = bind_types("name", *in, *out, in_args, out_args);  // for each list of types
//   auto kernel = compile_elementwise({.in_params = *in, ...}, *types);
//
// Pure functions, any thread. Every error in a text has kind `compile` and shows line, column, the
// source line and a caret. array-core/docs/dialect.md describes the subset and its limits.
//
// The typing rule is C++'s usual conversions with these differences:
//
//  - A floating literal without a suffix (`0.5`, in C++ a double) has the kernel's widest floating
//    type: float64 if a parameter is float64 or complex128, otherwise float32. Results of
//    mathematical functions of integers have this type too. So a float32 kernel computes in float32
//    throughout. `0.5f` is float32; a variable declared `double` is float64.
//  - float16 computes as CuPy's float16 class does: operands widen to float32, and a value narrows
//    where it is stored. A reduction in float16 accumulates in float32.
//  - Indices (`i`, `n`, `_j`, `x.size()`, `x.shape()[k]`, `size_t`, `ptrdiff_t`) are int32. If they
//    are combined with a value of a wider type, they take that type, as in C++.
//  - Conversions are defined for every value (ir.h): NaN to an integer gives 0, and a value out of
//    range gives the nearest integer.
//  - Variables without an initial value are 0; `assert` does nothing.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dtype/dtype.h"
#include "ir/ir.h"

namespace arraycore::dialect {

struct ParamSpec {
  std::string name;
  std::string letter;          // "T"; empty where the type is fixed
  std::optional<DType> dtype;  // of "float32 x"
  bool raw = false;
  bool operator==(const ParamSpec&) const = default;
};

// Parses "T x, raw S y, float32 z". An empty text has no parameters. Error: value, "kernel_params".
Result<std::vector<ParamSpec>> parse_params(std::string_view text);

// The argument that is passed for one parameter.
struct ArgumentType {
  enum class Kind : std::uint8_t {
    array,
    scalar,
    absent
  };  // absent: an output that the call is to make
  Kind kind = Kind::array;
  DType dtype = DType::float32;  // of an array
  static ArgumentType array(DType d) { return {Kind::array, d}; }
  static ArgumentType scalar() { return {Kind::scalar, DType::float32}; }
  static ArgumentType absent() { return {Kind::absent, DType::float32}; }
};

struct BoundParam {
  DType dtype = DType::float32;
  ir::ParamKind kind = ir::ParamKind::elementwise;
  bool operator==(const BoundParam&) const = default;
};

struct BoundTypes {
  std::vector<BoundParam> in;
  std::vector<BoundParam> out;
  std::map<std::string, DType, std::less<>> letters;
};

// Binds the type letters. Array arguments bind them, outputs first; scalars are cast to the types
// that the arrays bound. Error: type, "kernel_arguments".
Result<BoundTypes> bind_types(std::string_view kernel, std::span<const ParamSpec> in,
                              std::span<const ParamSpec> out, std::span<const ArgumentType> in_args,
                              std::span<const ArgumentType> out_args);

struct ElementwiseText {
  std::vector<ParamSpec> in_params;
  std::vector<ParamSpec> out_params;
  std::string operation;
  std::string name = "kernel";
  std::string preamble;
  std::string loop_prep;   // runs before each element's operation
  std::string after_loop;  // runs after each element's operation, even if that returns early
};

struct ReductionText {
  std::vector<ParamSpec> in_params;
  std::vector<ParamSpec> out_params;
  std::string map_expr;
  std::string reduce_expr;    // combines the values a and b
  std::string post_map_expr;  // computes the outputs from the combined value a
  std::string identity;       // empty: reducing no elements is an error
  std::string name = "kernel";
  std::string reduce_type;  // a letter or a C type; empty: the first output's type
  std::string preamble;
};

// Compile a kernel, whose parameters are the inputs and then the outputs. REQUIRES: `types` was
// bound from the same parameters.
Result<ir::Kernel> compile_elementwise(const ElementwiseText& text, const BoundTypes& types);
Result<ir::Kernel> compile_reduction(const ReductionText& text, const BoundTypes& types);

}  // namespace arraycore::dialect
