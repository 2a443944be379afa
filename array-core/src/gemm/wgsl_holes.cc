// Holes of the shaders: the IR's kernels as functions, what loads their operands, and both for four
// elements at once.
#include "codegen/wgsl_hole.h"
#include "gemm/wgsl_text.h"

namespace arraycore::gemm {

namespace {

// `<name>_at(value, batch, row, column)`: the function with its operands, which are e<first> on.
Result<std::string> function_of(const Hole& hole, const std::string& name, int first,
                                int& binding) {
  auto function = codegen::function_text(*hole.kernel, name);
  if (!function) return function;
  std::string bindings;
  std::string arguments = "value";
  for (int i = 0; i < hole.operands(); ++i) {
    const std::string e = "e" + std::to_string(first + i);
    bindings += "@group(0) @binding(" + std::to_string(binding++) + ") var<storage, read> " + e +
                ": array<f32>;\n";
    arguments += ", " + e + "[p." + e + "_offset + batch * p." + e + "_batch + row * p." + e +
                 "_row + column * p." + e + "_column]";
  }
  return bindings + *function + "fn " + name +
         "_at(value: f32, batch: u32, row: u32, column: u32) -> f32 {\n  return " + name + "(" +
         arguments + ");\n}\n";
}

// Four elements whose rows or columns follow each other; those beyond the last one are read at it.
std::string by_fours(const std::string& name, const std::string& of, bool columns,
                     const std::string& most) {
  std::string text = "fn " + name +
                     "(v: vec4<f32>, batch: u32, row: u32, column: u32) -> vec4<f32> {\n"
                     "  return vec4<f32>(";
  for (std::uint32_t j = 0; j < 4; ++j) {
    const std::string along =
        std::string("min(") + (columns ? "column" : "row") + " + " + u(j) + ", " + most + " - 1u)";
    text += std::string(j > 0 ? ", " : "") + of + "(v." + "xyzw"[j] + ", batch, " +
            (columns ? "row, " + along : along + ", min(column, p.n - 1u)") + ")";
  }
  return text + ");\n}\n";
}

}  // namespace

Result<HoleText> hole_text(const Holes& holes, int binding, bool of_window) {
  HoleText text;
  if (holes.before.kernel != nullptr) {
    const auto made = function_of(holes.before, "before", 0, binding);
    if (!made) return made.error();
    text.before = true;
    text.functions += *made;
    if (!of_window)
      text.functions += by_fours("before_lines", "before_at", true, "p.n") +
                        by_fours("before_terms", "before_at", false, "p.k");
  }
  if (holes.after.kernel != nullptr) {
    const auto made = function_of(holes.after, "after", kHoleOperands, binding);
    if (!made) return made.error();
    text.after = true;
    text.functions += *made + by_fours("after4", "after_at", true, "p.n");
  }
  if (!holes.any()) return text;
  text.functions += codegen::helper_text(text.functions);
  text.begin = codegen::begin_helpers("p.infinity", "p.nan");
  return text;
}

}  // namespace arraycore::gemm
