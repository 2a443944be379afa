#include "abi/calls/device.h"

#include <utility>

#include "abi/calls/calls.h"
#include "arraycore/arraycore.h"

namespace arraycore::calls {

namespace {

Result<std::int32_t> begin_timer(Context& context, Words& words) {
  if (const Status end = words.end(); !end) return end.error();
  if (const Status flushed = context.launcher().flush(); !flushed) return flushed.error();
  const Status begun = context.launcher().raw_backend().begin_timer();
  if (!begun) return begun.error();
  return 0;
}

Result<std::int32_t> end_timer(Context& context, Words& words) {
  if (const Status end = words.end(); !end) return end.error();
  if (const Status flushed = context.launcher().flush(); !flushed) return flushed.error();
  const auto nanoseconds = context.launcher().raw_backend().end_timer();
  if (!nanoseconds) return nanoseconds.error();
  ++context.counters().sync_waits;
  context.counters().timer_nanoseconds = *nanoseconds;
  return 0;
}

Result<std::int32_t> fuse(Context& context, Words& words) {
  const bool fusing = words.flag();
  if (const Status end = words.end(); !end) return end.error();
  const bool before = context.launcher().is_fusing();
  const Status set = context.launcher().set_fusing(fusing);
  if (!set) return set.error();
  return before ? 1 : 0;
}

Result<std::int32_t> flush(Context& context, Words& words) {
  if (const Status end = words.end(); !end) return end.error();
  const Status flushed = context.launcher().flush();
  if (!flushed) return flushed.error();
  return 0;
}

Result<std::int32_t> helped(Context& context, Words& words) {
  if (const Status end = words.end(); !end) return end.error();
  if (context.launcher().raw_backend().is_device()) ++context.counters().cpu_ops;
  return 0;
}

Result<std::int32_t> begin_profile(Context& context, Words& words) {
  if (const Status end = words.end(); !end) return end.error();
  const Status begun = context.launcher().begin_profile();
  if (!begun) return begun.error();
  return 0;
}

Result<std::int32_t> end_profile(Context& context, Words& words) {
  if (const Status end = words.end(); !end) return end.error();
  const Status ended = context.launcher().end_profile(context.profile_text);
  if (!ended) return ended.error();
  return 0;
}

bool is_packed(const Array& array) {
  return array.view.offset % 4 == 0 && is_c_contiguous(array.view, size_of(array.dtype));
}

// Returns the array after a check that the piece is inside of it.
Result<const Array*> piece_of(Context& context, ArrayId id, std::int64_t offset,
                              std::size_t bytes) {
  const auto array = context.get(id);
  if (!array) return array;
  if (!is_packed(**array))
    return Error{ErrorKind::internal, "not_packed",
                 "An array whose elements do not lie in C order was moved in pieces."};
  const std::int64_t whole =
      (*array)->view.count() * static_cast<std::int64_t>(size_of((*array)->dtype));
  if (offset < 0 || offset % 4 != 0 || offset > whole ||
      bytes > static_cast<std::uint64_t>(whole - offset))
    return Error{ErrorKind::internal, "bad_piece",
                 "A piece of an array was asked for that does not lie in it."};
  return array;
}

}  // namespace

Result<ArrayId> create_unset(Context& context, DType dtype, const Dims& shape) {
  auto array = context.launcher().allocate(dtype, shape);
  if (!array) return array.error();
  return context.insert(std::move(*array));
}

Result<ArrayId> packed(Context& context, ArrayId id) {
  const auto array = context.get(id);
  if (!array) return array.error();
  if (is_packed(**array)) return id;
  auto copy = context.launcher().copy(**array, (*array)->dtype);
  if (!copy) return copy.error();
  return context.insert(std::move(*copy));
}

Status upload(Context& context, ArrayId id, std::int64_t offset, std::span<const std::byte> bytes) {
  const auto array = piece_of(context, id, offset, bytes.size());
  if (!array) return array.error();
  const Status may = context.launcher().prepare_write(**array);
  if (!may) return may;
  const Storage& storage = *(*array)->storage;
  Span span(context.launcher().profile(), "upload");
  span.moved(static_cast<std::int64_t>(bytes.size()), 0);
  const Status sent = storage.backend().upload(storage.id(), (*array)->view.offset + offset, bytes);
  if (sent) context.counters().bytes_up += static_cast<std::int64_t>(bytes.size());
  return sent;
}

Status download(Context& context, ArrayId id, std::int64_t offset, std::span<std::byte> bytes) {
  const auto array = piece_of(context, id, offset, bytes.size());
  if (!array) return array.error();
  const Status there = context.launcher().prepare_read(**array);
  if (!there) return there;
  const Storage& storage = *(*array)->storage;
  Span span(context.launcher().profile(), "read");
  span.moved(0, static_cast<std::int64_t>(bytes.size()));
  const Status read =
      storage.backend().download(storage.id(), (*array)->view.offset + offset, bytes);
  if (storage.backend().is_device()) ++context.counters().sync_waits;
  if (read) context.counters().bytes_down += static_cast<std::int64_t>(bytes.size());
  return read;
}

Call find_device_call(std::int32_t operation) {
  if (operation == AC_CALL_TIMER_BEGIN) return begin_timer;
  if (operation == AC_CALL_TIMER_END) return end_timer;
  if (operation == AC_CALL_FUSE) return fuse;
  if (operation == AC_CALL_HELPED) return helped;
  if (operation == AC_CALL_PROFILE_BEGIN) return begin_profile;
  if (operation == AC_CALL_PROFILE_END) return end_profile;
  return operation == AC_CALL_FLUSH ? flush : nullptr;
}

}  // namespace arraycore::calls
