// The statements of a body and the steps of its expressions, over the active lanes.
#include <algorithm>
#include <utility>

#include "cpu/machine.h"
#include "ir/op_info.h"

namespace arraycore::cpu {
namespace {

using ir::Id;
using ir::Op;
using ir::StmtKind;

std::int32_t integer(const std::byte* reg, int lane) {
  std::int32_t value;
  std::memcpy(&value, reg + lane * 4, 4);
  return value;
}

}  // namespace

void Machine::run(const std::vector<Node>& nodes) {
  for (const Node& node : nodes) {
    if (active_.count == 0) return;
    run(node);
  }
}

// from -> to in the active lanes.
void Machine::move(std::byte* to, const std::byte* from, std::size_t size) {
  if (full())
    std::memmove(to, from, size * static_cast<std::size_t>(n_));
  else
    choose(to, reinterpret_cast<const std::byte*>(active_.lanes), from, to, size, n_);
}

// What stays of `mask` where `keep` holds.
Mask Machine::where(const Mask& mask, const bool* keep, bool negated) const {
  Mask result;
  for (int i = 0; i < n_; ++i) {
    result.lanes[i] = mask.lanes[i] && keep[i] != negated;
    result.count += result.lanes[i] ? 1 : 0;
  }
  return result;
}

void Machine::run(const Node& node) {
  switch (node.kind) {
    case StmtKind::loop:
    case StmtKind::loop_until:
      return loop(node);
    case StmtKind::leave:
      remove(*looping_, active_);
      active_ = {};
      return;
    case StmtKind::next:
      active_ = {};
      return;
    default:
      break;
  }
  const std::size_t size = size_of(node.type);
  if (node.kind == StmtKind::store && direct(node)) return;
  steps(node.steps);
  switch (node.kind) {
    case StmtKind::assign:
    case StmtKind::store:
      return move(reg_[node.to], reg_[node.value], size);
    case StmtKind::assign_at:
      return assign_at(node, size);
    case StmtKind::store_at:
      return store_at(node, size);
    case StmtKind::branch:
      return branch(node);
    case StmtKind::give:
      if (node.to != kNoRegister && node.value != kNoRegister)
        move(reg_[node.to], reg_[node.value], size);
      remove(alive_, active_);
      active_ = {};
      return;
    default:
      return;
  }
}

// The last step computes straight into the stored parameter, where every lane is active.
bool Machine::direct(const Node& node) {
  if (!full() || node.steps.empty()) return false;
  const Step& last = node.steps.back();
  if (last.kind != Step::Kind::compute || last.d != node.value) return false;
  for (std::size_t i = 0; i + 1 < node.steps.size(); ++i) step(node.steps[i]);
  last.loop(reg_[node.to], reg_[last.a], reg_[last.b], reg_[last.c], n_);
  return true;
}

void Machine::assign_at(const Node& node, std::size_t size) {
  for (int i = 0; i < n_; ++i) {
    if (!active_.lanes[i]) continue;
    const auto at = static_cast<std::size_t>(std::clamp<std::int64_t>(
        integer(reg_[node.index[0]], i), 0, std::int64_t{node.length} - 1));
    std::memcpy(reg_[node.to] + (at * kLanes + static_cast<std::size_t>(i)) * size,
                reg_[node.value] + static_cast<std::size_t>(i) * size, size);
  }
}

void Machine::store_at(const Node& node, std::size_t size) {
  for (int i = 0; i < n_; ++i) {
    std::byte* const to = active_.lanes[i] ? place(node.target, node.index, i) : nullptr;
    if (to != nullptr) std::memcpy(to, reg_[node.value] + static_cast<std::size_t>(i) * size, size);
  }
}

void Machine::branch(const Node& node) {
  const Mask before = active_;
  const Mask no = where(before, bools(node.value), true);
  active_ = where(before, bools(node.value), false);
  run(node.then);
  const Mask after = std::exchange(active_, no);
  run(node.otherwise);
  for (int i = 0; i < n_; ++i) {
    active_.count += after.lanes[i] && !active_.lanes[i] ? 1 : 0;
    active_.lanes[i] = active_.lanes[i] || after.lanes[i];
  }
}

void Machine::loop(const Node& node) {
  const Mask entered = active_;
  Mask looping = active_;
  Mask* const outer = std::exchange(looping_, &looping);
  const bool until = node.kind == StmtKind::loop_until;
  const auto test = [&] {
    if (node.value == kNoRegister) return;
    active_ = looping;
    steps(node.steps);
    looping = where(looping, bools(node.value), false);
  };
  while (true) {
    if (!until) test();
    if (looping.count == 0) break;
    active_ = looping;
    run(node.then);
    looping = where(looping, alive_.lanes, false);  // without those that returned
    if (looping.count == 0) break;
    active_ = looping;
    run(node.otherwise);
    if (until) test();
  }
  looping_ = outer;
  active_ = where(entered, alive_.lanes, false);
}

void Machine::steps(const std::vector<Step>& list) {
  for (const Step& one : list) step(one);
}

void Machine::step(const Step& s) {
  const std::size_t size = size_of(s.type);
  switch (s.kind) {
    case Step::Kind::compute:
      return s.loop(reg_[s.d], reg_[s.a], reg_[s.b], reg_[s.c], n_);
    case Step::Kind::select:
      return choose(reg_[s.d], reg_[s.a], reg_[s.b], reg_[s.c], size, n_);
    case Step::Kind::raw_read:
      return raw_read(s, size);
    case Step::Kind::array_read:
      return array_read(s, size);
    case Step::Kind::call:
      return call(s);
    case Step::Kind::lazy:
      return lazy(s, size);
    case Step::Kind::atomic:
      return atomic(s);
  }
}

void Machine::array_read(const Step& s, std::size_t size) {
  for (int i = 0; i < n_; ++i) {
    const auto at = static_cast<std::size_t>(
        std::clamp<std::int64_t>(integer(reg_[s.index[0]], i), 0, std::int64_t{s.length} - 1));
    std::memcpy(reg_[s.d] + static_cast<std::size_t>(i) * size,
                reg_[s.a] + (at * kLanes + static_cast<std::size_t>(i)) * size, size);
  }
}

void Machine::lazy(const Step& s, std::size_t size) {
  const Mask before = active_;
  active_ = where(active_, bools(s.a), s.negated);
  if (active_.count > 0) {
    steps(s.steps);
    move(reg_[s.d], reg_[s.b], size);
  }
  active_ = before;
}

void Machine::call(const Step& s) {
  const Mask before = active_;
  const Mask outer_alive = std::exchange(alive_, active_);
  Mask* const outer_loop = std::exchange(looping_, nullptr);
  for (const Register local : s.zero) {
    const RegisterInfo& r = p_.registers_[local];
    std::memset(reg_[local], 0, size_of(r.type) * r.length * kLanes);
  }
  std::memset(reg_[s.d], 0, size_of(s.type) * kLanes);  // where the function gives nothing
  run(s.body);
  active_ = before;
  alive_ = outer_alive;
  looping_ = outer_loop;
}

std::byte* Machine::place(Id param, const std::vector<Register>& index, int lane) const {
  const View& v = view(param);
  std::int64_t offset = v.offset;
  if (k_.params[param].ndim < 0) {
    const std::int64_t count = v.count();
    if (count == 0) return nullptr;
    std::int64_t rest = std::clamp<std::int64_t>(integer(reg_[index[0]], lane), 0, count - 1);
    for (int axis = v.ndim() - 1; axis >= 0; --axis) {
      offset += rest % v.shape[axis] * v.strides[axis];
      rest /= v.shape[axis];
    }
  } else {
    for (int axis = 0; axis < v.ndim(); ++axis) {
      if (v.shape[axis] == 0) return nullptr;
      offset += v.strides[axis] *
                std::clamp<std::int64_t>(integer(reg_[index[static_cast<std::size_t>(axis)]], lane),
                                         0, v.shape[axis] - 1);
    }
  }
  return launch_->arguments[param].base + offset;
}

void Machine::raw_read(const Step& s, std::size_t size) {
  for (int i = 0; i < n_; ++i) {
    std::byte* const to = reg_[s.d] + static_cast<std::size_t>(i) * size;
    const std::byte* const from = place(s.target, s.index, i);
    if (from != nullptr)
      std::memcpy(to, from, size);
    else
      std::memset(to, 0, size);
  }
  if (s.type == DType::boolean) make_bools(reg_[s.d], n_);
}

void Machine::atomic(const Step& s) {
  const std::size_t size = size_of(s.type);
  for (int i = 0; i < n_; ++i) {
    if (!active_.lanes[i]) continue;
    const auto at = static_cast<std::size_t>(i) * size;
    std::byte* const cell = place(s.target, s.index, i);
    ir::Scalar operands[2];  // NOLINT(*-avoid-c-arrays): old, value
    std::memcpy(static_cast<void*>(&operands[1]), reg_[s.b] + at, size);
    if (cell == nullptr) {
      std::memset(reg_[s.d] + at, 0, size);
      continue;
    }
    std::memcpy(static_cast<void*>(operands), cell, size);
    ir::Scalar updated = operands[1];
    if (s.op == Op::atomic_add) updated = ir::apply(Op::add, s.type, s.type, operands);
    if (s.op == Op::atomic_min) updated = ir::apply(Op::minimum, s.type, s.type, operands);
    if (s.op == Op::atomic_max) updated = ir::apply(Op::maximum, s.type, s.type, operands);
    if (s.op == Op::atomic_compare_exchange) {
      updated = operands[0];
      if (operands[0] == operands[1])
        std::memcpy(static_cast<void*>(&updated), reg_[s.c] + at, size);
    }
    std::memcpy(reg_[s.d] + at, operands, size);
    std::memcpy(cell, &updated, size);
  }
}

}  // namespace arraycore::cpu
