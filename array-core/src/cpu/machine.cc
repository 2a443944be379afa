// Runs a Program over blocks of lanes. Each run owns its registers; nothing is shared.
//
// Parameters that an element both reads and writes through different arguments of one storage are
// read before they are written, a block at a time: callers pass overlapping storage only where both
// views are the same.
#include <algorithm>
#include <cstring>
#include <utility>

#include "cpu/program.h"
#include "ir/op_info.h"
#include "lower/loop.h"

namespace arraycore::cpu {
namespace {

using ir::Id;
using ir::kNone;
using ir::Op;
using ir::StmtKind;

constexpr std::size_t kAlignment = 64;

struct Mask {
  bool lanes[kLanes] = {};  // NOLINT(*-avoid-c-arrays)
  int count = 0;            // that are set
};

std::int32_t integer(const std::byte* reg, int lane) {
  std::int32_t value;
  std::memcpy(&value, reg + lane * 4, 4);
  return value;
}

// n elements of `size` bytes, `stride` bytes apart, to or from a register.
template <std::size_t size>
void gather(std::byte* to, const std::byte* from, std::int64_t stride, int n) {
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

// Any byte but 0 is true.
void make_bools(std::byte* reg, int n) {
  for (int i = 0; i < n; ++i) reg[i] = reg[i] != std::byte{0} ? std::byte{1} : std::byte{0};
}

}  // namespace

class Machine {
 public:
  Machine(const Program& program, const ir::Launch& launch)
      : p_(program), k_(program.kernel_), launch_(launch) {
    std::size_t bytes = 0;
    std::vector<std::size_t> at;
    for (const RegisterInfo& r : p_.registers_) {
      at.push_back(bytes);
      bytes += (size_of(r.type) * r.length * kLanes + kAlignment - 1) / kAlignment * kAlignment;
    }
    storage_ = std::make_unique<std::byte[]>(bytes + kAlignment);
    const auto base = reinterpret_cast<std::uintptr_t>(storage_.get());
    std::byte* const first = storage_.get() + (kAlignment - base % kAlignment) % kAlignment;
    for (const std::size_t offset : at) own_.push_back(first + offset);
    reg_ = own_;
    for (const Fill& fill : p_.constants_) broadcast(fill.to, fill.value);
    for (std::size_t p = 0; p < k_.params.size(); ++p)
      if (k_.params[p].kind == ir::ParamKind::scalar)
        broadcast(p_.params_[p], launch.arguments[p].scalar);
    for (const auto& [param, to] : p_.sizes_) integers(to, view(param).count());
    for (const auto& [key, to] : p_.shapes_) {
      const auto axis = static_cast<int>(key.second);
      integers(to, axis < view(key.first).ndim() ? view(key.first).shape[axis] : 1);
    }
  }

  void elementwise() {
    walk_all(0xffffffffu, 0);
    count_ = outer_.count();
    if (p_.loop_size_ != kNoRegister) integers(p_.loop_size_, count_);
    for (std::int64_t first = 0; first < count_; first += kLanes) {
      begin_block(static_cast<int>(std::min<std::int64_t>(kLanes, count_ - first)));
      enter(first, 0, true, false);
      run(p_.body_);
      save(first);
    }
  }

