// Tests which launches wait to be batched, and what makes them run. Each program gives the same
// bytes as with single launches.
#include "runtime/batching.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "fuse/batch.h"
#include "ir/builder.h"
#include "testing/fake_device.h"
#include "testing/recorded_ring.h"
#include "view/shape.h"

namespace arraycore {
namespace {

// The kernels of the tests: update is y = y * rate + x, and decay is x += y * rate.
ir::Kernel update() {
  ir::Builder k("update");
  const auto x = k.in("x", DType::float32);
  const auto rate = k.scalar("rate", DType::float32);
  const auto y = k.in_out("y", DType::float32);
  k.store(y, k.read(y) * k.read(rate) + k.read(x));
  return k.take();
}
ir::Kernel decay() {
  ir::Builder k("decay");
  const auto y = k.in("y", DType::float32);
  const auto rate = k.scalar("rate", DType::float32);
  const auto x = k.in_out("x", DType::float32);
  k.store(x, k.read(x) + k.read(y) * k.read(rate));
  return k.take();
}

// A device whose small storages are all in one buffer. It runs a batch segment by segment.
struct SharingDevice : FakeDevice {
  std::uint32_t shared_buffer(StorageId storage) const override {
    return large.contains(storage) ? 0 : 1;
  }
  Status launch_batch(KernelId kernel, std::span<const ir::Scalar> scalars,
                      std::span<const BatchSegment> segments) override {
    if (fails_at > 0 && --fails_at == 0) return failure_of_batch;
    ++batches;
    for (const BatchSegment& segment : segments) {
      Launch launch;
      launch.kernel = kernel;
      launch.loop = Dims{segment.count};
      // The arguments of both kernels are array, scalar, array.
      launch.arguments = {segment.arrays[0], scalars[0], segment.arrays[1]};
      for (LaunchArgument& argument : launch.arguments)
        if (auto* const array = std::get_if<ArrayArgument>(&argument)) {
          const std::int64_t offset = array->view.offset;
          array->view = contiguous({segment.count}, 4);
          array->view.offset = offset;
        }
      if (const Status done = FakeDevice::launch(launch); !done) return done;
      --launches;
    }
    return Done{};
  }
  std::set<StorageId> large;
  int batches = 0;
  int fails_at = 0;  // which batch from now on fails, once; 0: none
  Error failure_of_batch{ErrorKind::interrupted, "interrupted", "Ctrl-C"};
};

struct BatchingTest : testing::Test {
  BatchingTest() {
    auto owned = std::make_unique<SharingDevice>();
    device = owned.get();
    launcher =
        std::make_unique<Launcher>(make_cpu_backend(), std::move(owned), counters, std::nullopt);
    EXPECT_TRUE(launcher->set_fusing(true));
    update_kernel = launcher->prepare(update()).value();
    decay_kernel = launcher->prepare(decay()).value();
  }
  Array array(std::vector<float> values) {
    Array made =
        launcher->allocate(DType::float32, {static_cast<std::int64_t>(values.size())}).value();
    EXPECT_TRUE(launcher->upload(made, values.data()));
    return made;
  }
  std::vector<float> read(const Array& from) {
    std::vector<float> values(static_cast<std::size_t>(from.view.count()));
    EXPECT_TRUE(launcher->download(from, std::as_writable_bytes(std::span(values))));
    return values;
  }
  void launch(KernelRef kernel, const Array& in, float rate, const Array& out, bool batched) {
    const std::array<Operand, 3> operands{
        Operand{&in, {}}, Operand{nullptr, ir::scalar_of(DType::float32, rate)}, Operand{&out, {}}};
    const Status done = launcher->launch({kernel, out.view.shape, 0, operands, batched});
    EXPECT_TRUE(done) << done.error().message;
  }

