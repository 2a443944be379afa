// Writes the parts of a shader in their order: uniforms, bindings and code.
#include "codegen/wgsl.h"

#include <algorithm>

#include "codegen/prelude/prelude.h"
#include "codegen/wgsl_generator.h"
#include "ir/op_info.h"

namespace arraycore::codegen {

using ir::Id;
using ir::Kernel;
using ir::Op;
using ir::ParamKind;
using From = UniformWord::From;

Result<WgslProgram> Generator::run() {
  const std::string functions = write_functions(k_, *this);
  std::string body = k_.reduction ? reduction_bodies() : element_body();
  if (k_.reduction && plan_.quads) body += run_fours();
  if (k_.reduction) body += run_post();
  std::vector<std::string> mains;
  if (!k_.reduction) {
    mains.push_back(plan_.quads ? quad_main() : single_main());
  } else if (k_.reduction->running()) {
    mains = scan_mains();
  } else {
    mains.push_back(rows_main());
    if (plan_.rows == Rows::split) mains.push_back(join_main());
  }
  if (!missing.empty())
    return Error{ErrorKind::not_implemented, "gpu_operation",
                 "kernel '" + k_.name + "': " + missing + " is not computed on a GPU."};
  WgslProgram program;
  program.plan = plan_;
  if (k_.reduction && plan_.rows == Rows::split)
    program.scratch_pairs_per_part = static_cast<std::uint32_t>(k_.reduction->values.size());
  const std::string shared = privates_ + functions + body + accessors();
  while (words_.size() % 4 != 0) words_.push_back({From::bits, 0, 0, 0});
  for (const std::string& entry : mains) {
    WgslStage stage;
    const std::string code = shared + entry;
    stage.text = declarations(stage) + code + prelude_for(code);
    program.stages.push_back(std::move(stage));
  }
  program.uniforms = words_;
  return program;
}

std::string Generator::write_at(Id param, const std::string& at, const std::string& value) {
  used_set_.insert(param);
  return "if (" + integer(From::count, param) + " > 0) { p" + num(param) + "_set(" + at + ", " +
         value + "); }";
}

std::string Generator::atomic(Op op, Id param, const std::string& at,
                              const std::vector<std::string>& values) {
  used_atomics_.insert({param, op});
  std::string text = "p" + num(param) + "_" + std::string(ir::name_of(op)) + "(" + at;
  for (const std::string& value : values) text += ", " + value;
  return text + ")";
}

std::string Generator::declarations(WgslStage& stage) {
  std::string text = "struct Uniforms { w: array<vec4<u32>, " + num(words_.size() / 4) +
                     "> }\n@group(0) @binding(0) var<uniform> u: Uniforms;\n";
  for (std::size_t s = 0; s < plan_.slots.size(); ++s) {
    const SlotPlan& slot = plan_.slots[s];
    const BindingAccess access = slot.written ? BindingAccess::read_write : BindingAccess::read;
    const char* type = slot.atomic ? "atomic<u32>" : slot.vectors ? "vec4<u32>" : "u32";
    text += "@group(0) @binding(" + num(s + 1) + ") var<storage, " +
            (slot.written ? "read_write" : "read") + "> b" + num(s) + ": array<" + type + ">;\n";
    stage.bindings.push_back({static_cast<std::uint32_t>(s), access});
  }
  if (k_.reduction && plan_.rows == Rows::split) {
    text += "@group(0) @binding(" + num(plan_.slots.size() + 1) +
            ") var<storage, read_write> scratch: array<vec2<u32>>;\n";
    stage.bindings.push_back({kScratch, BindingAccess::read_write});
  }
  return text;
}

std::string Generator::load_word(std::uint32_t slot, const std::string& at) const {
  const SlotPlan& s = plan_.slots[slot];
  const std::string b = "b" + num(slot);
  if (s.atomic) return "atomicLoad(&" + b + "[" + at + "])";
  if (s.vectors) return b + "[(" + at + ") >> 2u][(" + at + ") & 3u]";
  return b + "[" + at + "]";
}

std::string Generator::store_word(std::uint32_t slot, const std::string& at,
                                  const std::string& value) const {
  const SlotPlan& s = plan_.slots[slot];
  const std::string b = "b" + num(slot);
  if (s.atomic) return "atomicStore(&" + b + "[" + at + "], " + value + ");";
  if (s.vectors) return b + "[(" + at + ") >> 2u][(" + at + ") & 3u] = " + value + ";";
  return b + "[" + at + "] = " + value + ";";
}

Result<WgslProgram> generate(const Kernel& kernel, const Plan& plan) {
  return Generator(kernel, plan).run();
}

}  // namespace arraycore::codegen
