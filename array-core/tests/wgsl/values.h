// The values with which operations are tested: special values of each type, then ordinary ones.
// There are no subnormal floats, because GPUs may read them as zero.
#pragma once

#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "ir/scalar.h"

namespace arraycore::wgsl_cases {

template <typename T>
std::vector<T> values_of(int ordinary) {
  std::mt19937_64 random(42);
  std::vector<T> values;
  if constexpr (ir::kIsBool<T>) {
    return {false, true};
  } else if constexpr (ir::kIsComplex<T>) {
    using R = typename T::Real;
    for (const R re : {R(0), R(1), R(-1), R(2.5), R(-0.75)})
      for (const R im : {R(0), R(1), R(-3), R(0.5)}) values.push_back({re, im});
    for (int i = 0; i < ordinary; ++i)
      values.push_back({static_cast<R>(static_cast<int>(random() % 2001) - 1000) / 250,
                        static_cast<R>(static_cast<int>(random() % 2001) - 1000) / 250});
  } else if constexpr (ir::kIsInteger<T>) {
    constexpr T kMin = std::numeric_limits<T>::min();
    constexpr T kMax = std::numeric_limits<T>::max();
    for (const std::int64_t x : {0, 1, 2, 3, 7, 8, 31, 32, 33, 63, 64, 100, -1, -2, -7, -33})
      values.push_back(static_cast<T>(x));
    for (const T x : {kMin, kMax}) values.push_back(x);
    for (const T step : {T{1}, T{2}})
      for (const T x : {kMin, kMax})
        values.push_back(static_cast<T>(x == kMin ? x + step : x - step));
    values.push_back(static_cast<T>(kMax / 2));
    for (int i = 0; i < ordinary; ++i) {
      const std::uint64_t bits = random();
      values.push_back(static_cast<T>(bits >> (random() % 64)));
    }
  } else if constexpr (ir::kIsHalf<T>) {
    for (const float x : values_of<float>(ordinary)) values.push_back(T{x});
    for (const int bits : {0x0001, 0x03ff, 0x8200, 0x0400, 0x7bff}) {
      T half;
      half.bits = static_cast<std::uint16_t>(bits);
      values.push_back(half);
    }
  } else {
    constexpr T kInf = std::numeric_limits<T>::infinity();
    constexpr T kPi = T(3.14159265358979323846);
    values = {0,
              -T{0},
              1,
              -1,
              2,
              -2,
              T(0.5),
              T(-0.5),
              T(1.5),
              T(2.5),
              T(-2.5),
              3,
              10,
              100,
              -100,
              kInf,
              -kInf,
              std::numeric_limits<T>::quiet_NaN(),
              std::numeric_limits<T>::max(),
              std::numeric_limits<T>::lowest(),
              std::numeric_limits<T>::min(),
              -std::numeric_limits<T>::min(),
              std::numeric_limits<T>::epsilon(),
              T(1e-10),
              T(1e10),
              T(3e9),
              T(-3e9),
              T(1e20),
              T(16777216),
              T(0.9999999),
              T(1.0000001),
              kPi,
              kPi / 2,
              -kPi,
              2 * kPi,
              kPi / 4,
              T(22),
              T(355),
              T(1e5),
              T(1e6),
              T(88.7),
              T(-87.3),
              T(127.9),
              T(1.4142135),
              T(0.7071067),
              T(0.84375),
              T(1.25),
              T(-0.99),
              T(65504),
              T(65520),
              T(1e-7)};
    for (int i = 0; i < ordinary; ++i) {
      const double unit = static_cast<double>(random() >> 11) / 9007199254740992.0;
      switch (i % 4) {
        case 0:
          values.push_back(static_cast<T>(unit * 2 - 1));
          break;
        case 1:
          values.push_back(static_cast<T>(unit * 20 - 10));
          break;
        case 2:
          values.push_back(static_cast<T>(unit * 400 - 200));
          break;
        default:
          values.push_back(
              static_cast<T>((random() % 2 == 0 ? 1 : -1) * std::exp((unit * 2 - 1) * 60)));
      }
    }
  }
  return values;
}

}  // namespace arraycore::wgsl_cases
