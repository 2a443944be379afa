// Writes the prologue and the epilogue in shaders: the IR's kernels as functions, loads of their
// operands, and versions for four elements at once.
#include "codegen/wgsl_function.h"
#include "gemm/wgsl_text.h"

namespace arraycore::gemm {

namespace {

// Returns the WGSL function `<name>_at(value, batch, row, column)`. Its operands are named
// e<first>, e<first + 1> and so on.
Result<std::string> function_of(const Stage& stage, const std::string& name, int first,
                                int& binding) {
  TRY(auto& function, codegen::function_text(*stage.kernel, name));
  std::string bindings;
  std::string arguments = "value";
  for (int i = 0; i < stage.operands(); ++i) {
    const std::string e = "e" + std::to_string(first + i);
    bindings += "@group(0) @binding(" + std::to_string(binding++) + ") var<storage, read> " + e +
                ": array<f32>;\n";
    arguments += ", " + e + "[p." + e + "_offset + batch * p." + e + "_batch + row * p." + e +
                 "_row + column * p." + e + "_column]";
  }
  return bindings + function + "fn " + name +
         "_at(value: f32, batch: u32, row: u32, column: u32) -> f32 {\n  return " + name + "(" +
         arguments + ");\n}\n";
}

// Returns a function for four elements with consecutive rows or columns. Positions after the last
// row or column are clamped to the last one.
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

Result<StageText> stage_text(const Stages& stages, int binding, bool of_window) {
  StageText text;
  if (stages.prologue.kernel != nullptr) {
    TRY(const auto& made, function_of(stages.prologue, "prologue", 0, binding));
    text.prologue = true;
    text.functions += made;
    if (!of_window)
      text.functions += by_fours("prologue_lines", "prologue_at", true, "p.n") +
                        by_fours("prologue_terms", "prologue_at", false, "p.k");
  }
  if (stages.epilogue.kernel != nullptr) {
    TRY(const auto& made, function_of(stages.epilogue, "epilogue", kStageOperands, binding));
    text.epilogue = true;
    text.functions += made + by_fours("epilogue4", "epilogue_at", true, "p.n");
  }
  if (!stages.any()) return text;
  text.functions += codegen::helper_text(text.functions);
  text.begin = codegen::begin_helpers("p.infinity", "p.nan");
  return text;
}

}  // namespace arraycore::gemm
