#include "cpu/machine.h"

#include <algorithm>

#include "ir/op_info.h"

namespace arraycore::cpu {
namespace {

constexpr std::size_t kAlignment = 64;

template <std::size_t size>
void repeat(std::byte* to, const ir::Scalar& value) {
  for (int i = 0; i < kLanes; ++i)
    std::memcpy(to + i * static_cast<std::ptrdiff_t>(size), &value, size);
}

}  // namespace

Machine::Machine(const Program& program) : p_(program), k_(program.kernel_) {
  std::size_t bytes = 0;
  std::vector<std::size_t> at;
  for (const RegisterInfo& r : p_.registers_) {
    at.push_back(bytes);
    bytes += (size_of(r.type) * r.length * kLanes + kAlignment - 1) / kAlignment * kAlignment;
  }
  storage_ = std::make_unique<std::byte[]>(bytes + kAlignment);  // NOLINT(*-avoid-c-arrays)
  const auto base = reinterpret_cast<std::uintptr_t>(storage_.get());
  std::byte* const first = storage_.get() + (kAlignment - base % kAlignment) % kAlignment;
  for (const std::size_t offset : at) own_.push_back(first + offset);
  for (const Fill& fill : p_.constants_) broadcast(fill.to, fill.value);
  if (!k_.reduction) return;
  for (const ir::Accumulator& value : k_.reduction->values)
    sizes_.push_back(size_of(k_.locals[value.a].type));
  for (Values* const values : {&totals_, &mapped_, &rest_}) values->set(sizes_);
}

Status Machine::run(const ir::Launch& launch) {
  const Status begun = begin(launch);
  if (begun) compute(0, units());
  return begun;
}

Status Machine::begin(const ir::Launch& launch) {
  TRY_DONE(ir::check_launch(k_, launch));
  launch_ = &launch;
  reg_ = own_;
  views_.clear();
  for (const ir::Argument& argument : launch.arguments) views_.push_back(&argument.view);
  for (std::size_t p = 0; p < k_.params.size(); ++p)
    if (k_.params[p].kind == ir::ParamKind::scalar)
      broadcast(p_.params_[p], launch.arguments[p].scalar);
  for (const auto& [param, to] : p_.sizes_) integers(to, view(param).count());
  for (const auto& [key, to] : p_.shapes_) {
    const auto axis = static_cast<int>(key.second);
    integers(to, axis < view(key.first).ndim() ? view(key.first).shape[axis] : 1);
  }
  find_steps();
  walks_.set(k_, launch.loop, k_.reduction ? launch.reduced : 0, views_,
             p_.axes_.empty() ? lower::Merge::on : lower::Merge::off);
  if (!k_.reduction) return Done{};
  if (!k_.reduction->running() && walks_.outer.count() > 0 && walks_.inner.count() == 0 &&
      !k_.reduction->has_identity())
    return no_identity();
  make_room_for_partials();
  return Done{};
}

std::int64_t Machine::units() const {
  const std::int64_t count = walks_.outer.count();
  if (!k_.reduction) return (count + kLanes - 1) / kLanes;
  return k_.reduction->running() ? 1 : count;
}

std::int64_t Machine::unit_work() const {
  return p_.work_ * (k_.reduction ? std::max<std::int64_t>(1, walks_.inner.count()) : kLanes);
}

void Machine::compute(std::int64_t first, std::int64_t count) {
  if (k_.reduction) return reduce(first, first + count);
  elementwise(first * kLanes, std::min((first + count) * kLanes, walks_.outer.count()));
}

void Machine::elementwise(std::int64_t begin, std::int64_t end) {
  if (p_.loop_size_ != kNoRegister) integers(p_.loop_size_, walks_.outer.count());
  for (std::int64_t first = begin; first < end; first += kLanes) {
    begin_block(static_cast<int>(std::min<std::int64_t>(kLanes, end - first)));
    enter(first, 0, true, false);
    run(p_.body_);
    save(first, 0, true);
  }
}

void Machine::broadcast(Register to, const ir::Scalar& value) {
  switch (size_of(p_.registers_[to].type)) {
    case 1:
      return repeat<1>(own_[to], value);
    case 2:
      return repeat<2>(own_[to], value);
    case 4:
      return repeat<4>(own_[to], value);
    case 8:
      return repeat<8>(own_[to], value);
    default:
      return repeat<16>(own_[to], value);
  }
}

void Machine::integers(Register to, std::int64_t value) {
  broadcast(to, ir::put(static_cast<std::int32_t>(value)));
}

}  // namespace arraycore::cpu
