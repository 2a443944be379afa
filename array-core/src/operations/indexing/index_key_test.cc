// Tests which axes keys with arrays pick, which they keep, and where the indices' axes are.
#include "operations/indexing/index_key.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "view/shape.h"

namespace arraycore {
namespace {

KeyItem basic(const Index& index) {
  KeyItem item;
  item.basic = index;
  return item;
}
KeyItem all() { return basic(Index::slice({}, {})); }
KeyItem integers(const Dims& shape) {
  KeyItem item;
  item.kind = KeyItem::Kind::integers;
  item.array = {DType::int64, contiguous(shape, 8), nullptr};
  return item;
}
KeyItem mask(const Dims& shape) {
  KeyItem item;
  item.kind = KeyItem::Kind::mask;
  item.array = {DType::boolean, contiguous(shape, 1), nullptr};
  return item;
}

const View kArray = contiguous(Dims{2, 3, 4, 5}, 4);

Picking picking(const std::vector<KeyItem>& key) {
  const auto made = resolve_key(kArray, key);
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return made ? *made : Picking{};
}
Dims shape_of(const std::vector<KeyItem>& key, const Dims& indices) {
  return picked_shape(picking(key), indices).value();
}
std::string code(const std::vector<KeyItem>& key) {
  const auto made = resolve_key(kArray, key);
  return made ? "" : made.error().code;
}

TEST(IndexKey, ThePickedAxesComeFirst) {
  const Picking made = picking({all(), integers({7}), all(), integers({7})});
  EXPECT_EQ(made.view.shape, (Dims{3, 5, 2, 4}));
  EXPECT_EQ(made.view.strides, (Dims{80, 4, 240, 20}));
  EXPECT_EQ(made.picked, 2);
  ASSERT_EQ(made.parts.size(), 2U);
  EXPECT_EQ(made.parts[0].axis, 1);
  EXPECT_EQ(made.parts[0].extent, 3);
  EXPECT_EQ(made.parts[1].item, 3U);
  EXPECT_EQ(made.parts[1].extent, 5);
}

TEST(IndexKey, NeighboursStayInTheirPlaceAndOthersComeInFront) {
  const KeyItem i = integers({7, 8});
  EXPECT_EQ(shape_of({i}, {7, 8}), (Dims{7, 8, 3, 4, 5}));
  EXPECT_EQ(shape_of({all(), i, i}, {7, 8}), (Dims{2, 7, 8, 5}));
  EXPECT_EQ(shape_of({all(), i, basic(Index::at(0))}, {7, 8}), (Dims{2, 7, 8, 5}));
  EXPECT_EQ(shape_of({basic(Index::at(0)), all(), i}, {7, 8}), (Dims{7, 8, 3, 5}));
  EXPECT_EQ(shape_of({all(), i, all(), i}, {7, 8}), (Dims{7, 8, 2, 4}));
  EXPECT_EQ(shape_of({i, basic(Index::newaxis()), i}, {7, 8}), (Dims{7, 8, 1, 4, 5}));
  // An ellipsis separates the two arrays, even if it stands for no axis.
  EXPECT_EQ(shape_of({all(), i, basic(Index::ellipsis()), i, all()}, {7, 8}), (Dims{7, 8, 2, 5}));
  EXPECT_EQ(shape_of({basic(Index::ellipsis()), i}, {7, 8}), (Dims{2, 3, 4, 7, 8}));
}

TEST(IndexKey, AMaskIsOneIndexOverItsAxes) {
  const Picking made = picking({all(), mask({3, 4})});
  EXPECT_EQ(made.view.shape, (Dims{3, 4, 2, 5}));
  EXPECT_EQ(made.picked, 2);
  EXPECT_EQ(made.parts[0].extent, 12);
  EXPECT_EQ(picked_shape(made, {6}).value(), (Dims{2, 6, 5}));
  // A mask without axes picks no axis of the array.
  EXPECT_EQ(shape_of({all(), mask({})}, {1}), (Dims{2, 1, 3, 4, 5}));
}

TEST(IndexKey, WhatDoesNotFitIsToldAsNumPyTellsIt) {
  EXPECT_EQ(code({all(), mask({2})}), "mask_shape");
  EXPECT_EQ(resolve_key(kArray, std::vector{all(), mask({2})}).error().message,
            "boolean index did not match indexed array along axis 1; size of axis is 3 but size of "
            "corresponding boolean axis is 2");
  EXPECT_EQ(code({mask({2, 3, 4, 5, 1})}), "too_many_indices");
  EXPECT_EQ(code({integers({1}), basic(Index::at(3))}), "index_out_of_bounds");
  EXPECT_EQ(code({basic(Index::ellipsis()), integers({1}), basic(Index::ellipsis())}),
            "many_ellipses");
  const std::vector<Dims> shapes{{2}, {3}};
  EXPECT_EQ(broadcast_indices(shapes).error().message,
            "shape mismatch: indexing arrays could not be broadcast together with shapes (2,) "
            "(3,) ");
  Dims many;
  many.resize(kMaxDims - 2, 1);
  EXPECT_EQ(picked_shape(picking({integers({1})}), many).error().code, "too_many_dimensions");
}

TEST(IndexKey, AResultsViewIsTurnedAsTheArraysIs) {
  const View result = contiguous(Dims{2, 7, 8, 5}, 4);
  const View turned = indices_first(result, 1, 2);
  EXPECT_EQ(turned.shape, (Dims{7, 8, 2, 5}));
  EXPECT_EQ(turned.strides, (Dims{160, 20, 1120, 4}));
}

}  // namespace
}  // namespace arraycore
