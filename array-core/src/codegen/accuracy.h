// Bounds of the errors of a GPU's results, compared with the reference interpreter, in units in the
// last place.
// Tests check every operation against these bounds. Some functions pass through zero (lgamma,
// digamma, the parts of complex functions). There, results smaller than `floor` may have the error
// that `floor` itself would have. Subnormal results may be zero anywhere.
#pragma once

#include <cstdint>

#include "ir/op_info.h"

namespace arraycore::codegen {

struct Accuracy {
  std::uint32_t ulp = 0;  // 0: the same bits (NaN equals any NaN)
  double floor = 0;
};

Accuracy accuracy_of(ir::Op op, DType dtype);

}  // namespace arraycore::codegen
