// Convolutions and the data's gradients, for a 3 x 3 window that moves by one element, with 2.25
// times fewer multiplications. This is Winograd's minimal filtering F(2 x 2, 3 x 3), as in A. Lavin
// and S. Gray, "Fast Algorithms for Convolutional Neural Networks" (2016). A tile of 4 x 4 elements
// d and a window g give 2 x 2 results
//
// A' [ sum over channels of (G g G') * (B' d B) ] A
//
// The product * is elementwise. For all tiles and output channels together, these 16 products of
// elements are 16 products of matrices. Internal to cpu/; parts are divided among the thread pool.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cpu/gemm/gemm_blocks.h"
#include "cpu/gemm/gemm_kernel.h"
#include "cpu/gemm/winograd_tiles.h"
#include "cpu/gemm/winograd_transforms.h"
#include "gemm/problem.h"
#include "thread_pool/thread_pool.h"

namespace arraycore::cpu {

// Computes convolutions of float32 for one element of the problem's batch.
class Winograd {
 public:
  // Returns whether the problem is a 3 x 3 convolution with steps of one element, and has enough
  // channels, output channels and positions to be worth the transforms.
  static bool suits(const gemm::Problem& problem) {
    if (problem.dtype != DType::float32 || !problem.window) return false;
    const auto& [z, y, x] = problem.window->axes;
    if (z.columns != 1 || z.terms != 1 || z.origin != 0 || x.b_stride != 1) return false;
    for (const gemm::WindowAxis* axis : {&y, &x})
      if (axis->terms != 3 || axis->column_step != 1 ||
          (axis->term_step != 1 && axis->term_step != -1))
        return false;
    const Winograd winograd(problem, 1);
    return winograd.channels_ >= kFewChannels && problem.m >= kFewResults &&
           problem.n >= kFewPlaces && y.columns * x.columns * 4 >= winograd.tiles_.computed() * 3;
  }

  Winograd(const gemm::Problem& problem, int threads)
      : p_(problem),
        y_(problem.window->axes[1]),
        x_(problem.window->axes[2]),
        channels_(problem.k / problem.window->terms()),
        tiles_(problem.n / problem.window->columns(), problem.b.column_stride, axis_of(y_),
               axis_of(x_), 4),
        threads_(threads),
        panels_((tiles_.pairs() + kPairsOfPanel - 1) / kPairsOfPanel),
        row_panels_((problem.m + kRows - 1) / kRows) {
    const std::int64_t of_panel = kProducts * v_step() * kBytes;
    const std::int64_t wanted = threads == 1 ? 1 : threads * 4;
    chunk_ = std::clamp<std::int64_t>(kHeldData / of_panel, 1, kMostPanels);
    chunk_ = std::clamp<std::int64_t>(panels_ / wanted, 1, chunk_);
    const std::int64_t of_rows = kProducts * channels_ * kRows * kBytes;
    const std::int64_t fit = std::max<std::int64_t>(1, kHeldWeights / of_rows);
    const std::int64_t passes = (row_panels_ + fit - 1) / fit;
    row_panels_of_pass_ = (row_panels_ + passes - 1) / passes;
  }

  std::size_t bytes() const {
    return static_cast<std::size_t>((weights_size() + threads_ * thread_size()) * kBytes);
  }

  // Computes the batch. Returns false if a thread was lost. `memory` has bytes() bytes.
  bool run(const float* a, const float* b, float* out, std::byte* memory) {
    a_ = a;
    b_ = b;
    out_ = out;
    weights_ = reinterpret_cast<float*>(memory);
    data_ = weights_ + weights_size();
    for (first_ = 0; first_ < row_panels_; first_ += row_panels_of_pass_) {
      count_ = std::min(row_panels_of_pass_, row_panels_ - first_);
      if (!thread_pool().run(weights_part, this, count_, threads_)) return false;
      if (!thread_pool().run(part, this, (panels_ + chunk_ - 1) / chunk_, threads_)) return false;
    }
    return true;
  }

