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
