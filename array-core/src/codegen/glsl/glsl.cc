// Writes the passes of kernels.
#include "codegen/glsl/glsl.h"

#include <utility>

#include "codegen/glsl/generator.h"
#include "codegen/glsl/used_functions.h"
#include "codegen/prelude/prelude.h"

namespace arraycore::codegen::glsl {

using ir::Id;
using ir::kNone;
using ir::ParamKind;
using From = UniformWord::From;

Result<Program> Generator::run() {
  // Adds the two words of a pass' range, one after the other.
  const auto range = [this](Id param, std::uint32_t index) {
    const auto at = static_cast<std::uint32_t>(words_.size());
    word(From::target, param, index);
    word(From::target, param, index + 1);
    return at;
  };
  Program program;
  const auto divided = static_cast<std::uint32_t>(plan_of_passes_.rows);
  std::vector<std::uint32_t> ranges;
  for (std::uint32_t k = 0; k < divided; ++k) ranges.push_back(range(kNone, kScratchRange + 2 * k));
  for (const Target& target : targets_) ranges.push_back(range(target.param, 0));

  std::string shared = write_functions(k_, *this);
  shared += k_.reduction ? reduction_bodies() : element_body();
  std::vector<std::string> codes;
  std::vector<std::string> mains;
  for (std::uint32_t k = 0; k < divided; ++k) {
    codes.push_back(shared + scratch_code(k));
    mains.push_back(scratch_main(k));
  }
  std::string last = shared;
  if (k_.reduction) last += last_totals() + begin_finish() + "}\n";
  for (const Target& target : targets_) {
    codes.push_back(last + number_of(target) + run_one(target));
    mains.push_back(main_of(target));
  }
  const std::string addresses = raw_addresses();
  if (!missing.empty())
    return Error{ErrorKind::not_implemented, "gpu_operation",
                 "kernel '" + k_.name + "': " + missing + " is not computed by WebGL2."};
  while (words_.size() % 4 != 0) words_.push_back({From::bits, 0, 0, 0});

  for (std::size_t i = 0; i < codes.size(); ++i) {
    Pass pass;
    pass.range = ranges[i];
    std::uint32_t kept = kNone;
    if (i < divided) {
      pass.target = scratch(static_cast<std::uint32_t>(i));
    } else {
      const Target& target = targets_[i - divided];
      pass.target = own(target.param).slot;
      if (target.keeps) kept = pass.target;
    }
    pass.text = text_of(codes[i], addresses, mains[i], kept, pass.reads);
    // The passes of all outputs are one stage.
    if (i <= divided) program.stages.emplace_back();
    program.stages.back().passes.push_back(std::move(pass));
  }
  program.uniforms = words_;
  return program;
}

std::string Generator::write_at(Id /*param*/, const std::string& /*at*/,
                                const std::string& /*value*/) {
  missing = "a store at a computed place";
  return {};
}

std::string Generator::atomic(Op /*op*/, Id param, const std::string& /*at*/,
                              const std::vector<std::string>& /*values*/) {
  missing = "an atomic update";
  return zero_of(k_.params[param].dtype);
}

std::string Generator::load_word(std::uint32_t slot, const std::string& at) const {
  return "b" + num(slot) + "_word(" + at + ")";
}

std::string Generator::load_pair(std::uint32_t slot, const std::string& at) const {
  return "b" + num(slot) + "_pair(" + at + ")";
}

std::string Generator::raw_addresses() {
  std::string text;
  for (const Id p : used_at_) text += raw_address(p);
  return text;
}

std::string Generator::number_of(const Target& target) {
  const bool of_rows = k_.reduction && !k_.reduction->running();
  const auto about = [&](std::uint32_t index) {
    return integer(From::target, target.param, index);
  };
  std::string text = "fn number_of(e: i32) -> i32 {\n  var rest: i32 = e - " + about(2) + ";\n";
  if (target.contiguous) {
    text += "  return select(-1i, rest, rest >= 0i && rest < " +
            integer(of_rows ? From::rows : From::loop_size) + ");\n";
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

std::string Generator::run_one(const Target& target) {
  const DType d = param(target.param).dtype;
  std::string text =
      std::string("fn run_one(number: i32) -> ") + (size_of(d) == 8 ? "vec2<u32>" : "u32") + " {\n";
  if (!k_.reduction) {
    text += compute_element("number");
  } else if (!k_.reduction->running()) {
    text += "  finish(number, row_total(number));\n";
  } else {
    const std::string length = integer(From::row_length);
    text += "  let row: i32 = number / " + length + ";\n  let inner: i32 = number - row * " +
            length + ";\n  finish(row, inner, running_total(row, inner), mapped(row, inner));\n";
  }
  return text + "  return " + to_bits(d, "p" + num(target.param)) + ";\n}\n";
}

std::string Generator::begin_main(const std::string& first, const std::string& texels) {
  return "void main() {\n  int texel = int(gl_FragCoord.y) * 2048 + int(gl_FragCoord.x);\n"
         "  if (texel < int(" +
         first + ") || texel >= int(" + first + ") + int(" + texels + ")) { discard; }\n";
}

// The four words of the result pass through a register from its last component to its first, so
// that no component is chosen by a variable.
std::string Generator::main_of(const Target& target) {
  const std::size_t size = size_of(param(target.param).dtype);
  std::string text =
      begin_main(word(From::target, target.param, 0), word(From::target, target.param, 1)) +
      "  uvec4 kept = " +
      (target.keeps ? "texelFetch(b" + num(own(target.param).slot) + ", ivec2(gl_FragCoord.xy), 0)"
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

std::string Generator::text_of(const std::string& code, const std::string& addresses,
                               const std::string& main, std::uint32_t kept,
                               std::vector<std::uint32_t>& reads) const {
  const std::string functions = used_functions(addresses + code, main);
  std::string accessors;
  for (Id p = 0; p < k_.params.size(); ++p)
    if (param(p).kind != ParamKind::scalar &&
        functions.find("p" + num(p) + "_get(") != functions.npos)
      accessors += getter(p);
  const std::string whole = privates_ + accessors + functions;
  const std::string all = prelude_for(whole) + whole;
  std::string text =
      "#version 300 es\nprecision highp float;\nprecision highp int;\n"
      "precision highp usampler2D;\nstruct Words { uvec4 w[" +
      num(words_.size() / 4) + "]; };\nuniform Words u;\nlayout(location = 0) out uvec4 result;\n";
  for (std::uint32_t s = 0; s < scratch(2); ++s) {
    const std::string b = "b" + num(s);
    const bool words = all.find(b + "_word(") != all.npos;
    const bool pairs = all.find(b + "_pair(") != all.npos;
    if (!words && !pairs && kept != s) continue;
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
  return text + kTranslate + all + kMain + main;
}

std::string Stage::text() const {
  std::string result;
  for (const Pass& pass : passes) {
    result += "//pass target " + num(pass.target) + " range " + num(pass.range) + " reads";
    for (const std::uint32_t slot : pass.reads) result += " " + num(slot);
    result += "\n" + pass.text;
  }
  return result;
}

std::string Plan::key() const {
  std::string text = "n" + std::to_string(base.loop_ndim) + "i" + std::to_string(base.inner_ndim) +
                     "r" + std::to_string(static_cast<int>(rows)) + (base.columns ? "c" : "r");
  for (const ParamPlan& p : base.params)
    text += "," + std::to_string(p.slot) + "l" + std::to_string(static_cast<int>(p.layout)) + "d" +
            std::to_string(p.ndim);
  for (const Target& target : targets) text += target.keeps ? ";k" : ";w";
  return text;
}

Result<Plan> make_plan(const ir::Kernel& kernel, const LaunchAnalysis& analysis,
                       const Limits& limits) {
  // A stage reads one scratch storage at most.
  const bool divided = analysis.division.rows != Rows::whole;
  codegen::Limits own;
  own.storage_buffers = limits.textures - (divided ? 1 : 0);
  TRY(auto& base, codegen::make_plan(kernel, analysis.base.signature, own));
  Plan plan;
  plan.base = std::move(base);
  plan.rows = analysis.division.rows;
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
