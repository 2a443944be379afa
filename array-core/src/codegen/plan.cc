#include "codegen/plan.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "codegen/wgsl_atomic.h"
#include "ir/op_info.h"

namespace arraycore::codegen {
namespace {

using ir::Access;
using ir::Kernel;
using ir::Param;
using ir::ParamKind;

constexpr std::int64_t kThreadRow = 32;    // rows up to this long are one invocation's
constexpr std::int64_t kSplitRow = 16384;  // rows longer than this are split where there are few
constexpr std::int64_t kManyRows = 256;
constexpr std::uint32_t kParts = 128;
constexpr std::uint32_t kWorkgroup = 128;

Error refused(const Kernel& kernel, const std::string& what) {
  return {ErrorKind::not_implemented, "gpu_kernel", "kernel '" + kernel.name + "': " + what + "."};
}

// Whether element number k lies k items after the first.
bool in_c_order(const View& view, std::int64_t item) {
  const Dims steps = lower::c_strides(view.shape);
  for (int axis = 0; axis < view.ndim(); ++axis)
    if (view.shape[axis] != 1 && view.strides[axis] != steps[axis] * item) return false;
  return true;
}

bool has_vec4(std::size_t size) { return size == 4; }

Rows cut(std::int64_t rows, std::int64_t length) {
  if (length <= kThreadRow) return Rows::thread;
  return length > kSplitRow && rows < kManyRows ? Rows::split : Rows::group;
}

// The place of `value` in the list, to which it is added where it is new.
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

std::uint64_t Look::hash() const {
  std::uint64_t hash = static_cast<std::uint64_t>(loop_ndim) |
                       static_cast<std::uint64_t>(inner_ndim) << 8 |
                       static_cast<std::uint64_t>(rows) << 16;
  for (const ParamLook& p : params) {
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

Status Survey::take(const Kernel& kernel, lower::Merge merge, const Launch& launch) {
  const std::size_t count = kernel.params.size();
  if (count > std::numeric_limits<std::uint8_t>::max())
    return refused(kernel, "it has over 255 parameters");
  views_.clear();
  for (const Operand& operand : launch.operands) views_.push_back(&operand.view);
  walks.set(kernel, launch.loop, launch.reduced, views_, merge);
  look.params.clear();
  look.params.resize(count);
  look.loop_ndim = static_cast<std::uint8_t>(walks.outer.shape.size());
  look.inner_ndim = static_cast<std::uint8_t>(walks.inner.shape.size());
  look.rows = kernel.reduction ? cut(walks.outer.count(), walks.inner.count()) : Rows::none;
  const Dims c_order = lower::c_strides(walks.outer.shape);
  bindings_.clear();
  heaps_.clear();
  for (std::size_t p = 0; p < count; ++p) {
    const Param& param = kernel.params[p];
    if (param.kind == ParamKind::scalar) continue;
    const Operand& operand = launch.operands[p];
    ParamLook& own = look.params[p];
    own.slot = number_of(bindings_, operand.binding);
    own.heap = number_of(heaps_, operand.heap);
    own.whole_vectors = operand.bytes % 16 == 0;
    const auto item = static_cast<std::int64_t>(size_of(param.dtype));
    // Items are powers of two.
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
    }
  }
  return Done{};
}

std::string Plan::key() const {
  std::string text = "w" + std::to_string(workgroup) + "n" + std::to_string(loop_ndim) + "i" +
                     std::to_string(inner_ndim) + (quads ? "q" : "s") +
                     std::to_string(static_cast<int>(rows));
  for (const ParamPlan& p : params)
    text += "," + std::to_string(p.slot) + "l" + std::to_string(static_cast<int>(p.layout)) +
            (p.aligned ? "a" : "u") + std::to_string(p.ndim);
  for (const SlotPlan& s : slots)
    text += std::string(";") + (s.written ? "w" : "r") + (s.atomic ? "a" : "p") +
            (s.vectors ? "v" : "s");
  return text;
}

Result<Plan> make_plan(const Kernel& kernel, const Launch& launch, const Limits& limits) {
  Survey survey;
  if (const Status taken = survey.take(kernel, merge_of(kernel), launch); !taken)
    return taken.error();
  return make_plan(kernel, survey.look, limits);
}

Result<Plan> make_plan(const Kernel& kernel, const Look& look, const Limits& limits) {
  if (const Status types = check_types(kernel); !types) return types.error();
  const bool reduction = kernel.reduction.has_value();
  Plan plan;
  plan.limits = limits;
  plan.loop_ndim = look.loop_ndim;
  plan.inner_ndim = look.inner_ndim;
  plan.rows = look.rows;
  // Enough that large grids have few workgroups, and what every device runs.
  plan.workgroup = std::bit_floor(std::min(kWorkgroup, limits.invocations));
  std::vector<std::uint8_t> heaps;
  for (std::size_t p = 0; p < kernel.params.size(); ++p) {
    const ParamLook& seen = look.params[p];
    plan.params.push_back({seen.slot, seen.layout, seen.aligned, seen.ndim});
    if (kernel.params[p].kind == ParamKind::scalar || seen.slot < plan.slots.size()) continue;
    plan.slots.emplace_back();
    heaps.push_back(seen.heap);
  }
  if (plan.slots.size() > limits.storage_buffers)
    return refused(kernel, "it binds " + std::to_string(plan.slots.size()) +
                               " buffers, and the device has " +
                               std::to_string(limits.storage_buffers));
  // The scratch buffer is one more binding.
  if (plan.rows == Rows::split && plan.slots.size() >= limits.storage_buffers)
    plan.rows = Rows::group;
  plan.parts = plan.rows == Rows::split ? kParts : 1;
  if (!reduction)
    for (std::size_t p = 0; p < kernel.params.size(); ++p)
      plan.quads = plan.quads || (kernel.params[p].kind == ParamKind::elementwise &&
                                  plan.params[p].aligned && size_of(kernel.params[p].dtype) <= 4);

  // What each slot is declared as.
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
        scalar_access[own.slot] || !by_vector || !look.params[p].whole_vectors;
  }
  for (std::size_t s = 0; s < plan.slots.size(); ++s) {
    plan.slots[s].vectors = plan.quads && !plan.slots[s].atomic && !scalar_access[s];
    for (std::size_t t = 0; t < plan.slots.size(); ++t)
      plan.slots[s].written =
          plan.slots[s].written || (heaps[s] == heaps[t] && plan.slots[t].written);
  }
  // An atomic slot may have come to lie in a heap that only read parameters use: then it is
  // written.
  for (SlotPlan& slot : plan.slots) slot.written = slot.written || slot.atomic;
  return plan;
}

}  // namespace arraycore::codegen
