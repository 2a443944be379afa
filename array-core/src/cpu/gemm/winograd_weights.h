// The gradients of weights, for convolutions with a 3 x 3 window that moves by one element, with
// 2.25 times fewer multiplications. This is Winograd's F(3 x 3, 2 x 2), see cpu/gemm/winograd.h. A
// tile of 4 x 4 elements of the data and the 2 x 2 gradients at its positions contribute to the
// gradients of 3 x 3 weights. The contributions are added before they are transformed back.
// Internal to cpu/; parts are divided among the thread pool.
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

// Computes the gradients of float32 weights for one element of the problem's batch. In the Problem,
// a column is a channel and a position in the window, and a term is an image and a position of the
// gradient.
class WinogradWeights {
 public:
  // Returns whether the problem is a gradient of 3 x 3 weights, with enough channels, output
  // channels and positions to be worth the transforms.
  static bool suits(const gemm::Problem& problem) {
    if (problem.dtype != DType::float32 || !problem.window) return false;
    const auto& [z, y, x] = problem.window->axes;
    if (z.columns != 1 || z.terms != 1 || z.origin != 0 || x.b_stride != 1) return false;
    for (const gemm::WindowAxis* axis : {&y, &x})
      if (axis->columns != 3 || axis->column_step != 1 || axis->term_step != 1) return false;
    const WinogradWeights winograd(problem, 1);
    return winograd.channels_ >= kFew && problem.m >= kFew && problem.k >= kFewPlaces &&
           y.terms * x.terms * 4 >= winograd.data_.computed() * 3;
  }

  WinogradWeights(const gemm::Problem& problem, int threads)
      : p_(problem),
        y_(problem.window->axes[1]),
        x_(problem.window->axes[2]),
        channels_(problem.n / problem.window->columns()),
        data_(images(), problem.b.row_stride, {y_.terms, y_.origin, y_.extent, y_.b_stride},
              {x_.terms, x_.origin, x_.extent, 1}, 4),
        gradient_(images(), problem.a.column_stride, {y_.terms, 0, y_.terms, x_.terms},
                  {x_.terms, 0, x_.terms, 1}, 2),
        threads_(threads),
        panels_((channels_ + kWide - 1) / kWide),
        row_panels_((problem.m + kRows - 1) / kRows) {
    const std::int64_t of_rows = kProducts * panels_ * kBlock * kBytes;
    const std::int64_t fit = std::max<std::int64_t>(1, kHeldSums / of_rows);
    const std::int64_t passes = (row_panels_ + fit - 1) / fit;
    row_panels_of_pass_ = (row_panels_ + passes - 1) / passes;
    const std::int64_t of_pair =
        kProducts * 2 * (panels_ * kWide + row_panels_of_pass_ * kRows) * kBytes;
    chunk_ = std::clamp<std::int64_t>(kHeldTiles / of_pair / 2 * 2, 8, TileChunk::kMost);
    chunk_ = std::min(chunk_, (data_.pairs() + 1) / 2 * 2);
  }

  std::size_t bytes() const {
    return static_cast<std::size_t>(
        (kProducts * (v_step() + u_step() + sums_step()) + threads_ * thread_size()) * kBytes);
  }

  // Computes the batch. Returns false if a thread was lost. `memory` has bytes() bytes.
  bool run(const float* a, const float* b, float* out, std::byte* memory) {
    a_ = a;
    b_ = b;
    out_ = out;
    v_ = reinterpret_cast<float*>(memory);
    u_ = v_ + kProducts * v_step();
    sums_ = u_ + kProducts * u_step();
    scratch_ = sums_ + kProducts * sums_step();
    for (first_ = 0; first_ < row_panels_; first_ += row_panels_of_pass_) {
      count_ = std::min(row_panels_of_pass_, row_panels_ - first_);
      for (pair_ = 0; pair_ < data_.pairs(); pair_ += chunk_) {
        const std::int64_t most = std::min(chunk_, (data_.pairs() - pair_ + 1) / 2 * 2);
        data_.find(pair_, most, of_data_);
        gradient_.find(pair_, most, of_gradient_);
        tiles_ = most * 2;
        if (!thread_pool().run(transform_part, this, panels_ + count_, threads_)) return false;
        if (!thread_pool().run(multiply_part, this, kProducts * count_, threads_)) return false;
      }
      if (!thread_pool().run(put_part, this, count_, threads_)) return false;
    }
    return true;
  }

