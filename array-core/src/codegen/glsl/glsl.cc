// Writes the passes of elementwise kernels.
#include "codegen/glsl/glsl.h"

#include <utility>

#include "codegen/glsl/translate.h"
#include "codegen/prelude/prelude.h"
#include "codegen/shader_generator.h"

namespace arraycore::codegen::glsl {
namespace {

class Generator final : public ShaderGenerator {
 public:
  Generator(const ir::Kernel& kernel, const Plan& plan)
      : ShaderGenerator(kernel, plan.base), targets_(plan.targets) {}

  Result<Program> run() {
    std::vector<std::uint32_t> ranges;
    for (const Target& target : targets_) {
      ranges.push_back(static_cast<std::uint32_t>(words_.size()));
      word(From::target, target.param, 0);
      word(From::target, target.param, 1);
    }
    const std::string functions = write_functions(k_, *this);
    const std::string body = element_body();
    std::vector<std::string> ends;
    for (const Target& target : targets_) ends.push_back(number_of(target) + run_one(target));
    const std::string addresses = raw_addresses();
    if (!missing.empty())
      return Error{ErrorKind::not_implemented, "gpu_operation",
                   "kernel '" + k_.name + "': " + missing + " is not computed by WebGL2."};
    Program program;
    std::vector<std::string> mains;
    for (const Target& target : targets_) mains.push_back(main_of(target));
    while (words_.size() % 4 != 0) words_.push_back({From::bits, 0, 0, 0});
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      Pass pass;
      pass.target = own(targets_[t].param).slot;
      pass.range = ranges[t];
      pass.text = text_of(targets_[t], functions + body + ends[t], addresses, mains[t], pass.reads);
      program.passes.push_back(std::move(pass));
    }
    program.uniforms = words_;
    return program;
  }

  // ---- Environment: analyze() has refused kernels that write at computed places
  std::string write_at(Id /*param*/, const std::string& /*at*/,
                       const std::string& /*value*/) override {
    missing = "a store at a computed place";
    return {};
  }
  std::string atomic(Op /*op*/, Id param, const std::string& /*at*/,
                     const std::vector<std::string>& /*values*/) override {
    missing = "an atomic update";
    return zero_of(k_.params[param].dtype);
  }

 private:
  std::string load_word(std::uint32_t slot, const std::string& at) const override {
    return "b" + num(slot) + "_word(" + at + ")";
  }
  std::string load_pair(std::uint32_t slot, const std::string& at) const override {
    return "b" + num(slot) + "_pair(" + at + ")";
  }

  std::string raw_addresses() {
    std::string text;
    for (const Id p : used_at_) text += raw_address(p);
    return text;
  }

  // Returns the function that finds the number of the element at address `e`; -1 if the view has no
  // element there.
  std::string number_of(const Target& target) {
    const auto about = [&](std::uint32_t index) {
      return integer(From::target, target.param, index);
    };
    std::string text = "fn number_of(e: i32) -> i32 {\n  var rest: i32 = e - " + about(2) + ";\n";
    if (target.contiguous) {
      text +=
          "  return select(-1i, rest, rest >= 0i && rest < " + integer(From::loop_size) + ");\n";
    } else {
      text += "  if (rest < 0i) { return -1i; }\n  var number: i32 = " + about(3) + ";\n";
      for (std::uint32_t a = 0; a < target.axes.size(); ++a) {
        const std::uint32_t index = kTargetAxes + 3 * a;
        const std::string c = "c" + num(a);
        text += "  let " + c + ": i32 = rest / " + about(index + 1) + ";\n  if (" + c +
                " >= " + about(index) + ") { return -1i; }\n  rest -= " + c + " * " +
                about(index + 1) + ";\n  number += " + c + " * " + about(index + 2) + ";\n";
      }
      text += "  return select(number, -1i, rest != 0i);\n";
    }
    return text + "}\n";
  }

  // Returns the function that computes an element and gives the target's bits.
  std::string run_one(const Target& target) {
    const DType d = param(target.param).dtype;
    return std::string("fn run_one(number: i32) -> ") + (size_of(d) == 8 ? "vec2<u32>" : "u32") +
           " {\n" + compute_element("number") + "  return " + to_bits(d, "p" + num(target.param)) +
           ";\n}\n";
  }

