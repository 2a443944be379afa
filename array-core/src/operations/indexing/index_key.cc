#include "operations/indexing/index_key.h"

#include <string>

#include "view/messages.h"
#include "view/shape.h"

namespace arraycore {

namespace {

// Returns the key with full slices in place of arrays. basic_index makes a view from this key, and
// the arrays then pick elements of the view.
std::vector<Index> basic_part(std::span<const KeyItem> key) {
  std::vector<Index> items;
  for (const KeyItem& item : key) {
    if (item.kind == KeyItem::Kind::basic) {
      items.push_back(item.basic);
      continue;
    }
    int axes = item.axes;
    if (item.kind == KeyItem::Kind::mask)
      axes = item.mask_shape ? item.mask_shape->size() : item.array.view.ndim();
    for (int axis = 0; axis < axes; ++axis) items.push_back(Index::slice({}, {}));
  }
  return items;
}

Error other_mask(int axis, std::int64_t extent, std::int64_t mask_extent) {
  return index_error("mask_shape", "boolean index did not match indexed array along axis " +
                                       std::to_string(axis) + "; size of axis is " +
                                       std::to_string(extent) +
                                       " but size of corresponding boolean axis is " +
                                       std::to_string(mask_extent));
}

// Decides whether all arrays and integers of a key are next to each other.
class Neighbours {
 public:
  void add(bool advanced) {
    if (advanced && ended_) apart_ = true;
    if (advanced) began_ = true;
    if (!advanced && began_) ended_ = true;
  }
  bool apart() const { return apart_; }
  bool began() const { return began_; }

 private:
  bool began_ = false;
  bool ended_ = false;
  bool apart_ = false;
};

}  // namespace

Result<Picking> resolve_key(const View& view, std::span<const KeyItem> key) {
  const std::vector<Index> basic = basic_part(key);
  TRY(const auto& based, basic_index(view, basic));
  int used = 0;
  for (const Index& item : basic)
    used += item.kind == Index::Kind::integer || item.kind == Index::Kind::slice ? 1 : 0;

  Picking picking;
  std::vector<std::int64_t> picked;
  std::vector<std::int64_t> kept;
  Neighbours neighbours;
  int axis = 0;  // an axis of the array
  int at = 0;    // an axis of the view of basic_index
  const auto keep = [&](int count) {
    for (int i = 0; i < count; ++i) kept.push_back(at++);
  };
  for (std::size_t i = 0; i < key.size(); ++i) {
    const KeyItem& item = key[i];
    const bool advanced =
        item.kind != KeyItem::Kind::basic || item.basic.kind == Index::Kind::integer;
    if (advanced && !neighbours.began()) picking.place = static_cast<int>(kept.size());
    neighbours.add(advanced);
    if (item.kind == KeyItem::Kind::basic) {
      switch (item.basic.kind) {
        case Index::Kind::integer:
          ++axis;
          break;
        case Index::Kind::slice:
          ++axis;
          keep(1);
          break;
        case Index::Kind::newaxis:
          keep(1);
          break;
        case Index::Kind::ellipsis:
          axis += view.ndim() - used;
          keep(view.ndim() - used);
          break;
      }
      continue;
    }
    PickedPart part{i, item.axes, axis, 1};
    const Dims* mask = nullptr;
    if (item.kind == KeyItem::Kind::mask) {
      mask = item.mask_shape ? &*item.mask_shape : &item.array.view.shape;
      part.axes = mask->size();
    }
    for (int k = 0; k < part.axes; ++k, ++axis) {
      const std::int64_t extent = view.shape[axis];
      if (mask != nullptr && (*mask)[k] != extent) return other_mask(axis, extent, (*mask)[k]);
      part.extent *= extent;
      picked.push_back(at++);
    }
    picking.parts.push_back(part);
  }
  keep(based.ndim() - at);
  if (neighbours.apart()) picking.place = 0;
  picking.picked = static_cast<int>(picked.size());
  picked.insert(picked.end(), kept.begin(), kept.end());
  TRY(const auto& turned, transpose(based, picked));
  picking.view = turned;
  return picking;
}

Result<Dims> broadcast_indices(std::span<const Dims> shapes) {
  auto common = broadcast_shapes(shapes);
  if (common) return common;
  std::string text = "shape mismatch: indexing arrays could not be broadcast together with shapes ";
  for (const Dims& shape : shapes)
    if (!shape.empty()) text += shape_text(shape) + " ";
  return index_error("indices_do_not_broadcast", text);
}

Result<Dims> picked_shape(const Picking& picking, const Dims& indices) {
  const int kept = picking.view.ndim() - picking.picked;
  if (kept + indices.size() > kMaxDims)
    return index_error("too_many_dimensions", "number of dimensions must be within [0, " +
                                                  std::to_string(kMaxDims) +
                                                  "], indexing result would have " +
                                                  std::to_string(kept + indices.size()));
  Dims shape;
  for (int axis = 0; axis < kept; ++axis) {
    if (axis == picking.place)
      for (const std::int64_t extent : indices) shape.push_back(extent);
    shape.push_back(picking.view.shape[picking.picked + axis]);
  }
  if (picking.place == kept)
    for (const std::int64_t extent : indices) shape.push_back(extent);
  return shape;
}

View indices_first(const View& result, int place, int indices) {
  View turned;
  turned.offset = result.offset;
  const auto add = [&](int axis) {
    turned.shape.push_back(result.shape[axis]);
    turned.strides.push_back(result.strides[axis]);
  };
  for (int axis = place; axis < place + indices; ++axis) add(axis);
  for (int axis = 0; axis < result.ndim(); ++axis)
    if (axis < place || axis >= place + indices) add(axis);
  return turned;
}

}  // namespace arraycore
