// A launch's loop as executors walk it: axes that every operand steps through alike are merged,
// axes of extent 1 are gone. Pure; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/interpret.h"

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
Walk walk(const Dims& loop, std::uint32_t axes, const std::vector<View>& views, Merge merge);

// C-order strides in elements.
Dims c_strides(const Dims& shape);

// Whether any expression of the kernel is `op`.
bool uses(const ir::Kernel& kernel, ir::Op op);

}  // namespace arraycore::lower
