// The prologue and the epilogue of a product: elementwise kernels of the IR that run inside of it,
// so that no array is stored in between. The prologue changes the elements of b (for example by a
// scale), the epilogue changes the sums (for example by a bias and an activation). Pure; any
// thread.
#pragma once

#include <array>
#include <cstdint>

#include "ir/ir.h"

namespace arraycore::gemm {

inline constexpr int kStageOperands = 2;

// A prologue or an epilogue. The kernel's parameters are elementwise and have the product's dtype:
// the element, then up to kStageOperands operands, and last the result, which it stores. Elements
// outside the data of b stay 0, even if the kernel would change a 0.
struct Stage {
  const ir::Kernel* kernel = nullptr;  // null: there is none
  std::uint32_t number = 0;            // the back end's number of the kernel

  int operands() const {
    return kernel == nullptr ? 0 : static_cast<int>(kernel->params.size()) - 2;
  }
};

// The layout of an operand, from the beginning of its storage. An epilogue's operand is indexed by
// row and column; with a window, by row only. A prologue's operand is indexed by the term of the
// sum or by the column. With a window (window.h), that index is split into digits, and only the
// outer digit indexes the operand. `batch_stride` is the step per element of the batch.
struct OperandLayout {
  std::int64_t offset = 0;
  std::int64_t row_stride = 0;  // for a prologue, the stride of terms
  std::int64_t column_stride = 0;
  std::int64_t batch_stride = 0;
};

struct Stages {
  Stage prologue;  // changes b's elements
  Stage epilogue;  // changes the sums
  std::array<OperandLayout, kStageOperands> prologue_layouts;
  std::array<OperandLayout, kStageOperands> epilogue_layouts;

  bool any() const { return prologue.kernel != nullptr || epilogue.kernel != nullptr; }
};

}  // namespace arraycore::gemm
