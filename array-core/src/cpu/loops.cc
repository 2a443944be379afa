#include "cpu/loops.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "cpu/divide.h"
#include "ir/op_info.h"
#include "ir/scalar.h"

namespace arraycore::cpu {
namespace {

using ir::Op;
using ir::Shape;

template <typename T>
T* as(std::byte* p) {
  return reinterpret_cast<T*>(p);
}
template <typename T>
const T* as(const std::byte* p) {
  return reinterpret_cast<const T*>(p);
}

template <Op op, DType dtype>
void lanes(std::byte* d, const std::byte* a, const std::byte* b, const std::byte* c, int n) {
  using T = typename ir::Type<dtype>::T;
  constexpr Shape kShape = ir::info(op).shape;
  const T* x = as<T>(a);
  if constexpr (kShape == Shape::unary) {
    T* out = as<T>(d);
    ARRAYCORE_LANES
    for (int i = 0; i < n; ++i) out[i] = ir::unary<op, T>(x[i]);
  } else if constexpr (kShape == Shape::test) {
    bool* out = as<bool>(d);
    ARRAYCORE_LANES
    for (int i = 0; i < n; ++i) out[i] = ir::test<op, T>(x[i]);
  } else if constexpr (kShape == Shape::binary) {
    T* out = as<T>(d);
    const T* y = as<T>(b);
    ARRAYCORE_LANES
    for (int i = 0; i < n; ++i) out[i] = ir::binary<op, T>(x[i], y[i]);
  } else if constexpr (kShape == Shape::compare) {
    bool* out = as<bool>(d);
    const T* y = as<T>(b);
    ARRAYCORE_LANES
    for (int i = 0; i < n; ++i) out[i] = ir::compare<op, T>(x[i], y[i]);
  } else {
    T* out = as<T>(d);
    const T* y = as<T>(b);
    const T* z = as<T>(c);
    ARRAYCORE_LANES
    for (int i = 0; i < n; ++i) out[i] = ir::fused(x[i], y[i], z[i]);
  }
}

template <std::size_t index>
constexpr Loop entry() {
  constexpr Op kOp = static_cast<Op>(index / kDTypes);
  constexpr DType kDType = static_cast<DType>(index % kDTypes);
  constexpr Shape kShape = ir::info(kOp).shape;
  if constexpr (kShape == Shape::leaf || kShape == Shape::special || !ir::takes(kOp, kDType))
    return nullptr;
  else
    return &lanes<kOp, kDType>;
}
template <std::size_t... index>
constexpr auto make_table(std::index_sequence<index...>) {
  return std::array<Loop, sizeof...(index)>{entry<index>()...};
}
constexpr auto kTable = make_table(std::make_index_sequence<ir::kOps * kDTypes>{});

template <std::size_t index>
void convert(std::byte* d, const std::byte* a, const std::byte*, const std::byte*, int n) {
  using From = typename ir::Type<static_cast<DType>(index / kDTypes)>::T;
  using To = typename ir::Type<static_cast<DType>(index % kDTypes)>::T;
  const From* x = as<From>(a);
  To* out = as<To>(d);
  ARRAYCORE_LANES
  for (int i = 0; i < n; ++i) out[i] = ir::convert_to<To>(x[i]);
}
template <std::size_t... index>
constexpr auto make_conversions(std::index_sequence<index...>) {
  return std::array<Loop, sizeof...(index)>{&convert<index>...};
}
constexpr auto kConversions = make_conversions(std::make_index_sequence<kDTypes * kDTypes>{});

template <std::size_t size>
void copy(std::byte* d, const std::byte* a, const std::byte*, const std::byte*, int n) {
  std::memmove(d, a, size * static_cast<std::size_t>(n));
}

template <typename T, typename R, typename F>
void each(std::byte* d, const std::byte* a, int n, F f) {
  const T* x = as<T>(a);
  R* out = as<R>(d);
  for (int i = 0; i < n; ++i) out[i] = f(x[i]);
}

// Returns loops of operations whose result type differs from the operands' type.
template <DType dtype>
Loop special(Op op) {
  using T = typename ir::Type<dtype>::T;
  if constexpr (ir::kIsInteger<T>) {
    if (op == Op::leading_zeros)
      return [](std::byte* d, const std::byte* a, const std::byte*, const std::byte*, int n) {
        each<T, std::int32_t>(d, a, n, [](T x) { return ir::leading_zeros(x); });
      };
  }
  if constexpr (ir::kIsComplex<T>) {
    using R = typename T::Real;
    switch (op) {
      case Op::real:
        return [](std::byte* d, const std::byte* a, const std::byte*, const std::byte*, int n) {
          each<T, R>(d, a, n, [](T x) { return x.re; });
        };
      case Op::imag:
        return [](std::byte* d, const std::byte* a, const std::byte*, const std::byte*, int n) {
          each<T, R>(d, a, n, [](T x) { return x.im; });
        };
      case Op::absolute:
        return [](std::byte* d, const std::byte* a, const std::byte*, const std::byte*, int n) {
          each<T, R>(d, a, n, [](T x) { return std::hypot(x.re, x.im); });
        };
      default:
        return nullptr;
    }
  }
  if constexpr (!ir::kIsBool<T> && !ir::kIsComplex<T>) {
    if (op == Op::absolute)
      return [](std::byte* d, const std::byte* a, const std::byte*, const std::byte*, int n) {
        each<T, T>(d, a, n, [](T x) { return ir::unary<Op::absolute, T>(x); });
      };
  }
  if constexpr (ir::kIsFloat<T>) {
    if (op == Op::ldexp)
      return [](std::byte* d, const std::byte* a, const std::byte* b, const std::byte*, int n) {
        for (int i = 0; i < n; ++i)
          as<T>(d)[i] = ir::load_exponent(as<T>(a)[i], as<std::int32_t>(b)[i]);
      };
  }
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    if (op == Op::make_complex)
      return [](std::byte* d, const std::byte* a, const std::byte* b, const std::byte*, int n) {
        for (int i = 0; i < n; ++i) as<ir::Complex<T>>(d)[i] = {as<T>(a)[i], as<T>(b)[i]};
      };
  }
  return nullptr;
}
template <std::size_t... index>
Loop special_of(Op op, DType operand, std::index_sequence<index...>) {
  constexpr std::array<Loop (*)(Op), kDTypes> kSpecials{&special<static_cast<DType>(index)>...};
  return kSpecials[static_cast<std::size_t>(operand)](op);
}

template <typename T>
void choose_lanes(std::byte* d, const std::byte* condition, const std::byte* a, const std::byte* b,
                  int n) {
  T* const out = as<T>(d);
  const T* const x = as<T>(a);
  const T* const y = as<T>(b);
  if constexpr (std::is_integral_v<T>) {
    // A bool is 0 or 1, so it gives a mask that selects the bits of x or y without a branch.
    const auto* const yes = as<std::uint8_t>(condition);
    ARRAYCORE_LANES
    for (int i = 0; i < n; ++i) {
      const T mask = static_cast<T>(T{0} - yes[i]);
      out[i] = static_cast<T>(y[i] ^ ((x[i] ^ y[i]) & mask));
    }
  } else {
    const bool* const yes = as<bool>(condition);
    for (int i = 0; i < n; ++i) out[i] = yes[i] ? x[i] : y[i];
  }
}

}  // namespace

