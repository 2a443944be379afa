// Turns elementwise kernels into WGSL functions, which hand-written shaders call for each element.
// Pure; any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "ir/ir.h"

namespace arraycore::codegen {

// Returns `fn name(p0: f32, p1: f32, ...) -> f32`. Its parameters are those that the kernel reads,
// in order. It returns the value that the kernel stores to the kernel's last parameter. Error:
// not_implemented, "gpu_operation". REQUIRES: verify() passes; every parameter is an elementwise
// float32, and only the last one is written; the body does not return early.
Result<std::string> function_text(const ir::Kernel& kernel, const std::string& name);

// Returns the helper functions that the texts use. They read infinity and NaN from the variable
// `u`, which the code of begin_helpers() sets; this code must run before a helper is called.
// `infinity` and `nan` are run-time expressions of the bits of these values.
std::string helper_text(const std::string& texts);
std::string begin_helpers(const std::string& infinity, const std::string& nan);

}  // namespace arraycore::codegen
