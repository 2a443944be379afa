// Tests that the id of a freed array is not found again, and never names another array.
#include "runtime/array_table.h"

#include <gtest/gtest.h>

#include <set>

namespace arraycore {
namespace {

Array of(DType dtype) { return {dtype, contiguous({3}, size_of(dtype)), nullptr}; }

TEST(ArrayTable, GivesBackWhatWasInserted) {
  ArrayTable table;
  const ArrayId a = table.insert(of(DType::int8)), b = table.insert(of(DType::float64));
  EXPECT_GT(a, 0);
  EXPECT_EQ(table.find(a)->dtype, DType::int8);
  EXPECT_EQ(table.find(b)->dtype, DType::float64);
  EXPECT_EQ(table.size(), 2);
}

TEST(ArrayTable, AnIdDiesWithItsArrayThoughTheSlotIsUsedAgain) {
  ArrayTable table;
  const ArrayId old = table.insert(of(DType::int8));
  table.erase(old);
  const ArrayId young = table.insert(of(DType::int16));
  EXPECT_EQ(table.find(old), nullptr);
  EXPECT_EQ(table.find(young)->dtype, DType::int16);
  table.erase(old);
  EXPECT_NE(table.find(young), nullptr) << "freeing a dead id must not free its successor";
}

TEST(ArrayTable, ASlotGivesEachOfItsGenerationsBeforeOneComesBack) {
  ArrayTable table;
  std::set<ArrayId> ids;
  for (std::uint32_t i = 1; i < ArrayTable::kGenerations; ++i) {
    const ArrayId id = table.insert(of(DType::int8));
    EXPECT_GT(id, 0);
    EXPECT_TRUE(ids.insert(id).second) << id;
    table.erase(id);
  }
}

TEST(ArrayTable, NumbersThatNameNothingFindNothing) {
  ArrayTable table;
  table.insert(of(DType::int8));
  for (const ArrayId id : {0, -1, 1, 7, std::numeric_limits<ArrayId>::max()}) {
    EXPECT_EQ(table.find(id), nullptr) << id;
    table.erase(id);
  }
  EXPECT_EQ(table.size(), 1);
}

TEST(ArrayTable, ClearKillsEveryIdGivenOut) {
  ArrayTable table;
  const ArrayId a = table.insert(of(DType::int8)), b = table.insert(of(DType::int8));
  table.clear();
  EXPECT_EQ(table.size(), 0);
  const ArrayId c = table.insert(of(DType::int8)), d = table.insert(of(DType::int8));
  EXPECT_EQ(table.find(a), nullptr);
  EXPECT_EQ(table.find(b), nullptr);
  EXPECT_EQ((std::set<ArrayId>{a, b, c, d}).size(), 4U);
}

}  // namespace
}  // namespace arraycore
