// Interprets keys with arrays, such as a[key]. By NumPy's rules, these functions decide which axes
// are picked by indices, which are kept, and where the indices' axes are in the result. Pure; any
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "runtime/array_table.h"
#include "view/index.h"
#include "view/view.h"

namespace arraycore {

struct KeyItem {
  enum class Kind : std::uint8_t { basic, integers, mask };

  Kind kind = Kind::basic;
  Index basic;
  Array array;   // the integers, or the mask's bools, or with `mask_shape` the mask's positions
  int axes = 1;  // for integers: each is a C-order number over this many axes
  bool checked = false;  // for integers: the caller checked that each is in [0, extent)
  std::optional<std::int64_t> outside;  // for integers: one that the caller found out of bounds
  // The shape of a mask whose true elements the caller has found. `array` then holds the C-order
  // numbers of these elements as int32.
  std::optional<Dims> mask_shape;
};

// One array of a key, and the axes of the indexed array that it picks from.
struct PickedPart {
  std::size_t item = 0;
  int axes = 1;             // a mask picks as many axes as it has, perhaps 0
  int axis = 0;             // the first of these axes in the array, for messages
  std::int64_t extent = 1;  // the product of their extents
};

struct Picking {
  View view;  // the picked axes, in the key's order, then the kept ones
  std::vector<PickedPart> parts;
  int picked = 0;  // the number of the view's picked axes
  int place = 0;   // the number of the result's kept axes before the indices' axes
};

// Interprets a key. Errors: those of basic_index; index, "mask_shape". REQUIRES: the key has an
// array.
Result<Picking> resolve_key(const View& view, std::span<const KeyItem> key);

// Returns the common shape of arrays of indices. Error: index, "indices_do_not_broadcast".
Result<Dims> broadcast_indices(std::span<const Dims> shapes);

// Returns the result's shape: the kept axes of `picking`, and the indices' shape after the first
// `picking.place` of them.
// Error: index, "too_many_dimensions".
Result<Dims> picked_shape(const Picking& picking, const Dims& indices);

// Returns the view `result` with the axes [place, place + indices), which belong to the indices,
// moved to the front.
View indices_first(const View& result, int place, int indices);

}  // namespace arraycore
