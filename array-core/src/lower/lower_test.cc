#include <gtest/gtest.h>

#include "ir/builder.h"
#include "lower/gather_only.h"
#include "lower/loop.h"

namespace arraycore::lower {
namespace {

Walk walked(const Dims& loop, std::uint32_t axes, const std::vector<const View*>& views,
            Merge merge) {
  Walk result;
  walk(loop, axes, views, merge, result);
  return result;
}

TEST(Walk, MergesWhatAllOperandsStepThroughAlike) {
  const View a{{2, 3, 4}, {48, 16, 4}, 0};
  const View row{{4}, {4}, 0};
  EXPECT_EQ(walked({2, 3, 4}, 7, {&a, &a}, Merge::on).shape, (Dims{24}));
  const Walk mixed = walked({2, 3, 4}, 7, {&a, &row}, Merge::on);
  EXPECT_EQ(mixed.shape, (Dims{6, 4}));
  EXPECT_EQ(mixed.strides[0], (Dims{16, 4}));
  EXPECT_EQ(mixed.strides[1], (Dims{0, 4}));
  EXPECT_EQ(walked({2, 3, 4}, 7, {&a}, Merge::off).shape, (Dims{2, 3, 4}));
  EXPECT_EQ(walked({2, 3, 4}, 5, {&a}, Merge::on).shape, (Dims{2, 4}));  // without the middle axis
  EXPECT_EQ(walked({1, 1}, 3, {&row}, Merge::on).shape, Dims{});
}

TEST(GatherOnly, NamesWhatScatters) {
  ir::Builder k("k");
  const auto x = k.raw("x", DType::int32);
  const auto y = k.out("y", DType::int32);
  k.store(y, k.read_at(x, {k.loop_index()}));
  EXPECT_TRUE(gather_only(k.kernel()).only);
  const auto z = k.raw("z", DType::int32, ir::Access::read_write);
  k.store_at(z, {k.loop_index()}, k.loop_index());
  k.evaluate(k.atomic(ir::Op::atomic_add, z, {k.loop_index(), k.loop_index()}));
  const Gather gather = gather_only(k.kernel());
  EXPECT_FALSE(gather.only);
  EXPECT_EQ(gather.reasons.size(), 2u);
}

}  // namespace
}  // namespace arraycore::lower
