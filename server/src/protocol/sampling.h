// Computes the points of random and Sobol studies (R60) from the study's seed and the trial's
// number. Python computes the same points, bit by bit (python/src/hyperflock/_model/sampling.py).
// So the code uses the basic operations, whose results IEEE 754 defines exactly, and no function of
// libm, which differs between systems. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "protocol/messages.h"

namespace hyperflock::protocol {

// The number of binary digits of a coordinate: as many as a double can hold.
inline constexpr std::size_t kUnitBits = 53;

// Returns coordinate `dimension` of random point `number`, from 0 to less than 1. REQUIRES: number
// >= 0 and 0 <= dimension < kMaxDimensions.
double random_unit(std::int64_t seed, std::int64_t number, std::size_t dimension);

// Returns a coordinate of point `number` of Sobol's sequence as a whole number below 2^kUnitBits.
// The points are in the order of the Gray code, as those of scipy.stats.qmc.Sobol.
std::uint64_t sobol_bits(std::int64_t number, std::size_t dimension);

// Returns the coordinate of sobol_bits(), scrambled by the seed as Owen (1995) describes, from 0 to
// less than 1.
double sobol_unit(std::int64_t seed, std::int64_t number, std::size_t dimension);

// Returns how many numbers a range contains; 0 for a continuous range. REQUIRES: a valid range.
std::int64_t range_count(const ValueRange& range);

// Appends the number at position `unit` of a range, where 0 <= unit < 1, as JSON text.
void append_in_range(std::string& out, const ValueRange& range, double unit);

// Returns point `number` as JSON text. REQUIRES: `kind` is random or sobol, and the space is valid.
std::string sampled_point(StudyKind kind, std::int64_t seed, const std::vector<Dimension>& space,
                          std::int64_t number);

// The natural logarithm of a positive number and the exponential function. Their errors are a few
// units in the last place.
double portable_log(double x);
double portable_exp(double x);

}  // namespace hyperflock::protocol