 private:
  static constexpr std::int64_t kBytes = sizeof(float);
  static constexpr std::int64_t kProducts = 16;
  static constexpr std::int64_t kWide = kColumns<float>;
  static constexpr std::int64_t kBlock = kRows * kWide;
  static constexpr std::int64_t kFew = 16;         // with fewer channels it is computed directly
  static constexpr std::int64_t kFewPlaces = 128;  // of all images
  static constexpr std::int64_t kHeldSums =
      4 << 20;  // bytes of sums of the output channels of a pass
  // The bytes of a chunk's data and gradients. A larger chunk means fewer waits: the threads wait
  // for each other twice in each chunk.
  static constexpr std::int64_t kHeldTiles = 2 << 20;

  std::int64_t images() const { return p_.k / p_.window->terms(); }
  // The distance between the panels of two successive products. It is a cache line more than
  // needed, because 16 streams at distances of a power of two would evict each other.
  std::int64_t v_step() const { return panels_ * chunk_ * 2 * kWide + 16; }
  std::int64_t u_step() const { return row_panels_of_pass_ * chunk_ * 2 * kRows + 16; }
  std::int64_t sums_step() const { return row_panels_of_pass_ * panels_ * kBlock; }
  std::int64_t lines_size() const { return std::max(data_.size(chunk_), gradient_.size(chunk_)); }
  std::int64_t thread_size() const { return (4 * lines_size() + 15) / 16 * 16; }

  // ---- operands: panels of channels, then panels of rows

  static void transform_part(void* task, std::int64_t part, int thread) {
    auto& weights = *static_cast<WinogradWeights*>(task);
    float* const lines = weights.scratch_ + thread * weights.thread_size();
    std::fill_n(lines, 4 * weights.lines_size(), 0.0f);
    if (part < weights.panels_)
      weights.transform_data(part, lines);
    else
      weights.transform_gradient(part - weights.panels_, lines);
  }

  void transform_data(std::int64_t panel, float* lines) const {
    for (std::int64_t half = 0; half < kWide; half += 4) {
      const std::int64_t channel = panel * kWide + half;
      const std::int64_t there = std::min<std::int64_t>(4, channels_ - channel);
      for (std::int64_t i = 0; i < there; ++i)
        data_.copy(b_ + (channel + i) * p_.b.column_stride, of_data_, lines + i * lines_size());
      four<winograd_tiles, 4>(data_, of_data_, lines, v_ + panel * tiles_ * kWide + half, v_step(),
                              kWide);
    }
  }

  void transform_gradient(std::int64_t panel, float* lines) const {
    const std::int64_t row = (first_ + panel) * kRows;
    float* const to = u_ + panel * tiles_ * kRows;
    const auto copy = [&](std::int64_t first, std::int64_t count) {
      const std::int64_t there = std::min(count, p_.m - row - first);
      for (std::int64_t i = 0; i < there; ++i)
        gradient_.copy(a_ + (row + first + i) * p_.a.row_stride, of_gradient_,
                       lines + i * lines_size());
    };
    copy(0, 4);
    four<winograd_gradients, 4>(gradient_, of_gradient_, lines, to, u_step(), kRows);
    copy(4, 2);
    four<winograd_gradients, 2>(gradient_, of_gradient_, lines, to + 4, u_step(), kRows);
  }

