// Writes a kernel's expressions and statements as WGSL: one `let` for each operation of a
// statement, so that neither precedence nor constant folding can change a value. Internal to
// codegen/.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "codegen/wgsl_types.h"
#include "ir/ir.h"

namespace arraycore::codegen {

// What the body asks of its surroundings: names and addresses.
class Environment {
 public:
  virtual ~Environment() = default;
  // A constant that WGSL cannot write: an expression of its register type.
  virtual std::string constant(DType dtype, const ir::Scalar& value) = 0;
  virtual std::string leaf(const ir::Expr& e) = 0;  // param, loop_*, axis_index, param_shape, ...
  // Element address (u32) of a raw parameter.
  virtual std::string address(ir::Id param, const std::vector<std::string>& index) = 0;
  virtual std::string read_at(ir::Id param, const std::string& address) = 0;
  virtual std::string write_at(ir::Id param, const std::string& address,
                               const std::string& value) = 0;
  virtual std::string store(ir::Id param, const std::string& value) = 0;
  virtual std::string atomic(ir::Op op, ir::Id param, const std::string& address,
                             const std::vector<std::string>& values) = 0;
  // Set by the writer where the kernel needs what WGSL lacks.
  std::string missing;
};

std::string local_name(const ir::Kernel& kernel, ir::Id local);
std::string function_name(const ir::Kernel& kernel, ir::Id function);

// The statements of `block`, indented; `shared` locals are declared elsewhere, the others that the
// block uses are declared at its top.
std::string write_block(const ir::Kernel& kernel, Environment& environment, ir::Id block,
                        const std::vector<ir::Id>& shared);
// `expr` computed and returned.
std::string write_return(const ir::Kernel& kernel, Environment& environment, ir::Id expr);
// All of the kernel's functions.
std::string write_functions(const ir::Kernel& kernel, Environment& environment);

}  // namespace arraycore::codegen
