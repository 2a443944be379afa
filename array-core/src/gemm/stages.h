// What a product does to elements on their way in and out, without an array in between: elementwise
// kernels of the IR in stages of the templates, such as a bias and an activation of each sum, or a
// scale of each element of b. Pure; any thread.
#pragma once

#include <array>
#include <cstdint>

#include "ir/ir.h"

namespace arraycore::gemm {

inline constexpr int kStageOperands = 2;

// The kernel's parameters, elementwise and of the product's dtype, are the element, then up to
// kStageOperands operands, and last the result, which it stores. What it makes of 0 beyond b's edge
// is never asked: there stays 0.
struct Stage {
  const ir::Kernel* kernel = nullptr;  // null: nothing is done
  std::uint32_t number = 0;            // by which the back end knows the kernel

  int operands() const {
    return kernel == nullptr ? 0 : static_cast<int>(kernel->params.size()) - 2;
  }
};

// Where an operand's elements lie, from the beginning of its storage. Of sums it goes by row and
// column, beside a window by row alone; of b's elements by term or by column, through a window by
// their outer digits. `batch_stride` counts the batches' numbers.
struct OperandLayout {
  std::int64_t offset = 0;
  std::int64_t row_stride = 0;  // or of terms
  std::int64_t column_stride = 0;
  std::int64_t batch_stride = 0;
};

struct Stages {
  Stage prologue;  // b's elements
  Stage epilogue;  // the sums
  std::array<OperandLayout, kStageOperands> prologue_layouts;
  std::array<OperandLayout, kStageOperands> epilogue_layouts;

  bool any() const { return prologue.kernel != nullptr || epilogue.kernel != nullptr; }
};

}  // namespace arraycore::gemm
