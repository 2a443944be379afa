// Kernels that fill an array with random numbers, by the counter-based generator Philox4x32-10
// (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", 2011). What an
// element becomes depends on the key, the counter and the element's place alone: so there is no
// state on a device, the order of computing does not count, and the 32-bit words are the same on
// every back end. Pure; any thread.
#pragma once

#include <cstdint>

#include "dtype/dtype.h"
#include "ir/ir.h"

namespace arraycore::ops {

// What is drawn, by the numbers of AC_CALL_RANDOM. `a` and `b` are a kernel's two parameters. The
// floating ones take float32 or float64, the others integers (boolean too where 0 and 1 are drawn).
// U is uniform in [0, 1): 24 bits of one word for float32, 53 bits of two for float64.
enum class Distribution : std::uint8_t {
  bits,           // the words themselves; uint32
  uniform,        // a + b U
  normal,         // a + b Z, Z by Box and Muller (1958): |Z| < 6.8 for float32, 8.7 for float64
  exponential,    // b E, E = -log(1 - U) with U's first bits at full precision
  lognormal,      // exp(a + b Z)
  gumbel,         // a - b log(E)
  laplace,        // a + b E or a - b E
  gamma,          // b G, G by Marsaglia and Tsang (2000), its shape from an array
  poisson,        // of the means in an array: waits below 12, else Hoermann's PTRS (1993)
  integers,       // a + an integer below b, 0 < b <= 2^32. An integer's probability is off by 2^-64
                  // at most: 2^-32 of itself
  integers_wide,  // the same for any b > 0 of 64 bits, and b = 0 for all 2^64: no bias, but for the
                  // 2^-64 of elements whose 64 draws were all refused, which take a remainder
  bernoulli,      // 1 with probability a 2^-32, 0 <= a <= 2^32
  binomial,       // how many of b draws gave 1, each with probability a 2^-32
};
inline constexpr int kDistributions = 13;

// Whether there is such a kernel.
bool draws(Distribution distribution, DType dtype);

// The type of `a` and `b`: the dtype itself of a floating distribution, else uint64.
DType parameter_of(Distribution distribution, DType dtype);

// Whether it has one more parameter: an array that broadcasts to the result, of its dtype.
bool takes_array(Distribution distribution);

// How many elements one turn of the loop fills: turn i those from i * this on.
int elements_per_turn(Distribution distribution, DType dtype);

// Parameters, in order: the key's two words, the counter's four (uint32 scalars; turn i adds i to
// the first, a further attempt 1 to the last), a, b, and the result, raw; where an array is taken,
// that array and the result, both elementwise.
// REQUIRES: draws(distribution, dtype).
ir::Kernel random_kernel(Distribution distribution, DType dtype);

}  // namespace arraycore::ops
