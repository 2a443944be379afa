// Which kernel of a device does a product, in small integers: the shader's text depends on nothing
// else, so that a variant names a pipeline; sizes, strides and offsets travel as uniforms. Pure;
// any thread.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gemm/problem.h"

namespace arraycore::gemm {

// What a chooser asks of a device.
struct Device {
  std::uint32_t invocations = 128;        // of one workgroup
  std::uint32_t workgroup_bytes = 16384;  // of workgroup memory
  std::uint32_t groups = 65535;           // along one axis of a dispatch
  bool software = false;                  // a program on the CPU: workgroup memory costs there
  double most_flop = std::numeric_limits<double>::infinity();  // of one dispatch
};

enum class Kind : std::uint8_t {
  plain,    // one element an invocation, any strides: the conservative one
  direct,   // a block of 4 x 4 an invocation, straight from the arrays
  tiled,    // a workgroup shares tiles in workgroup memory, each invocation has a block
  rows,     // n = 1: 32 invocations share a row of a, whose terms lie one after the other
  columns,  // n = 1: 4 invocations share a row of a, its terms anywhere
};

// A workgroup's block of the result, how deep it loads at a time, and an invocation's block.
struct Tile {
  std::uint16_t rows = 64;
  std::uint16_t columns = 64;
  std::uint16_t depth = 16;
  std::uint8_t block_rows = 4;     // multiples of 4
  std::uint8_t block_columns = 4;  // multiples of 4
  bool operator==(const Tile&) const = default;

  // A multiple of `depth`, so that all that an invocation fetches along terms is of one term.
  std::uint32_t threads() const {
    return std::uint32_t{rows} * columns / (std::uint32_t{block_rows} * block_columns);
  }
  std::uint32_t bytes() const { return (std::uint32_t{rows} + columns) * depth * 4; }
};

// How an operand is read. Its lines are rows of `a` and columns of `b`.
enum class Load : std::uint8_t {
  terms4,        // vectors of four terms of a line
  lines4,        // vectors of four lines
  terms,         // single elements, neighbouring invocations along a line
  lines,         // single elements, neighbouring invocations across lines
  outer,         // `a` beside a window whose terms are not all in a row: as terms, by two digits
  window,        // `b` through a window: single elements, neighbouring invocations across lines
  window_terms,  // the same, neighbouring invocations along a line; of `tiled` alone
};

struct Variant {
  Kind kind = Kind::plain;
  Tile tile;  // of `tiled`
  Load a = Load::terms;
  Load b = Load::lines;
  std::uint8_t axes = 0;  // of the window; 0: b is a matrix
  bool three = false;     // the window has three terms along each of its axes
  bool store4 = false;    // the result's rows are whole vectors
  bool split = false;     // a sum is cut into parts, which a second dispatch adds
  bool prefetch = false;  // `tiled`: the next tiles are fetched while these are used
  bool wrong = false;     // on purpose, for the test of the start-up check
  bool operator==(const Variant&) const = default;

  // For messages, and as the pipeline's name: "matmul tiled 64x64x16 ...", "conv ...".
  std::string name() const;
};

// A variant and how it is cut for one problem.
struct Choice {
  Variant variant;
  std::uint32_t splits = 1;  // of the sum
  std::uint32_t depth = 0;   // terms of each part
};

// What is wanted instead of the chooser's own taste: for benchmarks and tests.
struct Tuning {
  std::uint32_t tile = 0;  // number + 1 in tiles(); 0: the chooser's
  bool prefetch = false;
  bool wrong = false;
};

const std::vector<Tile>& tiles();

// REQUIRES: problem.dtype is float32; without a window, a vector as the result stands upright: m is
// 1 only where n is.
Choice choose(const Problem& problem, const Device& device, const Tuning& tuning = {});
// The variant that takes every problem, for when another is denied.
Choice conservative(const Problem& problem);

// Workgroups of one dispatch along x and y; z counts batches times splits.
struct Grid {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
};
Grid grid_of(const Variant& variant, const Problem& problem);

}  // namespace arraycore::gemm
