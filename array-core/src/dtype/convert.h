// Converts one value from one dtype to another. This defines `astype`, the IR's `convert` and every
// cast loop. Pure, constexpr, any thread.
//
//   to bool             x != 0. NaN is true. A complex number is true if either part is not 0.
//   integer to integer  keeps the low bits (two's complement wraps), as NumPy and C++20 do
//   float to integer    rounds towards zero, as NumPy does. For NaN and values that do not fit,
//   NumPy
//                       gives what the processor gives, which differs between x86, Arm, WebAssembly
//                       and WGSL. Here NaN gives 0, and a value that does not fit gives the nearest
//                       integer that does. So every back end gives the same bits.
//   to floating         rounds to nearest, ties to even. Beyond the range it gives infinity.
//   complex to real     drops the imaginary part, as NumPy does (which also warns)
//   real to complex     sets the imaginary part to +0
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "dtype/dtype.h"
#include "dtype/half.h"

namespace arraycore {

template <std::floating_point F>
struct Complex {
  F real;
  F imag;
  bool operator==(const Complex&) const = default;
};

namespace convert_detail {
template <DType D>
struct StorageOf;
// clang-format off
template <> struct StorageOf<DType::boolean> { using type = std::uint8_t; };
template <> struct StorageOf<DType::int8> { using type = std::int8_t; };
template <> struct StorageOf<DType::uint8> { using type = std::uint8_t; };
template <> struct StorageOf<DType::int16> { using type = std::int16_t; };
template <> struct StorageOf<DType::uint16> { using type = std::uint16_t; };
template <> struct StorageOf<DType::int32> { using type = std::int32_t; };
template <> struct StorageOf<DType::uint32> { using type = std::uint32_t; };
template <> struct StorageOf<DType::int64> { using type = std::int64_t; };
template <> struct StorageOf<DType::uint64> { using type = std::uint64_t; };
template <> struct StorageOf<DType::float16> { using type = std::uint16_t; };
template <> struct StorageOf<DType::float32> { using type = float; };
template <> struct StorageOf<DType::float64> { using type = double; };
template <> struct StorageOf<DType::complex64> { using type = Complex<float>; };
template <> struct StorageOf<DType::complex128> { using type = Complex<double>; };
// clang-format on
}  // namespace convert_detail

// The type of one element in memory. A half is its 16 bits; a bool is one byte, true when it is not
// 0.
template <DType D>
using Storage = typename convert_detail::StorageOf<D>::type;

template <std::integral I, std::floating_point F>
constexpr I saturate(F value) {
  // Both are powers of two (or 0), so the floating type holds them exactly.
  constexpr F kLowest = static_cast<F>(std::numeric_limits<I>::min());
  constexpr F kBeyond = F{2} * static_cast<F>(I{1} << (std::numeric_limits<I>::digits - 1));
  // Converts through 32 bits where that suffices, because vector units convert to those.
  using Wide = std::conditional_t<(sizeof(I) < 4), std::int32_t, I>;
  const bool fits = value >= kLowest && value < kBeyond;
  const I inside = static_cast<I>(static_cast<Wide>(fits ? value : F{0}));
  const I above = value >= kBeyond ? std::numeric_limits<I>::max() : inside;
  return value < kLowest ? std::numeric_limits<I>::min() : above;
}

template <DType kFrom, DType kTo>
constexpr Storage<kTo> convert(Storage<kFrom> value) {
  if constexpr (is_complex(kFrom)) {
    constexpr DType kPart = kFrom == DType::complex64 ? DType::float32 : DType::float64;
    if constexpr (kTo == DType::boolean) {
      return value.real != 0 || value.imag != 0;
    } else if constexpr (is_complex(kTo)) {
      using Part = decltype(Storage<kTo>::real);
      return {static_cast<Part>(value.real), static_cast<Part>(value.imag)};
    } else {
      return convert<kPart, kTo>(value.real);
    }
  } else if constexpr (is_complex(kTo)) {
    constexpr DType kPart = kTo == DType::complex64 ? DType::float32 : DType::float64;
    return {convert<kFrom, kPart>(value), 0};
  } else if constexpr (kFrom == DType::boolean && kTo != DType::boolean) {
    return convert<DType::uint8, kTo>(value != 0);
  } else if constexpr (kFrom == kTo && kTo != DType::boolean) {
    return value;
  } else if constexpr (kTo == DType::boolean) {
    if constexpr (kFrom == DType::float16) return (value & 0x7fff) != 0;
    return value != 0;
  } else if constexpr (kFrom == DType::float16) {
    if constexpr (kTo == DType::float64) return from_half<double>(value);
    return convert<DType::float32, kTo>(from_half<float>(value));
  } else if constexpr (kTo == DType::float16) {
    if constexpr (is_floating(kFrom)) return to_half(value);
    // float32 rounds values above 2^24 only, and those are infinite as halves.
    return to_half(static_cast<float>(value));
  } else if constexpr (is_floating(kFrom) && is_integer(kTo)) {
    return saturate<Storage<kTo>>(value);
  } else {
    return static_cast<Storage<kTo>>(value);
  }
}

}  // namespace arraycore
