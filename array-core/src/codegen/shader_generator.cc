// Writes uniform words, addresses and element bodies.
#include "codegen/shader_generator.h"

#include <algorithm>

#include "ir/op_info.h"

namespace arraycore::codegen {

using ir::Access;
using ir::Id;
using ir::Kernel;
using ir::kNone;
using ir::Op;
using ir::ParamKind;
using From = UniformWord::From;

bool always_stores(const Kernel& k, Id block, Id param, bool& stopped) {
  for (const Id id : k.blocks[block]) {
    const ir::Stmt& s = k.stmts[id];
    if (s.kind == ir::StmtKind::store && s.target == param) return true;
    if (s.kind == ir::StmtKind::give || s.kind == ir::StmtKind::leave ||
        s.kind == ir::StmtKind::next) {
      stopped = true;
      return false;
    }
    const bool nested = s.then != kNone || s.otherwise != kNone;
    if (!nested) continue;
    bool inner = false;
    const bool yes = s.then != kNone && always_stores(k, s.then, param, inner);
    const bool no = s.otherwise != kNone && always_stores(k, s.otherwise, param, inner);
    if (s.kind == ir::StmtKind::branch && yes && no) return true;
    // After a nested `return`, `break` or `continue`, the following statements may not run. So a
    // store among them is not one that always runs.
    if (inner) {
      stopped = true;
      return false;
    }
  }
  return false;
}

ShaderGenerator::ShaderGenerator(const Kernel& kernel, const Plan& plan) : k_(kernel), plan_(plan) {
  words_ = {{From::loop_size, 0, 0, 0},
            {From::bits, 0, 0, 0x7f800000u},
            {From::bits, 0, 0, 0x7fc00000u},
            {From::rows, 0, 0, 0}};
  if (k_.reduction) word(From::row_length);
}

std::string ShaderGenerator::constant(DType dtype, const ir::Scalar& value) {
  const auto low = static_cast<std::uint32_t>(value.bits);
  if (dtype == DType::complex64) {
    const auto high = static_cast<std::uint32_t>(value.bits >> 32);
    return "vec2<f32>(" + real_word({From::bits, 0, 0, low}) + ", " +
           real_word({From::bits, 0, 0, high}) + ")";
  }
  if (dtype == DType::float16) return "ac_half_value(" + word(From::bits, 0, 0, low & 0xffff) + ")";
  return real_word({From::bits, 0, 0, low});
}

std::string ShaderGenerator::leaf(const ir::Expr& e) {
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

std::string ShaderGenerator::address(Id param, const std::vector<std::string>& index) {
  std::string text = "p" + num(param) + "_at(";
  for (std::size_t i = 0; i < index.size(); ++i) text += (i > 0 ? ", " : "") + index[i];
  used_at_.insert(param);
  return text + ")";
}

std::string ShaderGenerator::read_at(Id param, const std::string& at) {
  return "p" + num(param) + "_get(" + at + ")";
}

std::string ShaderGenerator::store(Id param, const std::string& value) {
  return "p" + num(param) + " = " + value + ";";
}

std::string ShaderGenerator::word(From from, std::uint32_t p, std::uint32_t a, std::uint32_t bits) {
  const UniformWord wanted{from, p, a, bits};
  const auto found = std::find(words_.begin(), words_.end(), wanted);
  const auto index = static_cast<std::size_t>(found - words_.begin());
  if (found == words_.end()) words_.push_back(wanted);
  return "u.w[" + num(index / 4) + "]." + "xyzw"[index % 4];
}

std::string ShaderGenerator::integer(From from, std::uint32_t p, std::uint32_t a) {
  return "bitcast<i32>(" + word(from, p, a) + ")";
}

std::string ShaderGenerator::real_word(const UniformWord& w) {
  return "bitcast<f32>(" + word(w.from, w.param, w.axis, w.bits) + ")";
}

std::string ShaderGenerator::scalar(Id p) {
  const DType d = param(p).dtype;
  const std::string low = word(From::scalar, p, 0);
  if (size_of(d) == 8)
    return from_bits(d, "vec2<u32>(" + low + ", " + word(From::scalar, p, 1) + ")");
  return from_bits(d, low);
}

std::string ShaderGenerator::load_pair(std::uint32_t slot, const std::string& at) const {
  const std::string low = "2u * " + at;
  return "vec2<u32>(" + load_word(slot, low) + ", " + load_word(slot, low + " + 1u") + ")";
}

std::string ShaderGenerator::getter(Id p) const {
  const DType d = param(p).dtype;
  const std::uint32_t slot = own(p).slot;
  std::string bits;
  switch (size_of(d)) {
    case 1:
      bits = "((" + load_word(slot, "e >> 2u") + " >> ((e & 3u) * 8u)) & 0xffu)";
      break;
    case 2:
      bits = "((" + load_word(slot, "e >> 1u") + " >> ((e & 1u) * 16u)) & 0xffffu)";
      break;
    case 4:
      bits = load_word(slot, "e");
      break;
    default:
      bits = load_pair(slot, "e");
  }
  return "fn p" + num(p) + "_get(e: u32) -> " + register_type(d) + " {\n  return " +
         from_bits(d, bits) + ";\n}\n";
}

std::string ShaderGenerator::raw_address(Id p) {
  const ParamPlan& plan = own(p);
  const std::string offset = integer(From::offset, p);
  const int dims = param(p).ndim;
  std::string head = "fn p" + num(p) + "_at(";
  std::string body;
  if (dims < 0) {
    head += "i: i32";
    body += "  var rest: i32 = clamp(i, 0i, max(" + integer(From::count, p) + " - 1i, 0i));\n";
    if (plan.layout == Layout::contiguous) {
      body += "  return u32(" + offset + " + rest);\n";
    } else {
      body += "  var at: i32 = " + offset + ";\n";
      for (int axis = plan.ndim - 1; axis >= 0; --axis) {
        const auto a = static_cast<std::uint32_t>(axis);
        body += "  at += (rest % " + integer(From::extent, p, a) + ") * " +
                integer(From::stride, p, a) + ";\n";
        if (axis > 0) body += "  rest /= " + integer(From::extent, p, a) + ";\n";
      }
      body += "  return u32(at);\n";
    }
  } else {
    body += "  return u32(" + offset;
    for (int axis = 0; axis < dims; ++axis) {
      const auto a = static_cast<std::uint32_t>(axis);
      head += (axis > 0 ? ", i" : "i") + num(a) + ": i32";
      body += " + clamp(i" + num(a) + ", 0i, max(" + integer(From::extent, p, a) +
              " - 1i, 0i)) * " + integer(From::stride, p, a);
    }
    body += ");\n";
  }
  return head + ") -> u32 {\n" + body + "}\n";
}

std::string ShaderGenerator::coordinates(const std::string& prefix, const std::string& number,
                                         int ndim, From extent) {
  std::string text;
  std::string rest = number;
  for (int axis = ndim - 1; axis >= 0; --axis) {
    const auto a = static_cast<std::uint32_t>(axis);
    const std::string c = prefix + num(a);
    if (axis == 0) {
      text += "  let " + c + ": i32 = " + rest + ";\n";
    } else {
      text += "  let " + c + ": i32 = " + rest + " % " + integer(extent, 0, a) + ";\n";
      text += "  let " + c + "r: i32 = " + rest + " / " + integer(extent, 0, a) + ";\n";
      rest = c + "r";
    }
  }
  return text;
}

std::string ShaderGenerator::steps(const std::string& prefix, Id p, int ndim, From stride) {
  std::string text;
  for (int axis = 0; axis < ndim; ++axis)
    text += " + " + prefix + num(static_cast<std::uint64_t>(axis)) + " * " +
            integer(stride, p, static_cast<std::uint32_t>(axis));
  return text;
}

bool ShaderGenerator::needs_coordinates() const {
  bool any = lower::uses(k_, Op::axis_index);
  for (Id p = 0; p < k_.params.size(); ++p)
    any = any || (elementwise(p) && own(p).layout == Layout::strided);
  return any;
}

std::string ShaderGenerator::place(Id p, const std::string& number) {
  const std::string offset = integer(From::offset, p);
  switch (own(p).layout) {
    case Layout::one:
      return "u32(" + offset + ")";
    case Layout::contiguous:
      return "u32(" + offset + " + " + number + ")";
    case Layout::strided:
      break;
  }
  return "u32(" + offset + steps("c", p, plan_.loop_ndim, From::outer_stride) + ")";
}

std::string ShaderGenerator::axis(Id a) {
  uses_axes_ = true;
  return a < plan_.loop_ndim ? "s_c" + num(a) : "0i";
}

bool ShaderGenerator::preloads(Id p) const {
  if (param(p).access != Access::write) return true;
  bool stopped = false;
  return !always_stores(k_, k_.body, p, stopped);
}

bool ShaderGenerator::written(Id p) const {
  return elementwise(p) && param(p).access != Access::read;
}

std::string ShaderGenerator::element_body() {
  if (lower::uses(k_, Op::loop_index)) privates_ += "var<private> s_number: i32;\n";
  for (Id p = 0; p < k_.params.size(); ++p)
    if (elementwise(p))
      privates_ += "var<private> p" + num(p) + ": " + register_type(param(p).dtype) + ";\n";
  const std::string body = write_block(k_, *this, k_.body, {});
  if (uses_axes_)
    for (std::uint32_t a = 0; a < plan_.loop_ndim; ++a)
      privates_ += "var<private> s_c" + num(a) + ": i32;\n";
  return "fn element() {\n" + body + "}\n";
}

std::string ShaderGenerator::compute_element(const std::string& number) {
  std::string text;
  if (needs_coordinates()) text += coordinates("c", number, plan_.loop_ndim, From::outer_extent);
  if (uses_axes_)
    for (std::uint32_t a = 0; a < plan_.loop_ndim; ++a)
      text += "  s_c" + num(a) + " = c" + num(a) + ";\n";
  if (lower::uses(k_, Op::loop_index)) text += "  s_number = " + number + ";\n";
  for (Id p = 0; p < k_.params.size(); ++p)
    if (elementwise(p) && preloads(p))
      text += "  p" + num(p) + " = p" + num(p) + "_get(" + place(p, number) + ");\n";
  return text + "  element();\n";
}

}  // namespace arraycore::codegen
