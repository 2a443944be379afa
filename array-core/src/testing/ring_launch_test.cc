// Tests the commands of launches on the ring. They are the same whether a signature is new or
// known, and bind no more buffers than the device allows. Also tests the copies around packed
// launches, raw kernels, and the device's clock.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "ir/builder.h"
#include "testing/recorded_ring.h"

namespace arraycore {
namespace {

struct RingLaunchTest : testing::Test, RecordedRing {
  RingLaunchTest() { EXPECT_TRUE(opened) << opened.error().message; }

  StorageId storage(std::int64_t bytes) { return backend->create_storage(bytes).value(); }
  static std::size_t bindings_of(const ring::RecordedCommand& dispatch) {
    return dispatch.operands[5] & 0xffff;
  }
};

// A dispatch's shader, grid, bindings and uniforms. Numbers of objects are left out.
struct Sent {
  std::string text;
  std::vector<std::uint32_t> words;
  bool operator==(const Sent&) const = default;
};

ir::Kernel add(DType dtype) {
  ir::Builder k("add");
  const auto x = k.in("x", dtype);
  const auto y = k.in("y", dtype);
  const auto z = k.out("z", dtype);
  k.store(z, k.read(x) + k.read(y));
  return k.take();
}
ir::Kernel sum(DType dtype) {
  ir::Builder k("sum");
  const auto x = k.in("x", dtype);
  const auto z = k.out("z", dtype);
  k.reduce(
      k.read(x), std::nullopt, [](ir::Value a, ir::Value b) { return a + b; },
      [&](ir::Value total) { k.store(z, total); });
  return k.take();
}
ir::Kernel pick() {  // z = x[n - 1 - i]
  ir::Builder k("pick");
  const auto x = k.raw("x", DType::float32);
  const auto z = k.out("z", DType::float32);
  k.store(z, k.read_at(x, {k.loop_size() - k.loop_index()}));
  return k.take();
}

TEST_F(RingLaunchTest, AKnownLookSendsWhatANewOneDoes) {
  std::mt19937 random(7);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::vector<StorageId> storages;
  for (int i = 0; i < 6; ++i) storages.push_back(storage(i < 3 ? 60'000 : 900'000));
  const std::vector<ir::Kernel> kernels{add(DType::float32), add(DType::int8),  add(DType::float16),
                                        sum(DType::float32), sum(DType::int64), pick()};
  std::vector<KernelId> warm;
  for (const ir::Kernel& kernel : kernels) warm.push_back(backend->prepare(kernel).value());

  for (int round = 0; round < 400; ++round) {
    const auto which = static_cast<std::size_t>(below(static_cast<int>(kernels.size())));
    const ir::Kernel& kernel = kernels[which];
    Launch launch;
    const int ndim = 1 + below(3);
    for (int axis = 0; axis < ndim; ++axis) launch.loop.push_back(1 + below(9));
    if (kernel.reduction) launch.reduced = 1U + static_cast<unsigned>(below((1 << ndim) - 1));
    for (const ir::Param& param : kernel.params) {
      const auto item = static_cast<std::int64_t>(size_of(param.dtype));
      const bool written = param.access != ir::Access::read;
      ArrayArgument argument{storages[static_cast<std::size_t>(below(6))], {}};
      Dims shape;
      for (int axis = 0; axis < ndim; ++axis) {
        if (kernel.reduction && written && (launch.reduced >> axis & 1) != 0) continue;
        shape.push_back(!written && below(4) == 0 ? 1 : launch.loop[axis]);
      }
      argument.view = contiguous(shape, size_of(param.dtype));
      for (std::int64_t& stride : argument.view.strides)
        if (below(4) == 0) stride *= 2;
      argument.view.offset = below(3) == 0 ? item * below(9) : 0;
      launch.arguments.emplace_back(argument);
    }
    const auto sent = [&](KernelId id) {
      const std::size_t before = of(ring::Opcode::dispatch).size();
      launch.kernel = id;
      const Status done = backend->launch(launch);
      EXPECT_TRUE(done) << done.error().message;
      std::vector<Sent> result;
      const auto all = of(ring::Opcode::dispatch);
      for (std::size_t i = before; i < all.size(); ++i) {
        const auto& words = all[i].operands;
        result.push_back(
            {executor->pipelines().at(words[1]).text, {words.begin() + 2, words.end()}});
      }
      return result;
    };
    const auto known = sent(warm[which]);
    ASSERT_EQ(known, sent(backend->prepare(kernel).value())) << kernel.name << " " << round;
    ASSERT_GE(known.size(), 1U);
  }
  // Most launches had a signature that was known already.
  const auto pipelines = of(ring::Opcode::create_pipeline).size();
  EXPECT_LT(pipelines, 700U);
}

TEST_F(RingLaunchTest, AnyNumberOfArraysIsOneLaunchWithinTheLimit) {
  ir::Builder k("many");
  std::vector<ir::ParamRef> inputs;
  for (int i = 0; i < 20; ++i) inputs.push_back(k.in("x" + std::to_string(i), DType::float32));
  ir::Value total = k.read(inputs[0]);
  const auto first = k.out("y", DType::float32);
  const auto second = k.out("z", DType::float32);
  for (std::size_t i = 1; i < inputs.size(); ++i) total = total + k.read(inputs[i]);
  k.store(first, total);
  k.store(second, total);
  const KernelId kernel = backend->prepare(k.take()).value();
  const std::size_t most = backend->limits().storage_buffers;
  ASSERT_LT(most, 22U);
  const auto launch = [&](std::int64_t elements) {
    Launch one{kernel, {elements}, 0, {}};
    for (int i = 0; i < 22; ++i)
      one.arguments.emplace_back(ArrayArgument{storage(4 * elements), {{elements}, {4}, 0}});
    const Status done = backend->launch(one);
    EXPECT_TRUE(done) << done.error().message;
  };
  // Small arrays are in one heap, which needs one binding and no copy.
  launch(100);
  ASSERT_EQ(of(ring::Opcode::dispatch).size(), 1U);
  EXPECT_EQ(bindings_of(of(ring::Opcode::dispatch)[0]), 1U);
  EXPECT_EQ(of(ring::Opcode::copy).size(), 0U);
  // Each large array has its own buffer.
  launch(100'000);
  ASSERT_EQ(of(ring::Opcode::dispatch).size(), 2U);
  EXPECT_EQ(bindings_of(of(ring::Opcode::dispatch)[1]), most);
  EXPECT_EQ(of(ring::Opcode::copy).size(), 22 - most + 1);
  EXPECT_EQ(memory->control[ring::Word::error_full].load(), 0U);
}

RawText raw_text(std::uint32_t mask) {
  return {"@compute @workgroup_size(1) fn main() {}", "mine", 16, 2, mask};
}

TEST_F(RingLaunchTest, ARawKernelBindsWholeStorages) {
  const KernelId kernel = backend->prepare_raw(raw_text(2)).value();
  const RawLaunch launch{kernel, {3, 2, 1}, {storage(100'000), storage(200'000)}, {1, 2, 3, 4}};
  ASSERT_TRUE(backend->launch_raw(launch));
  ASSERT_TRUE(backend->launch_raw(launch));
  EXPECT_EQ(of(ring::Opcode::create_pipeline).size(), 1U);
  const auto dispatches = of(ring::Opcode::dispatch);
  ASSERT_EQ(dispatches.size(), 2U);
  const auto& words = dispatches[0].operands;
  EXPECT_EQ((std::vector<std::uint32_t>{words.begin() + 2, words.begin() + 5}),
            (std::vector<std::uint32_t>{3, 2, 1}));
  EXPECT_EQ(words[8], 100'000U);
  EXPECT_EQ(words[11], 200'000U);
  EXPECT_EQ((std::vector<std::uint32_t>{words.end() - 4, words.end()}),
            (std::vector<std::uint32_t>{1, 2, 3, 4}));
}

TEST_F(RingLaunchTest, WhatARawKernelOnlyReadsLeavesAWrittenHeap) {
  const KernelId kernel = backend->prepare_raw(raw_text(2)).value();
  ASSERT_TRUE(backend->launch_raw({kernel, {1, 1, 1}, {storage(64), storage(64)}, {0, 0, 0, 0}}));
  EXPECT_EQ(of(ring::Opcode::copy).size(), 1U);
  const auto words = of(ring::Opcode::dispatch)[0].operands;
  EXPECT_NE(words[6], words[9]);  // the buffers
  EXPECT_EQ(memory->control[ring::Word::error_full].load(), 0U);
}

TEST_F(RingLaunchTest, RawKernelsAreRefusedBeforeAnythingIsSent) {
  RawText text = raw_text(2);
  text.bindings = backend->limits().storage_buffers + 1;
  EXPECT_EQ(backend->prepare_raw(text).error().code, "raw_limits");
  text = raw_text(2);
  text.uniform_bytes = ring::kMaxUniformWords * 4 + 4;
  EXPECT_EQ(backend->prepare_raw(text).error().code, "raw_limits");
  const KernelId kernel = backend->prepare_raw(raw_text(2)).value();
  const StorageId a = storage(64);
  const StorageId b = storage(64);
  const auto code = [&](const RawLaunch& launch) {
    const Status done = backend->launch_raw(launch);
    return done ? "" : done.error().code;
  };
  EXPECT_EQ(code({kernel, {1, 1, 1}, {a}, {0, 0, 0, 0}}), "raw_arguments");
  EXPECT_EQ(code({kernel, {1, 1, 1}, {a, b}, {0}}), "raw_arguments");
  EXPECT_EQ(code({kernel, {1 << 20, 1, 1}, {a, b}, {0, 0, 0, 0}}), "raw_grid");
  EXPECT_EQ(code({kernel, {1, 1, 1}, {a, a}, {0, 0, 0, 0}}), "raw_alias");
  EXPECT_EQ(of(ring::Opcode::dispatch).size(), 0U);
}

TEST_F(RingLaunchTest, TheClockOfADeviceWithoutOneGivesZero) {
  ASSERT_TRUE(backend->begin_timer());
  EXPECT_EQ(backend->end_timer().value(), 0);
}

}  // namespace
}  // namespace arraycore
