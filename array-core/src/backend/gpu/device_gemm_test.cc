// Tests products of matrices on a device: the commands that it gets, the check of a kernel at its
// first use, and how a wrong kernel is avoided.
#include "backend/gpu/device_gemm.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>
#include <string>

#include "backend/cpu/cpu_backend.h"

namespace arraycore {
namespace {

// A device that computes in C++ what the library's shaders should compute. It reads the uniform
// block as the shaders do. It can give wrong results for kernels whose names contain a given text.
class ShaderDevice final : public Backend {
 public:
  Result<StorageId> create_storage(std::int64_t bytes) override {
    memory_[++last_].resize(static_cast<std::size_t>(bytes));
    return last_;
  }
  void destroy_storage(StorageId storage) override { memory_.erase(storage); }
  Status upload(StorageId storage, std::int64_t offset, std::span<const std::byte> bytes) override {
    if (!bytes.empty())
      std::memcpy(&memory_[storage][static_cast<std::size_t>(offset)], bytes.data(), bytes.size());
    return Done{};
  }
  Status fill_zero(StorageId storage) override {
    std::fill(memory_[storage].begin(), memory_[storage].end(), std::byte{0});
    return Done{};
  }
  Status download(StorageId storage, std::int64_t offset, std::span<std::byte> bytes) override {
    if (!bytes.empty())
      std::memcpy(bytes.data(), &memory_[storage][static_cast<std::size_t>(offset)], bytes.size());
    if (failure.kind == ErrorKind::none) return Done{};
    return std::exchange(failure, Error{ErrorKind::none, "", ""});
  }
  Result<KernelId> prepare(ir::Kernel /*kernel*/) override { return no_gemm(); }
  Status launch(const Launch& /*launch*/) override { return no_gemm(); }
  Result<KernelId> prepare_raw(const RawText& text) override {
    names_.push_back(text.name);
    return static_cast<KernelId>(names_.size() - 1);
  }
  Status launch_raw(const RawLaunch& launch) override {
    const std::string& name = names_[launch.kernel];
    launched.push_back(name);
    for (const std::uint32_t groups : launch.groups) EXPECT_LE(groups, most_groups);
    const auto& w = launch.uniforms;
    const bool joins = name.find("join") != std::string::npos;
    const bool window = w.size() > gemm::kUniformWords;
    const bool in_a_row = window && name.find("outer") == std::string::npos &&
                          name.find("plain") == std::string::npos;
    const bool parts = name.find("split") != std::string::npos;
    // Returns a field of a WindowAxis from the uniforms. `member` is the field's index: 0 for
    // `columns`, 1 for `terms` and so on.
    const auto of = [&](std::size_t member, std::size_t axis) {
      return w[gemm::kUniformWords + member * gemm::kWindowAxes + axis];
    };
    const auto a_of = [&](std::uint32_t k) {
      return window && !in_a_row ? k / w[31] * w[7] + k % w[31] : k * w[7];
    };
    const auto out_of = [&](std::uint32_t column) {
      if (!window || parts) return column * w[11];
      std::uint32_t at = 0;
      for (std::size_t axis = gemm::kWindowAxes; axis-- > 0; column /= of(0, axis))
        at += column % of(0, axis) * of(7, axis);
      return at + column * w[11];
    };
    // Returns the element of b, or 0 if the window's place is beyond the edge of the data.
    const auto b_of = [&](std::uint32_t start, std::uint32_t k, std::uint32_t column) {
      std::uint32_t place = start;
      if (!window) return at(launch.bindings[1], start + k * w[8] + column * w[9]);
      for (std::size_t axis = gemm::kWindowAxes; axis-- > 0;) {
        const std::uint32_t x =
            column % of(0, axis) * of(2, axis) + k % of(1, axis) * of(3, axis) + of(4, axis);
        if (x >= of(5, axis)) return 0.0F;
        place += x * of(6, axis);
        column /= of(0, axis);
        k /= of(1, axis);
      }
      return at(launch.bindings[1], place + k * w[8] + column * w[9]);
    };
    const std::uint32_t batches = joins ? launch.groups[2] : launch.groups[2] / w[4];
    for (std::uint32_t z = 0; z < batches; ++z) {
      std::uint32_t rest = w[5] + z;
      std::array<std::uint32_t, 4> i{};
      for (std::size_t axis = 3; axis > 0; --axis) {
        i[axis] = rest % w[14 + axis];
        rest /= w[14 + axis];
      }
      i[0] = rest;
      const auto place = [&](std::size_t offset, std::size_t strides) {
        std::uint32_t at = w[offset];
        for (std::size_t axis = 0; axis < 4; ++axis) at += i[axis] * w[strides + axis];
        return at;
      };
      for (std::uint32_t s = 0; s < (joins ? 1 : w[4]); ++s) {
        const std::uint32_t begin = s * w[3];
        const std::uint32_t end = std::min(begin + w[3], w[2]);
        for (std::uint32_t row = 0; row < w[0]; ++row)
          for (std::uint32_t column = 0; column < w[1]; ++column) {
            float sum = 0;
            if (joins)
              for (std::uint32_t part = 0; part < w[4]; ++part)
                sum += at(launch.bindings[0],
                          ((z + w[5]) * w[4] + part) * w[30] + row * w[1] + column);
            else
              for (std::uint32_t k = begin; k < end; ++k)
                sum += at(launch.bindings[0], place(12, 18) + row * w[6] + a_of(k)) *
                       b_of(place(13, 22), k, column);
            if (!spoilt.empty() && name.find(spoilt) != std::string::npos) sum += 1;
            const std::size_t out = launch.bindings.size() - 1;
            at(launch.bindings[out],
               place(14, 26) + (joins ? 0 : s * w[30]) + row * w[10] + out_of(column)) = sum;
          }
      }
    }
    if (!broken.empty() && name.find(broken) != std::string::npos)
      failure = {ErrorKind::device, "shader", "The device's compiler refused the text."};
    return Done{};
  }

