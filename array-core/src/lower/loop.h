// Makes walks. A walk is the loop of a launch as executors run it: its axes and every operand's
// strides along them. Axes of extent 1 are removed. Neighbouring axes are merged if every operand's
// strides allow it. Pure; any thread. Walks keep their memory, so that only the first launch
// allocates.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/ir.h"
#include "view/view.h"

namespace arraycore::lower {

// The axes of the loop in C order, and each operand's byte strides along them. A stride is 0 if the
// operand is broadcast along the axis.
struct Walk {
  Dims shape;
  std::vector<Dims> strides;
  std::int64_t count() const;
};

// Says whether axes may be merged. Kernels that use the index along an axis need `off`.
enum class Merge : std::uint8_t { off, on };
void walk(const Dims& loop, std::uint32_t axes, std::span<const View* const> views, Merge merge,
          Walk& result);

// The walks of one launch over a kernel's elementwise parameters.
class Walks {
 public:
  // Sets the walks of a launch. `views` has one entry for each parameter; those of scalar and raw
  // parameters are ignored. Bit k of `reduced` says that axis k is reduced (0 for an elementwise
  // kernel).
  void set(const ir::Kernel& kernel, const Dims& loop, std::uint32_t reduced,
           std::span<const View* const> views, Merge merge);

  Walk outer;                // the axes that stay; all axes if nothing is reduced
  Walk inner;                // the reduced axes
  std::vector<int> operand;  // for each parameter: the index of its operand in the walks, or -1
  int number =
      0;  // the operand that stands for the loop's C-order number; its elements have one byte

 private:
  std::vector<const View*> seen_;
  std::vector<View> widened_;
  View number_;
};

// Returns C-order strides in elements.
Dims c_strides(const Dims& shape);

// Returns whether any expression of the kernel is `op`.
bool uses(const ir::Kernel& kernel, ir::Op op);

}  // namespace arraycore::lower
