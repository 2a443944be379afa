// Convolutions and gradients of their data without unfolding, for windows that move by one element.
// The sums of a block of rows and two vectors of columns stay in registers while the loops run over
// channels and window, and the data are read in place. Packed panels would need a copy, which for
// few rows is as much work as the product. Internal to cpu/; parts are divided among the thread
// pool's threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cpu/gemm/direct_planes.h"
#include "cpu/gemm/gemm_kernel.h"
#include "gemm/problem.h"
#include "thread_pool/thread_pool.h"

namespace arraycore::cpu {

// Computes the convolution, or the gradient of its data, for one element of the problem's batch.
template <typename T>
class DirectForward {
 public:
  // Returns whether this class can compute the problem and is not slower than packed panels. It is
  // slower for small images, where much of a block is outside the image, and for weights larger
  // than every cache, because it reads them again for each image.
  static bool suits(const gemm::Problem& problem) {
    if (!problem.window) return false;
    const auto& [z, y, x] = problem.window->axes;
    if (z.columns != 1 || z.terms != 1 || z.origin != 0 || x.b_stride != 1 || x.column_step != 1 ||
        (y.column_step != 1 && y.columns > 1))
      return false;
    constexpr std::int64_t kHeldBytes = 1 << 20;
    if (problem.m * problem.k * static_cast<std::int64_t>(sizeof(T)) > kHeldBytes) return false;
    const DirectForward direct(problem, 1);
    return y.columns * x.columns * 5 >= direct.panels() * kColumns<T> * 4;
  }

  DirectForward(const gemm::Problem& problem, int threads)
      : p_(problem),
        y_(problem.window->axes[1]),
        x_(problem.window->axes[2]),
        planes_(read_range(y_), read_range(x_)),
        images_(problem.n / problem.window->columns()),
        channels_(problem.k / problem.window->terms()),
        threads_(threads),
        // Blocks of fewer rows are used if they leave fewer rows idle. For example, 16 rows are
        // four blocks of 4, but three blocks of 6 with two idle rows.
        block_rows_(round_up(problem.m, kRows) * 20 <= round_up(problem.m, kFewRows) * 21
                        ? kRows
                        : kFewRows) {
    blocks_ = (problem.m + block_rows_ - 1) / block_rows_;
    // More chunks give more parallel work, but each chunk copies and pads the image again.
    const std::int64_t wanted = threads == 1 ? 1 : (threads * 4 + images_ - 1) / images_;
    chunks_ = std::min(blocks_, wanted);
  }

  // Returns the size of the workspace of all threads: the terms' offsets, then the threads' data.
  std::size_t bytes() const {
    const std::int64_t elements = blocks_ * block_rows_ * p_.k + threads_ * thread_elements();
    return static_cast<std::size_t>(elements) * sizeof(T) +
           static_cast<std::size_t>(p_.k) * sizeof(std::int64_t);
  }

  // Computes the batch. Returns false if a thread was lost. `memory` has bytes() bytes and is
  // aligned to 8 bytes.
  bool run(const T* a, const T* b, T* out, std::byte* memory) {
    b_ = b;
    out_ = out;
    places_ = reinterpret_cast<std::ptrdiff_t*>(memory);
    weights_ =
        reinterpret_cast<T*>(memory + p_.k * static_cast<std::int64_t>(sizeof(std::int64_t)));
    data_ = weights_ + blocks_ * block_rows_ * p_.k;
    const std::int64_t inner = p_.window->terms();
    for (std::int64_t term = 0; term < p_.k; ++term) {
      const std::int64_t channel = term / inner;
      const std::int64_t tap = term % inner;
      places_[term] = static_cast<std::ptrdiff_t>(channel * planes_.size() +
                                                  tap / x_.terms * y_.term_step * planes_.row() +
                                                  tap % x_.terms * x_.term_step);
    }
    for (std::int64_t row = 0; row < blocks_ * block_rows_; ++row) {
      T* const to = weights_ + row / block_rows_ * block_rows_ * p_.k + row % block_rows_;
      for (std::int64_t term = 0; term < p_.k; ++term)
        to[term * block_rows_] =
            row < p_.m ? a[p_.a_at(row, 0) + term / inner * p_.a.column_stride + term % inner]
                       : T{};
    }
    return thread_pool().run(part, this, images_ * chunks_, threads_);
  }

 private:
  static constexpr int kFewRows = 4;

