#include "runtime/fusion.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <limits>
#include <utility>

#include "backend/kernel_name.h"
#include "view/shape.h"

namespace arraycore {

namespace {

// Returns whether the array covers its whole storage in C order.
bool is_whole(const Array& array) {
  return array.view.offset == 0 && array.dtype == array.storage->dtype() &&
         is_c_contiguous(array.view, size_of(array.dtype)) &&
         array.view.count() * static_cast<std::int64_t>(size_of(array.dtype)) ==
             array.storage->bytes();
}

bool broadcasts(const View& view, const Dims& loop) {
  if (view.ndim() > loop.size()) return false;
  for (int axis = 0; axis < view.ndim(); ++axis) {
    const std::int64_t extent = view.shape[axis];
    if (extent != 1 && extent != loop[axis + loop.size() - view.ndim()]) return false;
  }
  return true;
}

Dims without_reduced(const Dims& loop, std::uint32_t reduced) {
  Dims rows;
  for (int axis = 0; axis < loop.size(); ++axis)
    if ((reduced >> axis & 1U) == 0) rows.push_back(loop[axis]);
  return rows;
}

// Returns the number of elements of a loop; 0 if it is empty or too long for one launch.
std::int64_t launchable(const Dims& loop) {
  std::int64_t count = 1;
  for (const std::int64_t extent : loop) {
    if (extent == 0 || extent > std::numeric_limits<std::int32_t>::max()) return 0;
    count *= extent;
    if (count > std::numeric_limits<std::int32_t>::max()) return 0;
  }
  return count;
}

}  // namespace

// ---- groups of operations ---------------------------------------------------------------------

Fusion::Group::~Group() {
  for (const Node& node : nodes)
    if (node.result != nullptr) node.result->computed_by(nullptr, 0);
  for (const Array& input : inputs) input.storage->unpin();
}

void Fusion::Group::lost(std::uint32_t node) {
  nodes[node].result = nullptr;
  if (--held == 0) owner.drop(*this);
}

std::uint32_t Fusion::Group::add_input(const Array& array) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].storage == array.storage && inputs[i].dtype == array.dtype &&
        inputs[i].view == array.view)
      return static_cast<std::uint32_t>(i);
  array.storage->pin();
  inputs.push_back(array);
  return static_cast<std::uint32_t>(inputs.size() - 1);
}

Fusion::~Fusion() = default;

std::size_t Fusion::KeyHash::operator()(const std::vector<std::uint32_t>& key) const {
  std::uint64_t hash = key.size();
  for (const std::uint32_t word : key) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 29;
  }
  return static_cast<std::size_t>(hash);
}

void Fusion::drop(Group& group) {
  const auto at = std::find_if(groups_.begin(), groups_.end(),
                               [&](const auto& each) { return each.get() == &group; });
  // The group leaves the list before it is destroyed. Its inputs may be the last arrays of their
  // storages, so the list must be consistent when these inputs are released.
  const std::unique_ptr<Group> gone = std::move(*at);
  groups_.erase(at);
}

void Fusion::merge(Group& into, Group& from) {
  std::vector<std::uint32_t> inputs;
  for (const Array& input : from.inputs) inputs.push_back(into.add_input(input));
  const auto first_node = static_cast<std::uint32_t>(into.nodes.size());
  const auto first_scalar = static_cast<std::uint32_t>(into.scalars.size());
  for (Node& node : from.nodes) {
    for (Source& source : node.sources) {
      if (source.from == Source::From::input) source.index = inputs[source.index];
      if (source.from == Source::From::node) source.index += first_node;
      if (source.from == Source::From::scalar) source.index += first_scalar;
    }
    if (node.result != nullptr)
      node.result->computed_by(&into, static_cast<std::uint32_t>(into.nodes.size()));
    into.nodes.push_back(std::move(node));
  }
  into.scalars.insert(into.scalars.end(), from.scalars.begin(), from.scalars.end());
  into.held += from.held;
  into.expressions += from.expressions;
  from.nodes.clear();
}