  Status reduce() {
    const ir::Reduction& r = *k_.reduction;
    walk_all(~launch_.reduced, launch_.reduced);
    const std::int64_t rows = outer_.count();
    const std::int64_t length = inner_.count();
    if (rows > 0 && length == 0 && r.identity == kNone) return no_identity();
    const bool across = rows >= 16 && (length < 64 || outer_is_inner());
    const std::size_t size = size_of(k_.locals[r.a].type);
    std::vector<std::byte> totals(size * kLanes);
    for (std::int64_t first = 0; first < rows; first += kLanes) {
      const int n = static_cast<int>(std::min<std::int64_t>(kLanes, rows - first));
      if (length == 0) {
        for (int i = 0; i < n; ++i)
          std::memcpy(totals.data() + static_cast<std::size_t>(i) * size,
                      &k_.exprs[r.identity].bits, std::min<std::size_t>(size, 8));
      } else if (across) {
        reduce_across(first, n, length, totals.data());
      } else {
        for (int i = 0; i < n; ++i)
          reduce_row(first + i, length, totals.data() + static_cast<std::size_t>(i) * size);
      }
      begin_block(n);
      if (p_.loop_size_ != kNoRegister) integers(p_.loop_size_, rows);
      reg_[p_.locals_[r.a]] = own_[p_.locals_[r.a]];
      enter(first, 0, true, true);
      std::memcpy(reg_[p_.locals_[r.a]], totals.data(), size * static_cast<std::size_t>(n));
      run(p_.post_);
      save(first);
    }
    return Done{};
  }

 private:
  const View& view(Id param) const { return launch_.arguments[param].view; }

  Status no_identity() const {
    return Error{
        ErrorKind::value, "bad_launch",
        "kernel '" + k_.name + "': a reduction of no elements needs an identity, and it has none."};
  }

  void broadcast(Register to, const ir::Scalar& value) {
    const std::size_t size = size_of(p_.registers_[to].type);
    for (int i = 0; i < kLanes; ++i)
      std::memcpy(own_[to] + static_cast<std::size_t>(i) * size, &value, size);
  }
  void integers(Register to, std::int64_t value) {
    broadcast(to, ir::put(static_cast<std::int32_t>(value)));
  }

  // ---- where elements lie
  void walk_all(std::uint32_t outer_axes, std::uint32_t inner_axes) {
    std::vector<View> views;
    for (std::size_t p = 0; p < k_.params.size(); ++p) {
      operand_.push_back(-1);
      if (k_.params[p].kind != ir::ParamKind::elementwise) continue;
      operand_.back() = static_cast<int>(views.size());
      View seen = view(static_cast<Id>(p));
      if (k_.reduction && k_.params[p].access != ir::Access::read) seen = widened(seen);
      views.push_back(seen);
    }
    number_ = static_cast<int>(views.size());
    views.push_back({launch_.loop, lower::c_strides(launch_.loop), 0});
    const auto merge = p_.axes_.empty() ? lower::Merge::on : lower::Merge::off;
    outer_ = lower::walk(launch_.loop, outer_axes, views, merge);
    inner_ = lower::walk(launch_.loop, inner_axes, views, merge);
  }

  // An output seen from the whole loop: the reduced axes stay in place.
  View widened(const View& own) const {
    View wide;
    wide.offset = own.offset;
    for (int axis = 0, kept = 0; axis < launch_.loop.size(); ++axis) {
      const bool gone = (launch_.reduced >> axis & 1) != 0;
      wide.shape.push_back(gone ? 1 : own.shape[kept]);
      wide.strides.push_back(gone ? 0 : own.strides[kept]);
      if (!gone) ++kept;
    }
    return wide;
  }

  // Whether neighbouring rows lie nearer to each other than neighbouring elements of a row.
  bool outer_is_inner() const {
    std::int64_t outer = 0;
    std::int64_t inner = 0;
    for (std::size_t p = 0; p < k_.params.size(); ++p) {
      if (operand_[p] < 0 || k_.params[p].access != ir::Access::read) continue;
      const auto v = static_cast<std::size_t>(operand_[p]);
      if (!outer_.shape.empty()) outer += std::abs(outer_.strides[v][outer_.shape.size() - 1]);
      if (!inner_.shape.empty()) inner += std::abs(inner_.strides[v][inner_.shape.size() - 1]);
    }
    return outer < inner;
  }

  static std::int64_t offset_of(const lower::Walk& walk, std::size_t operand, std::int64_t number) {
    std::int64_t offset = 0;
    if (number == 0) return offset;  // also where an axis has no extent
    for (int axis = walk.shape.size() - 1; axis >= 0; --axis) {
      offset += number % walk.shape[axis] * walk.strides[operand][axis];
      number /= walk.shape[axis];
    }
    return offset;
  }