  // Returns the pass' entry point, in GLSL. The four words of the result pass through a register
  // from its last component to its first, so that no component is chosen by a variable.
  std::string main_of(const Target& target) {
    const std::string first = "int(" + word(From::target, target.param, 0) + ")";
    const std::string texels = "int(" + word(From::target, target.param, 1) + ")";
    const std::size_t size = size_of(param(target.param).dtype);
    std::string text =
        "void main() {\n  int texel = int(gl_FragCoord.y) * 2048 + int(gl_FragCoord.x);\n"
        "  if (texel < " +
        first + " || texel >= " + first + " + " + texels + ") { discard; }\n  uvec4 kept = " +
        (target.keeps
             ? "texelFetch(b" + num(own(target.param).slot) + ", ivec2(gl_FragCoord.xy), 0)"
             : "uvec4(0u)") +
        ";\n  uvec4 made = uvec4(0u);\n";
    if (size == 8) {
      text +=
          "  for (int k = 0; k < 2; ++k) {\n    uvec2 pair = kept.xy;\n"
          "    int number = number_of(texel * 2 + k);\n"
          "    if (number >= 0) { pair = run_one(number); }\n"
          "    made = uvec4(made.zw, pair);\n    kept = kept.zwxy;\n  }\n";
    } else if (size == 4) {
      text +=
          "  for (int k = 0; k < 4; ++k) {\n    uint word = kept.x;\n"
          "    int number = number_of(texel * 4 + k);\n"
          "    if (number >= 0) { word = run_one(number); }\n"
          "    made = uvec4(made.yzw, word);\n    kept = kept.yzwx;\n  }\n";
    } else {
      const std::string parts = num(4 / size);
      const std::string bits = num(8 * size);
      text += "  for (int k = 0; k < 4; ++k) {\n    uint word = kept.x;\n    for (int j = 0; j < " +
              parts + "; ++j) {\n      int number = number_of((texel * 4 + k) * " + parts +
              " + j);\n      if (number >= 0) {\n        uint shift = uint(j) * " + bits +
              "u;\n        word = (word & ~(" + (size == 1 ? "0xffu" : "0xffffu") +
              " << shift)) | (run_one(number) << shift);\n      }\n    }\n"
              "    made = uvec4(made.yzw, word);\n    kept = kept.yzwx;\n  }\n";
    }
    return text + "  result = made;\n}\n";
  }

  // Returns the whole text of a pass, and the slots that it reads.
  std::string text_of(const Target& target, const std::string& code, const std::string& addresses,
                      const std::string& main, std::vector<std::uint32_t>& reads) const {
    std::string accessors;
    for (Id p = 0; p < k_.params.size(); ++p)
      if (param(p).kind != ParamKind::scalar && code.find("p" + num(p) + "_get(") != code.npos)
        accessors += getter(p);
    const std::string whole = privates_ + accessors + addresses + code;
    const std::string translated = translate(prelude_for(whole) + whole);
    std::string text =
        "#version 300 es\nprecision highp float;\nprecision highp int;\n"
        "precision highp usampler2D;\nstruct Words { uvec4 w[" +
        num(words_.size() / 4) +
        "]; };\nuniform Words u;\nlayout(location = 0) out uvec4 result;\n";
    for (std::uint32_t s = 0; s < plan_.slots.size(); ++s) {
      const std::string b = "b" + num(s);
      const bool words = translated.find(b + "_word(") != translated.npos;
      const bool pairs = translated.find(b + "_pair(") != translated.npos;
      const bool kept = target.keeps && own(target.param).slot == s;
      if (!words && !pairs && !kept) continue;
      reads.push_back(s);
      text += "uniform usampler2D " + b + ";\n";
      if (words)
        text += "uint " + b + "_word(uint at) { return texelFetch(" + b +
                ", ivec2(int(at >> 2u) & 2047, int(at >> 13u)), 0)[at & 3u]; }\n";
      if (pairs)
        text += "uvec2 " + b + "_pair(uint at) {\n  uvec4 texel = texelFetch(" + b +
                ", ivec2(int(at >> 1u) & 2047, int(at >> 12u)), 0);\n"
                "  return (at & 1u) == 0u ? texel.xy : texel.zw;\n}\n";
    }
    return text + missing_functions(translated) + translated + main;
  }

  const std::vector<Target>& targets_;
};

}  // namespace

std::string Program::text() const {
  std::string result;
  for (const Pass& pass : passes) {
    result += "//pass target " + num(pass.target) + " range " + num(pass.range) + " reads";
    for (const std::uint32_t slot : pass.reads) result += " " + num(slot);
    result += "\n" + pass.text;
  }
  return result;
}

std::string Plan::key() const {
  std::string text = "n" + std::to_string(base.loop_ndim);
  for (const ParamPlan& p : base.params)
    text += "," + std::to_string(p.slot) + "l" + std::to_string(static_cast<int>(p.layout)) + "d" +
            std::to_string(p.ndim);
  for (const Target& target : targets) text += target.keeps ? ";k" : ";w";
  return text;
}

Result<Plan> make_plan(const ir::Kernel& kernel, const LaunchAnalysis& analysis,
                       const Limits& limits) {
  codegen::Limits own;
  own.storage_buffers = limits.textures;
  TRY(auto& base, codegen::make_plan(kernel, analysis.base.signature, own));
  Plan plan;
  plan.base = std::move(base);
  plan.targets.assign(analysis.all_targets().begin(), analysis.all_targets().end());
  return plan;
}

Result<Program> generate(const ir::Kernel& kernel, const Plan& plan) {
  Generator generator(kernel, plan);
  TRY(auto& program, generator.run());
  program.plan = plan;
  return std::move(program);
}

}  // namespace arraycore::codegen::glsl