  Counters counters;
  SharingDevice* device = nullptr;
  std::unique_ptr<Launcher> launcher;
  KernelRef update_kernel = 0;
  KernelRef decay_kernel = 0;
};

TEST_F(BatchingTest, AnUpdateOfManyArraysIsOneLaunch) {
  std::vector<Array> x, y;
  for (int i = 0; i < 10; ++i) {
    x.push_back(array(std::vector<float>(static_cast<std::size_t>(i + 1), 1)));
    y.push_back(array(std::vector<float>(static_cast<std::size_t>(i + 1), 2)));
  }
  for (std::size_t i = 0; i < 10; ++i) launch(decay_kernel, y[i], 0.25F, x[i], true);
  for (std::size_t i = 0; i < 10; ++i) launch(update_kernel, x[i], 0.5F, y[i], true);
  EXPECT_EQ(device->batches + device->launches, 0);
  for (std::size_t i = 0; i < 10; ++i)
    EXPECT_EQ(read(y[i]), std::vector<float>(i + 1, 2 * 0.5F + 1.5F));
  EXPECT_EQ(device->batches, 2);
  EXPECT_EQ(device->launches, 0);
  EXPECT_EQ(counters.dispatches, 2);
}

TEST_F(BatchingTest, InterleavedUpdatesAreTwoLaunches) {
  std::vector<Array> x, y;
  for (int i = 0; i < 6; ++i) {
    x.push_back(array({1, 2}));
    y.push_back(array({3, 4}));
    launch(decay_kernel, y.back(), 0.5F, x.back(), true);
    launch(update_kernel, x.back(), 2, y.back(), true);
  }
  for (const Array& each : y) EXPECT_EQ(read(each), (std::vector<float>{8.5F, 12}));
  EXPECT_EQ(device->batches, 2);
}

TEST_F(BatchingTest, WhatIsAloneOrLargeIsLaunchedAsItIs) {
  const Array x = array({1, 2});
  const Array y = array({3, 4});
  launch(update_kernel, x, 2, y, true);
  EXPECT_EQ(read(y), (std::vector<float>{7, 10}));
  EXPECT_EQ(device->launches, 1);
  device->large.insert(y.storage->id());
  launch(update_kernel, x, 2, y, true);
  EXPECT_EQ(device->launches, 2);
  EXPECT_EQ(device->batches, 0);
}

TEST_F(BatchingTest, OtherScalarsAreAnotherLaunch) {
  const Array x = array({1});
  const Array a = array({3}), b = array({5}), c = array({7}), d = array({9});
  launch(update_kernel, x, 2, a, true);
  launch(update_kernel, x, 3, b, true);
  launch(update_kernel, x, 2, c, true);
  launch(update_kernel, x, 3, d, true);
  EXPECT_EQ(read(d), (std::vector<float>{28}));
  EXPECT_EQ(device->batches, 2);
}

TEST_F(BatchingTest, ForgetsWhatWaitsWhenTheDeviceBeginsAnew) {
  {
    const Array x = array({1}), y = array({2}), z = array({3});
    launch(update_kernel, x, 2, y, true);
    launch(update_kernel, x, 2, z, true);
  }
  EXPECT_TRUE(launcher->reset());
  EXPECT_EQ(counters.live_bytes, 0);
  EXPECT_EQ(device->batches + device->launches, 0);
}

// Makes five launches of each of two kernels. The second kernel reads the first one's results.
struct FailingBatchTest : BatchingTest {
  void fill() {
    for (int i = 0; i < 5; ++i) {
      x.push_back(array({1}));
      y.push_back(array({2}));
    }
    for (std::size_t i = 0; i < 5; ++i) launch(decay_kernel, y[i], 0.25F, x[i], true);
    for (std::size_t i = 0; i < 5; ++i) launch(update_kernel, x[i], 0.5F, y[i], true);
  }
  std::vector<Array> x, y;
};

TEST_F(FailingBatchTest, CtrlCLosesNothing) {
  for (const int at : {1, 2}) {
    x.clear();
    y.clear();
    fill();
    device->fails_at = at;
    const Status stopped = launcher->flush();
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().code, "interrupted");
    // Reading the arrays issues the remaining launches, in the same order.
    for (const Array& each : y) EXPECT_EQ(read(each), std::vector<float>{2.5F});
    for (const Array& each : x) EXPECT_EQ(read(each), std::vector<float>{1.5F});
  }
  EXPECT_EQ(device->batches, 4);
}

TEST_F(FailingBatchTest, AnErrorLosesNoOther) {
  // These launches do not fit in one batch. The first batch fails, and the others are launched.
  std::vector<Array> in, out;
  const std::size_t most = fuse::most_segments(launcher->kernel(update_kernel));
  for (std::size_t i = 0; i < most + 2; ++i) {
    in.push_back(array({1}));
    out.push_back(array({4}));
    launch(update_kernel, in.back(), 0.5F, out.back(), true);
  }
  device->fails_at = 1;
  device->failure_of_batch = {ErrorKind::device, "device_error", "no"};
  const Status failed = launcher->flush();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, "device_error");
  EXPECT_EQ(read(out.front()), std::vector<float>{4});
  EXPECT_EQ(read(out[most]), std::vector<float>{3});
  EXPECT_EQ(read(out.back()), std::vector<float>{3});
  EXPECT_EQ(device->batches, 1);
}