Fusion::Group* Fusion::join(Group* a, Group* b, const KernelCall& call) {
  if (a == nullptr || a == b) return b;
  if (a->nodes.size() + b->nodes.size() >= kMaxNodes ||
      a->arrays() + b->arrays() + call.operands.size() > kMaxArrays + kSpareArrays ||
      a->expressions + b->expressions > kMaxExpressions || a->home != b->home)
    return nullptr;
  merge(*a, *b);
  drop(*b);
  return a;
}

// ---- waiting operations -----------------------------------------------------------------------

bool Fusion::can_inline(const Array& array, const ir::Param& param, const KernelCall& call) const {
  const Group& group = *group_of(*array.storage);
  return param.kind == ir::ParamKind::elementwise && launcher_.traits(call.kernel).consumer &&
         !group.nodes[array.storage->node()].ends && group.loop == call.loop &&
         array.view.shape == call.loop && is_whole(array);
}

bool Fusion::runs_at(Backend& home, const KernelCall& call) const {
  if (launcher_.is_device(home) && launcher_.only_cpu(call.kernel)) return false;
  return std::all_of(call.operands.begin(), call.operands.end(), [&](const Operand& operand) {
    return operand.array == nullptr || &operand.array->storage->backend() == &home;
  });
}

bool Fusion::can_wait(const KernelCall& call) const {
  const ir::Kernel& kernel = launcher_.kernel(call.kernel);
  const fuse::Traits& traits = launcher_.traits(call.kernel);
  const bool ends = kernel.reduction.has_value();
  if (ends && kernel.reduction->running()) return false;
  if (traits.result == ir::kNone || (!traits.member && !ends) || !traits.consumer) return false;
  if (call.operands.size() != kernel.params.size() || launchable(call.loop) == 0) return false;
  const Array* const result = call.operands[traits.result].array;
  if (result == nullptr || !is_whole(*result)) return false;
  const Storage& storage = *result->storage;
  if (storage.group() != nullptr ? !traits.simple : storage.has_memory()) return false;
  if (result->view.shape != (ends ? without_reduced(call.loop, call.reduced) : call.loop))
    return false;
  bool reads_group = false;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const Array* const array = call.operands[i].array;
    if (i == traits.result || array == nullptr) continue;
    if (kernel.params[i].kind != ir::ParamKind::elementwise) return false;
    reads_group = reads_group || array->storage->group() != nullptr;
    if (!broadcasts(array->view, call.loop) || !on_whole_elements(*array)) return false;
  }
  return (!ends || reads_group) && runs_at(storage.backend(), call);
}

Status Fusion::launch(const KernelCall& call) {
  const ir::Kernel& kernel = launcher_.kernel(call.kernel);
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const Array* const array = call.operands[i].array;
    if (array == nullptr || is_written(kernel.params[i])) continue;
    Storage& storage = *array->storage;
    if (storage.group() != nullptr && !can_inline(*array, kernel.params[i], call)) {
      TRY_DONE(flush(storage));
    } else if (storage.group() == nullptr) {
      TRY_DONE(storage.make_memory());
    }
  }
  return can_wait(call) ? wait(call) : launch_with_groups(call);
}

