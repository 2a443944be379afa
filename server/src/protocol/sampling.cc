// See sampling.h.
#include "protocol/sampling.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "protocol/json/json_writer.h"
#include "protocol/schema/limits.h"
#include "protocol/schema/sobol_table.h"

namespace hyperflock::protocol {
namespace {

// Random studies and Sobol studies hash the study's seed with different keys. So their random
// numbers are independent of each other and of the seeds of trials.
constexpr std::uint64_t kRandomKey = 1;
constexpr std::uint64_t kSobolKey = 2;
constexpr std::uint64_t kGamma = 0x9e3779b97f4a7c15U;
constexpr double kUnit = 1.0 / static_cast<double>(std::uint64_t{1} << kUnitBits);
// ln 2 in two parts. The first has trailing zeros, so its product with a small integer is exact.
constexpr double kLn2High = 0x1.62e42fee00000p-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

using Directions = std::array<std::uint64_t, kUnitBits>;

// Returns output `counter` of SplitMix64 (Steele, Lea and Flood, 2014) with the state `key`.
std::uint64_t split_mix(std::uint64_t key, std::uint64_t counter) {
  std::uint64_t z = key + kGamma * (counter + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

// Returns the direction numbers of each dimension: `v[i]` belongs to bit `i` of the Gray code. The
// recurrence is that of Bratley and Fox, "Algorithm 659" (1988).
std::array<Directions, kMaxDimensions> make_directions() {
  std::array<Directions, kMaxDimensions> out{};
  const auto bit = [](std::size_t i) { return std::uint64_t{1} << (kUnitBits - 1 - i); };
  for (std::size_t i = 0; i < kUnitBits; ++i) out[0][i] = bit(i);
  for (std::size_t d = 1; d < kMaxDimensions; ++d) {
    const SobolDimension& row = kSobolDimensions[d - 1];
    const auto degree = static_cast<std::size_t>(std::bit_width(row.polynomial) - 1);
    Directions& v = out[d];
    for (std::size_t i = 0; i < degree; ++i) v[i] = row.initial[i] * bit(i);
    for (std::size_t i = degree; i < kUnitBits; ++i) {
      v[i] = v[i - degree] ^ (v[i - degree] >> degree);
      for (std::size_t k = 1; k < degree; ++k)
        if (((row.polynomial >> (degree - k)) & 1) != 0) v[i] ^= v[i - k];
    }
  }
  return out;
}

double between(double low, double high, double value) {
  return std::min(high, std::max(low, value));
}

// Returns which of `count` equal parts of [0, 1) contains `unit`; 0 is the first part.
std::int64_t index_of(double unit, std::int64_t count) {
  return std::min(static_cast<std::int64_t>(unit * static_cast<double>(count)), count - 1);
}

// Returns the number at fraction `unit` between low and high on a logarithmic scale.
double log_uniform(double low, double high, double unit) {
  const double from = portable_log(low);
  return portable_exp(from + unit * (portable_log(high) - from));
}

}  // namespace

double random_unit(std::int64_t seed, std::int64_t number, std::size_t dimension) {
  const std::uint64_t key = split_mix(static_cast<std::uint64_t>(seed), kRandomKey);
  const std::uint64_t counter = static_cast<std::uint64_t>(number) * kMaxDimensions + dimension;
  return static_cast<double>(split_mix(key, counter) >> (64 - kUnitBits)) * kUnit;
}

std::uint64_t sobol_bits(std::int64_t number, std::size_t dimension) {
  static const std::array<Directions, kMaxDimensions> directions = make_directions();
  const auto index = static_cast<std::uint64_t>(number);
  std::uint64_t gray = index ^ (index >> 1);
  std::uint64_t out = 0;
  for (std::size_t i = 0; gray != 0; ++i, gray >>= 1)
    if ((gray & 1) != 0) out ^= directions[dimension][i];
  return out;
}

double sobol_unit(std::int64_t seed, std::int64_t number, std::size_t dimension) {
  const std::uint64_t bits = sobol_bits(number, dimension);
  const std::uint64_t key =
      split_mix(split_mix(static_cast<std::uint64_t>(seed), kSobolKey), dimension);
  // Each digit is flipped by a random bit that depends on the digits before it. `node` is these
  // digits with a 1 in front, so it differs for each prefix.
  std::uint64_t node = 1;
  std::uint64_t out = 0;
  for (std::size_t i = kUnitBits; i-- > 0;) {
    const std::uint64_t digit = (bits >> i) & 1;
    out = (out << 1) | (digit ^ (split_mix(key, node) >> 63));
    node = (node << 1) | digit;
  }
  return static_cast<double>(out) * kUnit;
}

std::int64_t range_count(const ValueRange& range) {
  if (range.log || (!range.integer && !range.step)) return 0;
  return static_cast<std::int64_t>((range.high - range.low) / range.step.value_or(1) + 0.5) + 1;
}

void append_in_range(std::string& out, const ValueRange& range, double unit) {
  const std::int64_t count = range_count(range);
  if (range.integer && range.log) {
    // Each integer covers the part of the logarithmic scale that rounds to it, as in Optuna.
    const double value = std::floor(log_uniform(range.low - 0.5, range.high + 0.5, unit) + 0.5);
    append_integer(out, static_cast<std::int64_t>(between(range.low, range.high, value)));
  } else if (range.integer) {
    const auto step = static_cast<std::int64_t>(range.step.value_or(1));
    append_integer(out, static_cast<std::int64_t>(range.low) + index_of(unit, count) * step);
  } else if (range.log) {
    append_float(out, between(range.low, range.high, log_uniform(range.low, range.high, unit)));
  } else if (range.step) {
    const std::int64_t index = index_of(unit, count);
    const double value = range.low + static_cast<double>(index) * *range.step;
    append_float(out, index == count - 1 ? range.high : between(range.low, range.high, value));
  } else {
    append_float(out, between(range.low, range.high, range.low + unit * (range.high - range.low)));
  }
}

std::string sampled_point(StudyKind kind, std::int64_t seed, const std::vector<Dimension>& space,
                          std::int64_t number) {
  std::string out = "{";
  for (std::size_t i = 0; i < space.size(); ++i) {
    const Dimension& dimension = space[i];
    if (i > 0) out += ',';
    out += dimension.name_json;
    out += ':';
    const double unit =
        kind == StudyKind::sobol ? sobol_unit(seed, number, i) : random_unit(seed, number, i);
    const auto& values = dimension.values_json;
    if (dimension.range) {
      append_in_range(out, *dimension.range, unit);
    } else {
      const std::int64_t index = index_of(unit, static_cast<std::int64_t>(values.size()));
      out += values[static_cast<std::size_t>(index)];
    }
  }
  return out += '}';
}

double portable_log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // 0.5 <= m < 1
  if (m < 0.7071067811865476) {
    m = m * 2;
    --exponent;
  }
  // ln m = 2 artanh((m - 1) / (m + 1)) = 2 artanh(s), as a series in z = s^2 <= 0.0295.
  const double s = (m - 1) / (m + 1);
  const double z = s * s;
  double sum = 0;
  for (int k = 25; k >= 1; k -= 2) sum = sum * z + 1.0 / k;
  return exponent * kLn2High + (2 * s * sum + exponent * kLn2Low);
}

double portable_exp(double x) {
  const double k = std::floor(x / (kLn2High + kLn2Low) + 0.5);
  const double r = (x - k * kLn2High) - k * kLn2Low;  // at most 0.35
  double sum = 1;
  for (int i = 17; i >= 1; --i) sum = 1 + sum * r / i;
  // Scales in two steps, because the power of two alone may be beyond the largest double.
  return std::ldexp(sum, static_cast<int>(k) - 1) * 2;
}

}  // namespace hyperflock::protocol
