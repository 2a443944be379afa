// Makes the kernels that users write. Python's thread only.
#pragma once

#include <cstdint>
#include <string_view>

#include "abi/calls/context.h"
#include "base/result.h"

namespace arraycore::calls {

// Implements ac_kernel: makes a kernel from its texts and returns its number. The same texts give
// the same number. The order of the texts is
//   AC_KERNEL_ELEMENTWISE: name, in_params, out_params, operation, preamble, loop_prep, after_loop
//   AC_KERNEL_REDUCTION: name, in_params, out_params, map_expr, reduce_expr, post_map_expr,
//     identity, reduce_type, preamble
//   AC_KERNEL_RAW: name (of the entry point), code
//   AC_KERNEL_PROGRAM: name, the kernel's representation as ir/read.h describes it. It is called as
//     an elementwise kernel or, if it has a reduction, as a reduction
Result<std::int32_t> make_kernel(Context& context, std::int32_t kind, std::string_view texts);

}  // namespace arraycore::calls
