#include <algorithm>
#include <array>
#include <cstdlib>

#include "gemm/variant.h"

namespace arraycore::gemm {

namespace {

// The number of workgroups that keep a large device busy, and the limits for dividing the sum of a
// product into parts.
constexpr std::int64_t kEnoughTiles = 200;
constexpr std::int64_t kFewTiles = 64;
constexpr std::int64_t kSplitTiles = 128;
constexpr std::int64_t kSplitDepth = 256;
constexpr std::int64_t kMostSplits = 64;
// A sum counts as long if it has at least kLongSum times as many terms as the longer side of the
// result. A long sum gets many workgroups, so that few multiprocessors wait for the last one. The
// other numbers are the limits for a division of long sums.
constexpr std::int64_t kLongSum = 2;
constexpr std::int64_t kLongTiles = 512;
constexpr std::int64_t kLongDepth = 512;
constexpr std::int64_t kMostLongSplits = 256;
// These numbers are for convolutions, which must compute the address of each element that the
// window reads. A block of 8 x 4 elements per invocation makes that cheapest on large devices. With
// many workgroups, others work while one computes addresses.
constexpr Tile kWindowTile{64, 64, 16, 8, 4};
constexpr std::int64_t kWindowTiles = 512;
constexpr std::int64_t kWindowDepth = 256;
// The smallest number of terms for which a convolution's sum is worth dividing, although a second
// dispatch must then add the parts.
constexpr std::int64_t kShortWindowSum = 1280;
// The smallest number of terms of a row that keeps 32 invocations busy.
constexpr std::int64_t kShortRow = 32;
// The numbers of elements of a result vector that a workgroup computes, if 32 neighbouring
// invocations share a row and if they do not.
constexpr std::int64_t kRowsOfGroup = 4;
constexpr std::int64_t kLinesOfGroup = 32;
// If the result of a convolution has fewer rows than this, tiles are not used, because most of a
// tile would be idle.
constexpr std::int64_t kFewRows = 2;
// A result with at least this many tiles is worth a prefetch. In tiles of 128 x 128, a result of
// 4096 x 4096 has so many.
constexpr std::int64_t kPrefetchTiles = 1024;
// The number of rows, and of columns, that a workgroup of the plain kernel computes.
constexpr std::int64_t kPlainBlock = 8;

std::int64_t over(std::int64_t value, std::int64_t step) { return (value + step - 1) / step; }

bool is_whole4(std::int64_t value) { return value % 4 == 0; }

// Returns whether all vectors of four elements are aligned. Vectors lie along one axis; `stride` is
// the stride of the other axis.
bool vectors(const Matrix& matrix, std::int64_t stride) {
  return is_whole4(matrix.offset) && is_whole4(stride) &&
         std::all_of(matrix.batch.begin(), matrix.batch.end(), is_whole4);
}

Load load_of(const Matrix& matrix, std::int64_t line_stride, std::int64_t term_stride,
             std::int64_t terms) {
  if (term_stride == 1)
    return is_whole4(terms) && vectors(matrix, line_stride) ? Load::terms4 : Load::terms;
  if (line_stride == 1) return vectors(matrix, term_stride) ? Load::lines4 : Load::lines;
  return line_stride != 0 && std::abs(line_stride) < std::abs(term_stride) ? Load::lines
                                                                           : Load::terms;
}

bool fits(const Tile& tile, const Device& device) {
  return tile.threads() <= device.invocations && tile.bytes() <= device.workgroup_bytes;
}

std::int64_t count(const Tile& tile, const Problem& problem) {
  return over(problem.m, tile.rows) * over(problem.n, tile.columns) * problem.batches();
}

// Returns whether a sum has so many more terms than the result has rows or columns that a device is
// busy only if the sum is divided. The gradient of weights is an example.
bool is_long(const Problem& problem) {
  return problem.k >= kLongSum * std::max(problem.m, problem.n);
}

// Returns the number of parts into which the sum may be divided to allow larger tiles.
std::int64_t parts_of(const Problem& problem) {
  return is_long(problem) ? std::clamp<std::int64_t>(problem.k / kLongDepth, 1, kMostLongSplits)
                          : 1;
}

// Returns whether a long sum or a convolution has a result that fills at most half of the tile.
// Then the other half has no work, and a smaller tile suffices.
bool is_half_idle(const Tile& tile, const Problem& problem) {
  const Tile& least = tiles().back();
  return (is_long(problem) || problem.window) &&
         ((problem.m <= tile.rows / 2 && tile.rows > least.rows) ||
          (problem.n <= tile.columns / 2 && tile.columns > least.columns));
}

// Returns the number of parts into which a convolution's sum is divided, to have enough workgroups.
std::int64_t window_parts(const Problem& problem, const Tile& tile) {
  if (problem.k < kShortWindowSum) return 1;
  const std::int64_t wanted =
      std::min(kWindowTiles / count(tile, problem), problem.k / kWindowDepth);
  return std::clamp<std::int64_t>(wanted, 1, kMostLongSplits);
}

// Returns the largest tile that gives enough workgroups, counting the parts of a long sum; or else
// the smallest that fits.
Tile tile_of(const Problem& problem, const Device& device) {
  if (problem.window && fits(kWindowTile, device) && problem.m > kWindowTile.rows / 2 &&
      problem.n > kWindowTile.columns / 2 &&
      count(kWindowTile, problem) * window_parts(problem, kWindowTile) >= kFewTiles)
    return kWindowTile;
  const Tile* best = nullptr;
  for (const Tile& tile : tiles()) {
    if (!fits(tile, device)) continue;
    best = &tile;
    if (is_half_idle(tile, problem)) continue;
    if (count(tile, problem) * parts_of(problem) >= kEnoughTiles) break;
  }
  return *best;
}

// Returns whether the window's columns are consecutive in the result, in whole vectors.
bool window_stores4(const Problem& problem) {
  const Window& window = *problem.window;
  std::int64_t stride = 1;
  for (int axis = kWindowAxes - 1; axis >= 0; --axis) {
    const WindowAxis& each = window.axes[static_cast<std::size_t>(axis)];
    if (each.columns > 1 && each.out_stride != stride) return false;
    stride *= each.columns;
  }
  const Matrix& out = problem.out;
  const bool in_a_row = out.column_stride == stride || problem.n == stride;
  return is_whole4(problem.n) && vectors(out, out.row_stride) &&
         (in_a_row || (is_whole4(stride) && is_whole4(out.column_stride)));
}

void choose_loads(Variant& variant, const Problem& problem) {
  if (!problem.window) {
    variant.a = load_of(problem.a, problem.a.row_stride, problem.a.column_stride, problem.k);
    variant.b = load_of(problem.b, problem.b.column_stride, problem.b.row_stride, problem.k);
    variant.store4 = is_whole4(problem.n) && vectors(problem.out, problem.out.row_stride);
    return;
  }
  const Window& window = *problem.window;
  if (problem.terms_in_a_row()) variant.a = load_of(problem.a, problem.a.row_stride, 1, problem.k);
  variant.three = true;
  for (std::size_t axis = kWindowAxes - variant.axes; axis < kWindowAxes; ++axis)
    variant.three = variant.three && window.axes[axis].terms == 3;
  variant.store4 = window_stores4(problem);
}

// Returns whether more data are consecutive along terms than along columns. Then neighbouring
// invocations read neighbouring terms, as in the gradient of weights.
bool lies_along_terms(const Window& window) { return window.terms() > window.columns(); }

// Returns whether the next tiles are fetched while the current ones are used. That is faster only
// if each multiprocessor computes several large tiles in turn.
bool prefetches(const Tile& tile, const Problem& problem) {
  return !problem.window && tile == tiles().front() && count(tile, problem) >= kPrefetchTiles;
}

// Divides the sum into about `wanted` parts. Each has a multiple of `step` terms.
void cut(Choice& choice, const Problem& problem, std::int64_t wanted, std::int64_t step) {
  const std::int64_t depth = over(over(problem.k, std::max<std::int64_t>(wanted, 1)), step) * step;
  choice.depth = static_cast<std::uint32_t>(depth);
  choice.splits = static_cast<std::uint32_t>(over(problem.k, depth));
  choice.variant.split = choice.splits > 1;
}

void split(Choice& choice, const Problem& problem, std::int64_t tiles_there, std::int64_t step) {
  if (tiles_there >= kFewTiles || problem.k < 2 * kSplitDepth) return;
  cut(choice, problem, std::min({kSplitTiles / tiles_there, problem.k / kSplitDepth, kMostSplits}),
      step);
}

// Divides the sum into as many parts as tile_of() assumed, or into fewer if fewer give enough
// workgroups.
void split_tiles(Choice& choice, const Problem& problem) {
  const Tile& tile = choice.variant.tile;
  if (problem.window && tile == kWindowTile) {
    cut(choice, problem, window_parts(problem, tile), tile.depth);
    return;
  }
  const std::int64_t tiles_there = count(tile, problem);
  const std::int64_t parts = parts_of(problem);
  if (parts > 1 && tiles_there < kEnoughTiles && tiles_there * parts >= kEnoughTiles)
    cut(choice, problem, std::min(kLongTiles / tiles_there, parts), tile.depth);
  else
    split(choice, problem, tiles_there, tile.depth);
}

}  // namespace

// Returns the tiles from the largest to the smallest. The last one fits every device.
const std::vector<Tile>& tiles() {
  static const std::vector<Tile> all{{128, 128, 16, 8, 8}, {64, 128, 16, 4, 8}, {64, 64, 16, 4, 4},
                                     {64, 64, 16, 8, 4},   {32, 64, 16, 4, 4},  {32, 32, 16, 4, 4}};
  return all;
}

Choice conservative(const Problem& problem) {
  Choice choice;
  choice.depth = static_cast<std::uint32_t>(problem.k);
  if (problem.window) {
    choice.variant.axes = static_cast<std::uint8_t>(problem.window->used);
    choice.variant.a = Load::outer;
    choice.variant.b = Load::window;
  }
  return choice;
}

Choice choose(const Problem& problem, const Device& device, const Tuning& tuning) {
  Choice choice = conservative(problem);
  Variant& variant = choice.variant;
  variant.wrong = tuning.wrong;
  if (problem.window && problem.m < kFewRows) {
    // With a single row, a tile would share nothing, so the plain kernel is used.
    split(choice, problem, over(problem.n, kPlainBlock) * problem.batches(), 4);
    return choice;
  }
  if (!problem.window && problem.n == 1) {
    const Matrix& a = problem.a;
    variant.a = load_of(a, a.row_stride, a.column_stride, problem.k);
    const bool by_terms =
        (variant.a == Load::terms || variant.a == Load::terms4) && problem.k >= kShortRow;
    variant.kind = by_terms ? Kind::rows : Kind::columns;
    if (!by_terms) variant.a = Load::lines;
    split(choice, problem,
          over(problem.m, by_terms ? kRowsOfGroup : kLinesOfGroup) * problem.batches(), 4);
    return choice;
  }
  choose_loads(variant, problem);
  if (device.software && tuning.tile == 0) {
    variant.kind = Kind::direct;
    return choice;
  }
  variant.kind = Kind::tiled;
  if (problem.window && lies_along_terms(*problem.window)) {
    variant.b = Load::window_terms;
    variant.three = false;
  }
  if (tuning.tile > 0 && tuning.tile <= tiles().size() && fits(tiles()[tuning.tile - 1], device)) {
    variant.tile = tiles()[tuning.tile - 1];
    variant.prefetch = tuning.prefetch;
  } else {
    variant.tile = tile_of(problem, device);
    variant.prefetch = tuning.prefetch || prefetches(variant.tile, problem);
  }
  split_tiles(choice, problem);
  return choice;
}

Grid grid_of(const Variant& variant, const Problem& problem) {
  const auto groups = [](std::int64_t extent, std::int64_t step) {
    return static_cast<std::uint32_t>(over(extent, step));
  };
  switch (variant.kind) {
    case Kind::plain:
      return {groups(problem.n, kPlainBlock), groups(problem.m, kPlainBlock)};
    case Kind::direct:
      return {groups(problem.n, 32), groups(problem.m, 32)};
    case Kind::tiled:
      return {groups(problem.n, variant.tile.columns), groups(problem.m, variant.tile.rows)};
    case Kind::rows:
      return {groups(problem.m, kRowsOfGroup), 1};
    case Kind::columns:
      break;
  }
  return {groups(problem.m, kLinesOfGroup), 1};
}

std::string Variant::name() const {
  constexpr std::array<const char*, 5> kKinds{"plain", "direct", "tiled", "rows", "columns"};
  constexpr std::array<const char*, 7> kLoads{"terms4", "lines4", "terms",       "lines",
                                              "outer",  "window", "window_terms"};
  std::string text = axes == 0 ? "matmul " : "conv" + std::to_string(axes) + (three ? "x3 " : " ");
  text += kKinds[static_cast<std::size_t>(kind)];
  if (kind == Kind::plain) return text + (split ? " split" : "") + (wrong ? " wrong" : "");
  if (kind == Kind::tiled)
    text += " " + std::to_string(tile.rows) + "x" + std::to_string(tile.columns) + "x" +
            std::to_string(tile.depth) + " by " + std::to_string(tile.block_rows) + "x" +
            std::to_string(tile.block_columns);
  text += std::string(" ") + kLoads[static_cast<std::size_t>(a)] + " " +
          kLoads[static_cast<std::size_t>(b)];
  if (store4) text += " store4";
  if (split) text += " split";
  if (prefetch) text += " prefetch";
  if (wrong) text += " wrong";
  return text;
}

}  // namespace arraycore::gemm
