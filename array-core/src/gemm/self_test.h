// The start-up check of a variant: drivers of phones are known to compile some tiles wrongly, so
// each variant is run once on a device, on small integers whose sums are exact in any order. Pure;
// any thread.
#pragma once

#include <vector>

#include "gemm/stages.h"
#include "gemm/variant.h"

namespace arraycore::gemm {

struct SelfTest {
  Problem problem;
  Choice choice;
  Stages stages;                             // those asked for, with places for the operands
  std::vector<std::vector<float>> operands;  // the prologue's, then the epilogue's
  std::vector<float> a;
  std::vector<float> b;
  std::vector<float> want;  // in the result's memory

  // Exactly, or with stages, whose functions may round, nearly.
  bool accepts(const std::vector<float>& got) const;
};

// A problem that the variant takes, with a whole tile and a part of one along every axis.
SelfTest self_test(const Variant& variant, const Stages& stages = {});

}  // namespace arraycore::gemm
