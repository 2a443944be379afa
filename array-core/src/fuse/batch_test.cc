// Compares batched launches with the kernel run alone on each set of arrays, by the interpreter.
#include "fuse/batch.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "ir/builder.h"
#include "ir/interpret.h"
#include "ir/verify.h"

namespace arraycore::fuse {
namespace {

ir::Kernel momentum() {
  ir::Builder k("momentum");
  const auto grad = k.in("grad", DType::float32);
  const auto rate = k.scalar("rate", DType::float32);
  const auto param = k.in_out("param", DType::float32);
  const auto v = k.in_out("v", DType::float32);
  k.store(v, k.read(v) * 0.9 - k.read(rate) * k.read(grad));
  k.if_(k.read(grad) > 0.0, [&] { k.store(param, k.read(param) + k.read(v)); });
  return k.take();
}

ir::Argument over(std::vector<float>& memory, std::int64_t first, std::int64_t count) {
  View view;
  view.shape = {count};
  view.strides = {4};
  view.offset = first * 4;
  return ir::Argument::array(memory.data(), view);
}

TEST(Batch, ComputesWhatTheKernelDoesOnEachSetOfArrays) {
  const ir::Kernel kernel = momentum();
  ASSERT_TRUE(can_batch(kernel));
  const std::vector<std::int64_t> extents{3, 1, 5, 64, 2, 7, 1};
  constexpr std::int64_t kSlot = 64;
  const auto count = static_cast<std::int64_t>(extents.size());
  std::vector<std::vector<float>> memory(
      3, std::vector<float>(static_cast<std::size_t>(count * kSlot)));
  for (std::size_t b = 0; b < 3; ++b)
    for (std::size_t i = 0; i < memory[b].size(); ++i)
      memory[b][i] = static_cast<float>((i * 37 + b * 11) % 101) / 17.0F - 2.5F;
  auto expected = memory;

  const ir::Argument rate = ir::Argument::value(DType::float32, 0.1);
  const auto integer = [](std::int64_t value) { return ir::Argument::value(DType::int32, value); };
  const auto at = [](std::int64_t s) { return static_cast<std::size_t>(s); };
  const auto set = [&](std::int64_t s) {
    return (s * 3 + 2) % count * kSlot;
  };  // in an irregular order
  for (std::int64_t s = 0; s < count; ++s) {
    const std::vector<ir::Argument> arguments{over(expected[0], set(s), extents[at(s)]), rate,
                                              over(expected[1], set(s), extents[at(s)]),
                                              over(expected[2], set(s), extents[at(s)])};
    ASSERT_TRUE(ir::interpret(kernel, {{extents[at(s)]}, 0, arguments}).ok());
  }

  const ir::Kernel batched = batch(kernel, static_cast<std::uint32_t>(count));
  ASSERT_TRUE(ir::verify(batched).ok()) << ir::verify(batched).error().message;
  const std::int64_t items = count * kSlot;
  std::vector<ir::Argument> arguments{over(memory[0], 0, items), rate, over(memory[1], 0, items),
                                      over(memory[2], 0, items)};
  std::int64_t first = 0;
  for (std::int64_t s = 0; s < count; ++s) {
    arguments.push_back(integer(first + extents[at(s)]));
    for (int array = 0; array < 3; ++array) arguments.push_back(integer(set(s) - first));
    first += extents[at(s)];
  }
  ASSERT_TRUE(ir::interpret(batched, {{first}, 0, arguments}).ok());
  EXPECT_EQ(memory, expected);
}

TEST(Batch, LeavesAloneWhatAsksWhereItIsOrHasOtherItems) {
  ir::Builder where("where");
  where.store(where.out("y", DType::int32), where.loop_index());
  EXPECT_FALSE(can_batch(where.take()));
  ir::Builder half("half");
  const auto x = half.in("x", DType::float16);
  half.store(half.out("y", DType::float16), half.read(x));
  EXPECT_FALSE(can_batch(half.take()));
  ir::Builder raw("raw");
  const auto from = raw.raw("x", DType::float32);
  raw.store(raw.out("y", DType::float32), raw.read_at(from, {raw.integer(DType::int32, 0)}));
  EXPECT_FALSE(can_batch(raw.take()));
  EXPECT_EQ(most_segments(momentum()), 48U);
}

}  // namespace
}  // namespace arraycore::fuse
