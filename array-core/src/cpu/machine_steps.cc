// Runs the statements of a body and the steps of its expressions over the active lanes.
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

// Copies `from` to `to` in the active lanes.
void Machine::move(std::byte* to, const std::byte* from, std::size_t size) {
  if (full())
    std::memmove(to, from, size * static_cast<std::size_t>(n_));
  else
    choose(to, reinterpret_cast<const std::byte*>(active_.lanes), from, to, size, n_);
}

// Returns the lanes of `mask` in which `keep` is true. Bools are 0 or 1, so no branch is needed.
Mask Machine::where(const Mask& mask, const bool* keep, bool negated) const {
  Mask result;
  auto* const to = reinterpret_cast<std::uint8_t*>(result.lanes);
  const auto* const from = reinterpret_cast<const std::uint8_t*>(mask.lanes);
  const auto* const holds = reinterpret_cast<const std::uint8_t*>(keep);
  const std::uint8_t flip = negated ? 1 : 0;
  for (int i = 0; i < n_; ++i) to[i] = static_cast<std::uint8_t>(from[i] & (holds[i] ^ flip));
  constexpr int kWide = 16;
  std::uint8_t sums[kWide] = {};  // NOLINT(*-avoid-c-arrays): a register
  static_assert(kLanes % kWide == 0 && kLanes / kWide <= 255);
  for (int i = 0; i < kLanes; i += kWide)
    for (int j = 0; j < kWide; ++j) sums[j] = static_cast<std::uint8_t>(sums[j] + to[i + j]);
  for (const std::uint8_t sum : sums) result.count += sum;
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
  if ((node.kind == StmtKind::store || node.kind == StmtKind::assign) && direct(node)) return;
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

// If every lane is active, the last step writes directly to the register that is stored or
// assigned. Returns false if that is not possible.
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

void Machine::branch(const Node& node) {
  const Mask before = active_;
  active_ = where(before, bools(node.value), false);
  if (active_.count == before.count) return run(node.then);
  const Mask no = where(before, bools(node.value), true);
  run(node.then);
  const Mask after = std::exchange(active_, no);
  run(node.otherwise);
  // No lane is in both masks.
  for (int i = 0; i < n_; ++i) active_.lanes[i] = (active_.lanes[i] | after.lanes[i]) != 0;
  active_.count += after.count;
}

void Machine::loop(const Node& node) {
  const Mask entered = active_;
  Mask looping = active_;
  Mask* const outer = std::exchange(looping_, &looping);
  const bool until = node.kind == StmtKind::loop_until;
  const int alive = alive_.count;  // the number of lanes before some of them return
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
    if (alive_.count != alive) looping = where(looping, alive_.lanes, false);
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
  std::memset(reg_[s.d], 0,
              size_of(s.type) * kLanes);  // zeros, for lanes in which the function returns nothing
  run(s.body);
  active_ = before;
  alive_ = outer_alive;
  looping_ = outer_loop;
}

}  // namespace arraycore::cpu