Status Fusion::wait(const KernelCall& call) {
  const fuse::Traits& traits = launcher_.traits(call.kernel);
  const ir::Kernel& kernel = launcher_.kernel(call.kernel);
  Storage& result = *call.operands[traits.result].array->storage;
  Group* group = nullptr;
  std::size_t plain = 0;
  for (const Operand& operand : call.operands) {
    if (operand.array == nullptr || operand.array->storage.get() == &result) continue;
    Group* const other = group_of(*operand.array->storage);
    plain += other == nullptr ? 1 : 0;
    if (other == nullptr) continue;
    Group* const joined = join(group, other, call);
    if (joined == nullptr) {
      for (Group* const each : {group, other}) TRY_DONE(flush(*each));
      return launch(call);
    }
    group = joined;
  }
  // The launch may also read the old content of the storage that it writes. Then it joins the group
  // that computes this content.
  if (result.group() != nullptr) {
    const bool reads_itself =
        std::any_of(call.operands.begin(), call.operands.end(), [&](const Operand& operand) {
          return operand.array != nullptr && operand.array->storage.get() == &result &&
                 &operand != &call.operands[traits.result];
        });
    if (reads_itself) {
      Group* const own = group_of(result);
      Group* const joined = join(group, own, call);
      if (joined == nullptr) {
        for (Group* const each : {group, own}) TRY_DONE(flush(*each));
        return launch(call);
      }
      group = joined;
    }
  }
  if (group != nullptr && (group->nodes.size() >= kMaxNodes || group->home != &result.backend() ||
                           group->arrays() + plain + 1 > kMaxArrays + kSpareArrays ||
                           group->expressions + traits.expressions > kMaxExpressions)) {
    TRY_DONE(flush(*group));
    return launch(call);
  }
  if (group == nullptr) {
    if (groups_.size() == kMaxGroups) {
      TRY_DONE(flush(*groups_.front()));
      return launch(call);
    }
    groups_.push_back(std::make_unique<Group>(*this));
    group = groups_.back().get();
    group->home = &result.backend();
    group->loop = call.loop;
  }

  Node node;
  node.kernel = call.kernel;
  node.reduced = call.reduced;
  node.ends = kernel.reduction.has_value();
  node.result = &result;
  node.dtype = kernel.params[traits.result].dtype;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const Array* const array = call.operands[i].array;
    Source source;
    if (i == traits.result) {
      source.from = Source::From::result;
    } else if (array == nullptr) {
      source = {Source::From::scalar, static_cast<std::uint32_t>(group->scalars.size())};
      group->scalars.push_back(call.operands[i].scalar);
    } else if (array->storage->group() != nullptr) {
      source = {Source::From::node, array->storage->node()};
    } else {
      source = {Source::From::input, group->add_input(*array)};
    }
    node.sources.push_back(source);
  }
  group->nodes.push_back(std::move(node));
  group->expressions += traits.expressions;
  ++group->held;
  Waiting* const before = result.group();
  const std::uint32_t place = result.node();
  result.computed_by(group, static_cast<std::uint32_t>(group->nodes.size() - 1));
  if (before != nullptr) before->lost(place);
  return Done{};
}

// Launches a call that cannot wait: for example, one that writes to existing memory, has several
// results, or has a raw parameter. The groups that it reads element by element become part of its
// launch if possible, and are flushed otherwise.
Status Fusion::launch_with_groups(const KernelCall& call) {
  const ir::Kernel& kernel = launcher_.kernel(call.kernel);
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const Array* const array = call.operands[i].array;
    if (array == nullptr || !is_written(kernel.params[i])) continue;
    TRY_DONE(flush(*array->storage));
    TRY_DONE(array->storage->make_memory());
  }
  Group* group = nullptr;
  for (const Operand& operand : call.operands) {
    if (operand.array == nullptr || operand.array->storage->group() == nullptr) continue;
    Group* const other = group_of(*operand.array->storage);
    Group* const joined =
        kernel.reduction || !runs_at(*other->home, call) ? nullptr : join(group, other, call);
    if (joined == nullptr) {
      TRY_DONE(flush(*other));
    } else {
      group = joined;
    }
  }
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const Array* const array = call.operands[i].array;
    if (array == nullptr || !is_written(kernel.params[i]) || !array->storage->is_pinned()) continue;
    for (std::size_t g = 0; g < groups_.size();) {
      Group& each = *groups_[g++];
      const bool reads = std::any_of(each.inputs.begin(), each.inputs.end(),
                                     [&](const Array& in) { return in.storage == array->storage; });
      if (!reads || &each == group) continue;
      TRY_DONE(flush(each));
      g = 0;
    }
  }
  return group != nullptr ? flush(*group, &call) : launcher_.launch_now(call);
}

// ---- launches of whole groups -----------------------------------------------------------------

Status Fusion::flush(const Storage& storage) {
  return storage.group() != nullptr ? flush(*group_of(storage)) : Done{};
}

