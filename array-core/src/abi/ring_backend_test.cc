// Tests the ring's back end with the recording executor, which keeps buffers and computes the
// kernel "add": commands, bytes and faults without a device.
#include "backend/gpu/ring_backend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "abi/calls/context.h"
#include "abi/calls/ufuncs.h"
#include "backend/cpu/cpu_backend.h"
#include "ring/recording_executor.h"

namespace arraycore {
namespace {

// One block of memory for everything, as in WebAssembly, so the executor can reach callers' memory.
struct Arena {
  RingMemory ring;
  std::vector<float> read(Context& context, ArrayId id) {
    const auto count = static_cast<std::size_t>(context.describe(id)->view.count());
    EXPECT_LE(count, out.size());
    const Status status = context.read(id, std::as_writable_bytes(std::span(out).first(count)));
    EXPECT_TRUE(status) << status.error().message;
    return {out.begin(), out.begin() + static_cast<std::ptrdiff_t>(count)};
  }
  std::array<float, 4 << 20> out;
};

// Interrupts the next `interrupts` waits, as Ctrl-C does, before the executor has done anything.
struct InterruptingHost final : ring::PumpHost {
  int interrupts = 0;
  ring::WaitResult wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                        std::uint32_t timeout_ms) override {
    if (interrupts == 0) return PumpHost::wait(word, expected, timeout_ms);
    --interrupts;
    return ring::WaitResult::interrupted;
  }
};

struct RingBackendTest : testing::Test {
  RingBackendTest() {
    auto own = std::make_unique<InterruptingHost>();
    host = own.get();
    auto backend = std::make_unique<RingBackend>(std::shared_ptr<RingMemory>(arena, &arena->ring),
                                                 base(), std::move(own));
    executor = std::make_unique<ring::RecordingExecutor>(arena->ring.control, base(), sizeof(Arena),
                                                         *host);
    host->executor = executor.get();
    executor->kernel = [](const ring::RecordedPipeline&, const std::uint32_t*,
                          const std::vector<std::byte*>& bindings, const std::uint32_t*) {
      // The operands of the additions in these tests have three numbers each.
      std::array<float, 3> a{}, b{};
      std::memcpy(a.data(), bindings.at(0), sizeof a);
      std::memcpy(b.data(), bindings.at(bindings.size() - 2), sizeof b);
      for (std::size_t i = 0; i < 3; ++i) a[i] += b[i];
      std::memcpy(bindings.back(), a.data(), sizeof a);
    };
    const Status opened = backend->open(std::int64_t{1} << 40);
    EXPECT_TRUE(opened) << opened.error().message;
    context =
        std::make_unique<Context>(make_cpu_backend(), std::move(backend), arrays, std::nullopt);
  }
  ~RingBackendTest() override { context.reset(); }

  std::byte* base() { return reinterpret_cast<std::byte*>(arena.get()); }
  ArrayId array(const std::vector<float>& values) {
    const Dims shape{static_cast<std::int64_t>(values.size())};
    return context->create(DType::float32, shape, values.data()).value();
  }
  ArrayId add(ArrayId a, ArrayId b) {
    const auto sum = calls::binary(*context, ops::find("add").value(), a, b);
    EXPECT_TRUE(sum) << sum.error().message;
    return sum ? *sum : 0;
  }
  std::size_t count(ring::Opcode opcode) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        executor->commands(), [&](const auto& command) { return command.opcode == opcode; }));
  }

  std::shared_ptr<Arena> arena = std::make_shared<Arena>();
  ArrayTable arrays;
  InterruptingHost* host = nullptr;  // of the back end
  std::unique_ptr<ring::RecordingExecutor> executor;
  std::unique_ptr<Context> context;
};

TEST_F(RingBackendTest, AnAdditionIsOnePipelineAndOneDispatchEach) {
  const ArrayId a = array({1, 2, 3}), b = array({10, 20, 30});
  const ArrayId sum = add(a, b);
  EXPECT_EQ(arena->read(*context, sum), (std::vector<float>{11, 22, 33}));
  EXPECT_EQ(arena->read(*context, add(sum, a)), (std::vector<float>{12, 24, 36}));
  EXPECT_EQ(count(ring::Opcode::create_pipeline), 1U);
  EXPECT_EQ(count(ring::Opcode::dispatch), 2U);
  EXPECT_EQ(context->counters().sync_waits, 2);
  EXPECT_NE(executor->pipelines().begin()->second.text.find("@compute"), std::string::npos);
}

