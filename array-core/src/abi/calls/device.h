// Calls about the device itself, and arrays moved in pieces. Touched by Python's thread only.
//
// AC_CALL_TIMER_BEGIN: no words. The device's clock starts with the next launch. Gives 0.
// AC_CALL_TIMER_END: no words. Waits for what was launched since; the counter
// AC_TIMER_NANOSECONDS then tells how long the device took, 0 where it has no clock. Gives 0.
// Errors: not_implemented, "no_timer", on the CPU.
// AC_CALL_FUSE: a flag, whether operations wait to be launched with those that read them from now
// on. Gives whether they did before.
// AC_CALL_PROFILE_BEGIN: no words. What is launched, uploaded and read is noted from now on. Gives
// 0. Errors: value, "profiled_already". AC_CALL_PROFILE_END: no words. Waits for what was launched;
// ac_profile_text() then tells all, also after an error of the device. Gives 0. Errors: value,
// "not_profiled". AC_CALL_FLUSH: no words. Launches all that waits. Gives 0. AC_CALL_HELPED: no
// words. Counts an operation that the caller does on the CPU for a device. Gives 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "abi/calls/context.h"
#include "base/result.h"

namespace arraycore::calls {

// A new C-ordered array whose elements are undefined until upload() has written them.
Result<ArrayId> create_unset(Context& context, DType dtype, const Dims& shape);
// The array itself where its elements lie in C order as upload() and download() want them, else a
// new copy.
Result<ArrayId> packed(Context& context, ArrayId id);
// Bytes [offset, offset + size) of a packed array's elements. `offset` is a multiple of 4.
// Errors: internal, "not_packed", "bad_piece".
Status upload(Context& context, ArrayId id, std::int64_t offset, std::span<const std::byte> bytes);
// Waits for all that the bytes depend on.
Status download(Context& context, ArrayId id, std::int64_t offset, std::span<std::byte> bytes);

}  // namespace arraycore::calls