Status Fusion::flush_readers(const Storage& storage) {
  while (storage.is_pinned()) {
    const auto reader = std::find_if(groups_.begin(), groups_.end(), [&](const auto& group) {
      return std::any_of(group->inputs.begin(), group->inputs.end(),
                         [&](const Array& in) { return in.storage.get() == &storage; });
    });
    if (reader == groups_.end()) break;
    TRY_DONE(flush(**reader));
  }
  return Done{};
}

Status Fusion::prepare_write(const Storage& storage) {
  const Status read = flush_readers(storage);
  return read ? flush(storage) : read;
}

Status Fusion::flush_all() {
  while (!groups_.empty()) TRY_DONE(flush(*groups_.front()));
  return Done{};
}

Status Fusion::reclaim() {
  const Counters& counters = launcher_.counters_;
  while (counters.pinned_bytes * kPinnedShare > counters.live_bytes - counters.pinned_bytes) {
    const auto holder = std::find_if(groups_.begin(), groups_.end(), [&](const auto& group) {
      return std::any_of(group->inputs.begin(), group->inputs.end(),
                         [&](const Array& in) { return in.storage->is_pinned_alone(); });
    });
    if (holder == groups_.end()) break;
    TRY_DONE(flush(**holder));
  }
  return Done{};
}

// Returns the node's result as an array. REQUIRES: the result has memory.
Array Fusion::array_of(const Group& group, std::uint32_t node) const {
  const Node& own = group.nodes[node];
  const Dims shape = own.ends ? without_reduced(group.loop, own.reduced) : group.loop;
  return {own.dtype, contiguous(shape, size_of(own.dtype)),
          own.result != nullptr ? own.result->shared_from_this() : own.done};
}

// Gives the node's result memory: permanent, or temporary if no caller holds the result.
Status Fusion::give_memory(Group& group, std::uint32_t node) {
  Node& own = group.nodes[node];
  if (own.result == nullptr && own.done == nullptr) {
    const Dims shape = own.ends ? without_reduced(group.loop, own.reduced) : group.loop;
    const std::int64_t bytes =
        contiguous(shape, 1).count() * static_cast<std::int64_t>(size_of(own.dtype));
    own.done = std::make_shared<Storage>(*group.home, launcher_.counters_, 0, bytes, own.dtype);
  }
  Storage& storage = own.result != nullptr ? *own.result : *own.done;
  const Status made = storage.make_memory();
  return made ? made : Status(named(made.error(), operation_name(launcher_.kernel(own.kernel))));
}

Status Fusion::flush(Group& group, const KernelCall* last) {
  std::vector<bool> needed(group.nodes.size(), false);
  std::vector<bool> stored(group.nodes.size(), false);
  std::vector<std::uint32_t> elements;
  std::vector<std::uint32_t> ends;
  bool holds_elements = false;
  for (std::size_t n = group.nodes.size(); n-- > 0;) {
    const Node& node = group.nodes[n];
    if (node.is_finished || (!needed[n] && node.result == nullptr)) continue;
    stored[n] = node.result != nullptr;
    holds_elements = holds_elements || (stored[n] && !node.ends);
    (node.ends ? ends : elements).push_back(static_cast<std::uint32_t>(n));
    for (const Source& source : node.sources)
      if (source.from == Source::From::node) needed[source.index] = true;
  }
  std::reverse(elements.begin(), elements.end());
  std::reverse(ends.begin(), ends.end());

  bool finished = false;
  if (ends.size() == 1 && !holds_elements && last == nullptr) {
    TRY(const auto& one, flush_as_one(group, elements, ends[0]));
    finished = one;
  }
  if (!finished) {
    for (const std::uint32_t end : ends)
      for (const Source& source : group.nodes[end].sources)
        if (source.from == Source::From::node) stored[source.index] = true;
    // A reduction of the group may read memory that `last` overwrites. Then `last` is launched
    // after the reduction.
    const KernelCall* const with = ends.empty() ? last : nullptr;
    TRY_DONE(flush_elements(group, elements, stored, with));
    for (const std::uint32_t end : ends) TRY_DONE(run_alone(group, end));
    if (last != nullptr && with == nullptr) TRY_DONE(launcher_.launch_now(*last));
  }
  drop(group);
  return Done{};
}