  // f(lane, offset, stride, lanes) for each run of lanes that lie one stride apart.
  template <typename F>
  void runs(const lower::Walk& walk, std::size_t operand, std::int64_t first, F f) const {
    if (walk.shape.empty()) return f(0, std::int64_t{0}, std::int64_t{0}, n_);
    const int last = walk.shape.size() - 1;
    const std::int64_t extent = walk.shape[last];
    for (int lane = 0; lane < n_;) {
      const std::int64_t number = first + lane;
      const int lanes =
          static_cast<int>(std::min<std::int64_t>(n_ - lane, extent - number % extent));
      f(lane, offset_of(walk, operand, number), walk.strides[operand][last], lanes);
      lane += lanes;
    }
  }

  void begin_block(int n) {
    n_ = n;
    std::fill_n(active_.lanes, n, true);
    active_.count = n;
    alive_ = active_;
  }

  // Fills what the block's lanes read. Lanes walk the outer axes from `outer` on, or the inner ones
  // from `inner` on, the other number stands.
  void enter(std::int64_t outer, std::int64_t inner, bool along_outer, bool post) {
    const lower::Walk& walk = along_outer ? outer_ : inner_;
    const std::int64_t first = along_outer ? outer : inner;
    for (std::size_t p = 0; p < k_.params.size(); ++p) {
      const ir::Param& param = k_.params[p];
      if (param.kind != ir::ParamKind::elementwise) continue;
      const bool written = param.access != ir::Access::read;
      if (k_.reduction && written != post) continue;
      const auto v = static_cast<std::size_t>(operand_[p]);
      const std::int64_t fixed =
          view(static_cast<Id>(p)).offset +
          (along_outer ? offset_of(inner_, v, inner) : offset_of(outer_, v, outer));
      load(static_cast<Id>(p), walk, v, fixed, first);
    }
    zero_locals();
    if (post) {
      number_rows(first);
      return;
    }
    if (p_.loop_index_ != kNoRegister) {
      const auto v = static_cast<std::size_t>(number_);
      const std::int64_t fixed =
          along_outer ? offset_of(inner_, v, inner) : offset_of(outer_, v, outer);
      runs(walk, v, first, [&](int lane, std::int64_t offset, std::int64_t stride, int lanes) {
        for (int i = 0; i < lanes; ++i)
          put_integer(p_.loop_index_, lane + i, fixed + offset + stride * i);
      });
    }
    if (p_.reduce_index_ != kNoRegister)
      for (int i = 0; i < n_; ++i)
        put_integer(p_.reduce_index_, i, along_outer ? inner : inner + i);
    for (const auto& [axis, to] : p_.axes_) coordinates(axis, to, outer, inner, along_outer);
  }

  void number_rows(std::int64_t first) {
    if (p_.loop_index_ != kNoRegister)
      for (int i = 0; i < n_; ++i) put_integer(p_.loop_index_, i, first + i);
    for (const auto& [axis, to] : p_.axes_)  // of the output; its axes are not merged
      for (int i = 0; i < n_; ++i) {
        std::int64_t rest = first + i;
        for (int a = outer_.shape.size() - 1; a > static_cast<int>(axis); --a)
          rest /= outer_.shape[a];
        const bool there = static_cast<int>(axis) < outer_.shape.size();
        put_integer(to, i, there ? rest % outer_.shape[static_cast<int>(axis)] : 0);
      }
  }

