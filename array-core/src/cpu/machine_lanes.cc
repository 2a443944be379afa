// Moves a block's lanes between arguments and registers: into registers before the body, and back
// after it.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include "cpu/machine.h"

namespace arraycore::cpu {
namespace {

using ir::Id;

// Copies n elements of `size` bytes, `stride` bytes apart, to or from a register.
template <std::size_t size>
void gather(std::byte* to, const std::byte* from, std::int64_t stride, int n) {
  if (stride == 0) {
    std::byte one[size];  // NOLINT(*-avoid-c-arrays): a register
    std::memcpy(one, from, size);
    for (int i = 0; i < n; ++i) std::memcpy(to + i * static_cast<std::ptrdiff_t>(size), one, size);
    return;
  }
  for (int i = 0; i < n; ++i)
    std::memcpy(to + i * static_cast<std::ptrdiff_t>(size), from + i * stride, size);
}
template <std::size_t size>
void scatter(std::byte* to, std::int64_t stride, const std::byte* from, int n) {
  for (int i = 0; i < n; ++i)
    std::memcpy(to + i * stride, from + i * static_cast<std::ptrdiff_t>(size), size);
}
void gather(std::byte* to, const std::byte* from, std::int64_t stride, std::size_t size, int n) {
  switch (size) {
    case 1:
      return gather<1>(to, from, stride, n);
    case 2:
      return gather<2>(to, from, stride, n);
    case 4:
      return gather<4>(to, from, stride, n);
    case 8:
      return gather<8>(to, from, stride, n);
    default:
      return gather<16>(to, from, stride, n);
  }
}
void scatter(std::byte* to, std::int64_t stride, const std::byte* from, std::size_t size, int n) {
  switch (size) {
    case 1:
      return scatter<1>(to, stride, from, n);
    case 2:
      return scatter<2>(to, stride, from, n);
    case 4:
      return scatter<4>(to, stride, from, n);
    case 8:
      return scatter<8>(to, stride, from, n);
    default:
      return scatter<16>(to, stride, from, n);
  }
}

// Divides `number` by `extent` and returns the remainder. Most numbers fit a division of 32 bits.
std::int64_t divide(std::int64_t& number, std::int64_t extent) {
  constexpr std::uint64_t kSmall = std::uint64_t{1} << 32;
  if (static_cast<std::uint64_t>(number | extent) < kSmall) {
    const auto whole = static_cast<std::uint32_t>(number);
    const auto by = static_cast<std::uint32_t>(extent);
    number = whole / by;
    return whole % by;
  }
  const std::int64_t rest = number % extent;
  number /= extent;
  return rest;
}

std::int64_t offset_of(const lower::Walk& walk, std::size_t operand, std::int64_t number) {
  std::int64_t offset = 0;
  if (number == 0) return offset;  // nothing is divided, because an axis may have the extent 0
  for (int axis = walk.shape.size() - 1; axis > 0; --axis)
    offset += divide(number, walk.shape[axis]) * walk.strides[operand][axis];
  return offset + number * walk.strides[operand][0];
}

// Returns whether the elements of this operand are consecutive in the order of the walk.
bool is_contiguous(const lower::Walk& walk, std::size_t operand, std::int64_t item) {
  if (walk.shape.empty()) return false;
  for (int axis = walk.shape.size() - 1; axis >= 0; --axis) {
    if (walk.strides[operand][axis] != item) return false;
    item *= walk.shape[axis];
  }
  return true;
}

// Returns the offset of elements [first, first + n) of the walk, if they are consecutive.
std::optional<std::int64_t> contiguous_at(const lower::Walk& walk, std::size_t operand,
                                          std::int64_t first, int n, std::int64_t item) {
  if (is_contiguous(walk, operand, item)) return first * item;
  if (walk.shape.empty()) return std::nullopt;
  const int last = walk.shape.size() - 1;
  std::int64_t line = first;
  const std::int64_t rest = divide(line, walk.shape[last]);
  if (walk.strides[operand][last] != item || rest + n > walk.shape[last]) return std::nullopt;
  return offset_of(walk, operand, first);
}

// Calls f(lane, offset, stride, lanes) for each run of lanes with one stride.
template <typename F>
void runs(const lower::Walk& walk, std::size_t operand, std::int64_t first, int n, F f) {
  if (walk.shape.empty()) return f(0, std::int64_t{0}, std::int64_t{0}, n);
  const int last = walk.shape.size() - 1;
  const std::int64_t extent = walk.shape[last];
  const Dims& strides = walk.strides[operand];
  std::int64_t line = first;
  const std::int64_t rest = divide(line, extent);
  std::int64_t offset = rest * strides[last];
  int lanes = static_cast<int>(std::min<std::int64_t>(n, extent - rest));
  // `places` begins with the outer coordinates of the block's first run of lanes. Each further run
  // is one step after the run before.
  std::array<std::int64_t, kMaxDims> places;  // NOLINT(*-member-init): those of the walk's axes
  for (int axis = last - 1; axis >= 0; --axis) {
    std::int64_t& place = places[static_cast<std::size_t>(axis)];
    place = axis == 0 ? line : divide(line, walk.shape[axis]);
    offset += place * strides[axis];
  }
  f(0, offset, strides[last], lanes);
  offset -= rest * strides[last];
  for (int lane = lanes; lane < n; lane += lanes) {
    for (int axis = last - 1; axis >= 0; --axis) {
      std::int64_t& place = places[static_cast<std::size_t>(axis)];
      offset += strides[axis];
      if (++place < walk.shape[axis]) break;
      offset -= place * strides[axis];
      place = 0;
    }
    lanes = static_cast<int>(std::min<std::int64_t>(n - lane, extent));
    f(lane, offset, strides[last], lanes);
  }
}

}  // namespace

void Machine::begin_block(int n) {
  n_ = n;
  std::fill_n(active_.lanes, n, true);
  active_.count = n;
  alive_ = active_;
}

void Machine::enter(std::int64_t outer, std::int64_t inner, bool along_outer, bool post) {
  const lower::Walk& walk = along_outer ? walks_.outer : walks_.inner;
  const std::int64_t first = along_outer ? outer : inner;
  for (std::size_t p = 0; p < k_.params.size(); ++p) {
    const ir::Param& param = k_.params[p];
    if (param.kind != ir::ParamKind::elementwise) continue;
    const bool written = param.access != ir::Access::read;
    if (k_.reduction && written != post) continue;
    const auto v = static_cast<std::size_t>(walks_.operand[p]);
    const std::int64_t fixed =
        view(static_cast<Id>(p)).offset +
        (along_outer ? offset_of(walks_.inner, v, inner) : offset_of(walks_.outer, v, outer));
    load(static_cast<Id>(p), walk, v, fixed, first);
  }
  zero_locals(post);
  if (post && !k_.reduction->running()) {
    number_rows(first);
    return;
  }
  if (p_.loop_index_ != kNoRegister) {
    const auto v = static_cast<std::size_t>(walks_.number);
    const std::int64_t fixed =
        along_outer ? offset_of(walks_.inner, v, inner) : offset_of(walks_.outer, v, outer);
    runs(walk, v, first, n_, [&](int lane, std::int64_t offset, std::int64_t stride, int lanes) {
      for (int i = 0; i < lanes; ++i)
        put_integer(p_.loop_index_, lane + i, fixed + offset + stride * i);
    });
  }
  if (p_.reduce_index_ != kNoRegister)
    for (int i = 0; i < n_; ++i) put_integer(p_.reduce_index_, i, along_outer ? inner : inner + i);
  for (const auto& [axis, to] : p_.axes_) coordinates(axis, to, outer, inner, along_outer);
}

void Machine::number_rows(std::int64_t first) {
  if (p_.loop_index_ != kNoRegister)
    for (int i = 0; i < n_; ++i) put_integer(p_.loop_index_, i, first + i);
  for (const auto& [axis, to] : p_.axes_)  // these axes belong to the output and are not merged
    for (int i = 0; i < n_; ++i) {
      std::int64_t rest = first + i;
      for (int a = walks_.outer.shape.size() - 1; a > static_cast<int>(axis); --a)
        rest /= walks_.outer.shape[a];
      const bool there = static_cast<int>(axis) < walks_.outer.shape.size();
      put_integer(to, i, there ? rest % walks_.outer.shape[static_cast<int>(axis)] : 0);
    }
}

// Sets `to` to each lane's coordinate on axis `axis` of the loop. `own` is the axis's position
// among the outer or the inner axes.
void Machine::coordinates(Id axis, Register to, std::int64_t outer, std::int64_t inner,
                          bool along_outer) {
  const auto a = static_cast<int>(axis);
  const bool there = a < launch_->loop.size();
  const bool is_inner = there && k_.reduction && (launch_->reduced >> a & 1) != 0;
  int own = 0;
  for (int before = 0; there && before < a; ++before)
    if (!k_.reduction || ((launch_->reduced >> before & 1) != 0) == is_inner) ++own;
  const lower::Walk& walk = is_inner ? walks_.inner : walks_.outer;
  const bool moves = is_inner != along_outer;
  for (int i = 0; i < n_; ++i) {
    if (!there) {
      put_integer(to, i, 0);
      continue;
    }
    std::int64_t rest = (is_inner ? inner : outer) + (moves ? i : 0);
    for (int later = walk.shape.size() - 1; later > own; --later) rest /= walk.shape[later];
    put_integer(to, i, rest % walk.shape[own]);
  }
}

void Machine::zero_locals(bool post) {
  const auto zero = [&](Register local) {
    const RegisterInfo& r = p_.registers_[local];
    std::memset(reg_[local], 0, size_of(r.type) * r.length * kLanes);
  };
  if (post)
    for (const Register local : p_.locals_) zero(local);
  else
    for (const Id local : p_.zeroed_) zero(p_.locals_[local]);
}

// A contiguous block of an argument serves as its own register, where the types allow it.
void Machine::load(Id param, const lower::Walk& walk, std::size_t v, std::int64_t fixed,
                   std::int64_t first) {
  const DType dtype = k_.params[param].dtype;
  const std::size_t size = size_of(dtype);
  const auto item = static_cast<std::int64_t>(size);
  const Register to = p_.params_[param];
  std::byte* const base = launch_->arguments[param].base + fixed;
  if (dtype != DType::boolean) {
    const auto at = contiguous_at(walk, v, first, n_, item);
    if (at && reinterpret_cast<std::uintptr_t>(base + *at) % std::min<std::size_t>(size, 8) == 0) {
      reg_[to] = base + *at;
      return;
    }
  }
  reg_[to] = own_[to];
  runs(walk, v, first, n_, [&](int lane, std::int64_t offset, std::int64_t stride, int lanes) {
    std::byte* const at = reg_[to] + static_cast<std::size_t>(lane) * size;
    if (stride == item)
      std::memcpy(at, base + offset, size * static_cast<std::size_t>(lanes));
    else
      gather(at, base + offset, stride, size, lanes);
  });
  if (dtype == DType::boolean) make_bools(reg_[to], n_);
}

void Machine::save(std::int64_t outer, std::int64_t inner, bool along_outer) {
  const lower::Walk& walk = along_outer ? walks_.outer : walks_.inner;
  for (std::size_t p = 0; p < k_.params.size(); ++p) {
    const ir::Param& param = k_.params[p];
    if (param.kind != ir::ParamKind::elementwise || param.access == ir::Access::read) continue;
    const Register from = p_.params_[p];
    if (reg_[from] != own_[from]) continue;
    const std::size_t size = size_of(param.dtype);
    const auto v = static_cast<std::size_t>(walks_.operand[p]);
    std::byte* const base =
        launch_->arguments[p].base + view(static_cast<Id>(p)).offset +
        (along_outer ? offset_of(walks_.inner, v, inner) : offset_of(walks_.outer, v, outer));
    runs(walk, v, along_outer ? outer : inner, n_,
         [&](int lane, std::int64_t offset, std::int64_t stride, int lanes) {
           scatter(base + offset, stride, reg_[from] + static_cast<std::size_t>(lane) * size, size,
                   lanes);
         });
  }
}

}  // namespace arraycore::cpu