// Returns how many arrays a launch of the nodes binds, including those of `last`.
std::size_t Fusion::arrays_of(const Group& group, std::span<const std::uint32_t> nodes,
                              const std::vector<bool>& stored, const KernelCall* last) const {
  std::vector<bool> inputs(group.inputs.size(), false);
  std::vector<bool> inside(group.nodes.size(), false);
  std::vector<bool> read(group.nodes.size(), false);
  std::size_t count = 0;
  for (const std::uint32_t n : nodes) {
    inside[n] = true;
    count += stored[n] ? 1 : 0;
    for (const Source& source : group.nodes[n].sources) {
      if (source.from == Source::From::input && !inputs[source.index]) {
        inputs[source.index] = true;
        ++count;
      }
      if (source.from == Source::From::node && !inside[source.index] && !read[source.index]) {
        read[source.index] = true;
        ++count;
      }
    }
  }
  if (last == nullptr) return count;
  for (const Operand& operand : last->operands) {
    if (operand.array == nullptr || operand.array->storage->group() == &group) continue;
    const bool known = std::any_of(group.inputs.begin(), group.inputs.end(), [&](const Array& in) {
      return in.storage == operand.array->storage && in.view == operand.array->view;
    });
    count += known ? 0 : 1;
  }
  return count;
}

// Makes as few launches as possible, each with no more arrays than a device can bind.
Status Fusion::flush_elements(Group& group, const std::vector<std::uint32_t>& nodes,
                              std::vector<bool> stored, const KernelCall* last) {
  std::span<const std::uint32_t> rest = nodes;
  while (!rest.empty()) {
    std::size_t count = rest.size() + 1;  // the nodes and `last`
    std::vector<bool> with_crossing;
    for (;;) {
      const bool takes_last = count > rest.size();
      const std::span<const std::uint32_t> taken = rest.first(std::min(count, rest.size()));
      with_crossing = stored;
      for (const std::uint32_t later : rest.subspan(taken.size()))
        for (const Source& source : group.nodes[later].sources)
          if (source.from == Source::From::node) with_crossing[source.index] = true;
      const KernelCall* const own = takes_last ? last : nullptr;
      if (count == 1 || arrays_of(group, taken, with_crossing, own) <= kMaxArrays) break;
      --count;
    }
    const bool takes_last = count > rest.size();
    const std::span<const std::uint32_t> taken = rest.first(std::min(count, rest.size()));
    const KernelCall* const own = takes_last ? last : nullptr;
    TRY_DONE(run(group, taken, with_crossing, own));
    rest = rest.subspan(taken.size());
    if (own != nullptr) return Done{};
  }
  return last != nullptr ? launcher_.launch_now(*last) : Done{};
}

// The order of additions on the CPU depends on the operands' layout. So a reduction is fused with
// the operations that compute its operands only if it then adds in the same order as it would if it
// read the operands from memory.
bool Fusion::same_order(const Group& group, std::span<const std::uint32_t> nodes,
                        const Node& end) const {
  int row = -1;  // the innermost axis that stays, and the innermost reduced one
  int inner = -1;
  for (int axis = 0; axis < group.loop.size(); ++axis) {
    if (group.loop[axis] == 1) continue;
    ((end.reduced >> axis & 1U) != 0 ? inner : row) = axis;
  }
  std::int64_t rows = 0;
  std::int64_t inners = 0;
  const auto add = [&](const View& view) {
    const auto step = [&](int axis) -> std::int64_t {
      const int own = axis - (group.loop.size() - view.ndim());
      if (axis < 0 || own < 0 || view.shape[own] == 1) return 0;
      return std::abs(view.strides[own]);
    };
    rows += step(row);
    inners += step(inner);
  };
  for (const Source& source : end.sources) {
    if (source.from == Source::From::input) add(group.inputs[source.index].view);
    if (source.from == Source::From::node)
      add(contiguous(group.loop, size_of(group.nodes[source.index].dtype)));
  }
  const bool from_memory = rows < inners;
  rows = inners = 0;
  std::vector<bool> seen(group.inputs.size(), false);
  const auto add_inputs = [&](const Node& node) {
    for (const Source& source : node.sources) {
      if (source.from == Source::From::node && group.nodes[source.index].is_finished)
        add(contiguous(group.loop, size_of(group.nodes[source.index].dtype)));
      if (source.from != Source::From::input || seen[source.index]) continue;
      seen[source.index] = true;
      add(group.inputs[source.index].view);
    }
  };
  for (const std::uint32_t node : nodes) add_inputs(group.nodes[node]);
  add_inputs(end);
  return (rows < inners) == from_memory;
}

