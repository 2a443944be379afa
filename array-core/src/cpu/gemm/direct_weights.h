// The gradients of weights, for convolutions whose window moves by one element, without unfolding.
// The sums run along rows of the data, one vector of neighbouring elements at a time. They are
// computed for a few output channels and a row of the window together. Internal to cpu/; parts are
// divided among the thread pool.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cpu/gemm/direct_planes.h"
#include "cpu/gemm/gemm_kernel.h"
#include "gemm/problem.h"
#include "thread_pool/thread_pool.h"

namespace arraycore::cpu {

// Computes the gradients of the weights for one element of the problem's batch. In the Problem, a
// column is a channel and a position in the window, and a term is an image and a position of the
// gradient.
template <typename T>
class DirectWeights {
 public:
  static bool suits(const gemm::Problem& problem) {
    if (!problem.window) return false;
    const auto& [z, y, x] = problem.window->axes;
    return z.columns == 1 && z.terms == 1 && z.origin == 0 && (y.term_step == 1 || y.terms == 1) &&
           x.term_step == 1 && x.b_stride == 1 && x.columns > 1 &&
           // Rows are padded to whole vectors. At most a fifth of a padded row may be padding.
           x.terms * 5 >= round_up(x.terms) * 4;
  }

  DirectWeights(const gemm::Problem& problem, int threads)
      : p_(problem),
        y_(problem.window->axes[1]),
        x_(problem.window->axes[2]),
        planes_(read_range(y_), read_range(x_)),
        images_(problem.k / problem.window->terms()),
        channels_(problem.n / problem.window->columns()),
        threads_(threads) {
    // The images that are computed together have at most this many elements of the gradient in one
    // channel. So a block of channels stays in the first-level cache.
    constexpr std::int64_t kHeld = 1024;
    together_ = std::clamp<std::int64_t>(kHeld / gradient_plane(), 1, images_);
    blocks_ = (problem.m + kResults - 1) / kResults;
  }

  std::size_t bytes() const {
    return static_cast<std::size_t>(padded() + threads_ * kResults * together_ * gradient_plane()) *
           sizeof(T);
  }

  // Computes the batch. Returns false if a thread was lost. `memory` has bytes() bytes.
  bool run(const T* a, const T* b, T* out, std::byte* memory) {
    a_ = a;
    b_ = b;
    out_ = out;
    data_ = reinterpret_cast<T*>(memory);
    gradients_ = data_ + padded();
    for (first_ = 0; first_ < images_; first_ += together_) {
      count_ = std::min(together_, images_ - first_);
      if (!thread_pool().run(pad, this, count_, threads_)) return false;
      if (!thread_pool().run(part, this, blocks_, threads_)) return false;
    }
    return true;
  }

 private:
  // Three output channels and three weights of a row need 13 registers: 9 for sums, 3 for data and
  // 1 for a gradient. A browser's compiler keeps one of the 16 registers for itself.
  static constexpr int kResults = 3;
  static constexpr int kTaps = 3;
  using Bits = typename LanesOf<T>::Bits;
  template <int taps>
  struct Sums {
    Lanes<T> of[kResults][taps] = {};  // NOLINT(*-avoid-c-arrays): registers
  };

  static std::int64_t round_up(std::int64_t value) {
    return (value + kLanes<T> - 1) / kLanes<T> * kLanes<T>;
  }
  static ReadRange read_range(const gemm::WindowAxis& axis) {
    return {axis.terms, axis.columns, axis.column_step, axis.origin, axis.extent};
  }
  std::int64_t gradient_row() const { return round_up(x_.terms); }
  std::int64_t gradient_plane() const { return y_.terms * gradient_row(); }
  // Returns the number of elements of the padded images that are computed together, in all
  // channels, with a few more that the last vector reads.
  std::int64_t padded() const { return together_ * channels_ * planes_.size() + kLanes<T>; }

  static void pad(void* task, std::int64_t image, int /*thread*/) {
    auto& direct = *static_cast<DirectWeights*>(task);
    for (std::int64_t channel = 0; channel < direct.channels_; ++channel)
      direct.planes_.fill(direct.b_ + (direct.first_ + image) * direct.p_.b.row_stride +
                              channel * direct.p_.b.column_stride,
                          direct.y_.b_stride, direct.plane(channel, image));
    if (image == direct.count_ - 1) std::fill_n(direct.gradients_ - kLanes<T>, kLanes<T>, T{});
  }
  T* plane(std::int64_t channel, std::int64_t image) const {
    return data_ + (channel * together_ + image) * planes_.size();
  }

  static void part(void* task, std::int64_t part, int thread) {
    static_cast<DirectWeights*>(task)->compute(part, thread);
  }

  void compute(std::int64_t block, int thread) {
    T* const gradient = gradients_ + thread * kResults * together_ * gradient_plane();
    copy_gradient(block * kResults, gradient);
    for (std::int64_t channel = 0; channel < channels_; ++channel)
      for (std::int64_t ky = 0; ky < y_.columns; ++ky)
        for (std::int64_t kx = 0; kx < x_.columns; kx += kTaps) {
          const std::int64_t taps = std::min<std::int64_t>(kTaps, x_.columns - kx);
          if (taps == 3) sum<3>(gradient, block, channel, ky, kx);
          if (taps == 2) sum<2>(gradient, block, channel, ky, kx);
          if (taps == 1) sum<1>(gradient, block, channel, ky, kx);
        }
  }