// A waiting launch keeps an array that nobody else holds. If memory is short, the launch is issued,
// which frees the array.
TEST_F(BatchingTest, GivesItsMemoryBackToTheBudget) {
  auto owned = std::make_unique<SharingDevice>();
  constexpr std::int64_t kBytes = 64;
  launcher = std::make_unique<Launcher>(make_cpu_backend(), std::move(owned), counters, 3 * kBytes);
  ASSERT_TRUE(launcher->set_fusing(true));
  update_kernel = launcher->prepare(update()).value();
  const Array kept = array(std::vector<float>(kBytes / 4, 1));
  {
    const Array gone = array(std::vector<float>(kBytes / 4, 2));
    launch(update_kernel, kept, 2, gone, true);
  }
  EXPECT_EQ(counters.live_bytes, 2 * kBytes);
  const auto made = launcher->allocate(DType::float32, {2 * kBytes / 4});
  EXPECT_TRUE(made);
}

// Runs random programs of batched and plain launches, reads, overwrites and copies on few arrays.
TEST_F(BatchingTest, RandomProgramsGiveTheBytesOfLaunchesOneByOne) {
  std::mt19937 random(11);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (int program = 0; program < 200; ++program) {
    std::vector<Array> arrays;
    std::vector<std::vector<float>> wanted;
    for (int i = 0; i < 6; ++i) {
      wanted.push_back({static_cast<float>(i), 1, static_cast<float>(-i)});
      arrays.push_back(array(wanted.back()));
    }
    for (int step = 0; step < 30; ++step) {
      const std::size_t in = below(6), out = below(6);
      const float rate = below(2) == 0 ? 0.5F : -0.25F;
      switch (below(8)) {
        case 0:
          EXPECT_EQ(read(arrays[in]), wanted[in]);
          break;
        case 1:
          EXPECT_TRUE(launcher->assign(arrays[out], arrays[in]));
          wanted[out] = wanted[in];
          break;
        case 2:
          EXPECT_TRUE(launcher->upload(arrays[out], wanted[in].data()));
          wanted[out] = wanted[in];
          break;
        case 3:
          arrays[out] = launcher->copy(arrays[in], DType::float32).value();
          wanted[out] = wanted[in];
          break;
        default: {
          const bool updates = below(2) == 0;
          launch(updates ? update_kernel : decay_kernel, arrays[in], rate, arrays[out],
                 below(5) != 0);
          for (std::size_t e = 0; e < 3; ++e) {
            const float x = wanted[in][e], y = wanted[out][e];
            wanted[out][e] = updates ? y * rate + x : y + x * rate;
          }
        }
      }
    }
    for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(read(arrays[i]), wanted[i]);
  }
  EXPECT_GT(device->batches, 200);
}

// On the ring a batch is one dispatch. It binds the shared buffer once and uploads nothing.
struct RingBatchTest : testing::Test, RecordedRing {};

TEST_F(RingBatchTest, ABatchBindsEachBufferOnce) {
  ASSERT_TRUE(opened);
  const KernelId kernel = backend->prepare(update()).value();
  std::vector<BatchSegment> segments;
  for (std::int64_t i = 0; i < 5; ++i) {
    const Dims shape{40 + i};
    segments.push_back({40 + i, {array(shape), array(shape)}});
    for (const ArrayArgument& each : segments.back().arrays)
      EXPECT_EQ(backend->shared_buffer(each.storage),
                backend->shared_buffer(segments[0].arrays[0].storage));
  }
  EXPECT_EQ(backend->shared_buffer(array({100'000}).storage), 0U);
  const ir::Scalar rate = ir::scalar_of(DType::float32, 2);
  for (int launch = 0; launch < 2; ++launch)
    ASSERT_TRUE(backend->launch_batch(kernel, std::span(&rate, 1), segments));
  ASSERT_TRUE(finish());
  int dispatches = 0, pipelines = 0;
  for (const auto& command : executor->commands()) {
    EXPECT_NE(command.opcode, ring::Opcode::upload);
    pipelines += command.opcode == ring::Opcode::create_pipeline ? 1 : 0;
    if (command.opcode != ring::Opcode::dispatch) continue;
    ++dispatches;
    EXPECT_EQ(command.operands[5] & 0xffff, 1U);  // bindings besides the uniform block
  }
  EXPECT_EQ(dispatches, 2);
  EXPECT_EQ(pipelines, 1);
}

}  // namespace
}  // namespace arraycore
