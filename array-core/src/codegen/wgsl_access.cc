// Writes WGSL that reads elements from a binding's words and writes them back: accessors, addresses
// of raw parameters, atomics.
#include "codegen/wgsl_atomic.h"
#include "codegen/wgsl_generator.h"
#include "ir/op_info.h"

namespace arraycore::codegen {

using ir::Access;
using ir::Id;
using ir::Op;
using ir::ParamKind;
using From = UniformWord::From;

std::string Generator::getter(Id p) const {
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
      bits = "vec2<u32>(" + load_word(slot, "2u * e") + ", " + load_word(slot, "2u * e + 1u") + ")";
  }
  return "fn p" + num(p) + "_get(e: u32) -> " + register_type(d) + " {\n  return " +
         from_bits(d, bits) + ";\n}\n";
}

std::string Generator::setter(Id p) const {
  const DType d = param(p).dtype;
  const std::uint32_t slot = own(p).slot;
  std::string text = "fn p" + num(p) + "_set(e: u32, v: " + register_type(d) + ") {\n";
  const std::size_t size = size_of(d);
  if (size == 8) {
    text += "  let bits = " + to_bits(d, "v") + ";\n  " + store_word(slot, "2u * e", "bits.x") +
            "\n  " + store_word(slot, "2u * e + 1u", "bits.y") + "\n";
  } else if (size == 4) {
    text += "  " + store_word(slot, "e", to_bits(d, "v")) + "\n";
  } else {
    const bool bytes = size == 1;
    text += "  let at = e >> " + std::string(bytes ? "2u" : "1u") + ";\n";
    text += "  let shift = (e & " + std::string(bytes ? "3u) * 8u" : "1u) * 16u") + ";\n";
    text += "  let mask = " + std::string(bytes ? "0xffu" : "0xffffu") + " << shift;\n";
    text += "  let bits = " + to_bits(d, "v") + " << shift;\n";
    const std::string b = "b" + num(slot) + "[at]";
    if (plan_.slots[slot].atomic)
      text += "  atomicAnd(&" + b + ", ~mask);\n  atomicOr(&" + b + ", bits);\n";
    else
      text +=
          "  " + store_word(slot, "at", "(" + load_word(slot, "at") + " & ~mask) | bits") + "\n";
  }
  return text + "}\n";
}

std::string Generator::raw_address(Id p) {
  const ParamPlan& plan = own(p);
  const std::string offset = integer(From::offset, p);
  const int dims = param(p).ndim;
  std::string head = "fn p" + num(p) + "_at(";
  std::string body;
  if (dims < 0) {
    head += "i: i32";
    body += "  var rest = clamp(i, 0i, max(" + integer(From::count, p) + " - 1i, 0i));\n";
    if (plan.layout == Layout::contiguous) {
      body += "  return u32(" + offset + " + rest);\n";
    } else {
      body += "  var at = " + offset + ";\n";
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

std::string Generator::accessors() {
  std::string text;
  for (Id p = 0; p < k_.params.size(); ++p) {
    if (param(p).kind == ParamKind::scalar) continue;
    text += getter(p);
    const bool sets = elementwise(p) ? param(p).access != Access::read : used_set_.contains(p);
    if (sets) text += setter(p);
    if (used_at_.contains(p)) text += raw_address(p);
  }
  for (const auto& [p, op] : used_atomics_)
    text += atomic_function("p" + num(p) + "_" + std::string(ir::name_of(op)), op, param(p).dtype,
                            "b" + num(own(p).slot), integer(From::count, p));
  return text;
}

}  // namespace arraycore::codegen
