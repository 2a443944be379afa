// Finds out where the passes of a launch write, and computes the launch's uniform words. This code
// runs at every launch.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>

#include "codegen/glsl/glsl.h"
#include "lower/gather_only.h"

namespace arraycore::codegen::glsl {
namespace {

Error refused(const ir::Kernel& kernel, const std::string& what) {
  return {ErrorKind::not_implemented, "gpu_kernel",
          "kernel '" + kernel.name + "': " + what + ", which WebGL2 cannot do."};
}

// Sets a target from the parameter's strides along the axes of the walks (in a scan of both, and an
// element's number is its row's number times the length of a row, plus its number in the row).
// Returns false if the
// address of an element does not give its number by divisions.
bool place(const lower::Walks& walks, bool running, std::size_t operand, const View& view,
           std::uint64_t bytes, std::int64_t item, Target& target) {
  std::int64_t count = 1;
  target.axes.clear();
  target.first = view.offset / item;
  target.number = 0;
  const auto add = [&](const lower::Walk& walk, std::int64_t scale) {
    const Dims numbers = lower::c_strides(walk.shape);
    for (int axis = 0; axis < walk.shape.size(); ++axis) {
      const std::int64_t extent = walk.shape[axis];
      const std::int64_t stride = walk.strides[operand][axis] / item;
      const std::int64_t step = numbers[axis] * scale;
      count *= extent;
      if (extent <= 1) {
        target.axes.push_back({extent, 1, 0});
        continue;
      }
      target.axes.push_back({extent, std::abs(stride), stride < 0 ? -step : step});
      if (stride < 0) {
        target.first += (extent - 1) * stride;
        target.number += (extent - 1) * step;
      }
    }
  };
  add(walks.outer, running ? walks.inner.count() : 1);
  if (running) add(walks.inner, 1);
  target.first_texel = 0;
  target.texels = 0;
  target.keeps = false;
  if (count == 0) return true;
  std::ranges::sort(target.axes, [](const Target::Axis& a, const Target::Axis& b) {
    return std::pair(a.extent > 1, a.stride) > std::pair(b.extent > 1, b.stride);
  });
  // Along every axis, one step leads beyond all elements that the smaller strides reach.
  std::int64_t reach = 0;
  for (std::size_t i = target.axes.size(); i-- > 0;) {
    const Target::Axis& axis = target.axes[i];
    if (axis.extent > 1 && axis.stride <= reach) return false;
    reach += (axis.extent - 1) * axis.stride;
  }
  const std::int64_t begin = target.first * item;
  const std::int64_t end = (target.first + reach + 1) * item;
  const bool dense = count == reach + 1;
  const bool to_the_end = end % kTexelBytes == 0 || end >= static_cast<std::int64_t>(bytes);
  target.keeps = !dense || begin % kTexelBytes != 0 || !to_the_end;
  target.first_texel = begin / kTexelBytes;
  target.texels = ceil_div(end, kTexelBytes) - target.first_texel;
  return true;
}

// Rows of at most this many elements are not divided, nor are rows that are many.
constexpr std::int64_t kShortRow = 128;
constexpr std::int64_t kManyRows = 32768;
// The parts of longer rows are combined in groups.
constexpr std::int64_t kLongRow = 16384;
// There are at most this many parts of all rows, unless each row has only one.
constexpr std::int64_t kMostParts = 1 << 19;

// Returns the smallest number whose `power`-th power is at least n.
std::int64_t root(std::int64_t n, int power) {
  auto r = static_cast<std::int64_t>(std::pow(static_cast<double>(n), 1.0 / power));
  const auto whole = [&](std::int64_t x) { return power == 2 ? x * x : x * x * x; };
  while (r > 1 && whole(r - 1) >= n) --r;
  while (whole(r) < n) ++r;
  return r;
}

void divide(const ir::Kernel& kernel, const lower::Walks& walks, Division& division) {
  division = {};
  if (!kernel.reduction) return;
  const bool running = kernel.reduction->running();
  const std::int64_t rows = walks.outer.count();
  const std::int64_t length = walks.inner.count();
  if (rows == 0 || length <= kShortRow || (rows >= kManyRows && !running)) return;
  const bool grouped = !running && length > kLongRow;
  division.rows = grouped ? Rows::groups : Rows::parts;
  division.part_length = std::max(root(length, grouped ? 3 : 2),
                                  ceil_div(length, std::max<std::int64_t>(kMostParts / rows, 1)));
  division.parts = ceil_div(length, division.part_length);
  if (grouped) division.groups = root(division.parts, 2);
  const std::int64_t texels = texels_per_total(kernel);
  division.scratch_texels[0] = rows * division.parts * texels;
  if (grouped) division.scratch_texels[1] = rows * division.groups * texels;
}

}  // namespace

std::int64_t texels_per_total(const ir::Kernel& kernel) {
  return ceil_div(static_cast<std::int64_t>(kernel.reduction->values.size()), 2);
}

std::int64_t Division::number_at(std::uint32_t index) const {
  switch (index) {
    case kParts:
      return parts;
    case kGroups:
      return groups;
    case kPartLength:
      return part_length;
    default: {
      const std::uint32_t word = index - kScratchRange;
      return word % 2 == 0 ? 0 : scratch_texels[word / 2];
    }
  }
}

std::int64_t Target::number_at(std::uint32_t index) const {
  switch (index) {
    case 0:
      return first_texel;
    case 1:
      return texels;
    case 2:
      return first;
    case 3:
      return number;
    default: {
      const Axis& axis = axes[(index - kTargetAxes) / 3];
      const std::uint32_t which = (index - kTargetAxes) % 3;
      return which == 0 ? axis.extent : which == 1 ? axis.stride : axis.step;
    }
  }
}

Status check(const ir::Kernel& kernel) {
  if (const lower::Gather gather = lower::gather_only(kernel); !gather.only)
    return refused(kernel, "it writes at places that it computes");
  return Done{};
}

std::uint64_t LaunchAnalysis::variant() const {
  auto result = static_cast<std::uint64_t>(division.rows);
  for (const Target& target : all_targets())
    result = result << 2 | (target.contiguous ? 2U : 0U) | (target.keeps ? 1U : 0U);
  return result;
}

Status LaunchAnalysis::analyze(const ir::Kernel& kernel, lower::Merge merge, const Launch& launch) {
  TRY_DONE(base.analyze(kernel, merge, launch));
  const bool running = kernel.reduction && kernel.reduction->running();
  if (running && base.walks.inner.count() > kLongestScan)
    return refused(kernel, "it scans rows of over " + std::to_string(kLongestScan) + " elements");
  divide(kernel, base.walks, division);
  target_count = 0;
  for (ir::Id p = 0; p < kernel.params.size(); ++p) {
    const ir::Param& param = kernel.params[p];
    if (param.kind != ir::ParamKind::elementwise || param.access == ir::Access::read) continue;
    const std::uint8_t slot = base.signature.params[p].slot;
    for (const Target& other : all_targets())
      if (base.signature.params[other.param].slot == slot)
        return refused(kernel, "it writes two arrays of one storage");
    if (target_count == targets.size()) targets.emplace_back();
    Target& target = targets[target_count++];
    target.param = p;
    target.contiguous = !running && base.signature.params[p].layout == Layout::contiguous;
    const Operand& operand = launch.operands[p];
    if (!place(base.walks, running, static_cast<std::size_t>(base.walks.operand[p]), operand.view,
               operand.bytes, static_cast<std::int64_t>(size_of(param.dtype)), target))
      return refused(kernel, "the strides of '" + param.name + "' interleave");
  }
  return Done{};
}

void Program::uniform_words(const ir::Kernel& kernel, const Launch& launch,
                            const LaunchAnalysis& analysis, std::span<std::uint32_t> words) const {
  for (std::size_t i = 0; i < uniforms.size(); ++i) {
    const UniformWord& word = uniforms[i];
    std::int64_t value = 0;
    if (word.from == UniformWord::From::target) {
      if (word.param == ir::kNone) value = analysis.division.number_at(word.axis);
      for (const Target& target : analysis.all_targets())
        if (target.param == word.param) value = target.number_at(word.axis);
    } else {
      value = word_of(word, kernel, plan.base, launch, analysis.base.walks);
    }
    words[i] = static_cast<std::uint32_t>(value);
  }
}

}  // namespace arraycore::codegen::glsl
