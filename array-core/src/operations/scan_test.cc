// Compares running sums with a plain loop, for lengths around a chunk's end, all dtypes, strides,
// and with the array itself as the target.
#include "operations/scan.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "testing/fake_device.h"
#include "view/shape.h"

namespace arraycore {
namespace {

struct ScanTest : testing::Test {
  template <typename T>
  Array array(DType dtype, const std::vector<T>& values) {
    Array made = launcher.allocate(dtype, {static_cast<std::int64_t>(values.size())}).value();
    EXPECT_TRUE(launcher.upload(made, values.data()));
    return made;
  }
  std::vector<std::int32_t> read(const Array& from) {
    std::vector<std::int32_t> values(static_cast<std::size_t>(from.view.count()));
    EXPECT_TRUE(launcher.download(from, std::as_writable_bytes(std::span(values))));
    return values;
  }
  std::vector<std::int32_t> scanned(const Array& source, ScanKind kind) {
    const Array target = launcher.allocate(DType::int32, source.view.shape).value();
    const Status status = scans.add(target, source, kind);
    EXPECT_TRUE(status) << status.error().message;
    return read(target);
  }

  Counters counters;
  Launcher launcher{make_cpu_backend(), std::make_unique<FakeDevice>(), counters, std::nullopt};
  Scans scans{launcher};
};

TEST_F(ScanTest, SumsWhatComesBeforeAndWithAnElement) {
  for (const std::size_t length :
       {0U, 1U, 2U, 63U, 64U, 65U, 128U, 4095U, 4096U, 4097U, 300'000U}) {
    std::vector<std::uint8_t> mask(length);
    std::vector<std::int32_t> with;
    std::vector<std::int32_t> before;
    std::int32_t sum = 0;
    for (std::size_t k = 0; k < length; ++k) {
      mask[k] = k % 3 == 0 || k % 7 == 2 ? 1 : 0;
      before.push_back(sum);
      with.push_back(sum += mask[k]);
    }
    const Array source = array(DType::boolean, mask);
    EXPECT_EQ(scanned(source, ScanKind::inclusive), with) << length;
    EXPECT_EQ(scanned(source, ScanKind::exclusive), before) << length;
  }
  EXPECT_EQ(counters.cpu_ops, 0);
}

TEST_F(ScanTest, ReadsOtherIntegersThroughAnyView) {
  const Array source = array(DType::int64, std::vector<std::int64_t>{1, 2, 3, 4, 5, 6});
  const View turned = transpose(View{{2, 3}, {24, 8}, 0});
  EXPECT_EQ(scanned({DType::int64, turned, source.storage}, ScanKind::inclusive),
            (std::vector<std::int32_t>{1, 5, 7, 12, 15, 21}));
  EXPECT_EQ(scanned({DType::int64, {{3}, {-16}, 40}, source.storage}, ScanKind::exclusive),
            (std::vector<std::int32_t>{0, 6, 10}));
}

TEST_F(ScanTest, TheTargetMayBeTheSource) {
  const Array both = array(DType::int32, std::vector<std::int32_t>(1000, 2));
  ASSERT_TRUE(scans.add(both, both, ScanKind::inclusive));
  EXPECT_EQ(read(both)[999], 2000);
  EXPECT_EQ(read(both)[0], 2);
}

}  // namespace
}  // namespace arraycore