// Launches the reduction together with the operations whose results it reads. Returns false,
// without a launch, if one kernel cannot compute them all.
Result<bool> Fusion::flush_as_one(Group& group, const std::vector<std::uint32_t>& nodes,
                                  std::uint32_t end) {
  std::vector<std::uint32_t> all = nodes;
  all.push_back(end);
  std::vector<bool> stored(group.nodes.size(), false);
  stored[end] = true;
  if (arrays_of(group, all, stored, nullptr) > kMaxArrays ||
      !same_order(group, nodes, group.nodes[end]))
    return false;
  TRY_DONE(run(group, all, stored, nullptr));
  return true;
}

// ---- fused launches ---------------------------------------------------------------------------

// The parts and operands of one fused launch. Operands point into `arrays`, whose elements do not
// move.
struct Fusion::Plan {
  std::vector<fuse::Part> parts;
  std::vector<Operand> operands;  // for each parameter of the fused kernel
  // True for an operand that is read element by element, so that nodes may share its parameter.
  std::vector<bool> shared;
  std::vector<std::uint32_t> key;  // describes the graph: kernels and wires
  std::deque<Array> arrays;

  fuse::Wire param(const Operand& operand, bool is_shared) {
    if (is_shared)
      for (std::size_t p = 0; p < operands.size(); ++p) {
        const Array* const known = operands[p].array;
        if (shared[p] && known->storage == operand.array->storage &&
            known->dtype == operand.array->dtype && known->view == operand.array->view)
          return {fuse::Wire::Kind::param, static_cast<std::uint32_t>(p)};
      }
    operands.push_back(operand);
    shared.push_back(is_shared);
    return {fuse::Wire::Kind::param, static_cast<std::uint32_t>(operands.size() - 1)};
  }
  void add(KernelRef ref, const ir::Kernel& kernel, std::vector<fuse::Wire> wires) {
    key.push_back(ref);
    for (const fuse::Wire& wire : wires)
      key.push_back(wire.index << 1 | (wire.kind == fuse::Wire::Kind::value ? 1U : 0U));
    parts.push_back({&kernel, std::move(wires)});
  }
};

Result<Fusion::Known*> Fusion::kernel_of(const Plan& plan) {
  if (const auto known = known_.find(plan.key); known != known_.end()) return &known->second;
  if (known_.size() == kMaxKernels) {
    for (const auto& [key, known] : known_) launcher_.forget(known.kernel);
    known_.clear();
  }
  TRY(const auto& prepared,
      launcher_.prepare(fuse::fuse(fuse::name_of(plan.parts), plan.parts, plan.operands.size())));
  return &known_.emplace(plan.key, Known{prepared, false}).first->second;
}

