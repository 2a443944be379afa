// What stands between an array's brackets where arrays are among it: which axes are picked by
// indices, which are kept, and where the picked ones go, by NumPy's rules. Pure; any thread.
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
  Array array;           // the integers; the mask's bools, or with `mask_shape` its positions
  int axes = 1;          // integers: over how many axes each is a C-order number
  bool checked = false;  // integers: the host saw that each lies in [0, extent)
  std::optional<std::int64_t> outside;  // integers: one of them that the host saw out of bounds
  // A mask that the host looked at: `array` has the C-order numbers of its true elements, int32.
  std::optional<Dims> mask_shape;
};

// The axes that one array of a key picks.
struct PickedPart {
  std::size_t item = 0;
  int axes = 1;             // of a mask as many as it has: 0 too
  int axis = 0;             // the first of them among the array's, for messages
  std::int64_t extent = 1;  // the product of theirs
};

struct Picking {
  View view;  // the picked axes, in the key's order, then the kept ones
  std::vector<PickedPart> parts;
  int picked = 0;  // axes of the view that are picked
  int place = 0;   // how many kept axes stand before the indices' in the result
};

// Errors: those of basic_index; index, "mask_shape". REQUIRES: some item is no basic one.
Result<Picking> resolve_key(const View& view, std::span<const KeyItem> key);

// The common shape of arrays of indices. Error: index, "indices_do_not_broadcast".
Result<Dims> broadcast_indices(std::span<const Dims> shapes);

// The result's shape: the kept axes of `picking` with the indices' shape at its place.
// Error: index, "too_many_dimensions".
Result<Dims> picked_shape(const Picking& picking, const Dims& indices);

// A view of the result's shape with the indices' axes first, as `picking.view` has them.
View indices_first(const View& result, int place, int indices);

}  // namespace arraycore
