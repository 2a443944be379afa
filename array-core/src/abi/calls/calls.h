// The operations of ac_call, one function each, by their numbers in include/arraycore/arraycore.h.
// Each reads its words, checks them (words.end()) and then works. Touched by Python's thread only.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "abi/calls/context.h"
#include "abi/calls/words.h"
#include "base/result.h"

namespace arraycore::calls {

// Returns an array's id, or another number that the operation defines.
using Call = Result<std::int32_t> (*)(Context& context, Words& words);

// Returns nullptr where there is no such operation.
Call find(std::int32_t operation);

// Gives several new arrays to Python: returns the first one's id, and keeps the others as further
// results (AC_CALL_KERNEL_RESULT). Error: memory, "too_many_arrays"; then none of them is kept.
Result<std::int32_t> give_all(Context& context, std::span<Array> arrays);

// Each file has one of these. It returns nullptr where the number is not one of its operations.
Call find_ufunc_call(std::int32_t operation);
Call find_copy_call(std::int32_t operation);
Call find_view_call(std::int32_t operation);
Call find_kernel_call(std::int32_t operation);
Call find_device_call(std::int32_t operation);
Call find_linear_call(std::int32_t operation);
Call find_convolution_call(std::int32_t operation);
Call find_normalization_call(std::int32_t operation);
Call find_pooling_call(std::int32_t operation);
Call find_loss_call(std::int32_t operation);
Call find_indexing_call(std::int32_t operation);
Call find_random_call(std::int32_t operation);
Call find_sorting_call(std::int32_t operation);
Call find_reduction_call(std::int32_t operation);
Call find_capture_call(std::int32_t operation);

// Implements ac_kernel: returns the kernel's number.
Result<std::int32_t> make_kernel(Context& context, std::int32_t kind, std::string_view texts);

}  // namespace arraycore::calls
