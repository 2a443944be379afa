// Tests how a device's speed is measured and used, with an emulated device of known speed.
#include "backend/gpu/device_pace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace arraycore {
namespace {

// A device whose time is simulated: `flop_per_ms` operations of a product take one millisecond, and
// each wait takes `wait_ms` more. It computes nothing, so each variant but the plain one fails its
// check.
class PacedDevice final : public Backend, public ring::Host {
 public:
  Result<StorageId> create_storage(std::int64_t bytes) override {
    if (bytes > most_bytes) return Error{ErrorKind::memory, "out_of_memory", "None is left."};
    memory_[++last_].resize(static_cast<std::size_t>(bytes));
    return last_;
  }
  void destroy_storage(StorageId storage) override { memory_.erase(storage); }
  Status upload(StorageId storage, std::int64_t offset, std::span<const std::byte> bytes) override {
    std::copy(bytes.begin(), bytes.end(), memory_[storage].begin() + offset);
    return Done{};
  }
  Status fill_zero(StorageId) override { return Done{}; }
  Status download(StorageId storage, std::int64_t offset, std::span<std::byte> bytes) override {
    if (interrupted) return Error{ErrorKind::interrupted, "interrupted", "Interrupted."};
    ++waits;
    time_ms_ += wait_ms + static_cast<double>(flop_) / flop_per_ms;
    longest_ms = std::max(longest_ms, static_cast<double>(flop_) / flop_per_ms);
    flop_ = 0;
    const auto from = memory_[storage].begin() + offset;
    std::copy_n(from, bytes.size(), bytes.begin());
    return Done{};
  }
  Result<KernelId> prepare(ir::Kernel) override { return no_gemm(); }
  Status launch(const Launch&) override { return no_gemm(); }
  Result<KernelId> prepare_raw(const RawText&) override { return KernelId{1}; }
  Status launch_raw(const RawLaunch& launch) override {
    const auto& w = launch.uniforms;
    flop_ += 2.0 * w[0] * w[1] * w[2];
    return Done{};
  }

  ring::WaitResult wait(std::atomic<std::uint32_t>&, std::uint32_t, std::uint32_t) override {
    return ring::WaitResult::woken;
  }
  void wake(std::atomic<std::uint32_t>&) override {}
  void post_wake_message() override {}
  std::uint64_t now_ms() override { return static_cast<std::uint64_t>(time_ms_); }

  double flop_per_ms = 1e8;
  double wait_ms = 3;
  std::int64_t most_bytes = std::int64_t{1} << 40;
  bool interrupted = false;
  int waits = 0;
  double longest_ms = 0;
  std::size_t storages() const { return memory_.size(); }

 private:
  std::map<StorageId, std::vector<std::byte>> memory_;
  StorageId last_ = 0;
  double flop_ = 0;
  double time_ms_ = 1000;
};

struct DevicePaceTest : testing::Test {
  Result<double> most(double flop) { return pace.most_flop(flop, device, gemm, {}, device); }

  PacedDevice device;
  DeviceGemm gemm{device};
  DevicePace pace;
};

TEST_F(DevicePaceTest, NothingIsMeasuredForSmallProducts) {
  EXPECT_EQ(most(DevicePace::kNeverLong).value(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(device.waits, 0);
}

TEST_F(DevicePaceTest, ADispatchTakesAsLongAsItMay) {
  for (const double speed : {1e7, 2e7, 1e8, 1e9}) {  // 10 to 1,000 GFLOP/s
    device.flop_per_ms = speed;
    pace.reset();
    const double found = most(1e10).value();
    EXPECT_GT(found, 0.8 * 100 * speed) << speed;
    EXPECT_LT(found, 1.25 * 100 * speed) << speed;
  }
  EXPECT_LE(device.longest_ms, 110);  // includes the dispatches of the measurement
  EXPECT_EQ(device.storages(), 0U);
}

TEST_F(DevicePaceTest, ItIsMeasuredOnce) {
  const double found = most(1e10).value();
  const int waits = device.waits;
  EXPECT_EQ(most(1e12).value(), found);
  EXPECT_EQ(pace.most_flop(), found);
  EXPECT_EQ(device.waits, waits);
}

TEST_F(DevicePaceTest, AFastDeviceIsNotCutAtAll) {
  device.flop_per_ms = 4e10;
  EXPECT_GT(most(1e10).value(), 1e12);
}

TEST_F(DevicePaceTest, MemoryThatIsShortEndsTheMeasuring) {
  device.most_bytes = std::int64_t{512} * 512 * 4;
  EXPECT_GT(most(1e10).value(), 1e9);
  EXPECT_EQ(device.storages(), 0U);
  device.most_bytes = 0;
  pace.reset();
  EXPECT_FALSE(std::isnan(most(1e10).value()));
}

TEST_F(DevicePaceTest, CtrlCLeavesItUnknown) {
  device.interrupted = true;
  EXPECT_EQ(most(1e10).error().code, "interrupted");
  EXPECT_EQ(pace.most_flop(), std::numeric_limits<double>::infinity());
  device.interrupted = false;
  EXPECT_LT(most(1e10).value(), 1e12);
}

}  // namespace
}  // namespace arraycore
