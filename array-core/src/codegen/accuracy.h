// How far a GPU's result may lie from the reference's, in units in the last place: the bounds that
// the tests hold every operation to. Where a function runs through zero (lgamma, digamma, the
// complex functions' parts) the distance counts from `floor` on: results smaller than that may err
// by as much as `floor` itself would. Subnormal results may be zero anywhere.
#pragma once

#include <cstdint>

#include "ir/op_info.h"

namespace arraycore::codegen {

struct Accuracy {
  std::uint32_t ulp = 0;  // 0: the same bits (any NaN for NaN)
  double floor = 0;
};

Accuracy accuracy_of(ir::Op op, DType dtype);

}  // namespace arraycore::codegen
