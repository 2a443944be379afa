// Kernels that fill an array with random numbers, by the counter-based generator Philox4x32-10
// (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", 2011). An element
// depends only on the key, the counter and the element's position. So a device keeps no state, the
// order of computation does not matter, and every back end gives the same 32-bit words. Pure; any
// thread.
#pragma once

#include <cstdint>

#include "dtype/dtype.h"
#include "ir/ir.h"

namespace arraycore::ops {

// The distributions, numbered as in AC_CALL_RANDOM. `a` and `b` are a kernel's two parameters.
// The floating ones give float32 or float64, the others integers (and bool where 0 and 1 are
// drawn). U is uniform in [0, 1): 24 bits of one word for float32, 53 bits of two words for
// float64.
enum class Distribution : std::uint8_t {
  bits,         // the words themselves; uint32
  uniform,      // a + b U
  normal,       // a + b Z, with Z by Box and Muller (1958): |Z| < 6.8 for float32, 8.7 for float64
  exponential,  // b E, where E = -log(V) and V is uniform in (0, 1], with full precision near 0
  lognormal,    // exp(a + b Z)
  gumbel,       // a - b log(E)
  laplace,      // a + b E or a - b E
  gamma,        // b G, with G by Marsaglia and Tsang (2000); its shape is from an array
  poisson,  // the means are from an array; below 12 by waiting times, else Hoermann's PTRS (1993)
  // a + an integer below b, 0 < b <= 2^32. The probability of an integer has an absolute error of
  // at most 2^-64, and a relative error of at most 2^-32.
  integers,
  // The same as `integers` for any b > 0 of 64 bits; b = 0 stands for 2^64. It has no bias, except
  // for the share 2^-64 of the elements whose 64 draws are all refused: they take a remainder.
  integers_wide,
  bernoulli,  // 1 with probability a 2^-32, where 0 <= a <= 2^32
  binomial,   // the number of ones in b draws, each with probability a 2^-32
};
inline constexpr int kDistributions = 13;

// Returns whether a kernel exists for this distribution and dtype.
bool draws(Distribution distribution, DType dtype);

// Returns the type of `a` and `b`: the dtype of a floating distribution, otherwise uint64.
DType parameter_of(Distribution distribution, DType dtype);

// Returns whether the kernel has one more parameter: an array of the result's dtype that broadcasts
// to the result.
bool takes_array(Distribution distribution);

// Returns how many elements one iteration of the loop fills. Iteration i fills the elements from i
// times this number on.
int elements_per_turn(Distribution distribution, DType dtype);

// Makes the kernel. Its parameters are the key's two words, the counter's four (uint32 scalars;
// iteration i adds i to the first, a further attempt adds 1 to the last), a, b, and the result,
// which is raw. If the kernel takes an array, the array comes before the result, and both are
// elementwise. REQUIRES: draws(distribution, dtype).
ir::Kernel random_kernel(Distribution distribution, DType dtype);

}  // namespace arraycore::ops