  // Copies the gradient of a block of output channels. Rows are padded with zeros, and missing
  // channels are zeros.
  void copy_gradient(std::int64_t first, T* to) const {
    for (std::int64_t image = 0; image < count_; ++image)
      for (std::int64_t result = 0; result < kResults; ++result) {
        T* const plane = to + (image * kResults + result) * gradient_plane();
        if (first + result >= p_.m || gradient_row() != x_.terms)
          std::fill_n(plane, gradient_plane(), T{});
        if (first + result >= p_.m) continue;
        const T* const from =
            a_ + (first_ + image) * p_.a.column_stride + (first + result) * p_.a.row_stride;
        for (std::int64_t y = 0; y < y_.terms; ++y)
          std::memcpy(plane + y * gradient_row(), from + y * x_.terms,
                      static_cast<std::size_t>(x_.terms) * sizeof(T));
      }
  }

  // Computes `taps` weights of a row of the window, for a block of output channels and one channel.
  template <int taps>
  void sum(const T* gradient, std::int64_t block, std::int64_t channel, std::int64_t ky,
           std::int64_t kx) const {
    Sums<taps> sums;
    // These variables are as wide as an address, which has 32 bits in WebAssembly.
    const auto whole = static_cast<std::ptrdiff_t>(x_.terms / kLanes<T> * kLanes<T>);
    const auto rows = static_cast<std::ptrdiff_t>(y_.terms);
    const auto line_step = static_cast<std::ptrdiff_t>(planes_.row());
    const auto gradient_step = static_cast<std::ptrdiff_t>(gradient_row());
    const auto result_step = static_cast<std::ptrdiff_t>(gradient_plane());
    const auto tap_step = static_cast<std::ptrdiff_t>(x_.column_step);
    const bool has_end = whole < x_.terms;
    Bits there{};  // all bits set in the lanes that belong to the end of a row
    for (std::int64_t lane = 0; lane < x_.terms - whole; ++lane) there[lane] = -1;
    const std::int64_t origin =
        planes_.origin() + ky * y_.column_step * planes_.row() + kx * x_.column_step;
    for (std::int64_t image = 0; image < count_; ++image) {
      const T* line = plane(channel, image) + origin;
      const T* g = gradient + image * kResults * gradient_plane();
      for (std::ptrdiff_t y = 0; y < rows; ++y, line += line_step, g += gradient_step) {
        for (std::ptrdiff_t x = 0; x < whole; x += kLanes<T>)
          add<taps, Row::whole>(line + x, tap_step, g + x, result_step, there, sums);
        if (has_end)
          add<taps, Row::end>(line + whole, tap_step, g + whole, result_step, there, sums);
      }
    }
    put<taps>(sums, block, channel, ky, kx);
  }

  // The vector at the end of a row also contains elements of the next row. They are set to 0,
  // because an infinity among them times a zero of the gradient would be NaN.
  enum class Row : std::uint8_t { whole, end };

  template <int taps, Row part>
  static void add(const T* data, std::ptrdiff_t tap_step, const T* gradient,
                  std::ptrdiff_t result_step, Bits there, Sums<taps>& sums) {
    Lanes<T> x[taps];  // NOLINT(*-avoid-c-arrays): registers
#pragma GCC unroll 3
    for (int tap = 0; tap < taps; ++tap) {
      x[tap] = load(data + tap * tap_step);
      if constexpr (part == Row::end)
        x[tap] = reinterpret_cast<Lanes<T>>(reinterpret_cast<Bits>(x[tap]) & there);
    }
#pragma GCC unroll 3
    for (int result = 0; result < kResults; ++result) {
      const Lanes<T> g = load(gradient + result * result_step);
#pragma GCC unroll 3
      for (int tap = 0; tap < taps; ++tap)
        sums.of[result][tap] = multiply_add(g, x[tap], sums.of[result][tap]);
    }
  }

  template <int taps>
  void put(const Sums<taps>& sums, std::int64_t block, std::int64_t channel, std::int64_t ky,
           std::int64_t kx) const {
    const std::int64_t rows = std::min<std::int64_t>(kResults, p_.m - block * kResults);
    T* const to = out_ + block * kResults * p_.out.row_stride + channel * p_.out.column_stride +
                  ky * y_.out_stride + kx * x_.out_stride;
    for (std::int64_t row = 0; row < rows; ++row)
      for (int tap = 0; tap < taps; ++tap) {
        const Lanes<T> lanes = sums.of[row][tap];
        T total = lanes[0];
        for (int lane = 1; lane < kLanes<T>; ++lane) total += lanes[lane];
        T& target = to[row * p_.out.row_stride + tap * x_.out_stride];
        target = first_ == 0 ? total : target + total;
      }
  }

  const gemm::Problem& p_;
  const gemm::WindowAxis& y_;
  const gemm::WindowAxis& x_;
  Planes planes_;
  std::int64_t images_;
  std::int64_t channels_;
  int threads_;
  std::int64_t together_ = 1;  // the images of a group, which are computed together
  std::int64_t blocks_ = 0;    // the number of blocks of output channels
  const T* a_ = nullptr;
  const T* b_ = nullptr;
  T* out_ = nullptr;
  T* data_ = nullptr;       // padded data of a group of images, by channel
  T* gradients_ = nullptr;  // the memory of each thread
  std::int64_t first_ = 0;  // the first image of the group
  std::int64_t count_ = 0;  // the number of images in the group
};

}  // namespace arraycore::cpu
