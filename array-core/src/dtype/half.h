// IEEE half precision by integer arithmetic, because WebAssembly has no half type. The functions
// have no branches, so that compilers vectorise loops over them. Any thread may call them. They
// round to nearest, ties to even; subnormals are exact.
//
// As in NumPy, NaN keeps its sign and the top ten bits of its payload, and stays signalling if it
// was. A payload without any of those bits becomes 1, so that NaN never turns into infinity.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

namespace arraycore {

namespace half_detail {
inline constexpr int kMantissa = 10;
inline constexpr int kBias = 15;

template <std::floating_point F>
struct Format;
template <>
struct Format<float> {
  using Bits = std::uint32_t;
  static constexpr int kMantissa = 23;
  static constexpr int kBias = 127;
};
template <>
struct Format<double> {
  using Bits = std::uint64_t;
  static constexpr int kMantissa = 52;
  static constexpr int kBias = 1023;
};
}  // namespace half_detail

// Converts from half. The result is exact, because every half is also a float and a double.
template <std::floating_point F>
constexpr F from_half(std::uint16_t half) {
  using Format = half_detail::Format<F>;
  using Bits = typename Format::Bits;
  constexpr int kShift = Format::kMantissa - half_detail::kMantissa;
  constexpr Bits kRebias = Bits{Format::kBias - half_detail::kBias} << Format::kMantissa;
  constexpr F kUnit = std::bit_cast<F>(Bits{Format::kBias - 24} << Format::kMantissa);  // 2^-24
  const Bits magnitude = static_cast<Bits>(half & 0x7fff);
  const Bits sign = static_cast<Bits>(half & 0x8000) << (sizeof(F) * 8 - 16);
  // For the top exponent (infinity and NaN) the difference of the biases is added once more.
  const Bits special = magnitude >= 0x7c00 ? kRebias : 0;
  const Bits normal = (magnitude << kShift) + kRebias + special;
  const Bits subnormal =
      std::bit_cast<Bits>(static_cast<F>(static_cast<std::int32_t>(magnitude & 0x3ff)) * kUnit);
  return std::bit_cast<F>((magnitude < 0x0400 ? subnormal : normal) | sign);
}

// Converts to half. It rounds only once, both from float and from double.
template <std::floating_point F>
constexpr std::uint16_t to_half(F value) {
  using Format = half_detail::Format<F>;
  using Bits = typename Format::Bits;
  constexpr int kShift = Format::kMantissa - half_detail::kMantissa;
  constexpr Bits kRebias = Bits{Format::kBias - half_detail::kBias} << Format::kMantissa;
  constexpr Bits kSmallestNormal = Bits{Format::kBias - 14} << Format::kMantissa;  // 2^-14
  constexpr Bits kTooLarge = Bits{Format::kBias + 16} << Format::kMantissa;        // 2^16
  constexpr Bits kInfinity = Bits{2 * Format::kBias + 1} << Format::kMantissa;
  // The last mantissa bit of this number is 2^-24, which is the unit of half's subnormals. So
  // adding the number rounds to that unit.
  constexpr Bits kUnitBits = Bits{Format::kBias + Format::kMantissa - 24} << Format::kMantissa;
  constexpr F kUnit = std::bit_cast<F>(kUnitBits);

  const Bits bits = std::bit_cast<Bits>(value);
  const Bits magnitude = bits & ~(Bits{1} << (sizeof(F) * 8 - 1));
  const Bits sign = (bits >> (sizeof(F) * 8 - 16)) & 0x8000;
  const Bits odd = (magnitude >> kShift) & 1;
  // A carry out of the mantissa raises the exponent, up to infinity, as IEEE's encoding intends.
  const Bits normal = (magnitude - kRebias + ((Bits{1} << (kShift - 1)) - 1) + odd) >> kShift;
  const Bits subnormal = std::bit_cast<Bits>(std::bit_cast<F>(magnitude) + kUnit) - kUnitBits;
  const Bits payload = (magnitude >> kShift) & 0x3ff;
  const Bits nan = 0x7c00 | payload | (payload == 0 ? 1 : 0);
  Bits half = magnitude < kSmallestNormal ? subnormal : normal;
  half = magnitude >= kTooLarge ? Bits{0x7c00} : half;
  half = magnitude > kInfinity ? nan : half;
  return static_cast<std::uint16_t>(half | sign);
}

}  // namespace arraycore
