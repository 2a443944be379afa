// Tests reads, writes and updates by arrays of indices and masks, with a device and without:
// values, what is copied, and that reads need no scatter. index_key_test tests what keys mean;
// Python tests compare with NumPy.
#include "operations/indexing/index_call.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ir/verify.h"
#include "lower/gather_only.h"
#include "ops/ufunc.h"
#include "testing/fake_device.h"
#include "view/shape.h"

namespace arraycore {
namespace {

struct IndexCallTest : testing::Test {
  explicit IndexCallTest(std::unique_ptr<Backend> device = std::make_unique<FakeDevice>())
      : launcher(make_cpu_backend(), std::move(device), counters, std::nullopt) {}

  template <typename T>
  Array array(DType dtype, const Dims& shape, const std::vector<T>& values) {
    Array made = launcher.allocate(dtype, shape).value();
    EXPECT_TRUE(launcher.upload(made, values.data()));
    return made;
  }
  Array floats(const Dims& shape, const std::vector<float>& values) {
    return array(DType::float32, shape, values);
  }
  std::vector<float> values(const Array& from) {
    std::vector<float> read(static_cast<std::size_t>(from.view.count()));
    EXPECT_TRUE(launcher.download(from, std::as_writable_bytes(std::span(read))));
    return read;
  }
  KeyItem integers(const std::vector<std::int64_t>& values) {
    KeyItem item;
    item.kind = KeyItem::Kind::integers;
    item.array = array(DType::int64, {static_cast<std::int64_t>(values.size())}, values);
    return item;
  }
  KeyItem mask(const Dims& shape, const std::vector<std::uint8_t>& values) {
    KeyItem item;
    item.kind = KeyItem::Kind::mask;
    item.array = array(DType::boolean, shape, values);
    return item;
  }
  std::string code(const Status& status) { return status ? "" : status.error().code; }

