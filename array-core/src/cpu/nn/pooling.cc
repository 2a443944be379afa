#include "cpu/nn/pooling.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>

#include "cpu/gemm/gemm_kernel.h"
#include "thread_pool/thread_pool.h"
#include "view/shape.h"

namespace arraycore::cpu {
namespace {

using ir::Idiom;

constexpr std::size_t kAxes = 3;
constexpr std::size_t kNumbers = 5;  // numbers of an axis, in the launch's order
// If data and results have at least this many elements, threads share the work.
constexpr std::int64_t kSharedPooling = 100'000;
constexpr std::int64_t kPlanesOfPart = 8;

using Four = Lanes<float>;
using FourPlaces = LanesOf<float>::Bits;
static_assert(sizeof(FourPlaces) == sizeof(Four));

// Loads elements 0, 1, 2, 3 (stride 1) or 0, 2, 4, 6 (stride 2). Reads no element after them.
template <int stride>
Four four(const float* from) {
  static_assert(stride == 1 || stride == 2);
  if constexpr (stride == 1)
    return load(from);
  else
    return __builtin_shufflevector(load(from), load(from + 3), 0, 2, 5, 7);
}

struct Axis {
  std::int64_t data, result, window, stride, padding;

  // Returns whether no window crosses the edge of the data.
  bool is_whole() const { return padding == 0 && (result - 1) * stride + window <= data; }
  std::int64_t start(std::int64_t at) const { return at * stride - padding; }
  // Return the range [first, end) of positions in window number `at` that are inside of the data.
  std::int64_t first(std::int64_t at) const { return std::max<std::int64_t>(0, -start(at)); }
  std::int64_t end(std::int64_t at) const { return std::min(window, data - start(at)); }
};

// The planes and windows of one launch.
struct Pool {
  Idiom idiom = Idiom::none;
  std::array<Axis, kAxes> axes{};
  std::int64_t planes = 0;
  std::int64_t of_data = 1;  // elements of a plane
  std::int64_t of_result = 1;
  const float* from = nullptr;
  const std::int32_t* from_places = nullptr;
  float* to = nullptr;
  std::int32_t* to_places = nullptr;
  float share = 0;
  std::int64_t taps = 0;  // of a window
  bool is_listed =
      false;  // each window is inside the data, and the offsets of its elements are listed
  std::array<std::int64_t, 64> places_of_taps{};

  void plane(std::int64_t number) const;
  void max_row(const float* data, std::int64_t z, std::int64_t y, float* best,
               std::int32_t* places) const;
  void mean_row(const float* data, std::int64_t z, std::int64_t y, float* sums) const;
  template <int stride>
  void larger(const float* values, std::int32_t place, std::int64_t first, std::int64_t end,
              float* best, std::int32_t* places) const;
  void find_taps();
  void spread_max(const float* gradients, const std::int32_t* places, float* data) const;
  void spread_max_whole(const float* gradients, const std::int32_t* places, float* data) const;
  void spread_mean(const float* gradients, float* data) const;

