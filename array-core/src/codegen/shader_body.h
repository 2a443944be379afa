// Writes a kernel's expressions and statements in the language of shader_types.h. Each operation of
// a statement gets a `let` of its own, so that neither precedence nor constant folding can change a
// value. Internal to codegen/.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "codegen/shader_types.h"
#include "ir/ir.h"

namespace arraycore::codegen {

// The shader for which the functions below write a body: its names of constants and parameters, and
// the code with which it reads and writes elements.
class Environment {
 public:
  virtual ~Environment() = default;
  // Returns an expression of the register type for a constant that has no literal.
  virtual std::string constant(DType dtype, const ir::Scalar& value) = 0;
  virtual std::string leaf(const ir::Expr& e) = 0;  // param, loop_*, axis_index, param_shape, ...
  // Returns the address (u32) of the element of a raw parameter at these indices.
  virtual std::string address(ir::Id param, const std::vector<std::string>& index) = 0;
  virtual std::string read_at(ir::Id param, const std::string& address) = 0;
  virtual std::string write_at(ir::Id param, const std::string& address,
                               const std::string& value) = 0;
  virtual std::string store(ir::Id param, const std::string& value) = 0;
  virtual std::string atomic(ir::Op op, ir::Id param, const std::string& address,
                             const std::vector<std::string>& values) = 0;
  // The feature that the kernel needs but the language lacks; empty if none. The writer sets it.
  std::string missing;
};

std::string local_name(const ir::Kernel& kernel, ir::Id local);
std::string function_name(const ir::Kernel& kernel, ir::Id function);

// Returns the statements of `block`, indented. The `shared` locals are declared elsewhere. All
// other locals that the block uses are declared at its top.
std::string write_block(const ir::Kernel& kernel, Environment& environment, ir::Id block,
                        const std::vector<ir::Id>& shared);
// Returns code that computes `expr` and returns its value.
std::string write_return(const ir::Kernel& kernel, Environment& environment, ir::Id expr);
// Returns all functions of the kernel.
std::string write_functions(const ir::Kernel& kernel, Environment& environment);

}  // namespace arraycore::codegen