 private:
  static constexpr std::int64_t kBytes = sizeof(float);
  static constexpr std::int64_t kProducts = 16;
  static constexpr std::int64_t kPairsOfPanel = kColumns<float> / 2;
  static constexpr std::int64_t kFewChannels = 16;  // with fewer channels it is computed directly
  static constexpr std::int64_t kFewResults = 16;
  static constexpr std::int64_t kFewPlaces =
      128;  // positions of all images; fewer do not repay the transform of the weights
  static constexpr std::int64_t kHeldData = 128 << 10;  // bytes of a thread's chunk of tiles
  static constexpr std::int64_t kHeldWeights =
      5 << 20;  // bytes of weights of the output channels of a pass
  static constexpr std::int64_t kMostPanels = 16;

  // The distance between the panels of two successive products. It is a cache line more than
  // needed, because 16 streams at distances of a power of two would evict each other.
  std::int64_t v_step() const { return channels_ * kColumns<float> + 16; }
  std::int64_t u_step() const { return channels_ * kRows + 16; }
  std::int64_t weights_size() const { return row_panels_of_pass_ * kProducts * u_step(); }
  std::int64_t sums_step() const { return kRows * chunk_ * kColumns<float>; }
  std::int64_t thread_size() const {
    return chunk_ * kProducts * v_step() + kProducts * sums_step() +
           (tiles_.size(chunk_ * kPairsOfPanel) + 15) / 16 * 16;
  }
  static TileAxis axis_of(const gemm::WindowAxis& axis) {
    return {axis.columns, axis.origin - (axis.term_step < 0 ? 2 : 0), axis.extent, axis.b_stride};
  }

  // ---- the weights

  static void weights_part(void* task, std::int64_t part, int /*thread*/) {
    static_cast<Winograd*>(task)->transform_weights(part);
  }

  void transform_weights(std::int64_t panel) const {
    const std::int64_t row = (first_ + panel) * kRows;
    const std::int64_t rows = std::min<std::int64_t>(kRows, p_.m - row);
    float* const to = weights_ + panel * kProducts * u_step();
    const bool turned_y = y_.term_step < 0;
    const bool turned_x = x_.term_step < 0;
    std::array<std::int64_t, 9> taps{};
    for (std::int64_t tap = 0; tap < 9; ++tap) {
      const std::int64_t ky = turned_y ? 2 - tap / 3 : tap / 3;
      const std::int64_t kx = turned_x ? 2 - tap % 3 : tap % 3;
      taps[static_cast<std::size_t>(tap)] = ky * 3 + kx;
    }
    for (std::int64_t channel = 0; channel < channels_; ++channel)
      for (std::int64_t first = 0; first < kRows; first += 4) {
        const std::int64_t lanes = std::min<std::int64_t>(4, kRows - first);
        const std::int64_t there = std::clamp<std::int64_t>(rows - first, 0, lanes);
        Four window[9] = {};  // NOLINT(*-avoid-c-arrays): registers
        const float* const from =
            a_ + (row + first) * p_.a.row_stride + channel * p_.a.column_stride;
        if (there == 4) {
          gather<4>(from, taps, window);
        } else if (there == 2) {
          gather<2>(from, taps, window);
        } else {
          for (std::int64_t lane = 0; lane < there; ++lane)
            for (std::size_t tap = 0; tap < 9; ++tap)
              window[tap][lane] = from[lane * p_.a.row_stride + taps[tap]];
        }
        Four result[kProducts];  // NOLINT(*-avoid-c-arrays): registers
        winograd_window(window, result);
        for (std::int64_t product = 0; product < kProducts; ++product)
          std::memcpy(to + product * u_step() + channel * kRows + first, &result[product],
                      static_cast<std::size_t>(lanes * kBytes));
      }
  }

  template <int lanes>
  void gather(const float* from, const std::array<std::int64_t, 9>& taps, Four* window) const {
    const auto step = static_cast<std::ptrdiff_t>(p_.a.row_stride);
    for (std::size_t tap = 0; tap < 9; ++tap) {
      const float* const here = from + static_cast<std::ptrdiff_t>(taps[tap]);
      if constexpr (lanes == 4)
        window[tap] = Four{here[0], here[step], here[2 * step], here[3 * step]};
      else
        window[tap] = Four{here[0], here[step], 0, 0};
    }
  }

  // ---- tiles

  static void part(void* task, std::int64_t part, int thread) {
    static_cast<const Winograd*>(task)->compute(part * static_cast<const Winograd*>(task)->chunk_,
                                                thread);
  }

