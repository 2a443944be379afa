// Checks a variant before its first use. Some phones' drivers compile some tiles wrongly. So each
// variant runs once on the device, on small integers whose sums are exact in any order. Pure; any
// thread.
#pragma once

#include <vector>

#include "gemm/stages.h"
#include "gemm/variant.h"

namespace arraycore::gemm {

struct SelfTest {
  Problem problem;
  Choice choice;
  Stages stages;                             // the requested ones, with layouts for the operands
  std::vector<std::vector<float>> operands;  // the prologue's, then the epilogue's
  std::vector<float> a;
  std::vector<float> b;
  std::vector<float> want;  // the expected content of the result's memory

  // Compares the result exactly. If the product has a prologue or an epilogue, it allows a small
  // error, because their functions may round.
  bool accepts(const std::vector<float>& got) const;
};

// Returns a problem for the variant, with a full tile and a part of a tile along every axis.
SelfTest self_test(const Variant& variant, const Stages& stages = {});

}  // namespace arraycore::gemm
