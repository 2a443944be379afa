// Tests captures that are played on the ring: each play sends the same commands, needs little work
// of the issuing thread, and loses nothing if it is interrupted.
#include <gtest/gtest.h>

#include <bit>
#include <memory>
#include <vector>

#include "abi/calls/calls.h"
#include "abi/calls/context.h"
#include "abi/calls/ufuncs.h"
#include "arraycore/arraycore.h"
#include "backend/cpu/cpu_backend.h"
#include "testing/recorded_ring.h"

namespace arraycore::capture {
namespace {

struct BlockTest : testing::Test {
  BlockTest() {
    EXPECT_TRUE(rig.opened);
    const std::vector<float> ones(100'000, 1);
    x = context.create(DType::float32, {100'000}, ones.data()).value();
    y = context.create(DType::float32, {100'000}, ones.data()).value();
  }
  ~BlockTest() override { EXPECT_TRUE(context.reset()); }

  void step(double factor) {
    const auto multiply = ops::find("multiply").value();
    const ArrayId part =
        calls::binary_scalar(context, multiply, x, 2, AC_PYTHON_FLOAT, false).value();
    const ArrayId other =
        calls::binary_scalar(context, multiply, x, factor, AC_PYTHON_FLOAT, false).value();
    const std::vector<ArrayId> gone{part, other};
    const ArrayId both = calls::binary(context, ops::find("add").value(), part, other).value();
    const Array to = **context.get(y);
    const Array from = **context.get(both);
    EXPECT_TRUE(context.launcher().assign(to, from));
    EXPECT_TRUE(context.let_go(gone));
    EXPECT_TRUE(context.let_go(std::vector<ArrayId>{both}));
  }
  // Returns the dispatches that the executor got from command `from` on.
  std::vector<std::vector<std::uint32_t>> told(std::size_t from) {
    EXPECT_TRUE(context.read(y, std::as_writable_bytes(std::span(out))));
    std::vector<std::vector<std::uint32_t>> words;
    const auto& commands = rig.executor->commands();
    for (std::size_t i = from; i < commands.size(); ++i)
      if (commands[i].opcode == ring::Opcode::dispatch) words.push_back(commands[i].operands);
    return words;
  }
  std::int32_t capture(bool same) {
    step(3);
    for (const double factor : {4.0, same ? 4.0 : 5.0}) {
      EXPECT_TRUE(context.captures().begin());
      step(factor);
      EXPECT_TRUE(context.captures().end());
    }
    const auto differing = context.captures().compare();
    EXPECT_TRUE(differing);
    return context.captures().build(std::vector<std::uint32_t>(differing->size(), 0)).value();
  }
  std::size_t count() const { return rig.executor->commands().size(); }

  RecordedRing rig;
  ArrayTable arrays;
  Context context{make_cpu_backend(), std::move(rig.backend), arrays, std::nullopt};
  ArrayId x = 0;
  ArrayId y = 0;
  std::vector<float> out = std::vector<float>(100'000);
};

TEST_F(BlockTest, EachPlaySendsTheSameWords) {
  const std::int32_t number = capture(true);
  told(0);
  std::vector<std::vector<std::vector<std::uint32_t>>> plays;
  for (int i = 0; i < 3; ++i) {
    const std::size_t before = count();
    ASSERT_TRUE(context.captures().play(number, {}));
    plays.push_back(told(before));
  }
  EXPECT_EQ(plays[0].size(), 4U);
  EXPECT_EQ(plays[0], plays[1]);
  EXPECT_EQ(plays[0], plays[2]);
}

TEST_F(BlockTest, OnlyTheScalarThatIsGivenDiffers) {
  const std::int32_t number = capture(false);
  std::vector<std::vector<std::vector<std::uint32_t>>> plays;
  for (const float factor : {6.0F, 7.0F, 7.0F}) {
    told(0);
    const std::size_t before = count();
    const std::vector<std::uint64_t> values{std::bit_cast<std::uint32_t>(factor)};
    ASSERT_TRUE(context.captures().play(number, values));
    plays.push_back(told(before));
  }
  EXPECT_EQ(plays[1], plays[2]);
  ASSERT_EQ(plays[0].size(), plays[1].size());
  int differing = 0;
  for (std::size_t d = 0; d < plays[0].size(); ++d)
    for (std::size_t w = 0; w < plays[0][d].size(); ++w)
      if (plays[0][d][w] != plays[1][d][w]) {
        ++differing;
        EXPECT_EQ(plays[0][d][w], std::bit_cast<std::uint32_t>(6.0F));
      }
  EXPECT_EQ(differing, 1);
}

TEST_F(BlockTest, AnInterruptedPlayLosesNothing) {
  const std::int32_t number = capture(false);
  told(0);
  const std::size_t before = count();
  const std::vector<std::uint64_t> values{std::bit_cast<std::uint32_t>(6.0F)};
  std::size_t plays = 0;
  int in_the_middle = 0;
  int before_it = 0;
  while (in_the_middle == 0 || before_it == 0) {
    rig.memory->control[ring::Word::interrupt] = ring::kInterruptOnce;
    const Status done = context.captures().play(number, values);
    plays += done.ok() ? 1 : 0;
    if (done) continue;
    ASSERT_EQ(done.error().code, "interrupted");
    if ((*context.captures().get(number))->is_interrupted()) {
      ++in_the_middle;
      ASSERT_TRUE(context.captures().resume(number));
      ++plays;
    } else {
      ++before_it;  // nothing of it was issued
    }
    ASSERT_LT(plays, 1'000'000U);
    rig.memory->control[ring::Word::interrupt] = 0;
    // Issues some more commands, so that the next play meets the end of the ring at another point.
    for (std::size_t i = 0; i <= plays % 7; ++i)
      ASSERT_TRUE(context.launcher().fill_zero(**context.get(x)));
  }
  rig.memory->control[ring::Word::interrupt] = 0;
  EXPECT_EQ(told(before).size(), 4 * plays);
}

TEST_F(BlockTest, BuffersAreFlatAndGivenBack) {
  const std::int64_t before = context.counters().live_bytes;
  const std::int32_t number = capture(true);
  ASSERT_TRUE(context.captures().play(number, {}));
  const std::int64_t held = context.launcher().raw_backend().held_bytes();
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(context.captures().play(number, {}));
  EXPECT_EQ(context.launcher().raw_backend().held_bytes(), held);
  context.captures().close(number);
  EXPECT_EQ(context.counters().live_bytes, before);
}

}  // namespace
}  // namespace arraycore::capture
