#include "cpu/nn/normalization.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "cpu/gemm/gemm_kernel.h"
#include "thread_pool/thread_pool.h"
#include "view/shape.h"

namespace arraycore::cpu {
namespace {

using ir::Argument;
using ir::Idiom;

using Four = Lanes<float>;
constexpr std::int64_t kBlock = 1024;  // elements that are summed lane by lane
// The loops are used only if a channel has at least this many neighbouring elements.
constexpr std::int64_t kFewest = 16;
constexpr std::int64_t kSharedNormalization = 100'000;  // elements

// The layout of the channels: for each image and each channel a plane of `inner` elements.
struct Planes {
  std::int64_t images = 1;
  std::int64_t channels = 1;
  std::int64_t inner = 1;

  std::int64_t count() const { return images * channels * inner; }
  std::int64_t of_channel() const { return images * inner; }
  std::int64_t at(std::int64_t image, std::int64_t channel) const {
    return (image * channels + channel) * inner;
  }
};

// Combines the values of parts in pairs of equal size; the left operand is the earlier part.
template <typename Value>
class Pairwise {
 public:
  void add(Value value) {
    std::size_t level = 0;
    for (; (number_ >> level & 1) != 0; ++level) value = joined(held_[level], value);
    held_[level] = value;
    ++number_;
  }
  // REQUIRES: at least one value was added.
  Value total() const {
    std::size_t level = 0;
    while ((number_ >> level & 1) == 0) ++level;
    Value total = held_[level];
    for (++level; number_ >> level != 0; ++level)
      if ((number_ >> level & 1) != 0) total = joined(held_[level], total);
    return total;
  }

 private:
  std::uint64_t number_ = 0;
  std::array<Value, 48> held_;
};

struct Moments {
  float count = 0;
  float mean = 0;
  float squares = 0;  // the sum of the squared distances from the mean
};

Moments joined(const Moments& a, const Moments& b) {
  const float count = a.count + b.count;
  const float step = b.mean - a.mean;
  const float moved = step * (b.count / count);
  return {count, a.mean + moved, a.squares + b.squares + moved * (step * a.count)};
}

struct Sums {
  float gradient = 0;
  float product = 0;  // the sum of the products with the normalized data
};

Sums joined(const Sums& a, const Sums& b) {
  return {a.gradient + b.gradient, a.product + b.product};
}

// Returns the sum of term(place) over `count` places. It takes four places at a time, and the
// remaining places one by one.
template <typename Term>
float sum_of(std::int64_t count, Term term) {
  constexpr std::int64_t kStep = 4;
  Four sums[kStep] = {};  // NOLINT(*-avoid-c-arrays): registers
  std::int64_t i = 0;
  for (; i + kStep * 4 <= count; i += kStep * 4)
    for (std::int64_t s = 0; s < kStep; ++s) sums[s] += term(i + s * 4, Four{});
  for (; i + 4 <= count; i += 4) sums[0] += term(i, Four{});
  const Four both = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  float total = (both[0] + both[1]) + (both[2] + both[3]);
  for (; i < count; ++i) total += term(i, 0.0f);
  return total;
}

// Return the four elements that begin at `from`, or the one element there.
Four at(const float* from, Four /*four*/) { return load(from); }
float at(const float* from, float /*one*/) { return *from; }

// The arguments of one launch.
struct Task {
  Idiom idiom = Idiom::none;
  Planes planes;
  const float* gradient = nullptr;
  const float* data = nullptr;
  const float* mean = nullptr;
  const float* inv_std = nullptr;
  const float* gamma = nullptr;
  const float* product_sums = nullptr;
  const float* gradient_sums = nullptr;
  float eps = 0, kept = 0, fresh = 0, fresh_unbiased = 0, share = 0;
  // The results: mean and inv_std, or gbeta and ggamma, or only gx.
  float* first = nullptr;
  float* second = nullptr;
  float* running_mean = nullptr;  // null: there is none
  float* running_var = nullptr;

  void statistics(std::int64_t channel) const;
  void sums(std::int64_t channel) const;
  void spread(std::int64_t channel) const;