// Computes the nodes in order, and then `last`, in one launch. Afterwards the stored results are
// marked as finished.
Status Fusion::run(Group& group, std::span<const std::uint32_t> nodes,
                   const std::vector<bool>& stored, const KernelCall* last) {
  if (nodes.size() == 1 && last == nullptr) return run_alone(group, nodes[0]);
  Plan plan;
  // For each node: the index of its part plus 1, or 0 without a part.
  std::vector<std::uint32_t> part(group.nodes.size(), 0);
  for (const std::uint32_t n : nodes) {
    const Node& node = group.nodes[n];
    const auto own = static_cast<std::uint32_t>(plan.parts.size());
    part[n] = own + 1;
    if (stored[n]) TRY_DONE(give_memory(group, n));
    std::vector<fuse::Wire> wires;
    for (const Source& source : node.sources) {
      switch (source.from) {
        case Source::From::input:
          wires.push_back(plan.param({&group.inputs[source.index], {}}, true));
          break;
        case Source::From::scalar:
          wires.push_back(plan.param({nullptr, group.scalars[source.index]}, false));
          break;
        case Source::From::node:
          if (part[source.index] != 0) {
            wires.push_back({fuse::Wire::Kind::value, part[source.index] - 1});
            break;
          }
          plan.arrays.push_back(array_of(group, source.index));
          wires.push_back(plan.param({&plan.arrays.back(), {}}, true));
          break;
        case Source::From::result:
          if (!stored[n]) {
            wires.push_back({fuse::Wire::Kind::value, own});
            break;
          }
          plan.arrays.push_back(array_of(group, n));
          wires.push_back(plan.param({&plan.arrays.back(), {}}, false));
          break;
      }
    }
    plan.add(node.kernel, launcher_.kernel(node.kernel), std::move(wires));
  }
  if (last != nullptr) {
    const ir::Kernel& kernel = launcher_.kernel(last->kernel);
    std::vector<fuse::Wire> wires;
    for (std::size_t i = 0; i < last->operands.size(); ++i) {
      const Operand& operand = last->operands[i];
      const bool element = operand.array != nullptr && !is_written(kernel.params[i]) &&
                           kernel.params[i].kind == ir::ParamKind::elementwise;
      if (element && operand.array->storage->group() == &group)
        wires.push_back({fuse::Wire::Kind::value, part[operand.array->storage->node()] - 1});
      else
        wires.push_back(plan.param(operand, element));
    }
    plan.add(last->kernel, kernel, std::move(wires));
  }

  TRY(const auto& known, kernel_of(plan));
  const Node& back = group.nodes[nodes.back()];
  bool launched = false;
  if (!known->refused) {
    const Status status = launcher_.launch_now(
        {known->kernel, group.loop, back.ends ? back.reduced : 0, plan.operands},
        Launcher::Fallback::none);
    if (!status && status.error().kind != ErrorKind::not_implemented) return status;
    launched = status.ok();
    known->refused = !launched;
  }
  if (launched) {
    launcher_.counters_.fused += static_cast<std::int64_t>(plan.parts.size()) - 1;
    for (const std::uint32_t n : nodes)
      if (stored[n]) group.finish(n);
    return Done{};
  }
  for (const std::uint32_t n : nodes) TRY_DONE(run_alone(group, n));
  return last != nullptr ? launcher_.launch_now(*last) : Done{};
}

// Launches the node with its own kernel. Its result gets memory.
Status Fusion::run_alone(Group& group, std::uint32_t node) {
  TRY_DONE(give_memory(group, node));
  const Node& own = group.nodes[node];
  std::deque<Array> arrays;
  std::vector<Operand> operands;
  for (const Source& source : own.sources) {
    if (source.from == Source::From::scalar) {
      operands.push_back({nullptr, group.scalars[source.index]});
    } else if (source.from == Source::From::input) {
      operands.push_back({&group.inputs[source.index], {}});
    } else {
      arrays.push_back(array_of(group, source.from == Source::From::node ? source.index : node));
      operands.push_back({&arrays.back(), {}});
    }
  }
  const Status launched = launcher_.launch_now({own.kernel, group.loop, own.reduced, operands});
  if (launched) group.finish(node);
  return launched;
}

void Fusion::Group::finish(std::uint32_t node) {
  Node& own = nodes[node];
  own.is_finished = true;
  if (own.result == nullptr) return;
  own.done = own.result->shared_from_this();
  own.result->computed_by(nullptr, 0);
  own.result = nullptr;
  --held;
}

}  // namespace arraycore
