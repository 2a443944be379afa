// Raw parameters are whole arrays whose elements the lanes select by index. The offsets of a block
// are computed together, in loops that compilers vectorise.
#include <algorithm>
#include <cstring>
#include <limits>

#include "cpu/machine.h"
#include "ir/op_info.h"

namespace arraycore::cpu {
namespace {

using ir::Id;
using ir::Op;

// Returns the distance in bytes between elements in C order, if it is the same everywhere.
std::optional<std::int64_t> step_of(const View& view) {
  std::optional<std::int64_t> step;
  std::int64_t next = 0;  // the stride that makes the axis before continue this one
  for (int axis = view.ndim() - 1; axis >= 0; --axis) {
    if (view.shape[axis] == 1) continue;
    if (!step)
      step = view.strides[axis];
    else if (view.strides[axis] != next)
      return std::nullopt;
    next = view.strides[axis] * view.shape[axis];
  }
  return step ? step : 0;
}

template <std::size_t size>
void read(std::byte* to, const std::byte* from, const std::ptrdiff_t* places, int n) {
  for (int i = 0; i < n; ++i)
    std::memcpy(to + i * static_cast<std::ptrdiff_t>(size), from + places[i], size);
}

void read(std::byte* to, const std::byte* from, const std::ptrdiff_t* places, std::size_t size,
          int n) {
  switch (size) {
    case 1:
      return read<1>(to, from, places, n);
    case 2:
      return read<2>(to, from, places, n);
    case 4:
      return read<4>(to, from, places, n);
    case 8:
      return read<8>(to, from, places, n);
    default:
      return read<16>(to, from, places, n);
  }
}

}  // namespace

void Machine::find_steps() {
  steps_.clear();
  for (std::size_t p = 0; p < k_.params.size(); ++p) {
    const bool by_number = k_.params[p].kind == ir::ParamKind::raw && k_.params[p].ndim < 0;
    steps_.push_back(by_number ? step_of(*views_[p]) : std::nullopt);
  }
}

bool Machine::find_places(Id param, const std::vector<Register>& index) {
  const View& v = view(param);
  const std::int64_t count = v.count();
  if (count == 0) return false;
  const auto at = [&](std::size_t axis) {
    return reinterpret_cast<const std::int32_t*>(reg_[index[axis]]);
  };
  const auto offset = static_cast<std::ptrdiff_t>(v.offset);
  const auto last_of = [](std::int64_t extent) {
    return static_cast<std::int32_t>(
        std::min<std::int64_t>(extent - 1, std::numeric_limits<std::int32_t>::max()));
  };
  if (k_.params[param].ndim >= 0) {
    std::fill_n(places_, n_, offset);
    for (int axis = 0; axis < v.ndim(); ++axis) {
      const std::int32_t* const number = at(static_cast<std::size_t>(axis));
      const std::int32_t last = last_of(v.shape[axis]);
      const auto stride = static_cast<std::ptrdiff_t>(v.strides[axis]);
      for (int i = 0; i < n_; ++i) places_[i] += stride * std::clamp(number[i], 0, last);
    }
    return true;
  }
  const std::int32_t* const number = at(0);
  const std::int32_t last = last_of(count);
  if (steps_[param]) {
    const auto step = static_cast<std::ptrdiff_t>(*steps_[param]);
    for (int i = 0; i < n_; ++i) places_[i] = offset + step * std::clamp(number[i], 0, last);
    return true;
  }
  for (int i = 0; i < n_; ++i) {
    std::int64_t rest = std::clamp(number[i], 0, last);
    std::int64_t place = v.offset;
    for (int axis = v.ndim() - 1; axis >= 0; --axis) {
      place += rest % v.shape[axis] * v.strides[axis];
      rest /= v.shape[axis];
    }
    places_[i] = static_cast<std::ptrdiff_t>(place);
  }
  return true;
}

void Machine::raw_read(const Step& s, std::size_t size) {
  if (find_places(s.target, s.index))
    read(reg_[s.d], base(s.target), places_, size, n_);
  else
    std::memset(reg_[s.d], 0, size * static_cast<std::size_t>(n_));
  if (s.type == DType::boolean) make_bools(reg_[s.d], n_);
}

void Machine::store_at(const Node& node, std::size_t size) {
  if (!find_places(node.target, node.index)) return;
  std::byte* const to = base(node.target);
  const std::byte* from = reg_[node.value];
  for (int i = 0; i < n_; ++i, from += size)
    if (active_.lanes[i]) std::memcpy(to + places_[i], from, size);
}

void Machine::atomic(const Step& s) {
  const std::size_t size = size_of(s.type);
  const bool has_elements = find_places(s.target, s.index);
  for (int i = 0; i < n_; ++i) {
    if (!active_.lanes[i]) continue;
    const auto at = static_cast<std::size_t>(i) * size;
    ir::Scalar operands[2];  // NOLINT(*-avoid-c-arrays): old, value
    std::memcpy(static_cast<void*>(&operands[1]), reg_[s.b] + at, size);
    if (!has_elements) {
      std::memset(reg_[s.d] + at, 0, size);
      continue;
    }
    std::byte* const cell = base(s.target) + places_[i];
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
