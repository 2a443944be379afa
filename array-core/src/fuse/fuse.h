// Joins several kernels into one: the bodies of elementwise kernels, one after the other, and then
// the last kernel's own body. A value that one part stores and a later part reads is a variable of
// the fused kernel. It is computed once and rounded to the dtype in which it would be stored
// (Op::stored keeps a device's compiler from combining the two parts). It is written to memory only
// if the caller wants it. Pure; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/ir.h"

namespace arraycore::fuse {

// Says in which ways a kernel can be fused.
struct Traits {
  // The kernel can be a part before others: it is elementwise, has one result, its operands are
  // elements or scalars, its body does not return early, and it does not use its operands' shapes.
  bool member = false;
  // The kernel can be the last part: elements of its operands may come from other kernels.
  bool consumer = false;
  // The kernel is one store of one expression, so every element of the result is written.
  bool simple = false;
  // The parameter of the only result, if `member` is true or the kernel is a reduction.
  ir::Id result = ir::kNone;
  std::uint32_t expressions = 0;
};
Traits traits_of(const ir::Kernel& kernel);

// Says what replaces a parameter of a part in the fused kernel.
struct Wire {
  enum class Kind : std::uint8_t {
    // Parameter `index` of the fused kernel. Several wires may name the same parameter if it is
    // only read.
    param,
    // A value inside of the fused kernel. A parameter that is read gets the result of part `index`.
    // A part's own result is kept for later parts and is not stored to memory.
    value,
  };
  Kind kind = Kind::param;
  std::uint32_t index = 0;
  bool operator==(const Wire&) const = default;
};

struct Part {
  const ir::Kernel* kernel = nullptr;
  std::vector<Wire> wires;  // one for each parameter
};

// Fuses the parts. REQUIRES: verify() passes for every part; Traits::member is true for all parts,
// except that the last one may have Traits::consumer instead; if a parameter that is read has a
// wire of kind `value`, the wire names an earlier part, and the parameter is elementwise and has
// the dtype of that part's result; every one of the `params` parameters has a wire; the wires of
// the last part's written parameters have kind `param`.
ir::Kernel fuse(std::string name, std::span<const Part> parts, std::size_t params);

// Returns a name for messages and the device's labels, such as "subtract+multiply+add". Of many
// parts it lists the first ones.
std::string name_of(std::span<const Part> parts);

}  // namespace arraycore::fuse
