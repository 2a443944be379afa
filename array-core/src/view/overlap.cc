// Two views share a byte where
//
//   a.offset + sum(a.stride * i) + byte = b.offset + sum(b.stride * j) + byte'
//
// has a solution within the extents. Each term is rewritten so that its coefficient is positive.
// That leaves sum(coefficient * x) = target with 0 <= x <= bound, a bounded Diophantine equation.
// The search begins with the largest coefficient. It skips values that the remaining terms cannot
// complete, because of their bounds or because of their greatest common divisor.
#include "view/overlap.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

namespace arraycore {
namespace {

struct Term {
  std::int64_t coefficient;
  std::int64_t bound;
};

enum class Answer : std::uint8_t { no, yes, gave_up };

class Equation {
 public:
  // Adds one term for each axis of a view to the left side of the equation. `sign` is 1 for a, and
  // -1 for b, whose terms are moved from the right side.
  void add(const View& view, std::int64_t sign) {
    for (int axis = 0; axis < view.ndim(); ++axis) {
      const std::int64_t last = view.shape[axis] - 1;
      if (last == 0) continue;  // such an axis may have any stride
      const std::int64_t stride = view.strides[axis] * sign;
      if (stride == 0) continue;
      if (stride < 0) target_ += -stride * last;  // x counts from the other end of a reversed axis
      add_term({stride < 0 ? -stride : stride, last});
    }
  }
  void add_bytes(std::size_t item_size) {
    if (item_size > 1) add_term({1, static_cast<std::int64_t>(item_size) - 1});
  }
  void add_target(std::int64_t value) { target_ += value; }

  Answer solve(std::int64_t max_work) {
    std::sort(terms_.begin(), terms_.begin() + size_,
              [](const Term& a, const Term& b) { return a.coefficient > b.coefficient; });
    merge_equal();
    reach_[size_] = 0;
    divisor_[size_] = 0;
    for (std::size_t i = size_; i-- > 0;) {
      reach_[i] = reach_[i + 1] + terms_[i].coefficient * terms_[i].bound;
      divisor_[i] = std::gcd(divisor_[i + 1], terms_[i].coefficient);
    }
    work_ = max_work;
    return search(0, target_);
  }

 private:
  static constexpr std::size_t kMaxTerms = 2 * kMaxDims + 2;

  void add_term(Term term) { terms_[size_++] = term; }

  void merge_equal() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      if (kept > 0 && terms_[kept - 1].coefficient == terms_[i].coefficient)
        terms_[kept - 1].bound += terms_[i].bound;
      else
        terms_[kept++] = terms_[i];
    }
    size_ = kept;
  }

  // Returns whether the terms from i on can sum to `rest`.
  Answer search(std::size_t i, std::int64_t rest) {
    if (rest < 0 || rest > reach_[i]) return Answer::no;
    if (i == size_) return Answer::yes;  // here reach is 0, and so is rest
    if (rest % divisor_[i] != 0) return Answer::no;
    const Term term = terms_[i];
    const std::int64_t beyond = reach_[i + 1];
    std::int64_t low = 0;
    if (rest > beyond) low = (rest - beyond - 1) / term.coefficient + 1;
    const std::int64_t high = std::min(term.bound, rest / term.coefficient);
    // rest - coefficient * x must be divisible by the greatest common divisor of the remaining
    // coefficients. The values of x for which it is are evenly spaced, so a loop seeks only the
    // first one.
    const std::int64_t others = divisor_[i + 1];
    const std::int64_t step = others == 0 ? 1 : others / std::gcd(others, term.coefficient);
    std::int64_t x = low;
    if (others > 1) {
      while (x <= high && (rest - term.coefficient * x) % others != 0) {
        if (--work_ < 0) return Answer::gave_up;
        ++x;
      }
    }
    for (; x <= high; x += step) {
      if (--work_ < 0) return Answer::gave_up;
      const Answer answer = search(i + 1, rest - term.coefficient * x);
      if (answer != Answer::no) return answer;
    }
    return Answer::no;
  }

  std::array<Term, kMaxTerms> terms_{};
  std::array<std::int64_t, kMaxTerms + 1> reach_{};  // the largest sum of the terms from i on
  std::array<std::int64_t, kMaxTerms + 1>
      divisor_{};  // the greatest common divisor of the coefficients from i on
  std::size_t size_ = 0;
  std::int64_t target_ = 0;
  std::int64_t work_ = 0;
};

bool same_elements(const View& a, const View& b) {
  if (a.offset != b.offset || !(a.shape == b.shape)) return false;
  for (int axis = 0; axis < a.ndim(); ++axis)
    if (a.shape[axis] > 1 && a.strides[axis] != b.strides[axis]) return false;
  return true;
}

}  // namespace

Overlap overlap(const View& a, std::size_t a_item_size, const View& b, std::size_t b_item_size,
                std::int64_t max_work) {
  const ByteExtent in_a = byte_extent(a, a_item_size);
  const ByteExtent in_b = byte_extent(b, b_item_size);
  // A view without elements has an empty extent, and shares no byte.
  if (in_a.begin == in_a.end || in_b.begin == in_b.end) return Overlap::disjoint;
  if (in_a.end <= in_b.begin || in_b.end <= in_a.begin) return Overlap::disjoint;
  if (a_item_size == b_item_size && same_elements(a, b)) return Overlap::same;

  Equation equation;
  equation.add(a, 1);
  equation.add(b, -1);
  equation.add_bytes(a_item_size);
  equation.add_bytes(b_item_size);
  // On the left side, b's byte has a negative sign. It is replaced by its distance from the last
  // byte of the element, so the index of that byte is added on the right side.
  equation.add_target(b.offset - a.offset + static_cast<std::int64_t>(b_item_size) - 1);
  return equation.solve(max_work) == Answer::no ? Overlap::disjoint : Overlap::partial;
}

}  // namespace arraycore