TEST_F(RingBackendTest, OneArrayTwiceIsOneBindingAndAnotherPipeline) {
  const ArrayId a = array({1, 2, 3}), b = array({5, 5, 5});
  add(a, b);
  EXPECT_EQ(arena->read(*context, add(a, a)), (std::vector<float>{2, 4, 6}));
  ASSERT_EQ(executor->pipelines().size(), 2U);
  EXPECT_EQ(executor->pipelines().at(1).bindings, 3U);
  EXPECT_EQ(executor->pipelines().at(2).bindings, 2U);
}

TEST_F(RingBackendTest, ALoopMakesNoBufferAfterItsFirstTurn) {
  const ArrayId a = array({1, 2, 3});
  ArrayId sum = add(a, a);
  arena->read(*context, sum);
  const std::size_t buffers = count(ring::Opcode::create_buffer);
  for (int i = 0; i < 1000; ++i) {
    const ArrayId next = add(sum, a);
    context->release(sum);
    sum = next;
  }
  EXPECT_EQ(arena->read(*context, sum), (std::vector<float>{1002, 2004, 3006}));
  EXPECT_EQ(count(ring::Opcode::create_buffer), buffers);
}

TEST_F(RingBackendTest, LargeArraysTravelInPartsThroughStaging) {
  std::vector<float> values((4 << 20) - 1);  // 16 MiB minus 4 bytes: four times the staging block
  std::iota(values.begin(), values.end(), 0.0F);
  EXPECT_EQ(arena->read(*context, array(values)), values);
  EXPECT_GE(count(ring::Opcode::upload), 4U);
}

TEST_F(RingBackendTest, AReadWhoseWaitFailedWritesNothingOfTheCallersLater) {
  const ArrayId a = array({1, 2, 3});
  arena->out.fill(7);
  host->interrupts = 1;
  const Status read = context->read(a, std::as_writable_bytes(std::span(arena->out).first(3)));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, "interrupted");
  executor->pump();  // the device reaches it after all
  EXPECT_EQ(count(ring::Opcode::read), 1U);
  EXPECT_EQ(std::ranges::count(arena->out, 7.0F), std::ssize(arena->out));
}

TEST_F(RingBackendTest, WhatIsStagedAfterAFailedReadIsNotOverwrittenByIt) {
  const ArrayId a = array({1, 2, 3});
  host->interrupts = 1;
  EXPECT_FALSE(context->read(a, std::as_writable_bytes(std::span(arena->out).first(3))));
  std::vector<float> values(1 << 20, 5.0F);  // the bytes of the staging block
  EXPECT_EQ(arena->read(*context, array(values)), values);
}

TEST_F(RingBackendTest, ZerosAreZerosInUsedBuffersToo) {
  context->release(array({1, 2, 3}));
  const ArrayId zeros = context->create(DType::float32, {3}, nullptr).value();
  EXPECT_EQ(arena->read(*context, zeros), (std::vector<float>{0, 0, 0}));
}

TEST_F(RingBackendTest, EmptyArraysLaunchNothing) {
  const ArrayId none = array({});
  EXPECT_EQ(arena->read(*context, add(none, none)), std::vector<float>{});
  EXPECT_EQ(count(ring::Opcode::dispatch), 0U);
}

TEST_F(RingBackendTest, ALostDeviceIsAnErrorUntilAResetBringsANewOne) {
  const ArrayId a = array({1, 2, 3});
  arena->read(*context, a);
  executor->faults.lose_device_at = static_cast<std::uint32_t>(executor->commands().size());
  add(a, a);
  const Status read = context->read(a, std::as_writable_bytes(std::span(arena->out).first(3)));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::device_lost);
  EXPECT_EQ(read.error().message,
            "add (kernel 'add(float32 x0, float32 x1, float32 y0)'): The device was lost.");
  executor->faults.lose_device_at.reset();
  const Status reset = context->reset();
  ASSERT_TRUE(reset) << reset.error().message;
  EXPECT_EQ(context->read(a, {}).error().code, "array_freed");
  const ArrayId b = array({4, 5, 6});
  EXPECT_EQ(arena->read(*context, add(b, b)), (std::vector<float>{8, 10, 12}));
}

}  // namespace
}  // namespace arraycore