  float& at(StorageId storage, std::uint32_t index) {
    return reinterpret_cast<float*>(memory_.at(storage).data())[index];
  }
  std::size_t storages() const { return memory_.size(); }

  std::vector<std::string> launched;
  std::string spoilt;                      // kernels that compute something else
  std::string broken;                      // kernels that the device's compiler refuses
  Error failure{ErrorKind::none, "", ""};  // the error of the next wait
  std::uint32_t most_groups = 65535;

 private:
  std::map<StorageId, std::vector<std::byte>> memory_;
  std::vector<std::string> names_;
  StorageId last_ = 0;
};

struct DeviceGemmTest : testing::Test {
  // Computes a product of small integers on the device and with three loops, and compares them.
  void multiply(gemm::Problem problem, const gemm::Device& with) {
    std::int64_t last_a = 0;
    std::int64_t last_b = 0;
    std::int64_t last_out = 0;
    for (std::int64_t batch = 0; batch < problem.batches(); ++batch) {
      const gemm::Problem::Place at = problem.place(batch);
      for (std::int64_t row = 0; row < problem.m; ++row) {
        for (std::int64_t term = 0; term < problem.k; ++term)
          last_a = std::max(last_a, at.a + problem.a_at(row, term));
        for (std::int64_t column = 0; column < problem.n; ++column)
          last_out = std::max(last_out, at.out + problem.out_at(row, column));
      }
      for (std::int64_t term = 0; term < problem.k; ++term)
        for (std::int64_t column = 0; column < problem.n; ++column)
          last_b = std::max(last_b, at.b + problem.b_at(term, column).value_or(0));
    }
    std::vector<float> a(static_cast<std::size_t>(last_a) + 1);
    std::vector<float> b(static_cast<std::size_t>(last_b) + 1);
    std::vector<float> want(static_cast<std::size_t>(last_out) + 1, -7);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 5) - 2;
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 7) - 3;
    std::vector<float> got = want;
    const auto put = [&](const std::vector<float>& values) {
      const StorageId id =
          device.create_storage(static_cast<std::int64_t>(values.size() * 4)).value();
      EXPECT_TRUE(device.upload(id, 0, std::as_bytes(std::span(values))));
      return id;
    };
    const GemmLaunch launch{problem, put(a), put(b), put(want)};
    const std::size_t before = device.storages();
    const Status done = product.launch(launch, with);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(device.storages(), before);  // all storages of the check are destroyed
    ASSERT_TRUE(device.download(launch.out, 0, std::as_writable_bytes(std::span(got))));
    gemm::multiply_plainly(problem, a.data(), b.data(), want.data());
    EXPECT_EQ(got, want);
  }
  static gemm::Problem rows(std::int64_t m, std::int64_t n, std::int64_t k) {
    gemm::Problem problem;
    problem.m = m;
    problem.n = n;
    problem.k = k;
    problem.a = {2, k, 1, {}};
    problem.b = {3, n, 1, {}};
    problem.out = {1, n, 1, {}};
    return problem;
  }
  // Returns the problem of a convolution with a 3 x 3 window in `groups` groups. The images and the
  // results have `height` x `width` pixels.
  static gemm::Problem window(std::int64_t groups, std::int64_t images, std::int64_t channels,
                              std::int64_t results, std::int64_t height, std::int64_t width) {
    gemm::Problem problem;
    problem.m = results;
    problem.n = images * height * width;
    problem.k = channels * 9;
    const auto batch = [&](std::int64_t step) { return groups > 1 ? Dims{step} : Dims{}; };
    if (groups > 1) problem.batch = {groups};
    const std::int64_t area = height * width;
    problem.a = {0, problem.k, 9, batch(results * problem.k)};
    problem.b = {0, area, groups * channels * area, batch(channels * area)};
    problem.out = {0, area, groups * results * area, batch(results * area)};
    gemm::Window window;
    window.used = 2;
    window.axes[1] = {height, 3, 1, 1, -1, height, width, width};
    window.axes[2] = {width, 3, 1, 1, -1, width, 1, 1};
    problem.window = window;
    return problem;
  }
  std::size_t count(const std::string& part) const {
    return static_cast<std::size_t>(std::count_if(
        device.launched.begin(), device.launched.end(),
        [&](const std::string& name) { return name.find(part) != std::string::npos; }));
  }