  // For a row of results, calls body(elements, first, end, tap) for each position in the window, in
  // order. Position number `tap` is inside of the data for the results [first, end): result x reads
  // the element at `elements` + x * stride.
  template <typename Body>
  void each_tap(std::int64_t z, std::int64_t y, Body body) const {
    const auto& [az, ay, ax] = axes;
    const bool whole = ax.is_whole();
    for (std::int64_t kz = az.first(z); kz < az.end(z); ++kz)
      for (std::int64_t ky = ay.first(y); ky < ay.end(y); ++ky) {
        const std::int64_t line = ((az.start(z) + kz) * ay.data + ay.start(y) + ky) * ax.data;
        for (std::int64_t kx = 0; kx < ax.window; ++kx) {
          if (whole) {  // no division
            body(line + kx, 0, ax.result, (kz * ay.window + ky) * ax.window + kx);
            continue;
          }
          const std::int64_t shift = kx - ax.padding;
          const std::int64_t first = shift >= 0 ? 0 : (-shift + ax.stride - 1) / ax.stride;
          const std::int64_t last = ax.data - 1 - shift;
          const std::int64_t end = last < 0 ? 0 : std::min(ax.result, last / ax.stride + 1);
          body(line + shift, first, end, (kz * ay.window + ky) * ax.window + kx);
        }
      }
  }
};

// Updates the maxima of a row of windows with the windows' elements at one position. `stride` is
// the distance of neighbouring windows; 0 stands for any distance, which is read from the axis.
template <int stride>
void Pool::larger(const float* values, std::int32_t place, std::int64_t first, std::int64_t end,
                  float* best, std::int32_t* places) const {
  std::int64_t x = first;
  if constexpr (stride != 0) {
    const FourPlaces here = FourPlaces{} + place;
    for (; x + 4 <= end; x += 4) {
      const Four value = four<stride>(values + x * stride);
      const Four old = load(best + x);
      FourPlaces old_place;
      std::memcpy(&old_place, places + x, sizeof old_place);
      // Every element replaces the start value, and a larger one replaces a smaller one. The first
      // NaN replaces any number and stays.
      const FourPlaces wins = (old_place < 0) | (~(value <= old) & (old == old));
      store(best + x, wins ? value : old);
      const FourPlaces new_place = wins ? here : old_place;
      std::memcpy(places + x, &new_place, sizeof new_place);
    }
  }
  const std::int64_t step = axes[2].stride;
  for (; x < end; ++x) {
    const float value = values[x * step];
    const float old = best[x];
    const bool wins = (places[x] < 0) | ((!(value <= old)) & (old == old));
    best[x] = wins ? value : old;
    places[x] = wins ? place : places[x];
  }
}

void Pool::max_row(const float* data, std::int64_t z, std::int64_t y, float* best,
                   std::int32_t* places) const {
  const std::int64_t stride = axes[2].stride;
  std::fill_n(best, axes[2].result, -std::numeric_limits<float>::infinity());
  std::fill_n(places, axes[2].result, -1);
  each_tap(z, y, [&](std::int64_t at, std::int64_t first, std::int64_t end, std::int64_t tap) {
    const auto place = static_cast<std::int32_t>(tap);
    if (stride == 1) return larger<1>(data + at, place, first, end, best, places);
    if (stride == 2) return larger<2>(data + at, place, first, end, best, places);
    larger<0>(data + at, place, first, end, best, places);
  });
}

void Pool::mean_row(const float* data, std::int64_t z, std::int64_t y, float* sums) const {
  const std::int64_t stride = axes[2].stride;
  std::fill_n(sums, axes[2].result, 0.0f);
  each_tap(z, y, [&](std::int64_t at, std::int64_t first, std::int64_t end, std::int64_t) {
    for (std::int64_t x = first; x < end; ++x) sums[x] += data[at + x * stride];
  });
  for (std::int64_t x = 0; x < axes[2].result; ++x) sums[x] *= share;
}

// Computes the offset of each element of a window from the window's first element.
void Pool::find_taps() {
  const auto& [az, ay, ax] = axes;
  taps = az.window * ay.window * ax.window;
  is_listed = az.is_whole() && ay.is_whole() && ax.is_whole() &&
              taps <= static_cast<std::int64_t>(places_of_taps.size());
  for (std::int64_t tap = 0; is_listed && tap < taps; ++tap) {
    const std::int64_t line = tap / ax.window;
    places_of_taps[static_cast<std::size_t>(tap)] =
        (line / ay.window * ay.data + line % ay.window) * ax.data + tap % ax.window;
  }
}

void Pool::spread_max_whole(const float* gradients, const std::int32_t* places, float* data) const {
  const auto& [az, ay, ax] = axes;
  const auto stride = static_cast<std::ptrdiff_t>(ax.stride);
  const auto count = static_cast<std::uint32_t>(taps);
  for (std::int64_t z = 0; z < az.result; ++z)
    for (std::int64_t y = 0; y < ay.result; ++y) {
      float* window = data + (az.start(z) * ay.data + ay.start(y)) * ax.data;
      for (std::int64_t x = 0; x < ax.result; ++x, window += stride) {
        const auto tap = static_cast<std::uint32_t>(*places++);
        const float gradient = *gradients++;
        if (tap < count) window[places_of_taps[tap]] += gradient;
      }
    }
}

void Pool::spread_max(const float* gradients, const std::int32_t* places, float* data) const {
  const auto& [az, ay, ax] = axes;
  std::fill_n(data, of_data, 0.0f);
  if (is_listed) return spread_max_whole(gradients, places, data);
  std::int64_t number = 0;
  for (std::int64_t z = 0; z < az.result; ++z)
    for (std::int64_t y = 0; y < ay.result; ++y)
      for (std::int64_t x = 0; x < ax.result; ++x, ++number) {
        const std::int64_t tap = places[number];
        if (tap < 0 || tap >= taps) continue;
        // Splits `tap` into coordinates. Subtractions in loops suffice, because windows are small.
        std::int64_t kx = tap;
        std::int64_t ky = 0;
        for (; kx >= ax.window; kx -= ax.window) ++ky;
        std::int64_t kz = 0;
        for (; ky >= ay.window; ky -= ay.window) ++kz;
        const std::int64_t at_z = az.start(z) + kz;
        const std::int64_t at_y = ay.start(y) + ky;
        const std::int64_t at_x = ax.start(x) + kx;
        const auto inside = [](std::int64_t at, std::int64_t extent) {
          return static_cast<std::uint64_t>(at) < static_cast<std::uint64_t>(extent);
        };
        if (inside(at_z, az.data) && inside(at_y, ay.data) && inside(at_x, ax.data))
          data[(at_z * ay.data + at_y) * ax.data + at_x] += gradients[number];
      }
}

void Pool::spread_mean(const float* gradients, float* data) const {
  const auto& [az, ay, ax] = axes;
  std::fill_n(data, of_data, 0.0f);
  std::int64_t number = 0;
  for (std::int64_t z = 0; z < az.result; ++z)
    for (std::int64_t y = 0; y < ay.result; ++y)
      for (std::int64_t x = 0; x < ax.result; ++x, ++number)
        for (std::int64_t kz = az.first(z); kz < az.end(z); ++kz)
          for (std::int64_t ky = ay.first(y); ky < ay.end(y); ++ky) {
            float* const line =
                data + ((az.start(z) + kz) * ay.data + ay.start(y) + ky) * ax.data + ax.start(x);
            for (std::int64_t kx = ax.first(x); kx < ax.end(x); ++kx) line[kx] += gradients[number];
          }
  for (std::int64_t i = 0; i < of_data; ++i) data[i] *= share;
}

void Pool::plane(std::int64_t number) const {
  const std::int64_t data = number * of_data;
  const std::int64_t result = number * of_result;
  if (idiom == Idiom::max_pool_gradient)
    return spread_max(from + result, from_places + result, to + data);
  if (idiom == Idiom::mean_pool_gradient) return spread_mean(from + result, to + data);
  std::int64_t row = result;
  for (std::int64_t z = 0; z < axes[0].result; ++z)
    for (std::int64_t y = 0; y < axes[1].result; ++y, row += axes[2].result) {
      if (idiom == Idiom::max_pool)
        max_row(from + data, z, y, to + row, to_places + row);
      else
        mean_row(from + data, z, y, to + row);
    }
}

// Returns the elements of a C-ordered argument with elements of 4 bytes, otherwise nullptr.
template <typename T>
T* elements(const ir::Argument& argument) {
  static_assert(sizeof(T) == 4);
  std::byte* const first = argument.base + argument.view.offset;
  const bool whole = reinterpret_cast<std::uintptr_t>(first) % 4 == 0;
  return whole && is_c_contiguous(argument.view, 4) ? reinterpret_cast<T*>(first) : nullptr;
}

void pool_part(void* task, std::int64_t part, int /*thread*/) {
  const auto& pool = *static_cast<const Pool*>(task);
  const std::int64_t end = std::min(pool.planes, (part + 1) * kPlanesOfPart);
  for (std::int64_t plane = part * kPlanesOfPart; plane < end; ++plane) pool.plane(plane);
}

}  // namespace

std::optional<Status> run_pooling(const ir::Kernel& kernel, const ir::Launch& launch) {
  if (kernel.idiom == Idiom::none || kernel.params[0].dtype != DType::float32) return std::nullopt;
  Pool pool;
  pool.idiom = kernel.idiom;
  const bool is_max = kernel.idiom == Idiom::max_pool || kernel.idiom == Idiom::max_pool_gradient;
  const bool is_gradient =
      kernel.idiom == Idiom::max_pool_gradient || kernel.idiom == Idiom::mean_pool_gradient;
  const auto& arguments = launch.arguments;
  std::size_t next = 0;
  pool.from = elements<const float>(arguments[next++]);
  if (kernel.idiom == Idiom::max_pool_gradient)
    pool.from_places = elements<const std::int32_t>(arguments[next++]);
  for (Axis& axis : pool.axes) {
    std::array<std::int64_t*, kNumbers> numbers{&axis.data, &axis.result, &axis.window,
                                                &axis.stride, &axis.padding};
    for (std::int64_t* const number : numbers) {
      std::int32_t value = 0;
      std::memcpy(&value, &arguments[next++].scalar, sizeof value);
      *number = value;
    }
    if (axis.data < 1 || axis.result < 1 || axis.window < 1 || axis.stride < 1) return std::nullopt;
    pool.of_data *= axis.data;
    pool.of_result *= axis.result;
  }
  pool.find_taps();
  if (!is_max) std::memcpy(&pool.share, &arguments[next++].scalar, sizeof pool.share);
  pool.to = elements<float>(arguments[next++]);
  if (kernel.idiom == Idiom::max_pool) pool.to_places = elements<std::int32_t>(arguments[next]);
  if (pool.from == nullptr || pool.to == nullptr ||
      (kernel.idiom == Idiom::max_pool && pool.to_places == nullptr) ||
      (kernel.idiom == Idiom::max_pool_gradient && pool.from_places == nullptr))
    return std::nullopt;
  std::int64_t count = 1;
  for (const std::int64_t extent : launch.loop) count *= extent;
  pool.planes = count / (is_gradient ? pool.of_data : pool.of_result);
  const std::int64_t read = pool.planes * (is_gradient ? pool.of_result : pool.of_data);
  if (arguments[0].view.count() != read ||
      (pool.from_places != nullptr && arguments[1].view.count() != read))
    return std::nullopt;
  const std::int64_t work = pool.planes * (pool.of_data + pool.of_result);
  const int threads =
      work < kSharedPooling ? 1 : std::min(thread_pool().threads(), ThreadPool::kMaxThreads);
  if (thread_pool().run(pool_part, &pool, (pool.planes + kPlanesOfPart - 1) / kPlanesOfPart,
                        threads))
    return Status(Done{});
  return Status(ThreadPool::lost());
}

}  // namespace arraycore::cpu
