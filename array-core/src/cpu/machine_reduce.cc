// Reductions and scans compute one row after the other, or a block of rows side by side. A
// reduction combines partial results of equal size, like a binary counter, so that float sums have
// errors like those of NumPy's pairwise sums. A scan adds one element after the other, as NumPy
// does.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "cpu/machine.h"

namespace arraycore::cpu {

Error Machine::no_identity() const {
  return {
      ErrorKind::value, "bad_launch",
      "kernel '" + k_.name + "': a reduction of no elements needs an identity, and it has none."};
}

// Returns whether neighbouring rows are nearer to each other in memory than neighbouring elements
// of a row.
bool Machine::outer_is_inner() const {
  std::int64_t outer = 0;
  std::int64_t inner = 0;
  const auto last_step = [](const lower::Walk& walk, std::size_t v) {
    return walk.shape.empty() ? 0 : std::abs(walk.strides[v][walk.shape.size() - 1]);
  };
  for (std::size_t p = 0; p < k_.params.size(); ++p) {
    if (walks_.operand[p] < 0 || k_.params[p].access != ir::Access::read) continue;
    const auto v = static_cast<std::size_t>(walks_.operand[p]);
    outer += last_step(walks_.outer, v);
    inner += last_step(walks_.inner, v);
  }
  return outer < inner;
}

bool Machine::row_by_row(std::int64_t rows, std::int64_t length) const {
  return rows < 16 || (length >= 64 && !outer_is_inner());
}

void Machine::make_room_for_partials() {
  // The partial results have different powers of two as weights, so there are few of them.
  const auto length = static_cast<std::uint64_t>(walks_.inner.count());
  const auto most = static_cast<std::size_t>(std::bit_width(length)) + 1;
  while (partials_.size() < most) partials_.emplace_back().values.set(sizes_);
}

void Machine::reduce(std::int64_t begin, std::int64_t end) {
  const ir::Reduction& r = *k_.reduction;
  const std::int64_t rows = walks_.outer.count();
  const std::int64_t length = walks_.inner.count();
  if (r.running()) {
    if (rows > 0 && length > 0) scan(rows, length);
    return;
  }
  const bool along = row_by_row(rows, length);
  for (std::int64_t first = begin; first < end; first += kLanes) {
    const int n = static_cast<int>(std::min<std::int64_t>(kLanes, end - first));
    if (length == 0) {
      for (std::size_t v = 0; v < sizes_.size(); ++v) {
        const ir::Expr& constant = k_.exprs[r.values[v].identity];
        const ir::Scalar identity{constant.bits, constant.bits_high};
        for (int i = 0; i < n; ++i) std::memcpy(totals_.at(v, i), &identity, sizes_[v]);
      }
    } else if (along) {
      for (int i = 0; i < n; ++i) reduce_row(first + i, length, i);
    } else {
      reduce_across(first, n, length);
    }
    begin_block(n);
    if (p_.loop_size_ != kNoRegister) integers(p_.loop_size_, rows);
    enter(first, 0, true, true);
    hold(&ir::Accumulator::a, totals_, n);
    run(p_.post_);
    save(first, 0, true);
  }
}

// Sets the accumulators' locals to the values of the first `n` lanes.
void Machine::hold(ir::Id ir::Accumulator::* local, Values& from, int n) {
  for (std::size_t v = 0; v < sizes_.size(); ++v)
    std::memcpy(reg_[p_.locals_[k_.reduction->values[v].*local]], from.at(v),
                sizes_[v] * static_cast<std::size_t>(n));
}

void Machine::take(Values& to, int to_first, Values& from, int from_first, int n) {
  for (std::size_t v = 0; v < sizes_.size(); ++v)
    std::memcpy(to.at(v, to_first), from.at(v, from_first),
                sizes_[v] * static_cast<std::size_t>(n));
}

// Adds `mapped_`, a partial result over one element (weight 1). Overwrites `mapped_`.
void Machine::push(int n) {
  std::int64_t weight = 1;
  for (; depth_ > 0 && partials_[depth_ - 1].weight == weight; --depth_, weight *= 2)
    combine(partials_[depth_ - 1].values, 0, mapped_, 0, mapped_, 0, n);
  if (depth_ == partials_.size()) partials_.emplace_back().values.set(sizes_);
  partials_[depth_].weight = weight;
  partials_[depth_].values.swap(mapped_);
  ++depth_;
}

void Machine::finish(Values& to, int n) {
  take(to, 0, partials_[depth_ - 1].values, 0, n);
  for (--depth_; depth_ > 0; --depth_) combine(partials_[depth_ - 1].values, 0, to, 0, to, 0, n);
}

void Machine::combine(Values& a, int a_first, Values& b, int b_first, Values& to, int to_first,
                      int n) {
  const ir::Reduction& r = *k_.reduction;
  const std::vector<Step>& list = p_.combine_;
  // Most reductions have one accumulator and one operation, which can work in place.
  if (sizes_.size() == 1 && list.size() == 1 && list[0].kind == Step::Kind::compute &&
      list[0].d == p_.combined_[0] && list[0].a == p_.locals_[r.values[0].a] &&
      list[0].b == p_.locals_[r.values[0].b]) {
    const std::byte* const second = b.at(0, b_first);
    list[0].loop(to.at(0, to_first), a.at(0, a_first), second, second, n);
    return;
  }
  const int lanes = std::exchange(n_, n);
  for (std::size_t v = 0; v < sizes_.size(); ++v) {
    const std::size_t bytes = sizes_[v] * static_cast<std::size_t>(n);
    std::memcpy(own_[p_.locals_[r.values[v].a]], a.at(v, a_first), bytes);
    std::memcpy(own_[p_.locals_[r.values[v].b]], b.at(v, b_first), bytes);
  }
  std::fill_n(active_.lanes, n, true);
  active_.count = n;
  alive_ = active_;
  steps(list);
  for (std::size_t v = 0; v < sizes_.size(); ++v)
    std::memcpy(to.at(v, to_first), reg_[p_.combined_[v]], sizes_[v] * static_cast<std::size_t>(n));
  n_ = lanes;
}

// Combines the values of `n` lanes into the first lane.
void Machine::halve(Values& values, int n) {
  while (n > 1) {
    const int half = n / 2;
    combine(values, 0, values, n - half, values, 0, half);
    n -= half;
  }
}

// Runs the body over a block after enter(). The mapped values are then in `mapped_`.
void Machine::map() {
  run(p_.body_);
  for (std::size_t v = 0; v < sizes_.size(); ++v)
    std::memcpy(mapped_.at(v), reg_[p_.locals_[k_.reduction->values[v].mapped]],
                sizes_[v] * static_cast<std::size_t>(n_));
}

// Combines whole blocks lane by lane. At the end the lanes are combined.
void Machine::reduce_row(std::int64_t row, std::int64_t length, int to_lane) {
  depth_ = 0;
  if (p_.loop_size_ != kNoRegister) integers(p_.loop_size_, walks_.outer.count() * length);
  const std::int64_t whole = length - length % kLanes;
  for (std::int64_t first = 0; first < whole; first += kLanes) {
    begin_block(kLanes);
    enter(row, first, false, false);
    map();
    push(kLanes);
  }
  if (whole > 0) {
    finish(rest_, kLanes);
    halve(rest_, kLanes);
  }
  if (const int left = static_cast<int>(length - whole); left > 0) {
    begin_block(left);
    enter(row, whole, false, false);
    map();
    halve(mapped_, left);
    if (whole > 0)
      combine(rest_, 0, mapped_, 0, rest_, 0, 1);
    else
      take(rest_, 0, mapped_, 0, 1);
  }
  take(totals_, to_lane, rest_, 0, 1);
}

void Machine::reduce_across(std::int64_t first, int n, std::int64_t length) {
  depth_ = 0;
  if (p_.loop_size_ != kNoRegister) integers(p_.loop_size_, walks_.outer.count() * length);
  for (std::int64_t j = 0; j < length; ++j) {
    begin_block(n);
    enter(first, j, true, false);
    map();
    push(n);
  }
  finish(totals_, n);
}

// ---- scans

void Machine::scan(std::int64_t rows, std::int64_t length) {
  if (p_.loop_size_ != kNoRegister) integers(p_.loop_size_, rows * length);
  if (row_by_row(rows, length)) {
    for (std::int64_t row = 0; row < rows; ++row) scan_row(row, length);
    return;
  }
  for (std::int64_t first = 0; first < rows; first += kLanes)
    scan_across(first, static_cast<int>(std::min<std::int64_t>(kLanes, rows - first)), length);
}

// Runs `post` over a block whose running totals and mapped values are ready.
void Machine::store_running(std::int64_t outer, std::int64_t inner, bool along_outer, int n) {
  begin_block(n);
  enter(outer, inner, along_outer, true);
  hold(&ir::Accumulator::a, totals_, n);
  hold(&ir::Accumulator::mapped, mapped_, n);
  run(p_.post_);
  save(outer, inner, along_outer);
}

void Machine::scan_row(std::int64_t row, std::int64_t length) {
  for (std::int64_t first = 0; first < length; first += kLanes) {
    const int n = static_cast<int>(std::min<std::int64_t>(kLanes, length - first));
    begin_block(n);
    enter(row, first, false, false);
    map();
    // `rest_` holds the total of all blocks before this one.
    if (first == 0)
      take(totals_, 0, mapped_, 0, 1);
    else
      combine(rest_, 0, mapped_, 0, totals_, 0, 1);
    for (int i = 1; i < n; ++i) combine(totals_, i - 1, mapped_, i, totals_, i, 1);
    take(rest_, 0, totals_, n - 1, 1);
    store_running(row, first, false, n);
  }
}

void Machine::scan_across(std::int64_t first, int n, std::int64_t length) {
  for (std::int64_t j = 0; j < length; ++j) {
    begin_block(n);
    enter(first, j, true, false);
    map();
    if (j == 0)
      take(totals_, 0, mapped_, 0, n);
    else
      combine(totals_, 0, mapped_, 0, totals_, 0, n);
    store_running(first, j, true, n);
  }
}

}  // namespace arraycore::cpu