  ShaderDevice device;
  DeviceGemm product{device};
};

const gemm::Device kDevice{.invocations = 256};

TEST_F(DeviceGemmTest, AVariantIsCheckedOnce) {
  multiply(rows(20, 30, 40), kDevice);
  EXPECT_EQ(device.launched.size(), 2U);
  multiply(rows(20, 30, 40), kDevice);
  EXPECT_EQ(device.launched.size(), 3U);
  product.reset();
  multiply(rows(20, 30, 40), kDevice);
  EXPECT_EQ(device.launched.size(), 5U);
  EXPECT_EQ(product.tune({}), 0U);
}

TEST_F(DeviceGemmTest, AWrongVariantIsDeniedAndThePlainOneTaken) {
  device.spoilt = "tiled";
  multiply(rows(20, 30, 40), kDevice);
  multiply(rows(20, 30, 40), kDevice);
  EXPECT_EQ(product.tune({}), 1U);
  EXPECT_EQ(count("tiled"), 1U);
  EXPECT_EQ(count("plain"), 2U);
}

TEST_F(DeviceGemmTest, AVariantThatDoesNotCompileIsDeniedToo) {
  device.broken = "tiled";
  multiply(rows(20, 30, 40), kDevice);
  EXPECT_EQ(product.tune({}), 1U);
  EXPECT_EQ(count("plain"), 1U);
}

TEST_F(DeviceGemmTest, AnEarlierCommandsErrorIsNotTheVariants) {
  device.failure = {ErrorKind::device, "validation", "An earlier command was wrong."};
  const StorageId storage = device.create_storage(4096).value();
  gemm::Problem problem = rows(4, 4, 4);
  const Status done = product.launch({problem, storage, storage, storage}, kDevice);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "validation");
  EXPECT_EQ(product.tune({}), 0U);
  multiply(rows(20, 30, 40), kDevice);
  EXPECT_EQ(count("plain"), 0U);
}