  // Calls body(first image, images, first element of a plane, elements) for each block of a
  // channel. A block consists of planes of several images or of a part of one plane.
  template <typename Body>
  void each_block(Body body) const {
    const std::int64_t together = std::max<std::int64_t>(1, kBlock / planes.inner);
    for (std::int64_t image = 0; image < planes.images; image += together)
      for (std::int64_t i = 0; i < planes.inner; i += kBlock)
        body(image, std::min(together, planes.images - image), i,
             std::min(kBlock, planes.inner - i));
  }
};

void Task::statistics(std::int64_t channel) const {
  Pairwise<Moments> parts;
  each_block([&](std::int64_t image, std::int64_t images, std::int64_t i, std::int64_t count) {
    const float* const from = data + planes.at(image, channel) + i;
    const std::int64_t step = planes.channels * planes.inner;
    Moments part;
    part.count = static_cast<float>(images * count);
    for (std::int64_t n = 0; n < images; ++n)
      part.mean +=
          sum_of(count, [&](std::int64_t x, auto zero) { return at(from + n * step + x, zero); });
    part.mean /= part.count;
    for (std::int64_t n = 0; n < images; ++n)
      part.squares += sum_of(count, [&](std::int64_t x, auto zero) {
        const auto distance = at(from + n * step + x, zero) - part.mean;
        return distance * distance;
      });
    parts.add(part);
  });
  const Moments all = parts.total();
  const float variance = all.squares / all.count;
  first[channel] = all.mean;
  second[channel] = 1.0f / std::sqrt(variance + eps);
  if (running_mean == nullptr) return;
  running_mean[channel] = running_mean[channel] * kept + all.mean * fresh;
  running_var[channel] = running_var[channel] * kept + variance * fresh_unbiased;
}

void Task::sums(std::int64_t channel) const {
  Pairwise<Sums> parts;
  const float middle = mean[channel];
  const float scale = inv_std[channel];
  each_block([&](std::int64_t image, std::int64_t images, std::int64_t i, std::int64_t count) {
    Sums part;
    for (std::int64_t n = 0; n < images; ++n) {
      const std::int64_t place = planes.at(image + n, channel) + i;
      const float* const x = data + place;
      const float* const g = gradient + place;
      part.gradient += sum_of(count, [&](std::int64_t e, auto zero) { return at(g + e, zero); });
      part.product += sum_of(count, [&](std::int64_t e, auto zero) {
        return at(g + e, zero) * ((at(x + e, zero) - middle) * scale);
      });
    }
    parts.add(part);
  });
  const Sums all = parts.total();
  first[channel] = all.gradient;
  second[channel] = all.product;
}

void Task::spread(std::int64_t channel) const {
  const float middle = mean[channel];
  const float scale = inv_std[channel];
  const float slope = gamma[channel] * scale;
  const float of_product = product_sums[channel];
  const float of_gradient = gradient_sums[channel];
  const auto element = [&](auto g, auto x) {
    return slope * (g - ((x - middle) * scale * of_product + of_gradient) * share);
  };
  for (std::int64_t image = 0; image < planes.images; ++image) {
    const std::int64_t place = planes.at(image, channel);
    const float* const x = data + place;
    const float* const g = gradient + place;
    float* const to = first + place;
    std::int64_t i = 0;
    for (; i + 4 <= planes.inner; i += 4) store(to + i, element(load(g + i), load(x + i)));
    for (; i < planes.inner; ++i) to[i] = element(g[i], x[i]);
  }
}

void normalize_channel(void* task, std::int64_t channel, int /*thread*/) {
  const auto& work = *static_cast<const Task*>(task);
  if (work.idiom == Idiom::batch_norm_statistics) return work.statistics(channel);
  if (work.idiom == Idiom::batch_norm_sums) return work.sums(channel);
  work.spread(channel);
}

// Takes a launch's arguments one after the other, and stops at an argument whose layout the loops
// cannot use.
class Arguments {
 public:
  explicit Arguments(const ir::Launch& launch) : launch_(launch) {}

