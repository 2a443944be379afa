// The choice of a device's kernel for a product, in small integers. The shader's text depends on
// nothing else, so a variant identifies a pipeline. Sizes, strides and offsets are uniforms. Pure;
// any thread.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gemm/problem.h"

namespace arraycore::gemm {

// The device's limits on which the choice depends.
struct Device {
  std::uint32_t invocations = 128;        // of one workgroup
  std::uint32_t workgroup_bytes = 16384;  // the most workgroup memory
  std::uint32_t groups = 65535;           // along one axis of a dispatch
  bool software = false;                  // a program on the CPU, where workgroup memory is slow
  double most_flop = std::numeric_limits<double>::infinity();  // of one dispatch
};

enum class Kind : std::uint8_t {
  plain,    // one element for each invocation, any strides; the conservative kernel
  direct,   // a block of 4 x 4 for each invocation, directly from the arrays
  tiled,    // a workgroup shares tiles in workgroup memory, and each invocation computes a block
  rows,     // n = 1: 32 invocations share a row of a, whose terms are consecutive
  columns,  // n = 1: 4 invocations share a row of a, with any strides
};

// The block of the result that a workgroup computes, the number of terms that it loads at a time,
// and the block of an invocation.
struct Tile {
  std::uint16_t rows = 64;
  std::uint16_t columns = 64;
  std::uint16_t depth = 16;
  std::uint8_t block_rows = 4;     // multiples of 4
  std::uint8_t block_columns = 4;  // multiples of 4
  bool operator==(const Tile&) const = default;

  // Returns the number of invocations of a workgroup. It is a multiple of `depth`, so that along
  // terms an invocation always fetches the same term of a tile.
  std::uint32_t threads() const {
    return std::uint32_t{rows} * columns / (std::uint32_t{block_rows} * block_columns);
  }
  std::uint32_t bytes() const { return (std::uint32_t{rows} + columns) * depth * 4; }
};

// The ways to read an operand. Its lines are the rows of `a` or the columns of `b`.
enum class Load : std::uint8_t {
  terms4,  // vectors of four terms of a line
  lines4,  // vectors of four lines
  terms,   // single elements; neighbouring invocations read along a line
  lines,   // single elements; neighbouring invocations read across lines
  // Only for `a` of a problem with a window: as `terms`, but an element's place follows from the
  // two digits of its term's number (problem.h). So the terms need not all be consecutive.
  outer,
  window,  // for `b` through a window: single elements; neighbouring invocations read across lines
  window_terms,  // the same, but neighbouring invocations read along a line; only for `tiled`
};

struct Variant {
  Kind kind = Kind::plain;
  Tile tile;  // of `tiled`
  Load a = Load::terms;
  Load b = Load::lines;
  std::uint8_t axes = 0;  // the number of axes of the window; 0: b is a matrix
  bool three = false;     // the window has three terms along each of its axes
  bool store4 = false;    // the result's rows are whole vectors
  bool split = false;     // the sum is divided into parts, and a second dispatch adds them
  bool prefetch = false;  // for `tiled`: the next tiles are fetched while the current ones are used
  bool wrong = false;     // wrong on purpose, to test the check of variants
  bool operator==(const Variant&) const = default;

  // Returns the name for messages and for the pipeline: "matmul tiled 64x64x16 ...", "conv ...".
  std::string name() const;
};

// A variant for one problem, and how the sum is divided.
struct Choice {
  Variant variant;
  std::uint32_t splits = 1;  // the number of parts of the sum
  std::uint32_t depth = 0;   // terms of each part
};

// Replaces the usual choices, for benchmarks and tests.
struct Tuning {
  std::uint32_t tile = 0;  // number + 1 in tiles(); 0: the usual choice
  bool prefetch = false;
  bool wrong = false;
};

const std::vector<Tile>& tiles();

// Chooses a kernel. REQUIRES: problem.dtype is float32. Only a result of one column gets a kernel
// for vectors, so the caller first transposes a product whose result is one row, if it can.
Choice choose(const Problem& problem, const Device& device, const Tuning& tuning = {});
// Returns the variant that works for every problem; it replaces a variant that failed its check.
Choice conservative(const Problem& problem);

// The workgroups of a dispatch along x and y. Along z there is one per batch element and part of
// the sum.
struct Grid {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
};
Grid grid_of(const Variant& variant, const Problem& problem);

}  // namespace arraycore::gemm
