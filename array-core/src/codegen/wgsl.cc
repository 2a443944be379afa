// Writes the parts of a shader in their order: uniforms, bindings and code.
#include "codegen/wgsl.h"

#include <algorithm>

#include "codegen/wgsl_generator.h"
#include "ir/op_info.h"

namespace arraycore::codegen {

using ir::Id;
using ir::Kernel;
using ir::kNone;
using ir::Op;
using ir::ParamKind;
using From = UniformWord::From;

Generator::Generator(const Kernel& kernel, const Plan& plan) : k_(kernel), plan_(plan) {
  words_ = {{From::loop_size, 0, 0, 0},
            {From::bits, 0, 0, 0x7f800000u},
            {From::bits, 0, 0, 0x7fc00000u},
            {From::rows, 0, 0, 0}};
  if (k_.reduction) word(From::row_length);
}

Result<WgslProgram> Generator::run() {
  const std::string functions = write_functions(k_, *this);
  const std::string body = k_.reduction ? reduction_bodies() : element_body();
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

std::string Generator::constant(DType dtype, const ir::Scalar& value) {
  const auto low = static_cast<std::uint32_t>(value.bits);
  if (dtype == DType::complex64) {
    const auto high = static_cast<std::uint32_t>(value.bits >> 32);
    return "vec2<f32>(" + real_word({From::bits, 0, 0, low}) + ", " +
           real_word({From::bits, 0, 0, high}) + ")";
  }
  if (dtype == DType::float16) return "ac_half_value(" + word(From::bits, 0, 0, low & 0xffff) + ")";
  return real_word({From::bits, 0, 0, low});
}

std::string Generator::leaf(const ir::Expr& e) {
  switch (e.op) {
    case Op::loop_index:
      return "s_number";
    case Op::loop_size:
      return in_post_ && !k_.reduction->running() ? integer(From::rows) : integer(From::loop_size);
    case Op::reduce_index:
      return "s_inner";
    case Op::axis_index:
      return axis(e.index);
    case Op::param_size:
      return integer(From::count, e.index);
    case Op::param_shape: {
      const auto number = static_cast<std::uint32_t>(k_.exprs[k_.args[e.first_arg]].bits);
      return integer(From::extent, e.index, number);
    }
    default:
      break;
  }
  if (k_.params[e.index].kind == ParamKind::scalar) return scalar(e.index);
  return "p" + num(e.index);
}

std::string Generator::address(Id param, const std::vector<std::string>& index) {
  std::string text = "p" + num(param) + "_at(";
  for (std::size_t i = 0; i < index.size(); ++i) text += (i > 0 ? ", " : "") + index[i];
  used_at_.insert(param);
  return text + ")";
}

std::string Generator::read_at(Id param, const std::string& at) {
  return "p" + num(param) + "_get(" + at + ")";
}

std::string Generator::write_at(Id param, const std::string& at, const std::string& value) {
  used_set_.insert(param);
  return "if (" + integer(From::count, param) + " > 0) { p" + num(param) + "_set(" + at + ", " +
         value + "); }";
}

std::string Generator::store(Id param, const std::string& value) {
  return "p" + num(param) + " = " + value + ";";
}

std::string Generator::atomic(Op op, Id param, const std::string& at,
                              const std::vector<std::string>& values) {
  used_atomics_.insert({param, op});
  std::string text = "p" + num(param) + "_" + std::string(ir::name_of(op)) + "(" + at;
  for (const std::string& value : values) text += ", " + value;
  return text + ")";
}

std::string Generator::word(From from, std::uint32_t p, std::uint32_t a, std::uint32_t bits) {
  const UniformWord wanted{from, p, a, bits};
  const auto found = std::find(words_.begin(), words_.end(), wanted);
  const auto index = static_cast<std::size_t>(found - words_.begin());
  if (found == words_.end()) words_.push_back(wanted);
  return "u.w[" + num(index / 4) + "]." + "xyzw"[index % 4];
}

std::string Generator::integer(From from, std::uint32_t p, std::uint32_t a) {
  return "bitcast<i32>(" + word(from, p, a) + ")";
}

std::string Generator::real_word(const UniformWord& w) {
  return "bitcast<f32>(" + word(w.from, w.param, w.axis, w.bits) + ")";
}

std::string Generator::scalar(Id p) {
  const DType d = param(p).dtype;
  const std::string low = word(From::scalar, p, 0);
  if (size_of(d) == 8)
    return from_bits(d, "vec2<u32>(" + low + ", " + word(From::scalar, p, 1) + ")");
  return from_bits(d, low);
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
