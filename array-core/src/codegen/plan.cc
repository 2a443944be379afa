#include "codegen/plan.h"

#include <algorithm>
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

Walks make_walks(const Kernel& kernel, const Launch& launch) {
  Walks result;
  std::vector<View> reads;
  const bool reduction = kernel.reduction.has_value();
  const std::uint32_t all = launch.loop.size() >= 32 ? ~0u : (1u << launch.loop.size()) - 1;
  const std::uint32_t reduced = reduction ? launch.reduced & all : 0;
  for (std::size_t p = 0; p < kernel.params.size(); ++p) {
    const Param& param = kernel.params[p];
    if (param.kind != ParamKind::elementwise) {
      result.operand.push_back(-1);
      continue;
    }
    View view = launch.operands[p].view;
    if (reduction && param.access != Access::read) {  // seen from the whole loop: reduced axes stay
      View wide;
      for (int axis = 0, own = 0; axis < launch.loop.size(); ++axis) {
        const bool gone = (reduced >> axis & 1) != 0;
        wide.shape.push_back(gone ? 1 : view.shape[own]);
        wide.strides.push_back(gone ? 0 : view.strides[own]);
        if (!gone) ++own;
      }
      wide.offset = view.offset;
      view = wide;
    }
    result.operand.push_back(static_cast<int>(reads.size()));
    reads.push_back(view);
  }
  if (reduction) {
    result.virtual_index = static_cast<int>(reads.size());
    reads.push_back({launch.loop, lower::c_strides(launch.loop), 0});
  }
  const auto merge = lower::uses(kernel, ir::Op::axis_index) ? lower::Merge::off : lower::Merge::on;
  result.outer = lower::walk(launch.loop, all & ~reduced, reads, merge);
  result.inner = lower::walk(launch.loop, reduced, reads, merge);
  return result;
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
  if (const Status types = check_types(kernel); !types) return types.error();
  const bool reduction = kernel.reduction.has_value();
  const Walks walks = make_walks(kernel, launch);
  Plan plan;
  plan.limits = limits;
  plan.loop_ndim = static_cast<std::uint8_t>(walks.outer.shape.size());
  plan.inner_ndim = static_cast<std::uint8_t>(walks.inner.shape.size());
  plan.workgroup = std::min<std::uint32_t>(reduction ? 128 : 64, limits.invocations);
  while ((plan.workgroup & (plan.workgroup - 1)) != 0) plan.workgroup &= plan.workgroup - 1;

  std::vector<std::uint64_t> bindings;
  std::vector<std::uint64_t> heaps;
  const Dims c_order = lower::c_strides(walks.outer.shape);
  for (std::size_t p = 0; p < kernel.params.size(); ++p) {
    const Param& param = kernel.params[p];
    const Operand& operand = launch.operands[p];
    ParamPlan own;
    if (param.kind == ParamKind::scalar) {
      plan.params.push_back(own);
      continue;
    }
    const auto item = static_cast<std::int64_t>(size_of(param.dtype));
    const auto found = std::find(bindings.begin(), bindings.end(), operand.binding);
    own.slot = static_cast<std::uint32_t>(found - bindings.begin());
    if (found == bindings.end()) {
      bindings.push_back(operand.binding);
      heaps.push_back(operand.heap);
      plan.slots.emplace_back();
    }
    bool whole_items = operand.view.offset % item == 0;
    for (const std::int64_t stride : operand.view.strides)
      whole_items = whole_items && stride % item == 0;
    if (!whole_items)
      return refused(kernel, "argument '" + param.name + "' does not lie on whole elements");
    if (operand.bytes / static_cast<std::uint64_t>(item) > std::numeric_limits<std::int32_t>::max())
      return refused(kernel, "argument '" + param.name + "' lies in more than 2147483647 elements");
    if (param.kind == ParamKind::raw) {
      own.ndim = static_cast<std::uint8_t>(operand.view.ndim());
      own.layout =
          in_c_order(operand.view, item) && param.ndim < 0 ? Layout::contiguous : Layout::strided;
    } else {
      const auto v = static_cast<std::size_t>(walks.operand[p]);
      bool constant = true;
      bool contiguous = walks.inner.shape.size() == 0;
      for (const std::int64_t stride : walks.inner.strides[v]) constant = constant && stride == 0;
      for (int axis = 0; axis < walks.outer.shape.size(); ++axis) {
        const std::int64_t stride = walks.outer.strides[v][axis];
        constant = constant && stride == 0;
        contiguous = contiguous && stride == c_order[axis] * item;
      }
      own.layout = constant ? Layout::one : contiguous ? Layout::contiguous : Layout::strided;
      own.aligned = own.layout == Layout::contiguous && operand.view.offset % (item * 4) == 0;
    }
    plan.params.push_back(own);
  }
  if (plan.slots.size() > limits.storage_buffers)
    return refused(kernel, "it binds " + std::to_string(plan.slots.size()) +
                               " buffers, and the device has " +
                               std::to_string(limits.storage_buffers));

  if (reduction) {
    const std::int64_t rows = walks.outer.count();
    const std::int64_t length = walks.inner.count();
    plan.rows = length <= kThreadRow                     ? Rows::thread
                : length > kSplitRow && rows < kManyRows ? Rows::split
                                                         : Rows::group;
    // The scratch buffer is one more binding.
    if (plan.rows == Rows::split && plan.slots.size() >= limits.storage_buffers)
      plan.rows = Rows::group;
    plan.parts = plan.rows == Rows::split ? kParts : 1;
  } else {
    for (std::size_t p = 0; p < kernel.params.size(); ++p)
      plan.quads = plan.quads || (kernel.params[p].kind == ParamKind::elementwise &&
                                  plan.params[p].aligned && size_of(kernel.params[p].dtype) <= 4);
  }

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
        scalar_access[own.slot] || !by_vector || launch.operands[p].bytes % 16 != 0;
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