  void compute(std::int64_t first_panel, int thread) const {
    float* const tiles = data_ + thread * thread_size();
    float* const sums = tiles + chunk_ * kProducts * v_step();
    float* const lines = sums + kProducts * sums_step();
    const std::int64_t panels = std::min(chunk_, panels_ - first_panel);
    TileChunk places;
    tiles_.find(first_panel * kPairsOfPanel, panels * kPairsOfPanel, places);
    std::fill_n(lines, tiles_.size(panels * kPairsOfPanel), 0.0f);
    for (std::int64_t channel = 0; channel < channels_; ++channel) {
      tiles_.copy(b_ + channel * p_.b.row_stride, places, lines);
      for (std::int64_t panel = 0; panel < panels; ++panel)
        for (std::int64_t half = 0; half < 2; ++half) {
          const auto pair = static_cast<std::size_t>(panel * kPairsOfPanel + half * 2);
          winograd_tiles(
              lines + places.in_lines[pair], lines + places.in_lines[pair + 1], tiles_.line(),
              tiles + panel * kProducts * v_step() + channel * kColumns<float> + half * 4,
              v_step());
        }
    }
    for (std::int64_t row_panel = 0; row_panel < count_; ++row_panel) {
      const float* const weights = weights_ + row_panel * kProducts * u_step();
      const std::int64_t width = chunk_ * kColumns<float>;
      for (std::int64_t product = 0; product < kProducts; ++product)
        for (std::int64_t panel = 0; panel < panels; ++panel) {
          const Block<float> block = run_block(channels_, weights + product * u_step(),
                                               tiles + (panel * kProducts + product) * v_step());
          float* const to = sums + product * sums_step() + panel * kColumns<float>;
          for (std::int64_t row = 0; row < kRows; ++row)
            for (int v = 0; v < kVectors; ++v) store(to + row * width + v * 4, block.sums[row][v]);
        }
      put((first_ + row_panel) * kRows, places, sums);
    }
  }

  // Stores a block of rows of the result.
  void put(std::int64_t first, const TileChunk& places, const float* sums) const {
    const std::int64_t rows = std::min<std::int64_t>(kRows, p_.m - first);
    const std::int64_t width = chunk_ * kColumns<float>;
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t pair = 0; pair < places.pairs; pair += 2) {
        Four results[4];  // NOLINT(*-avoid-c-arrays): registers
        winograd_results(sums + row * width + pair * 2, sums_step(), results);
        const std::int64_t there = std::min<std::int64_t>(2, places.pairs - pair);
        for (std::int64_t i = 0; i < there; ++i)
          put_pair(first + row, static_cast<std::size_t>(pair + i), places, results[i * 2],
                   results[i * 2 + 1]);
      }
  }

  void put_pair(std::int64_t row, std::size_t pair, const TileChunk& places, Four upper,
                Four lower) const {
    const std::int64_t y = places.y[pair];
    const std::int64_t x = places.x[pair];
    float* const to = out_ + places.image[pair] * p_.out.column_stride + row * p_.out.row_stride +
                      y * y_.out_stride + x * x_.out_stride;
    const bool has_lower = y + 1 < y_.columns;
    if (x_.out_stride == 1 && x + 4 <= x_.columns) {
      store(to, upper);
      if (has_lower) store(to + y_.out_stride, lower);
      return;
    }
    const std::int64_t there = std::min<std::int64_t>(4, x_.columns - x);
    for (std::int64_t i = 0; i < there; ++i) {
      to[i * x_.out_stride] = upper[i];
      if (has_lower) to[y_.out_stride + i * x_.out_stride] = lower[i];
    }
  }

  const gemm::Problem& p_;
  const gemm::WindowAxis& y_;
  const gemm::WindowAxis& x_;
  std::int64_t channels_;
  Tiles tiles_;
  int threads_;
  std::int64_t panels_;
  std::int64_t row_panels_;
  std::int64_t row_panels_of_pass_ = 0;
  std::int64_t chunk_ = 1;  // panels of tiles that a thread computes at a time
  const float* a_ = nullptr;
  const float* b_ = nullptr;
  float* out_ = nullptr;
  float* weights_ = nullptr;  // panels of rows; in each panel, the matrices of its 16 products
  float* data_ = nullptr;     // for each thread: tiles, sums, lines
  std::int64_t first_ = 0;    // the first panel of rows of the pass
  std::int64_t count_ = 0;
};

}  // namespace arraycore::cpu