  bool fit() const { return fit_; }
  // Returns the next argument if it is a C-ordered array of `count` elements.
  float* array(std::int64_t count) {
    const Argument& argument = launch_.arguments[next_++];
    std::byte* const first = argument.base + argument.view.offset;
    fit_ = fit_ && argument.view.count() == count && is_c_contiguous(argument.view, 4) &&
           reinterpret_cast<std::uintptr_t>(first) % 4 == 0;
    return reinterpret_cast<float*>(first);
  }
  float scalar() {
    float value = 0;
    std::memcpy(&value, &launch_.arguments[next_++].scalar, sizeof value);
    return value;
  }

 private:
  const ir::Launch& launch_;
  std::size_t next_ = 0;
  bool fit_ = true;
};

// Returns the layout if the channels are on one axis: the only axis that is not in `reduced`. Axes
// with one element do not count.
std::optional<Planes> planes_of(const Dims& loop, std::uint32_t reduced) {
  Planes planes;
  int channel = -1;
  for (int axis = 0; axis < loop.size(); ++axis) {
    if (loop[axis] == 1) continue;
    if ((reduced >> axis & 1U) != 0) {
      (channel < 0 ? planes.images : planes.inner) *= loop[axis];
      continue;
    }
    if (channel >= 0) return std::nullopt;
    channel = axis;
    planes.channels = loop[axis];
  }
  if (channel < 0 || planes.inner < kFewest || planes.count() == 0) return std::nullopt;
  return planes;
}

// Returns the axes of the loop along which the argument is broadcast.
std::uint32_t broadcast_axes(const View& view, const Dims& loop) {
  std::uint32_t axes = 0;
  if (view.ndim() != loop.size()) return axes;
  for (int axis = 0; axis < loop.size(); ++axis)
    if (view.shape[axis] == 1) axes |= 1U << axis;
  return axes;
}

}  // namespace

std::optional<Status> run_normalization(const ir::Kernel& kernel, const ir::Launch& launch) {
  const bool is_statistics = kernel.idiom == Idiom::batch_norm_statistics;
  const bool is_gradient = kernel.idiom == Idiom::batch_norm_gradient;
  if (!is_statistics && !is_gradient && kernel.idiom != Idiom::batch_norm_sums) return std::nullopt;
  for (const ir::Param& param : kernel.params)
    if (param.dtype != DType::float32) return std::nullopt;
  constexpr std::size_t kMean = 2;
  const auto planes =
      planes_of(launch.loop, is_gradient ? broadcast_axes(launch.arguments[kMean].view, launch.loop)
                                         : launch.reduced);
  if (!planes) return std::nullopt;
  Task task;
  task.idiom = kernel.idiom;
  task.planes = *planes;
  const std::int64_t all = planes->count();
  const std::int64_t channels = planes->channels;
  Arguments arguments(launch);
  if (is_statistics) {
    constexpr std::size_t kWithRunning = 9;
    const bool has_running = kernel.params.size() == kWithRunning;
    task.data = arguments.array(all);
    task.eps = arguments.scalar();
    if (has_running) {
      task.kept = arguments.scalar();
      task.fresh = arguments.scalar();
      task.fresh_unbiased = arguments.scalar();
    }
    task.first = arguments.array(channels);
    task.second = arguments.array(channels);
    if (has_running) {
      task.running_mean = arguments.array(channels);
      task.running_var = arguments.array(channels);
    }
  } else {
    task.gradient = arguments.array(all);
    task.data = arguments.array(all);
    task.mean = arguments.array(channels);
    task.inv_std = arguments.array(channels);
    if (is_gradient) {
      task.gamma = arguments.array(channels);
      task.product_sums = arguments.array(channels);
      task.gradient_sums = arguments.array(channels);
      task.share = arguments.scalar();
      task.first = arguments.array(all);
    } else {
      task.first = arguments.array(channels);
      task.second = arguments.array(channels);
    }
  }
  if (!arguments.fit()) return std::nullopt;
  const int threads =
      all < kSharedNormalization ? 1 : std::min(thread_pool().threads(), ThreadPool::kMaxThreads);
  if (thread_pool().run(normalize_channel, &task, channels, threads)) return Status(Done{});
  return Status(ThreadPool::lost());
}

}  // namespace arraycore::cpu