  // Transforms four channels of all tiles, or the first `lanes` of them. The channels of a tile are
  // next to each other, and tiles are `wide` elements apart.
  template <auto transform, int lanes>
  void four(const Tiles& tiles, const TileChunk& chunk, const float* lines, float* to,
            std::int64_t step, std::int64_t wide) const {
    constexpr std::int64_t kOfProduct = 16;
    for (std::int64_t tile = 0; tile < tiles_; tile += 4) {
      const auto pair = static_cast<std::size_t>(tile / 2);
      float products[kProducts * kOfProduct];  // NOLINT(*-avoid-c-arrays): of four tiles by channel
      for (std::int64_t i = 0; i < 4; ++i) {
        const float* const from = lines + i * lines_size();
        transform(from + chunk.in_lines[pair], from + chunk.in_lines[pair + 1], tiles.line(),
                  products + i * 4, kOfProduct);
      }
      for (std::int64_t product = 0; product < kProducts; ++product) {
        Four turned[4];  // NOLINT(*-avoid-c-arrays): registers
        transpose(products + product * kOfProduct, turned);
        float* const here = to + product * step + tile * wide;
        for (std::int64_t i = 0; i < 4; ++i)
          std::memcpy(here + i * wide, &turned[i], lanes * sizeof(float));
      }
    }
  }

  // ---- sums

  static void multiply_part(void* task, std::int64_t part, int /*thread*/) {
    auto& weights = *static_cast<const WinogradWeights*>(task);
    weights.multiply(part / weights.count_, part % weights.count_);
  }

  void multiply(std::int64_t product, std::int64_t row_panel) const {
    const float* const u = u_ + product * u_step() + row_panel * tiles_ * kRows;
    const float* const v = v_ + product * v_step();
    float* const to = sums_ + product * sums_step() + row_panel * panels_ * kBlock;
    Target<float> target;
    target.row_stride = kWide;
    target.column_stride = 1;
    target.rows = kRows;
    target.columns = kWide;
    target.adds = pair_ > 0;
    for (std::int64_t panel = 0; panel < panels_; ++panel) {
      target.out = to + panel * kBlock;
      put_block(run_block(tiles_, u, v + panel * tiles_ * kWide), target);
    }
  }

  static void put_part(void* task, std::int64_t part, int /*thread*/) {
    static_cast<const WinogradWeights*>(task)->put(part);
  }

  void put(std::int64_t row_panel) const {
    const std::int64_t first = (first_ + row_panel) * kRows;
    const std::int64_t rows = std::min<std::int64_t>(kRows, p_.m - first);
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t channel = 0; channel < channels_; channel += 4) {
        Four windows[9];  // NOLINT(*-avoid-c-arrays): registers
        winograd_windows(sums_ + (row_panel * panels_ + channel / kWide) * kBlock + row * kWide +
                             channel % kWide,
                         sums_step(), windows);
        const std::int64_t there = std::min<std::int64_t>(4, channels_ - channel);
        float* const to = out_ + (first + row) * p_.out.row_stride + channel * p_.out.column_stride;
        for (std::int64_t i = 0; i < there; ++i)
          for (std::int64_t tap = 0; tap < 9; ++tap)
            to[i * p_.out.column_stride + tap / 3 * y_.out_stride + tap % 3 * x_.out_stride] =
                windows[tap][i];
      }
  }

  const gemm::Problem& p_;
  const gemm::WindowAxis& y_;
  const gemm::WindowAxis& x_;
  std::int64_t channels_;
  Tiles data_;
  Tiles gradient_;
  int threads_;
  std::int64_t panels_;      // of channels
  std::int64_t row_panels_;  // of output channels
  std::int64_t row_panels_of_pass_ = 1;
  std::int64_t chunk_ = 2;  // pairs of tiles at a time
  const float* a_ = nullptr;
  const float* b_ = nullptr;
  float* out_ = nullptr;
  float* v_ = nullptr;        // data: for each product, panels of channels
  float* u_ = nullptr;        // gradient: for each product, panels of rows
  float* sums_ = nullptr;     // for each product, blocks
  float* scratch_ = nullptr;  // for each thread: the lines of four channels
  std::int64_t first_ = 0;    // the first panel of rows of the pass
  std::int64_t count_ = 0;    // the number of panels of rows of the pass
  std::int64_t pair_ = 0;     // the first pair of the chunk
  std::int64_t tiles_ = 0;    // the tiles of the chunk
  TileChunk of_data_;
  TileChunk of_gradient_;
};

}  // namespace arraycore::cpu
