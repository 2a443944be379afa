// Several kernels as one: the bodies of elementwise kernels, one after the other, before the last
// kernel's own. What one part stores and a later one reads stays in the element: it is rounded to
// the stored dtype as memory would (Op::stored keeps a device's compiler from joining the two),
// computed once, and written to memory only where the caller wants it. Pure; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/ir.h"

namespace arraycore::fuse {

// What may be done with a kernel.
struct Traits {
  // It may stand before others: elementwise, one result, operands that are elements or scalars, no
  // return out of its body and no question about its operands' shapes.
  bool member = false;
  // Elements of its operands may come from other kernels.
  bool consumer = false;
  // It is one store of one expression: every element of the result is written.
  bool simple = false;
  ir::Id result = ir::kNone;  // of a member, or of a reduction with one result: its parameter
  std::uint32_t expressions = 0;
};
Traits traits_of(const ir::Kernel& kernel);

// What stands for a part's parameter.
struct Wire {
  enum class Kind : std::uint8_t {
    param,  // parameter `index` of the fused kernel; several wires may name the same one that is
            // only read
    value,  // read: the result of part `index`; at a member's own result: kept, not stored
  };
  Kind kind = Kind::param;
  std::uint32_t index = 0;
  bool operator==(const Wire&) const = default;
};

struct Part {
  const ir::Kernel* kernel = nullptr;
  std::vector<Wire> wires;  // one a parameter
};

// REQUIRES: every part verifies; all but the last are members, and the last is one or a consumer;
// wires of kind value name earlier parts, at elementwise parameters of the result's dtype; every
// one of the `params` parameters has a wire. The last part's written parameters are `param`s.
ir::Kernel fuse(std::string name, std::span<const Part> parts, std::size_t params);

// A name for messages and the device's labels: "subtract+multiply+add", of many the first ones.
std::string name_of(std::span<const Part> parts);

}  // namespace arraycore::fuse
