// Reductions: rows one after the other, or a block of rows side by side. Partial results are
// combined halves with halves (a binary counter of them), so that float sums err like NumPy's
// pairwise ones.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "cpu/machine.h"

namespace arraycore::cpu {

Error Machine::no_identity() const {
  return {
      ErrorKind::value, "bad_launch",
      "kernel '" + k_.name + "': a reduction of no elements needs an identity, and it has none."};
}

// Whether neighbouring rows lie nearer to each other than neighbouring elements of a row.
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

Status Machine::reduce() {
  const ir::Reduction& r = *k_.reduction;
  const std::int64_t rows = walks_.outer.count();
  const std::int64_t length = walks_.inner.count();
  if (rows > 0 && length == 0 && r.identity == ir::kNone) return no_identity();
  const bool across = rows >= 16 && (length < 64 || outer_is_inner());
  const std::size_t size = size_of(k_.locals[r.a].type);
  totals_.resize(size * kLanes);
  mapped_.resize(size * kLanes);
  for (std::int64_t first = 0; first < rows; first += kLanes) {
    const int n = static_cast<int>(std::min<std::int64_t>(kLanes, rows - first));
    if (length == 0) {
      const ir::Scalar identity{k_.exprs[r.identity].bits, k_.exprs[r.identity].bits_high};
      for (int i = 0; i < n; ++i)
        std::memcpy(totals_.data() + static_cast<std::size_t>(i) * size, &identity, size);
    } else if (across) {
      reduce_across(first, n, length, totals_.data());
    } else {
      for (int i = 0; i < n; ++i)
        reduce_row(first + i, length, totals_.data() + static_cast<std::size_t>(i) * size);
    }
    begin_block(n);
    if (p_.loop_size_ != kNoRegister) integers(p_.loop_size_, rows);
    enter(first, 0, true, true);
    std::memcpy(reg_[p_.locals_[r.a]], totals_.data(), size * static_cast<std::size_t>(n));
    run(p_.post_);
    save(first);
  }
  return Done{};
}

// One more partial result, of weight 1: what `values` holds, which is written over.
void Machine::push(std::byte* values, int n) {
  const std::size_t bytes = size_of(k_.locals[k_.reduction->a].type) * static_cast<std::size_t>(n);
  std::int64_t weight = 1;
  for (; depth_ > 0 && partials_[depth_ - 1].weight == weight; --depth_, weight *= 2)
    combine(partials_[depth_ - 1].values.data(), values, values, n);
  if (depth_ == partials_.size()) partials_.emplace_back();
  partials_[depth_].weight = weight;
  partials_[depth_].values.assign(values, values + bytes);
  ++depth_;
}

void Machine::finish(std::byte* to, int n) {
  const std::vector<std::byte>& last = partials_[depth_ - 1].values;
  std::copy(last.begin(), last.end(), to);
  for (--depth_; depth_ > 0; --depth_) combine(partials_[depth_ - 1].values.data(), to, to, n);
}

void Machine::combine(const std::byte* a, const std::byte* b, std::byte* to, int n) {
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

// Runs the body over a block that was entered; what it mapped is in `mapped_`.
void Machine::map() {
  run(p_.body_);
  const ir::Id local = k_.reduction->mapped;
  std::memcpy(mapped_.data(), reg_[p_.locals_[local]],
              size_of(k_.locals[local].type) * static_cast<std::size_t>(n_));
}

void Machine::reduce_row(std::int64_t row, std::int64_t length, std::byte* to) {
  const std::size_t size = size_of(k_.locals[k_.reduction->a].type);
  depth_ = 0;
  if (p_.loop_size_ != kNoRegister) integers(p_.loop_size_, walks_.outer.count() * length);
  for (std::int64_t first = 0; first < length; first += kLanes) {
    begin_block(static_cast<int>(std::min<std::int64_t>(kLanes, length - first)));
    enter(row, first, false, false);
    map();
    for (int n = n_; n > 1;) {
      const int half = n / 2;
      combine(mapped_.data(), mapped_.data() + static_cast<std::size_t>(n - half) * size,
              mapped_.data(), half);
      n -= half;
    }
    push(mapped_.data(), 1);
  }
  finish(to, 1);
}

void Machine::reduce_across(std::int64_t first, int n, std::int64_t length, std::byte* to) {
  depth_ = 0;
  if (p_.loop_size_ != kNoRegister) integers(p_.loop_size_, walks_.outer.count() * length);
  for (std::int64_t j = 0; j < length; ++j) {
    begin_block(n);
    enter(first, j, true, false);
    map();
    push(mapped_.data(), n);
  }
  finish(to, n);
}

}  // namespace arraycore::cpu