Loop loop_of(Op op, DType operand, DType result) {
  const auto from = static_cast<std::size_t>(operand);
  if (op == Op::convert) return kConversions[from * kDTypes + static_cast<std::size_t>(result)];
  if (op == Op::bitcast) {
    switch (size_of(operand)) {
      case 1:
        return &copy<1>;
      case 2:
        return &copy<2>;
      case 4:
        return &copy<4>;
      default:
        return &copy<8>;
    }
  }
  if (const Loop loop = division_of(op, operand); loop != nullptr) return loop;
  if (const Loop loop = kTable[static_cast<std::size_t>(op) * kDTypes + from]; loop != nullptr)
    return loop;
  return special_of(op, operand, std::make_index_sequence<kDTypes>{});
}

void choose(std::byte* d, const std::byte* condition, const std::byte* a, const std::byte* b,
            std::size_t size, int n) {
  switch (size) {
    case 1:
      return choose_lanes<std::uint8_t>(d, condition, a, b, n);
    case 2:
      return choose_lanes<std::uint16_t>(d, condition, a, b, n);
    case 4:
      return choose_lanes<std::uint32_t>(d, condition, a, b, n);
    case 8:
      return choose_lanes<std::uint64_t>(d, condition, a, b, n);
    default:
      return choose_lanes<ir::Complex<double>>(d, condition, a, b, n);
  }
}

void make_bools(std::byte* bytes, int n) {
  for (int i = 0; i < n; ++i) bytes[i] = bytes[i] != std::byte{0} ? std::byte{1} : std::byte{0};
}

}  // namespace arraycore::cpu
