// Compares the loops of batch normalization with the reference interpreter, which runs the kernels'
// own bodies with sums in float64.
#include "cpu/nn/normalization.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ops/normalization.h"
#include "view/shape.h"

namespace arraycore::cpu {
namespace {

using ir::Argument;

// The results; T is float for the loops and double for the reference.
template <typename T>
struct Case {
  static constexpr DType kType = sizeof(T) == 4 ? DType::float32 : DType::float64;
  static constexpr ops::NormalizationTypes kTypes{kType, kType, kType};

  Dims shape;  // images, channels, space
  std::vector<T> x, gy, mean, inv_std, gamma, gbeta, ggamma, running_mean, running_var, gx;

  explicit Case(const Dims& of_data) : shape(of_data) {
    std::uint32_t state = 12'345;
    const auto fill = [&](std::vector<T>& values, std::int64_t count, float shift) {
      for (std::int64_t i = 0; i < count; ++i) {
        state = state * 1'664'525U + 1'013'904'223U;
        values.push_back(static_cast<T>(static_cast<float>(state >> 16) / 65536.0f + shift));
      }
    };
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) count *= extent;
    fill(x, count,
         100);  // far from 0, where the mean of squares minus the mean's square would be useless
    fill(gy, count, -0.5f);
    for (auto* each : {&mean, &inv_std, &gamma, &gbeta, &ggamma, &running_mean, &running_var})
      fill(*each, shape[1], 0.5f);
    gx.resize(x.size());
  }
  std::uint32_t reduced() const { return ((1U << shape.size()) - 1) & ~2U; }
  Argument number(double value) const { return Argument::value(kType, static_cast<T>(value)); }
  Argument all(std::vector<T>& values) const {
    return Argument::array(values.data(), contiguous(shape, sizeof(T)));
  }
  Argument channels(std::vector<T>& values) const {
    return Argument::array(values.data(), contiguous({shape[1]}, sizeof(T)));
  }
  Argument beside(std::vector<T>& values) const {
    View view;
    for (int axis = 0; axis < shape.size(); ++axis) {
      view.shape.push_back(axis == 1 ? shape[1] : 1);
      view.strides.push_back(axis == 1 ? static_cast<std::int64_t>(sizeof(T)) : 0);
    }
    return Argument::array(values.data(), view);
  }

  ir::Launch statistics(bool running) {
    std::vector<Argument> arguments{all(x), number(0.25)};
    if (running)
      for (const double value : {0.75, 0.25, 0.375}) arguments.push_back(number(value));
    arguments.push_back(channels(mean));
    arguments.push_back(channels(inv_std));
    if (running) {
      arguments.push_back(channels(running_mean));
      arguments.push_back(channels(running_var));
    }
    return {shape, reduced(), arguments};
  }
  ir::Launch sums() {
    return {shape,
            reduced(),
            {all(gy), all(x), beside(mean), beside(inv_std), channels(gbeta), channels(ggamma)}};
  }
  ir::Launch gradient() {
    return {shape,
            0,
            {all(gy), all(x), beside(mean), beside(inv_std), beside(gamma), beside(ggamma),
             beside(gbeta), number(0.125), all(gx)}};
  }
  ir::Kernel statistics_kernel(bool running) const {
    return ops::make_moments_kernel(kTypes, running ? std::optional(kType) : std::nullopt);
  }
};

void expect_near(const std::vector<float>& got, const std::vector<double>& want, double bound,
                 const char* what) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want[i], bound * (1 + std::abs(want[i]))) << what << " " << i;
}

void run(const ir::Kernel& kernel, const ir::Launch& launch) {
  const auto done = run_normalization(kernel, launch);
  ASSERT_TRUE(done && *done) << kernel.name << " has no loop";
}

void check(const Dims& shape) {
  Case<float> got(shape);
  Case<double> want(shape);
  const double of_channel = static_cast<double>(got.x.size()) / static_cast<double>(shape[1]);
  for (const bool running : {false, true}) {
    run(got.statistics_kernel(running), got.statistics(running));
    ASSERT_TRUE(ir::interpret(want.statistics_kernel(running), want.statistics(running)));
  }
  expect_near(got.mean, want.mean, 1e-6, "mean");
  expect_near(got.inv_std, want.inv_std, 1e-6, "inv_std");
  expect_near(got.running_mean, want.running_mean, 1e-6, "running mean");
  expect_near(got.running_var, want.running_var, 1e-6, "running variance");
  want.mean.assign(got.mean.begin(), got.mean.end());
  want.inv_std.assign(got.inv_std.begin(), got.inv_std.end());
  run(ops::make_norm_sums_kernel(got.kTypes), got.sums());
  ASSERT_TRUE(ir::interpret(ops::make_norm_sums_kernel(want.kTypes), want.sums()));
  // gbeta and ggamma are sums over a channel. Their allowed error grows with the square root of the
  // number of terms.
  expect_near(got.gbeta, want.gbeta, 1e-6 * std::sqrt(of_channel), "gbeta");
  expect_near(got.ggamma, want.ggamma, 1e-6 * std::sqrt(of_channel), "ggamma");
  run(ops::make_norm_gradient_kernel(got.kTypes), got.gradient());
  Case<float> body = got;
  ASSERT_TRUE(ir::interpret(ops::make_norm_gradient_kernel(body.kTypes), body.gradient()));
  const std::vector<double> bodys(body.gx.begin(), body.gx.end());
  expect_near(got.gx, bodys, 1e-6, "gx");
}

TEST(Normalization, EqualsTheKernelsBodies) {
  check({3, 5, 4, 4});
  check({70, 2, 7, 7});  // several blocks of several images
  check({1, 3, 2, 19});
  check({5, 2, 33, 67});  // several blocks of an image
  check({2, 3, 17});
  check({3, 2, 2, 3, 5});
}

TEST(Normalization, LeavesOtherLayoutsAndDtypesToTheBody) {
  Case<double> wide({3, 5, 4, 4});
  EXPECT_FALSE(run_normalization(wide.statistics_kernel(false), wide.statistics(false)));
  Case<float> few({64, 5, 3, 3});
  EXPECT_FALSE(run_normalization(few.statistics_kernel(false), few.statistics(false)));
  Case<float> turned({3, 5, 4, 4});
  ir::Launch launch = turned.sums();
  std::swap(launch.arguments[1].view.strides[2], launch.arguments[1].view.strides[3]);
  EXPECT_FALSE(run_normalization(ops::make_norm_sums_kernel(turned.kTypes), launch));
  ir::Launch rows = turned.sums();
  rows.reduced = 0b1100;  // reduces each image separately
  EXPECT_FALSE(run_normalization(ops::make_norm_sums_kernel(turned.kTypes), rows));
}

}  // namespace
}  // namespace arraycore::cpu