TEST_F(DeviceGemmTest, VectorsLongSumsAndBatches) {
  multiply(rows(1, 50, 40), kDevice);
  multiply(rows(50, 1, 40), kDevice);
  multiply(rows(1, 1, 5000), kDevice);
  multiply(rows(30, 20, 3000), kDevice);
  EXPECT_EQ(count("join"), 4U);  // for two products and their checks
  gemm::Problem problem = rows(5, 6, 7);
  problem.batch = {2, 3, 2, 2, 2};
  problem.a.batch = {0, 35, 0, 105, 210};
  problem.b.batch = {42, 0, 84, 0, 168};
  problem.out.batch = {720, 240, 120, 60, 30};
  multiply(problem, kDevice);
}

TEST_F(DeviceGemmTest, MoreWorkgroupsThanADispatchTakesAreSeveral) {
  device.most_groups = 4;
  gemm::Device small = kDevice;
  small.groups = 4;
  multiply(rows(1, 500, 40), small);
  multiply(rows(600, 5, 8), small);
  multiply(rows(5, 601, 8), small);
  gemm::Problem problem = rows(3, 3, 3);
  problem.batch = {11};
  problem.a.batch = {9};
  problem.b.batch = {9};
  problem.out.batch = {9};
  multiply(problem, small);
}

// A dispatch that can be divided has at most `most_flop` operations, and the product is right.
TEST_F(DeviceGemmTest, NoDispatchIsLongerThanTheDeviceTakesInAGo) {
  gemm::Device slow = kDevice;
  slow.most_flop = 1e5;
  const auto launches = [&](const gemm::Problem& problem) {
    multiply(problem, slow);  // the check of its kernels counts too
    device.launched.clear();
    multiply(problem, slow);
    return device.launched.size();
  };
  EXPECT_EQ(launches(rows(100, 80, 20)), 4U);           // 3.2e5
  EXPECT_GE(launches(rows(1, 700, 100)), 2U);           // 1.4e5, as a column
  EXPECT_GE(launches(window(1, 9, 2, 4, 10, 10)), 2U);  // 1.3e5
  gemm::Problem problem = rows(20, 16, 150);            // 9.6e4, five times
  problem.batch = {5};
  problem.a.batch = {3000};
  problem.b.batch = {2400};
  problem.out.batch = {320};
  EXPECT_EQ(launches(problem), 5U);
  EXPECT_LE(launches(rows(20, 30, 500)), 2U);  // nothing is left to divide
}

TEST_F(DeviceGemmTest, WindowsHaveKernelsOfTheirOwn) {
  multiply(window(1, 2, 3, 5, 6, 7), kDevice);
  EXPECT_EQ(count("conv2x3 tiled"), 2U);
  multiply(window(2, 2, 3, 5, 6, 8), kDevice);
  EXPECT_EQ(count("store4"), 2U);
  multiply(window(1, 1, 100, 20, 5, 5), kDevice);  // a long sum of a small result
  EXPECT_EQ(count("conv join"), 2U);
  multiply(window(3, 2, 1, 1, 6, 7), kDevice);  // a channel by itself
  EXPECT_EQ(count("conv2 plain"), 2U);
  EXPECT_EQ(count("matmul"), 0U);
}

TEST_F(DeviceGemmTest, AWrongWindowVariantIsDeniedAndThePlainOneTaken) {
  device.spoilt = "tiled";
  multiply(window(1, 2, 3, 5, 6, 7), kDevice);
  EXPECT_EQ(product.tune({}), 1U);
  EXPECT_EQ(count("plain"), 1U);
}

TEST_F(DeviceGemmTest, MoreWindowsThanADispatchTakesAreSeveral) {
  gemm::Device small = kDevice;
  small.groups = 4;
  multiply(window(1, 9, 2, 3, 12, 12), small);
  multiply(window(1, 1, 2, 3, 40, 20), small);
  multiply(window(9, 1, 1, 3, 5, 4), small);
  multiply(window(1, 1, 2, 600, 5, 4), small);
}

}  // namespace
}  // namespace arraycore
