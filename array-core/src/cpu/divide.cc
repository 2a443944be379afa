#include "cpu/divide.h"

#include <bit>
#include <cstdint>

#include "ir/scalar.h"

namespace arraycore::cpu {
namespace {

using ir::Op;

// Divides numbers 0 <= x < 2^31 by one divisor 0 < d < 2^31: floor(x factor / 2^shift), where
// factor is the ceiling of 2^shift / d. See T. Granlund, P. Montgomery, "Division by invariant
// integers using multiplication", theorem 4.2, for 31 bits. The factor then has 32 bits.
class Divisor {
 public:
  explicit Divisor(std::uint32_t d) : shift_(31 + static_cast<int>(std::bit_width(d - 1))) {
    factor_ = ((std::uint64_t{1} << shift_) - 1) / d + 1;
  }
  std::uint32_t divides(std::uint32_t x) const {
    return static_cast<std::uint32_t>((x * factor_) >> shift_);
  }

 private:
  int shift_;
  std::uint64_t factor_;
};

// Returns whether all divisors equal the first one, which is above 0, and no dividend is below 0.
bool is_simple(const std::int32_t* x, const std::int32_t* y, int n) {
  const std::int32_t d = y[0];
  std::int32_t differs = 0;
  std::int32_t signs = 0;
  for (int i = 0; i < n; ++i) {
    differs |= y[i] ^ d;
    signs |= x[i];
  }
  return d > 0 && differs == 0 && signs >= 0;
}

template <Op op>
void lanes(std::byte* to, const std::byte* a, const std::byte* b, const std::byte*, int n) {
  constexpr bool kQuotient = op == Op::divide || op == Op::floor_divide;
  auto* const out = reinterpret_cast<std::int32_t*>(to);
  const auto* const x = reinterpret_cast<const std::int32_t*>(a);
  const auto* const y = reinterpret_cast<const std::int32_t*>(b);
  if (n == 0 || !is_simple(x, y, n)) {
    for (int i = 0; i < n; ++i) out[i] = ir::binary<op, std::int32_t>(x[i], y[i]);
    return;
  }
  const auto d = static_cast<std::uint32_t>(y[0]);
  const Divisor divisor(d);
  ARRAYCORE_LANES
  for (int i = 0; i < n; ++i) {
    const auto dividend = static_cast<std::uint32_t>(x[i]);
    const std::uint32_t quotient = divisor.divides(dividend);
    out[i] = static_cast<std::int32_t>(kQuotient ? quotient : dividend - quotient * d);
  }
}

}  // namespace

Loop division_of(Op op, DType operand) {
  if (operand != DType::int32) return nullptr;
  switch (op) {
    case Op::divide:
      return &lanes<Op::divide>;
    case Op::remainder:
      return &lanes<Op::remainder>;
    case Op::floor_divide:
      return &lanes<Op::floor_divide>;
    case Op::modulo:
      return &lanes<Op::modulo>;
    default:
      return nullptr;
  }
}

}  // namespace arraycore::cpu
