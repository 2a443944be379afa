// Tests that convolutions divided among threads equal those of three plain loops. The thread pool
// belongs to the process, so this is one test in a program of its own.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "cpu/gemm/gemm.h"
#include "cpu/gemm/winograd.h"
#include "cpu/gemm/winograd_weights.h"
#include "thread_pool/thread_pool.h"

namespace arraycore::cpu {
namespace {

// Returns the problem of a 3 x 3 convolution from 24 channels to 20, over 5 images of 30 x 32; or,
// unless `forward`, of the gradient of its weights.
gemm::Problem convolution(bool forward) {
  constexpr std::int64_t kImages = 5, kChannels = 24, kResults = 20, kHeight = 30, kWidth = 32;
  constexpr std::int64_t kPlane = kHeight * kWidth;
  gemm::Problem p;
  p.m = kResults;
  gemm::Window window;
  window.used = 2;
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    gemm::WindowAxis& axis = window.axes[i];
    axis.extent = i == 1 ? kHeight : kWidth;
    axis.columns = forward ? axis.extent : 3;
    axis.terms = forward ? 3 : axis.extent;
    axis.column_step = axis.term_step = 1;
    axis.origin = -1;
    axis.b_stride = i == 1 ? kWidth : 1;
    axis.out_stride = i == 2 ? 1 : forward ? kWidth : 3;
  }
  p.window = window;
  if (forward) {
    p.n = kImages * kPlane;
    p.k = kChannels * 9;
    p.a = {0, p.k, 9, {}};
    p.b = {0, kPlane, kChannels * kPlane, {}};
    p.out = {0, kPlane, kResults * kPlane, {}};
  } else {
    p.n = kChannels * 9;
    p.k = kImages * kPlane;
    p.a = {0, kPlane, kResults * kPlane, {}};
    p.b = {0, kChannels * kPlane, kPlane, {}};
    p.out = {0, p.n, 9, {}};
  }
  return p;
}

void check_convolution(bool forward) {
  const gemm::Problem p = convolution(forward);
  ASSERT_TRUE(forward ? Winograd::suits(p) : WinogradWeights::suits(p));
  std::vector<float> a(static_cast<std::size_t>(p.m * p.k));
  std::vector<float> b(std::size_t{5} * 24 * 30 * 32);
  std::vector<float> want(static_cast<std::size_t>(p.m * p.n));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i * 7 % 9) - 4;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i * 5 % 11) - 5;
  gemm::multiply_plainly<float, double>(p, a.data(), b.data(), want.data());
  Gemm gemm;
  const auto bytes = [](auto& data) { return reinterpret_cast<const std::byte*>(data.data()); };
  for (int turn = 0; turn < 3; ++turn) {
    std::vector<float> got(want.size());
    ASSERT_TRUE(gemm.run(p, bytes(a), bytes(b), reinterpret_cast<std::byte*>(got.data())));
    ASSERT_EQ(got, want) << (forward ? "forward" : "weights");
  }
}

TEST(Sharing, ConvolutionsAreThoseOfOneThread) {
  std::vector<std::thread> helpers;
  for (int i = 1; i <= 3; ++i) helpers.emplace_back([i] { thread_pool().serve(i); });
  while (thread_pool().threads() != 4) std::this_thread::yield();
  check_convolution(true);
  check_convolution(false);
  thread_pool().end();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace
}  // namespace arraycore::cpu