  static std::int64_t round_up(std::int64_t value, std::int64_t step) {
    return (value + step - 1) / step * step;
  }
  static ReadRange read_range(const gemm::WindowAxis& axis) {
    return {axis.columns, axis.terms, axis.term_step, axis.origin, axis.extent};
  }
  // Returns the number of panels for all columns, including those in the gaps between rows.
  std::int64_t panels() const {
    const std::int64_t flat = (y_.columns - 1) * planes_.row() + x_.columns;
    return (flat + kColumns<T> - 1) / kColumns<T>;
  }
  // padded() is the number of elements of the padded image, with a few more that the last panel
  // reads. thread_elements() is the size of a thread's memory in elements: the padded image and the
  // sums of a block of rows.
  std::int64_t padded() const { return channels_ * planes_.size() + kColumns<T>; }
  std::int64_t thread_elements() const { return padded() + kRows * panels() * kColumns<T>; }

  static void part(void* task, std::int64_t part, int thread) {
    auto& direct = *static_cast<DirectForward*>(task);
    direct.compute(part / direct.chunks_, part % direct.chunks_, thread);
  }

  void compute(std::int64_t image, std::int64_t chunk, int thread) {
    T* const padded = data_ + thread * thread_elements();
    T* const sums = padded + this->padded();
    const T* const from = b_ + image * p_.b.column_stride;
    for (std::int64_t channel = 0; channel < channels_; ++channel)
      planes_.fill(from + channel * p_.b.row_stride, y_.b_stride,
                   padded + channel * planes_.size());
    std::fill_n(padded + channels_ * planes_.size(), kColumns<T>, T{});
    const std::int64_t end = (chunk + 1) * blocks_ / chunks_;
    for (std::int64_t block = chunk * blocks_ / chunks_; block < end; ++block) {
      const T* const weights = weights_ + block * block_rows_ * p_.k;
      if (block_rows_ == kRows)
        sweep<kRows>(weights, padded + planes_.origin(), sums);
      else
        sweep<kFewRows>(weights, padded + planes_.origin(), sums);
      put(sums, image, block * block_rows_);
    }
  }

  template <int rows>
  void sweep(const T* weights, const T* data, T* sums) const {
    const std::int64_t flat = panels() * kColumns<T>;
    // `terms` is as wide as an address, which has 32 bits in WebAssembly.
    const auto terms = static_cast<std::ptrdiff_t>(p_.k);
    const std::ptrdiff_t* const places = places_;
    for (std::int64_t first = 0; first < flat; first += kColumns<T>) {
      Lanes<T> block[rows][kVectors] = {};  // NOLINT(*-avoid-c-arrays): registers
      const T* const from = data + first;
      const T* a = weights;
      for (std::ptrdiff_t term = 0; term < terms; ++term, a += rows) {
        const T* const here = from + places[term];
        const Lanes<T> b0 = load(here);
        const Lanes<T> b1 = load(here + kLanes<T>);
#pragma GCC unroll 6
        for (int row = 0; row < rows; ++row) {
          const Lanes<T> value = splat(a[row]);
          block[row][0] = multiply_add(value, b0, block[row][0]);
          block[row][1] = multiply_add(value, b1, block[row][1]);
        }
      }
      for (int row = 0; row < rows; ++row) {
        store(sums + row * flat + first, block[row][0]);
        store(sums + row * flat + first + kLanes<T>, block[row][1]);
      }
    }
  }

  // Stores the sums, but not those that were computed in the gaps between rows.
  void put(const T* sums, std::int64_t image, std::int64_t first) const {
    const std::int64_t flat = panels() * kColumns<T>;
    const std::int64_t rows = std::min<std::int64_t>(block_rows_, p_.m - first);
    for (std::int64_t row = 0; row < rows; ++row) {
      T* const plane = out_ + image * p_.out.column_stride + (first + row) * p_.out.row_stride;
      for (std::int64_t y = 0; y < y_.columns; ++y) {
        const T* const from = sums + row * flat + y * planes_.row();
        T* const to = plane + y * y_.out_stride;
        if (x_.out_stride == 1)
          std::memcpy(to, from, static_cast<std::size_t>(x_.columns) * sizeof(T));
        else
          for (std::int64_t x = 0; x < x_.columns; ++x) to[x * x_.out_stride] = from[x];
      }
    }
  }

  const gemm::Problem& p_;
  const gemm::WindowAxis& y_;
  const gemm::WindowAxis& x_;
  Planes planes_;
  std::int64_t images_;
  std::int64_t channels_;
  int threads_;
  std::int64_t block_rows_;
  std::int64_t blocks_ = 0;
  std::int64_t chunks_ = 0;
  const T* b_ = nullptr;
  T* out_ = nullptr;
  std::ptrdiff_t* places_ = nullptr;  // the terms' offsets from a column's own offset
  T* weights_ = nullptr;  // blocks of rows; in each block, its rows at one term are together
  T* data_ = nullptr;     // the memory of each thread
};

}  // namespace arraycore::cpu
