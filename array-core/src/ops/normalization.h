// The kernels of batch normalization: the statistics in one pass, the normalization that is fused
// with other kernels, the two sums of its gradient, and the gradient itself. Pure; any thread.
//
// A row is all elements of a channel. Statistics are combined as (count, mean, sum of squared
// distances), so that a large mean does not cancel: T. F. Chan, G. H. Golub, R. J. LeVeque,
// "Algorithms for Computing the Sample Variance: Analysis and Recommendations", The American
// Statistician 37 (1983). Sums are float64 if some operand is, otherwise float32.
#pragma once

#include <optional>

#include "dtype/dtype.h"
#include "ir/ir.h"

namespace arraycore::ops {

struct NormalizationTypes {
  DType data = DType::float32;        // of the data and their gradients
  DType parameter = DType::float32;   // of gamma and beta, and of their gradients
  DType statistics = DType::float32;  // of mean and inv_std
};

// Returns the dtype in which values are computed.
DType computed_in(const NormalizationTypes& types);

// Makes a reduction. Parameters: x, eps, mean, and inv_std = 1 / sqrt(variance + eps); the last two
// are written. If `running` is given, the scalars kept, fresh and fresh_unbiased follow, and then
// running_mean and running_var of the dtype `running`. These become old * kept + mean * fresh and
// old * kept + variance * fresh_unbiased. Scalars have the computed dtype.
ir::Kernel make_moments_kernel(const NormalizationTypes& types, std::optional<DType> running);

// Makes an elementwise kernel. Parameters: x, mean, inv_std, gamma, beta, y = gamma * (x - mean) *
// inv_std + beta.
ir::Kernel make_normalize_kernel(const NormalizationTypes& types);

// Makes a reduction. Parameters: gy, x, mean, inv_std, gbeta = sum of gy, ggamma = sum of gy *
// x_hat, where x_hat = (x - mean) * inv_std.
ir::Kernel make_norm_sums_kernel(const NormalizationTypes& types);

// Makes the gradient's kernel. Parameters: gy, x, mean, inv_std, gamma, ggamma, gbeta, share (1 /
// the number of elements in a row), gx = gamma * inv_std * (gy - (x_hat * ggamma + gbeta) * share).
ir::Kernel make_norm_gradient_kernel(const NormalizationTypes& types);

}  // namespace arraycore::ops
