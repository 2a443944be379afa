// Kernels of users: CuPy's elementwise and reduction texts, and WGSL. An object a kernel that
// Python made; what is compiled for the types of a call is kept. Touched by Python's thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "api/launcher.h"
#include "base/result.h"

namespace arraycore {

class UserKernels {
 public:
  explicit UserKernels(Launcher& launcher);
  ~UserKernels();

  Launcher& launcher() { return launcher_; }

 private:
  Launcher& launcher_;
};

}  // namespace arraycore
