#include "codegen/plan.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>

#include "codegen/wgsl_atomic.h"
#include "ir/op_info.h"

namespace arraycore::codegen {
namespace {

using ir::Access;
using ir::Kernel;
using ir::Param;
using ir::ParamKind;

constexpr std::uint32_t kWorkgroup = 128;
constexpr std::uint32_t kRowsWorkgroup = 256;  // of reductions and scans
// The number of workgroups that keeps a large device busy. Rows are divided to reach this number.
constexpr std::int64_t kBusyReduction = 1024;
constexpr std::int64_t kBusyScan = 512;
// A lane of a divided row gets at least this many units (elements, or groups of four elements). A
// row is divided only if each lane of the undivided row has at least four times as many units, or
// sixteen times as many if the rows alone keep most of a device busy. The reason is that the second
// dispatch of a divided row costs time.
constexpr std::int64_t kLaneUnits = 8;
constexpr std::int64_t kSomeBlocks = 64;
// The rows of a scan are divided only if they are longer than this and there are few of them.
constexpr std::int64_t kSplitScan = 8192;

Error refused(const Kernel& kernel, const std::string& what) {
  return {ErrorKind::not_implemented, "gpu_kernel", "kernel '" + kernel.name + "': " + what + "."};
}

// Returns whether the elements are consecutive in C order.
bool in_c_order(const View& view, std::int64_t item) {
  const Dims steps = lower::c_strides(view.shape);
  for (int axis = 0; axis < view.ndim(); ++axis)
    if (view.shape[axis] != 1 && view.strides[axis] != steps[axis] * item) return false;
  return true;
}

bool has_vec4(std::size_t size) { return size == 4; }

// Returns the base-2 logarithm of the number of lanes that share a row of `units` units, if
// neighbouring lanes read neighbouring memory. More units get more lanes. There are only a few
// different numbers, so that few shader texts are generated.
std::uint8_t lanes_along(std::int64_t units) {
  if (units < 4) return 0;
  if (units < 32) return 3;
  return units < 256 ? 5 : 8;
}

void cut(const Kernel& kernel, const lower::Walks& walks, bool quads, LaunchSignature& signature) {
  const std::int64_t rows = walks.outer.count();
  const std::int64_t length = walks.inner.count();
  std::int64_t outer_step = 0;
  std::int64_t inner_step = 0;
  for (std::size_t p = 0; p < kernel.params.size(); ++p) {
    if (walks.operand[p] < 0 || kernel.params[p].access != Access::read) continue;
    const auto last = [&](const lower::Walk& walk) {
      const Dims& strides = walk.strides[static_cast<std::size_t>(walks.operand[p])];
      return strides.empty() ? 0 : std::abs(strides[strides.size() - 1]);
    };
    outer_step += last(walks.outer);
    inner_step += last(walks.inner);
  }
  signature.columns = rows > 1 && outer_step < inner_step;
  if (kernel.reduction->running()) {
    const bool serial = length <= 16 || (signature.columns && rows >= 2048) || rows >= 65536;
    signature.lanes = serial ? 0 : 8;
    signature.columns = false;
    signature.rows = serial                                    ? Rows::thread
                     : length > kSplitScan && rows < kBusyScan ? Rows::split
                                                               : Rows::group;
    return;
  }
  const std::int64_t units = quads ? ceil_div(length, 4) : length;
  if (signature.columns)
    signature.lanes = length <= 16 || rows >= 32768 ? 0 : 3;
  else
    signature.lanes = lanes_along(units);
  const std::int64_t blocks = ceil_div(rows << signature.lanes, kRowsWorkgroup);
  const std::int64_t long_enough = (blocks < kSomeBlocks ? 4 : 16) * kLaneUnits;
  const bool split = 4 * blocks <= kBusyReduction && units >> signature.lanes >= long_enough;
  signature.rows = split ? Rows::split : signature.lanes == 0 ? Rows::thread : Rows::group;
}

// Returns whether the elements of a row are consecutive groups of four, each aligned like the first
// one. In rows of several axes, no group may cross the end of the last axis.
bool in_groups_of_four(const lower::Walks& walks, std::size_t v, std::int64_t item) {
  const lower::Walk& inner = walks.inner;
  const int last = inner.shape.size() - 1;
  if (last < 0 || inner.strides[v][last] != item) return false;
  if (last > 0 && inner.shape[last] % 4 != 0) return false;
  const auto whole = [&](std::int64_t stride) { return stride % (item * 4) == 0; };
  for (int axis = 0; axis < last; ++axis)
    if (!whole(inner.strides[v][axis])) return false;
  return std::ranges::all_of(walks.outer.strides[v], whole);
}

// Returns the index of `value` in the list. Appends it first if the list does not contain it.
std::uint8_t number_of(std::vector<std::uint32_t>& list, std::uint32_t value) {
  std::size_t at = 0;
  while (at < list.size() && list[at] != value) ++at;
  if (at == list.size()) list.push_back(value);
  return static_cast<std::uint8_t>(at);
}

Status check_types(const Kernel& kernel) {
  const auto check = [&](DType dtype) { return on_gpu(dtype); };
  for (const Param& p : kernel.params)
    if (!check(p.dtype))
      return refused(kernel, std::string(name_of(p.dtype)) + " is not computed on a GPU");
  for (ir::Id id = 0; id < kernel.exprs.size(); ++id) {
    const ir::Expr& e = kernel.exprs[id];
    if (!check(e.type))
      return refused(kernel, std::string(name_of(e.type)) + " is not computed on a GPU");
    if (ir::is_atomic(e.op) && !has_atomic(kernel, id))
      return refused(kernel, "atomic updates of " + std::string(name_of(e.type)) +
                                 " are possible on a GPU only as sums whose old value is unused");
  }
  return Done{};
}

}  // namespace

lower::Merge merge_of(const Kernel& kernel) {
  return lower::uses(kernel, ir::Op::axis_index) ? lower::Merge::off : lower::Merge::on;
}

std::uint64_t LaunchSignature::hash() const {
  std::uint64_t hash =
      static_cast<std::uint64_t>(loop_ndim) | static_cast<std::uint64_t>(inner_ndim) << 8 |
      static_cast<std::uint64_t>(rows) << 16 | static_cast<std::uint64_t>(lanes) << 24 |
      static_cast<std::uint64_t>(columns) << 32;
  for (const ParamSignature& p : params) {
    const std::uint64_t word =
        static_cast<std::uint64_t>(p.slot) | static_cast<std::uint64_t>(p.heap) << 8 |
        static_cast<std::uint64_t>(p.layout) << 16 | static_cast<std::uint64_t>(p.aligned) << 20 |
        static_cast<std::uint64_t>(p.whole_vectors) << 21 |
        static_cast<std::uint64_t>(p.ndim) << 24;
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 29;
  }
  return hash;
}

Status LaunchAnalysis::analyze(const Kernel& kernel, lower::Merge merge, const Launch& launch) {
  const std::size_t count = kernel.params.size();
  if (count > std::numeric_limits<std::uint8_t>::max())
    return refused(kernel, "it has over 255 parameters");
  views_.clear();
  for (const Operand& operand : launch.operands) views_.push_back(&operand.view);
  walks.set(kernel, launch.loop, launch.reduced, views_, merge);
  signature.params.clear();
  signature.params.resize(count);
  signature.loop_ndim = static_cast<std::uint8_t>(walks.outer.shape.size());
  signature.inner_ndim = static_cast<std::uint8_t>(walks.inner.shape.size());
  signature.rows = Rows::none;
  signature.lanes = 0;
  signature.columns = false;
  bool quads = false;
  const Dims c_order = lower::c_strides(walks.outer.shape);
  bindings_.clear();
  heaps_.clear();
  for (std::size_t p = 0; p < count; ++p) {
    const Param& param = kernel.params[p];
    if (param.kind == ParamKind::scalar) continue;
    const Operand& operand = launch.operands[p];
    ParamSignature& own = signature.params[p];
    own.slot = number_of(bindings_, operand.binding);
    own.heap = number_of(heaps_, operand.heap);
    own.whole_vectors = operand.bytes % 16 == 0;
    const auto item = static_cast<std::int64_t>(size_of(param.dtype));
    // `places` has every bit that is set in the offset or in a stride. Item sizes are powers of
    // two, so one test of `places` shows whether any of these numbers is not a multiple of the
    // item's size.
    std::int64_t places = operand.view.offset;
    for (const std::int64_t stride : operand.view.strides) places |= stride;
    if ((places & (item - 1)) != 0)
      return refused(kernel, "argument '" + param.name + "' does not lie on whole elements");
    if (operand.bytes / static_cast<std::uint64_t>(item) > std::numeric_limits<std::int32_t>::max())
      return refused(kernel, "argument '" + param.name + "' lies in more than 2147483647 elements");
    if (param.kind == ParamKind::raw) {
      own.ndim = static_cast<std::uint8_t>(operand.view.ndim());
      own.layout =
          param.ndim < 0 && in_c_order(operand.view, item) ? Layout::contiguous : Layout::strided;
    } else {
      const auto v = static_cast<std::size_t>(walks.operand[p]);
      bool constant = true;
      bool contiguous = walks.inner.shape.empty();
      for (const std::int64_t stride : walks.inner.strides[v]) constant = constant && stride == 0;
      for (int axis = 0; axis < walks.outer.shape.size(); ++axis) {
        const std::int64_t stride = walks.outer.strides[v][axis];
        constant = constant && stride == 0;
        contiguous = contiguous && stride == c_order[axis] * item;
      }
      own.layout = constant ? Layout::one : contiguous ? Layout::contiguous : Layout::strided;
      own.aligned = own.layout == Layout::contiguous && operand.view.offset % (item * 4) == 0;
      if (kernel.reduction) {
        own.aligned = in_groups_of_four(walks, v, item) && operand.view.offset % (item * 4) == 0 &&
                      param.access == Access::read && !kernel.reduction->running();
        quads = quads || (own.aligned && item <= 4);
      }
    }
  }
  if (kernel.reduction) cut(kernel, walks, quads, signature);
  return Done{};
}

std::string Plan::key() const {
  std::string text = "w" + std::to_string(workgroup) + "n" + std::to_string(loop_ndim) + "i" +
                     std::to_string(inner_ndim) + (quads ? "q" : "s") +
                     std::to_string(static_cast<int>(rows)) + (columns ? "c" : "r") +
                     std::to_string(lanes);
  for (const ParamPlan& p : params)
    text += "," + std::to_string(p.slot) + "l" + std::to_string(static_cast<int>(p.layout)) +
            (p.aligned ? "a" : "u") + std::to_string(p.ndim);
  for (const SlotPlan& s : slots)
    text += std::string(";") + (s.written ? "w" : "r") + (s.atomic ? "a" : "p") +
            (s.vectors ? "v" : "s");
  return text;
}

Parts parts_of(const Plan& plan, std::int64_t rows, std::int64_t length) {
  if (plan.rows != Rows::split || rows == 0 || length == 0) return {};
  const std::int64_t most = std::int64_t{plan.workgroup} * 4;  // what a workgroup combines at once
  if (plan.running) {
    const std::int64_t tile = most;
    const std::int64_t tiles = ceil_div(length, tile);
    const std::int64_t wanted = std::clamp<std::int64_t>(kBusyScan / rows, 1, most);
    const std::int64_t each = ceil_div(tiles, std::min(wanted, tiles)) * tile;
    return {ceil_div(length, each), each};
  }
  const std::int64_t units = ceil_div(length, plan.unit());
  const std::int64_t blocks = ceil_div(rows, plan.across());
  const std::int64_t useful = units / (plan.lanes * kLaneUnits);
  return {std::clamp<std::int64_t>(std::min(kBusyReduction / blocks, useful), 1, most), 0};
}

Result<Plan> make_plan(const Kernel& kernel, const Launch& launch, const Limits& limits) {
  LaunchAnalysis analysis;
  TRY_DONE(analysis.analyze(kernel, merge_of(kernel), launch));
  return make_plan(kernel, analysis.signature, limits);
}

Result<Plan> make_plan(const Kernel& kernel, const LaunchSignature& signature,
                       const Limits& limits) {
  TRY_DONE(check_types(kernel));
  const bool reduction = kernel.reduction.has_value();
  Plan plan;
  plan.limits = limits;
  plan.loop_ndim = signature.loop_ndim;
  plan.inner_ndim = signature.inner_ndim;
  plan.rows = signature.rows;
  // A workgroup is as large as the device allows, up to kWorkgroup or kRowsWorkgroup, so that a
  // large grid has few workgroups.
  plan.workgroup =
      std::bit_floor(std::min(reduction ? kRowsWorkgroup : kWorkgroup, limits.invocations));
  plan.lanes = std::min(1U << signature.lanes, plan.workgroup);
  plan.columns = signature.columns;
  plan.running = reduction && kernel.reduction->running();
  std::vector<std::uint8_t> heaps;
  for (std::size_t p = 0; p < kernel.params.size(); ++p) {
    const ParamSignature& seen = signature.params[p];
    plan.params.push_back({seen.slot, seen.layout, seen.aligned, seen.ndim});
    if (kernel.params[p].kind == ParamKind::scalar || seen.slot < plan.slots.size()) continue;
    plan.slots.emplace_back();
    heaps.push_back(seen.heap);
  }
  if (plan.slots.size() > limits.storage_buffers)
    return refused(kernel, "it binds " + std::to_string(plan.slots.size()) +
                               " buffers, and the device has " +
                               std::to_string(limits.storage_buffers));
  // A row is not divided if no binding is left for the scratch buffer. The rows of a scan with
  // atomic updates are not divided either, because a divided scan maps each element twice.
  const bool updates = reduction && kernel.reduction->running() &&
                       std::ranges::any_of(kernel.params, &Param::atomic);
  if (plan.rows == Rows::split && (updates || plan.slots.size() >= limits.storage_buffers))
    plan.rows = Rows::group;
  for (std::size_t p = 0; p < kernel.params.size(); ++p)
    plan.quads = plan.quads || (kernel.params[p].kind == ParamKind::elementwise &&
                                plan.params[p].aligned && size_of(kernel.params[p].dtype) <= 4);

  // Decides how the shader declares the binding of each slot: as writable, as atomics, as vectors.
  std::vector<bool> scalar_access(plan.slots.size(), false);
  for (std::size_t p = 0; p < kernel.params.size(); ++p) {
    const Param& param = kernel.params[p];
    if (param.kind == ParamKind::scalar) continue;
    const ParamPlan& own = plan.params[p];
    SlotPlan& slot = plan.slots[own.slot];
    const std::size_t item = size_of(param.dtype);
    const bool written = param.access != Access::read;
    slot.written = slot.written || written;
    const bool owned = plan.quads && own.aligned;
    slot.atomic = slot.atomic || param.atomic || (written && item < 4 && !owned);
    const bool by_vector =
        (plan.quads && own.aligned && has_vec4(item)) ||
        (own.layout == Layout::one && param.kind == ParamKind::elementwise && !written);
    scalar_access[own.slot] =
        scalar_access[own.slot] || !by_vector || !signature.params[p].whole_vectors;
  }
  for (std::size_t s = 0; s < plan.slots.size(); ++s) {
    plan.slots[s].vectors = plan.quads && !plan.slots[s].atomic && !scalar_access[s];
    for (std::size_t t = 0; t < plan.slots.size(); ++t)
      plan.slots[s].written =
          plan.slots[s].written || (heaps[s] == heaps[t] && plan.slots[t].written);
  }
  // An atomic slot counts as written even if no parameter of its heap is
  // written.
  for (SlotPlan& slot : plan.slots) slot.written = slot.written || slot.atomic;
  return plan;
}

}  // namespace arraycore::codegen
