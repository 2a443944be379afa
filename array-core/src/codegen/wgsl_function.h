// Elementwise kernels as functions for shaders that are written by hand, which call them for each
// element. Pure; any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "ir/ir.h"

namespace arraycore::codegen {

// `fn name(p0: f32, p1: f32, ...) -> f32`: the kernel's read parameters in their order, the value
// stored to its last one. Error: not_implemented, "gpu_operation". REQUIRES: verify() passes; every
// parameter is an elementwise float32, the last one alone is written; nothing is left early.
Result<std::string> function_text(const ir::Kernel& kernel, const std::string& name);

// The helper functions that texts use; `infinity` and `nan` are expressions of their bits at run
// time, which begin_helpers() is to store before the first call.
std::string helper_text(const std::string& texts);
std::string begin_helpers(const std::string& infinity, const std::string& nan);

}  // namespace arraycore::codegen