  Counters counters;
  Launcher launcher;
  Scans scans{launcher};
  IndexCalls calls{launcher, scans};
};

struct IndexCallOnCpuTest : IndexCallTest {
  IndexCallOnCpuTest() : IndexCallTest(nullptr) {}
};

IndexUpdate update_of(const char* name, DType dtype) {
  const ops::UFunc& ufunc = ops::table()[static_cast<std::size_t>(*ops::find(name))];
  IndexUpdate update{&ufunc, {}};
  update.loop.operands = {dtype, dtype, dtype};
  update.loop.results = {dtype, dtype};
  return update;
}

TEST_F(IndexCallTest, AGatherIsOneLaunchAndReadsNothing) {
  const Array source = floats({3, 2}, {0, 1, 10, 11, 20, 21});
  const std::vector key{integers({2, -3, 1})};
  const Counters before = counters;
  const Array made = calls.read(source, key).value();
  EXPECT_EQ(counters.dispatches - before.dispatches, 1);
  EXPECT_EQ(counters.bytes_down, before.bytes_down);
  EXPECT_EQ(counters.cpu_ops, 0);
  EXPECT_EQ(made.view.shape, (Dims{3, 2}));
  EXPECT_EQ(values(made), (std::vector<float>{20, 21, 0, 1, 10, 11}));
}

TEST_F(IndexCallTest, AMaskReadsItsNumberAlone) {
  const Array source = floats({2, 3}, {0, 1, 2, 3, 4, 5});
  const std::vector key{mask({2, 3}, {1, 0, 0, 1, 1, 0})};
  const Array made = calls.read(source, key).value();
  EXPECT_EQ(counters.bytes_down, 4);
  EXPECT_EQ(values(made), (std::vector<float>{0, 3, 4}));
}

TEST_F(IndexCallTest, AMaskIsWrittenWithoutBeingCounted) {
  const Array target = floats({2, 3}, {0, 1, 2, 3, 4, 5});
  const std::vector key{mask({2, 3}, {1, 0, 0, 1, 1, 0})};
  ASSERT_TRUE(calls.write(target, key, {nullptr, ir::put(9.0F), DType::float32}));
  const Array rows = floats({3}, {6, 7, 8});
  ASSERT_TRUE(calls.write(target, std::vector{mask({2, 3}, {0, 1, 0, 0, 1, 1})}, {&rows, {}, {}}));
  EXPECT_EQ(counters.bytes_down, 0);
  EXPECT_EQ(counters.cpu_ops, 0);
  EXPECT_EQ(values(target), (std::vector<float>{9, 6, 2, 9, 7, 8}));
}

TEST_F(IndexCallTest, ADeviceTakesAsManyRowsAsThereAre) {
  const Array few = floats({2}, {6, 7});
  const Array many = floats({4}, {1, 2, 3, 4});
  const Array target = floats({3}, {0, 0, 0});
  const std::vector key{mask({3}, {1, 1, 1})};
  ASSERT_TRUE(calls.write(target, key, {&few, {}, {}}));
  EXPECT_EQ(values(target), (std::vector<float>{6, 7, 0}));
  ASSERT_TRUE(calls.write(target, key, {&many, {}, {}}));
  EXPECT_EQ(values(target), (std::vector<float>{1, 2, 3}));
}

TEST_F(IndexCallTest, OutOfBoundsADeviceWrapsAround) {
  const Array source = floats({3}, {0, 1, 2});
  const std::vector key{integers({4, -4, std::int64_t{1} << 40, -(std::int64_t{1} << 40)})};
  const Array made = calls.read(source, key).value();
  EXPECT_EQ(values(made), (std::vector<float>{1, 2, 1, 2}));
  // In an array without elements, every index is out of bounds.
  const Array nothing = floats({0}, {});
  EXPECT_EQ(calls.read(nothing, key).error().code, "index_out_of_bounds");
}

TEST_F(IndexCallOnCpuTest, OutOfBoundsTheCpuRaisesBeforeItWrites) {
  const Array target = floats({3}, {0, 1, 2});
  const std::vector key{integers({0, 3})};
  EXPECT_EQ(calls.read(target, key).error().message,
            "index 3 is out of bounds for axis 0 with size 3");
  EXPECT_EQ(code(calls.write(target, key, {nullptr, ir::put(9.0F), DType::float32})),
            "index_out_of_bounds");
  EXPECT_EQ(values(target), (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(counters.bytes_down, 3 * 4);  // what this test has read
}

TEST_F(IndexCallOnCpuTest, AMaskOfAnotherNumberOfRowsIsAnError) {
  const Array target = floats({3}, {0, 1, 2});
  const Array rows = floats({2}, {6, 7});
  const std::vector key{mask({3}, {1, 1, 1})};
  EXPECT_EQ(code(calls.write(target, key, {&rows, {}, {}})), "mask_values");
  const Array matrix = floats({1, 3}, {6, 7, 8});
  EXPECT_EQ(code(calls.write(target, key, {&matrix, {}, {}})), "mask_values_ndim");
}

TEST_F(IndexCallTest, OfSeveralValuesTheLastStays) {
  const Array target = floats({2, 2}, {0, 0, 0, 0});
  const Array rows = floats({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Counters before = counters;
  ASSERT_TRUE(calls.write(target, std::vector{integers({0, 1, 0, 0})}, {&rows, {}, {}}));
  EXPECT_EQ(counters.dispatches - before.dispatches, 3);  // a device writes in any order
  EXPECT_EQ(values(target), (std::vector<float>{7, 8, 3, 4}));
}

TEST_F(IndexCallTest, AValueThatOverlapsTheTargetIsReadFirst) {
  const Array target = floats({4}, {0, 1, 2, 3});
  ASSERT_TRUE(calls.write(target, std::vector{integers({3, 2, 1, 0})}, {&target, {}, {}}));
  EXPECT_EQ(values(target), (std::vector<float>{3, 2, 1, 0}));
}

TEST_F(IndexCallTest, UpdatesMeetEachOther) {
  const Array target = floats({2}, {1, 1});
  const Array rows = floats({3}, {2, 3, 4});
  const std::vector key{integers({0, 0, 1})};
  ASSERT_TRUE(calls.update(target, key, update_of("add", DType::float32), {&rows, {}, {}}));
  EXPECT_EQ(values(target), (std::vector<float>{6, 5}));
  ASSERT_TRUE(calls.update(target, key, update_of("subtract", DType::float32), {&rows, {}, {}}));
  EXPECT_EQ(values(target), (std::vector<float>{1, 1}));
  ASSERT_TRUE(calls.update(target, key, update_of("maximum", DType::float32), {&rows, {}, {}}));
  EXPECT_EQ(values(target), (std::vector<float>{3, 4}));
  ASSERT_TRUE(calls.update(target, key, update_of("multiply", DType::float32), {&rows, {}, {}}));
  EXPECT_EQ(values(target), (std::vector<float>{18, 16}));
}

TEST_F(IndexCallTest, ComplexSumsArePartByPart) {
  const Array target = array(DType::complex64, {1}, std::vector<float>{1, 2});
  const Array rows = array(DType::complex64, {2}, std::vector<float>{10, 20, 30, 40});
  const std::vector key{integers({0, 0})};
  ASSERT_TRUE(calls.update(target, key, update_of("add", DType::complex64), {&rows, {}, {}}));
  std::vector<float> read(2);
  ASSERT_TRUE(launcher.download(target, std::as_writable_bytes(std::span(read))));
  EXPECT_EQ(read, (std::vector<float>{41, 62}));
  EXPECT_EQ(
      code(calls.update(target, key, update_of("multiply", DType::complex64), {&rows, {}, {}})),
      "no_update");
}

TEST_F(IndexCallTest, ABroadcastViewIsNotWritten) {
  const Array row = floats({1}, {5});
  const Array wide{row.dtype, broadcast_to(row.view, {3}).value(), row.storage};
  EXPECT_EQ(
      code(calls.write(wide, std::vector{integers({0})}, {nullptr, ir::put(1.0F), DType::float32})),
      "read_only");
}

TEST_F(IndexCallTest, AKeptKernelIsMadeOnce) {
  const Array source = floats({3}, {0, 1, 2});
  auto* const device = dynamic_cast<FakeDevice*>(&launcher.raw_backend());
  ASSERT_NE(device, nullptr);
  const std::vector key{integers({0, 1})};
  ASSERT_TRUE(calls.read(source, key));
  const std::set<DType> dtypes = device->dtypes;
  EXPECT_FALSE(dtypes.contains(DType::float32));  // elements move as bits
  device->refuses_kernels = true;
  const std::int64_t on_cpu = counters.cpu_ops;
  ASSERT_TRUE(calls.read(source, key));
  EXPECT_EQ(counters.cpu_ops, on_cpu);
}

TEST(IndexKernels, ReadsOnlyGather) {
  for (const bool checked : {false, true})
    for (const bool spread : {false, true})
      for (std::size_t d = 1; d <= static_cast<std::size_t>(DType::uint64); ++d) {
        IndexSignature signature;
        signature.array = DType::uint32;
        signature.spread = spread;
        signature.picks = {{static_cast<DType>(d), checked}, {DType::int32, true}};
        const ir::Kernel kernel = make_index_kernel(signature);
        EXPECT_TRUE(ir::verify(kernel));
        EXPECT_TRUE(lower::gather_only(kernel).only);
        signature.task = IndexTask::scatter;
        signature.value = DType::uint32;
        const ir::Kernel scatter = make_index_kernel(signature);
        EXPECT_TRUE(ir::verify(scatter));
        EXPECT_FALSE(lower::gather_only(scatter).only);
      }
}

TEST(IndexKernels, EveryLookHasItsOwnKey) {
  std::set<std::string> keys;
  std::size_t signature_count = 0;
  for (const IndexTask task : {IndexTask::gather, IndexTask::scatter, IndexTask::add})
    for (const bool scalar : {false, true})
      for (const bool spread : {false, true})
        for (const bool skips : {false, true})
          for (const bool winners : {false, true})
            for (const bool checked : {false, true}) {
              IndexSignature signature;
              signature.task = task;
              signature.value_is_scalar = scalar;
              signature.spread = spread;
              signature.skips = skips;
              signature.winners = winners;
              signature.picks = {{DType::int64, checked}};
              keys.insert(signature.key());
              ++signature_count;
            }
  EXPECT_EQ(keys.size(), signature_count);
}

}  // namespace
}  // namespace arraycore
