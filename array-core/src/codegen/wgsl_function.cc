#include "codegen/wgsl_function.h"

#include <vector>

#include "codegen/prelude/prelude.h"
#include "codegen/shader_body.h"
#include "codegen/shader_types.h"

namespace arraycore::codegen {

namespace {

std::string parameter(ir::Id param) { return "p" + std::to_string(param); }

// The names that a function in a shader can use: its parameters, but no index or shape of a loop.
class Alone final : public Environment {
 public:
  std::string constant(DType /*dtype*/, const ir::Scalar& /*value*/) override {
    return refuse("a constant that is no finite number");
  }
  std::string leaf(const ir::Expr& e) override {
    return e.op == ir::Op::param ? parameter(e.index) : refuse("the loop's index or shape");
  }
  std::string address(ir::Id /*param*/, const std::vector<std::string>& /*index*/) override {
    return refuse("a raw parameter");
  }
  std::string read_at(ir::Id /*param*/, const std::string& /*address*/) override {
    return refuse("a raw parameter");
  }
  std::string write_at(ir::Id /*param*/, const std::string& /*address*/,
                       const std::string& /*value*/) override {
    return refuse("a raw parameter");
  }
  std::string store(ir::Id param, const std::string& value) override {
    return parameter(param) + " = " + value + ";";
  }
  std::string atomic(ir::Op /*op*/, ir::Id /*param*/, const std::string& /*address*/,
                     const std::vector<std::string>& /*values*/) override {
    return refuse("an atomic update");
  }

 private:
  std::string refuse(const std::string& what) {
    if (missing.empty()) missing = what;
    return "0.0";
  }
};

}  // namespace

Result<std::string> function_text(const ir::Kernel& kernel, const std::string& name) {
  Alone alone;
  const auto result = static_cast<ir::Id>(kernel.params.size() - 1);
  std::string text = "fn " + name + "(";
  for (ir::Id param = 0; param < result; ++param)
    text += (param > 0 ? ", " : "") + parameter(param) + ": f32";
  text += ") -> f32 {\n  var " + parameter(result) + " = 0.0;\n" +
          write_block(kernel, alone, kernel.body, {}) + "  return " + parameter(result) + ";\n}\n";
  if (!kernel.functions.empty() && alone.missing.empty()) alone.missing = "a function";
  if (!alone.missing.empty())
    return Error{ErrorKind::not_implemented, "gpu_operation",
                 "kernel '" + kernel.name + "': " + alone.missing +
                     " has no place in a product of matrices on a GPU."};
  return text;
}

// Helpers read infinity and NaN from the first words of the block `u`, as in generated kernels.
std::string helper_text(const std::string& texts) {
  return "struct Words { w: array<vec4<u32>, 1> }\nvar<private> u: Words;\n" + prelude_for(texts);
}

std::string begin_helpers(const std::string& infinity, const std::string& nan) {
  return "  u.w[0] = vec4<u32>(0u, " + infinity + ", " + nan + ", 0u);\n";
}

}  // namespace arraycore::codegen
