#include "codegen/wgsl_atomic.h"

#include <algorithm>
#include <cstddef>

#include "codegen/shader_types.h"
#include "ir/op_info.h"

namespace arraycore::codegen {
namespace {

using ir::Id;
using ir::Op;

bool is_used(const ir::Kernel& kernel, Id expr) {
  return std::find(kernel.args.begin(), kernel.args.end(), expr) != kernel.args.end() ||
         std::any_of(kernel.stmts.begin(), kernel.stmts.end(), [&](const ir::Stmt& s) {
           return s.value == expr && s.kind != ir::StmtKind::evaluate;
         });
}

// Returns WGSL for the element's new bits, given its old bits `old` and the update's value `v`. In
// a compare-and-exchange, the new value is `w`.
std::string updated(Op op, DType dtype) {
  if (op == Op::atomic_exchange) return to_bits(dtype, "v");
  if (op == Op::atomic_compare_exchange) return to_bits(dtype, "w");
  const Op plain = op == Op::atomic_add   ? Op::add
                   : op == Op::atomic_min ? Op::minimum
                                          : Op::maximum;
  return to_bits(dtype, *operation(plain, dtype, dtype, {from_bits(dtype, "old"), "v"}));
}

// Adds 64-bit integers atomically: first the low halves, then the carry and the high halves.
// Carries may arrive in any order. The sum is exact once all updates are done.
std::string wide_add(const std::string& buffer) {
  return "    let low = atomicAdd(&" + buffer +
         "[2u * e], v.x);\n    let high = v.y + select(0u, 1u, low + v.x < low);\n"
         "    if (high != 0u) { atomicAdd(&" +
         buffer + "[2u * e + 1u], high); }\n";
}

// Updates the element by compare-and-exchange of its word. This is repeated until no other update
// came in between.
std::string exchange(Op op, DType dtype, const std::string& buffer) {
  const std::size_t size = size_of(dtype);
  std::string at = "e";
  std::string element = "word";
  std::string stored = updated(op, dtype);
  std::string text;
  if (size < 4) {
    const std::string mask = size == 1 ? "0xffu" : "0xffffu";
    text += size == 1 ? "    let shift = (e & 3u) * 8u;\n" : "    let shift = (e & 1u) * 16u;\n";
    at = size == 1 ? "e >> 2u" : "e >> 1u";
    element = "(word >> shift) & " + mask;
    stored = "(word & ~(" + mask + " << shift)) | (" + stored + " << shift)";
  }
  const std::string cell = "&" + buffer + "[" + at + "]";
  text += "    loop {\n      let word = atomicLoad(" + cell + ");\n      old = " + element + ";\n";
  if (op == Op::atomic_compare_exchange)
    text += "      if (old != " + to_bits(dtype, "v") + ") { break; }\n";
  return text + "      let r = atomicCompareExchangeWeak(" + cell + ", word, " + stored +
         ");\n      if (r.exchanged) { break; }\n    }\n";
}

}  // namespace

bool has_atomic(const ir::Kernel& kernel, Id atomic) {
  const ir::Expr& e = kernel.exprs[atomic];
  if (size_of(e.type) <= 4) return true;
  return e.op == Op::atomic_add && is_wide(e.type) && !is_used(kernel, atomic);
}

std::string atomic_function(const std::string& name, Op op, DType dtype, const std::string& buffer,
                            const std::string& count) {
  const std::string type = register_type(dtype);
  std::string text = "fn " + name + "(e: u32, v: " + type;
  if (op == Op::atomic_compare_exchange) text += ", w: " + type;
  text += ") -> " + type + " {\n";
  if (size_of(dtype) > 4)
    return text + "  if (" + count + " > 0) {\n" + wide_add(buffer) + "  }\n  return " +
           zero_of(dtype) + ";\n}\n";
  text += "  var old = 0u;\n  if (" + count + " > 0) {\n";
  const bool plain_word = size_of(dtype) == 4 && (op == Op::atomic_exchange ||
                                                  (op == Op::atomic_add && is_integer(dtype)));
  if (plain_word)
    text += std::string("    old = ") + (op == Op::atomic_add ? "atomicAdd" : "atomicExchange") +
            "(&" + buffer + "[e], " + to_bits(dtype, "v") + ");\n";
  else
    text += exchange(op, dtype, buffer);
  return text + "  }\n  return " + from_bits(dtype, "old") + ";\n}\n";
}

}  // namespace arraycore::codegen
