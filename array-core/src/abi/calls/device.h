// Calls about the device itself, and arrays moved in pieces. Touched by Python's thread only.
//
// AC_CALL_TIMER_BEGIN: no words. Starts the device's clock with the next launch. Returns 0. Errors
// of both timer calls: not_implemented, "no_timer", on the CPU.
//
// AC_CALL_TIMER_END: no words. Waits for what was launched since. Then the counter
// AC_TIMER_NANOSECONDS is the time that the device took, or 0 where it has no clock. Returns 0.
//
// AC_CALL_FUSE: a flag. From now on, operations wait (1) or do not wait (0) to be launched with
// those that read them. Returns the old value.
//
// AC_CALL_PROFILE_BEGIN: no words. Begins to record launches, uploads and downloads. Returns 0.
// Errors: value, "profiled_already".
//
// AC_CALL_PROFILE_END: no words. Waits for what was launched. ac_profile_text() then returns the
// profile, also after an error of the device. Returns 0. Errors: value, "not_profiled".
//
// AC_CALL_FLUSH: no words. Launches everything that waits. Returns 0.
//
// AC_CALL_HELPED: no words. Counts an operation that the caller does on the CPU for a device.
// Returns 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "abi/calls/context.h"
#include "base/result.h"

namespace arraycore::calls {

// Returns a new C-ordered array whose elements are undefined until upload() has written them.
Result<ArrayId> create_unset(Context& context, DType dtype, const Dims& shape);
// Returns the array itself if its elements are in C order, as upload() and download() need it;
// otherwise a new copy.
Result<ArrayId> packed(Context& context, ArrayId id);
// Writes bytes [offset, offset + size) of a packed array's elements. `offset` is a multiple of 4.
// Errors of both functions: internal, "not_packed", "bad_piece".
Status upload(Context& context, ArrayId id, std::int64_t offset, std::span<const std::byte> bytes);
// Reads bytes of a packed array's elements, and waits for what computes them.
Status download(Context& context, ArrayId id, std::int64_t offset, std::span<std::byte> bytes);

}  // namespace arraycore::calls