  // Axis `axis` of the loop for each lane: place `own` among the outer or the inner axes.
  void coordinates(Id axis, Register to, std::int64_t outer, std::int64_t inner, bool along_outer) {
    const auto a = static_cast<int>(axis);
    const bool there = a < launch_.loop.size();
    const bool is_inner = there && k_.reduction && (launch_.reduced >> a & 1) != 0;
    int own = 0;
    for (int before = 0; there && before < a; ++before)
      if (!k_.reduction || ((launch_.reduced >> before & 1) != 0) == is_inner) ++own;
    const lower::Walk& walk = is_inner ? inner_ : outer_;
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

  void put_integer(Register to, int lane, std::int64_t value) {
    const auto small = static_cast<std::int32_t>(value);
    std::memcpy(reg_[to] + lane * 4, &small, 4);
  }

  void zero_locals() {
    for (std::size_t i = 0; i < p_.locals_.size(); ++i) {
      const RegisterInfo& r = p_.registers_[p_.locals_[i]];
      std::memset(reg_[p_.locals_[i]], 0, size_of(r.type) * r.length * kLanes);
    }
  }

  // A contiguous argument is its own register, where types allow it.
  void load(Id param, const lower::Walk& walk, std::size_t v, std::int64_t fixed,
            std::int64_t first) {
    const DType dtype = k_.params[param].dtype;
    const std::size_t size = size_of(dtype);
    const auto item = static_cast<std::int64_t>(size);
    const Register to = p_.params_[param];
    std::byte* const base = launch_.arguments[param].base + fixed;
    const bool contiguous = walk.shape.size() == 1 && walk.strides[v][0] == item;
    std::byte* const here = base + first * item;
    const std::size_t needed = std::min<std::size_t>(size, 8);
    if (contiguous && dtype != DType::boolean &&
        reinterpret_cast<std::uintptr_t>(here) % needed == 0) {
      reg_[to] = here;
      return;
    }
    reg_[to] = own_[to];
    runs(walk, v, first, [&](int lane, std::int64_t offset, std::int64_t stride, int lanes) {
      std::byte* const at = reg_[to] + static_cast<std::size_t>(lane) * size;
      if (stride == item)
        std::memcpy(at, base + offset, size * static_cast<std::size_t>(lanes));
      else
        gather(at, base + offset, stride, size, lanes);
    });
    if (dtype == DType::boolean) make_bools(reg_[to], n_);
  }

  // Written parameters that are not their own registers go back to their arrays.
  void save(std::int64_t first) {
    for (std::size_t p = 0; p < k_.params.size(); ++p) {
      const ir::Param& param = k_.params[p];
      if (param.kind != ir::ParamKind::elementwise || param.access == ir::Access::read) continue;
      const Register from = p_.params_[p];
      if (reg_[from] != own_[from]) continue;
      const std::size_t size = size_of(param.dtype);
      std::byte* const base = launch_.arguments[p].base + view(static_cast<Id>(p)).offset;
      runs(outer_, static_cast<std::size_t>(operand_[p]), first,
           [&](int lane, std::int64_t offset, std::int64_t stride, int lanes) {
             scatter(base + offset, stride, reg_[from] + static_cast<std::size_t>(lane) * size,
                     size, lanes);
           });
    }
  }

  // ---- reductions: a binary counter of partial results, so that halves are combined with halves
  struct Partial {
    std::int64_t weight;
    std::vector<std::byte> values;
  };

  void push(std::vector<Partial>& stack, std::vector<std::byte> values, int n) {
    std::int64_t weight = 1;
    while (!stack.empty() && stack.back().weight == weight) {
      combine(stack.back().values.data(), values.data(), values.data(), n);
      stack.pop_back();
      weight *= 2;
    }
    stack.push_back({weight, std::move(values)});
  }
  void finish(std::vector<Partial>& stack, std::byte* to, int n) {
    const std::size_t size = size_of(k_.locals[k_.reduction->a].type) * static_cast<std::size_t>(n);
    std::vector<std::byte> total = std::move(stack.back().values);
    stack.pop_back();
    for (; !stack.empty(); stack.pop_back())
      combine(stack.back().values.data(), total.data(), total.data(), n);
    std::memcpy(to, total.data(), size);
  }

  void combine(const std::byte* a, const std::byte* b, std::byte* to, int n) {
    const ir::Reduction& r = *k_.reduction;
    const std::size_t bytes = size_of(k_.locals[r.a].type) * static_cast<std::size_t>(n);
    const int lanes = std::exchange(n_, n);
    std::memcpy(own_[p_.locals_[r.a]], a, bytes);
    std::memcpy(own_[p_.locals_[r.b]], b, bytes);
    std::fill_n(active_.lanes, n, true);
    active_.count = n;
    alive_ = active_;
    steps(p_.combine_);
    std::memcpy(to, reg_[p_.combined_], bytes);
    n_ = lanes;
  }

  std::vector<std::byte> mapped() const {
    const ir::Reduction& r = *k_.reduction;
    const std::byte* from = reg_[p_.locals_[r.mapped]];
    return {from, from + size_of(k_.locals[r.mapped].type) * static_cast<std::size_t>(n_)};
  }

  void reduce_row(std::int64_t row, std::int64_t length, std::byte* to) {
    const std::size_t size = size_of(k_.locals[k_.reduction->a].type);
    std::vector<Partial> stack;
    if (p_.loop_size_ != kNoRegister) integers(p_.loop_size_, outer_.count() * length);
    for (std::int64_t first = 0; first < length; first += kLanes) {
      begin_block(static_cast<int>(std::min<std::int64_t>(kLanes, length - first)));
      enter(row, first, false, false);
      run(p_.body_);
      std::vector<std::byte> values = mapped();
      for (int n = n_; n > 1;) {
        const int half = n / 2;
        combine(values.data(), values.data() + static_cast<std::size_t>(n - half) * size,
                values.data(), half);
        n -= half;
      }
      values.resize(size);
      push(stack, std::move(values), 1);
    }
    finish(stack, to, 1);
  }

  void reduce_across(std::int64_t first, int n, std::int64_t length, std::byte* to) {
    std::vector<Partial> stack;
    if (p_.loop_size_ != kNoRegister) integers(p_.loop_size_, outer_.count() * length);
    for (std::int64_t j = 0; j < length; ++j) {
      begin_block(n);
      enter(first, j, true, false);
      run(p_.body_);
      push(stack, mapped(), n);
    }
    finish(stack, to, n);
  }

  // ---- statements
  void run(const std::vector<Node>& nodes) {
    for (const Node& node : nodes) {
      if (active_.count == 0) return;
      run(node);
    }
  }

  bool full() const { return active_.count == n_; }

  // from -> to in the active lanes.
  void move(std::byte* to, const std::byte* from, std::size_t size) {
    if (full())
      std::memmove(to, from, size * static_cast<std::size_t>(n_));
    else
      choose(to, reinterpret_cast<const std::byte*>(active_.lanes), from, to, size, n_);
  }

  // What stays of `mask` where `keep` holds.
  Mask where(const Mask& mask, const bool* keep, bool negated) const {
    Mask result;
    for (int i = 0; i < n_; ++i) {
      result.lanes[i] = mask.lanes[i] && keep[i] != negated;
      result.count += result.lanes[i] ? 1 : 0;
    }
    return result;
  }
  void remove(Mask& mask, const Mask& gone) const { mask = where(mask, gone.lanes, true); }
  const bool* bools(Register r) const { return reinterpret_cast<const bool*>(reg_[r]); }

  void run(const Node& node) {
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
        for (int i = 0; i < n_; ++i) {
          std::byte* const to = active_.lanes[i] ? place(node.target, node.index, i) : nullptr;
          if (to != nullptr)
            std::memcpy(to, reg_[node.value] + static_cast<std::size_t>(i) * size, size);
        }
        return;
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
  bool direct(const Node& node) {
    if (!full() || node.steps.empty()) return false;
    const Step& last = node.steps.back();
    if (last.kind != Step::Kind::compute || last.d != node.value) return false;
    for (std::size_t i = 0; i + 1 < node.steps.size(); ++i) step(node.steps[i]);
    last.loop(reg_[node.to], reg_[last.a], reg_[last.b], reg_[last.c], n_);
    return true;
  }

  void assign_at(const Node& node, std::size_t size) {
    for (int i = 0; i < n_; ++i) {
      if (!active_.lanes[i]) continue;
      const auto at = static_cast<std::size_t>(std::clamp<std::int64_t>(
          integer(reg_[node.index[0]], i), 0, std::int64_t{node.length} - 1));
      std::memcpy(reg_[node.to] + (at * kLanes + static_cast<std::size_t>(i)) * size,
                  reg_[node.value] + static_cast<std::size_t>(i) * size, size);
    }
  }

  void branch(const Node& node) {
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

  void loop(const Node& node) {
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

  // ---- steps
  void steps(const std::vector<Step>& list) {
    for (const Step& one : list) step(one);
  }

  void step(const Step& s) {
    const std::size_t size = size_of(s.type);
    switch (s.kind) {
      case Step::Kind::compute:
        return s.loop(reg_[s.d], reg_[s.a], reg_[s.b], reg_[s.c], n_);
      case Step::Kind::select:
        return choose(reg_[s.d], reg_[s.a], reg_[s.b], reg_[s.c], size, n_);
      case Step::Kind::raw_read:
        return raw_read(s, size);
      case Step::Kind::array_read:
        for (int i = 0; i < n_; ++i) {
          const auto at = static_cast<std::size_t>(std::clamp<std::int64_t>(
              integer(reg_[s.index[0]], i), 0, std::int64_t{s.length} - 1));
          std::memcpy(reg_[s.d] + static_cast<std::size_t>(i) * size,
                      reg_[s.a] + (at * kLanes + static_cast<std::size_t>(i)) * size, size);
        }
        return;
      case Step::Kind::call:
        return call(s);
      case Step::Kind::lazy: {
        const Mask before = active_;
        active_ = where(active_, bools(s.a), s.negated);
        if (active_.count > 0) {
          steps(s.steps);
          move(reg_[s.d], reg_[s.b], size);
        }
        active_ = before;
        return;
      }
      case Step::Kind::atomic:
        return atomic(s);
    }
  }

  void call(const Step& s) {
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

  // The element of a raw parameter; nullptr where it has none.
  std::byte* place(Id param, const std::vector<Register>& index, int lane) const {
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
        offset += v.strides[axis] * std::clamp<std::int64_t>(
                                        integer(reg_[index[static_cast<std::size_t>(axis)]], lane),
                                        0, v.shape[axis] - 1);
      }
    }
    return launch_.arguments[param].base + offset;
  }

  void raw_read(const Step& s, std::size_t size) {
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

  void atomic(const Step& s) {
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

  const Program& p_;
  const ir::Kernel& k_;
  const ir::Launch& launch_;
  std::unique_ptr<std::byte[]> storage_;  // NOLINT(*-avoid-c-arrays)
  std::vector<std::byte*> own_;           // each register's own memory
  std::vector<std::byte*> reg_;           // where it is now: its own, or an argument's array
  lower::Walk outer_;
  lower::Walk inner_;
  std::vector<int> operand_;  // param -> operand of the walks
  int number_ = 0;            // the operand that is the loop's number
  std::int64_t count_ = 0;
  int n_ = 0;                // lanes of this block
  Mask active_;              // lanes that run
  Mask alive_;               // lanes that have not returned
  Mask* looping_ = nullptr;  // lanes that have not left the innermost loop
};

Status Program::run(const ir::Launch& launch) const {
  const Status checked = ir::check_launch(kernel_, launch);
  if (!checked) return checked;
  Machine machine(*this, launch);
  if (kernel_.reduction) return machine.reduce();
  machine.elementwise();
  return Done{};
}

}  // namespace arraycore::cpu
