// A launch's loop as executors walk it: axes that every operand steps through alike are merged,
// axes of extent 1 are gone. Pure; any thread. Walks keep their memory, so that a launch after the
// first allocates nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/ir.h"
#include "view/view.h"

namespace arraycore::lower {

// Axes to walk in C order, and each operand's byte strides along them (0 where it broadcasts).
struct Walk {
  Dims shape;
  std::vector<Dims> strides;
  std::int64_t count() const;
};

// Where the axes of `views` lie in `loop`: right-aligned, broadcast. `axes` has a bit for each axis
// of `loop` to walk. `merge` off keeps every axis (kernels that ask for an axis' index).
enum class Merge : std::uint8_t { off, on };
void walk(const Dims& loop, std::uint32_t axes, std::span<const View* const> views, Merge merge,
          Walk& result);

// How one launch of a kernel walks its elementwise parameters.
class Walks {
 public:
  // `views`: one a parameter; scalars' are not looked at, raw ones' neither. Bit k of `reduced`:
  // axis k is reduced (0 for an elementwise kernel).
  void set(const ir::Kernel& kernel, const Dims& loop, std::uint32_t reduced,
           std::span<const View* const> views, Merge merge);

  Walk outer;                // the axes that stay: all of them where nothing is reduced
  Walk inner;                // the reduced ones
  std::vector<int> operand;  // parameter -> operand of the walks, -1
  int number = 0;            // the operand that is the loop's C-order number, one byte an element

 private:
  std::vector<const View*> seen_;
  std::vector<View> widened_;
  View number_;
};

// C-order strides in elements.
Dims c_strides(const Dims& shape);

// Whether any expression of the kernel is `op`.
bool uses(const ir::Kernel& kernel, ir::Op op);

}  // namespace arraycore::lower
