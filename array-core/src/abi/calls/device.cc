#include "abi/calls/device.h"

#include <utility>

#include "abi/calls/functions.h"

namespace arraycore::calls {

namespace {

bool is_packed(const Array& array) {
  return array.view.offset % 4 == 0 && is_c_contiguous(array.view, size_of(array.dtype));
}

// Checks that the bytes [offset, offset + bytes) are inside the packed array. Returns the array.
Result<const Array*> piece_of(Context& context, ArrayId id, std::int64_t offset,
                              std::size_t bytes) {
  TRY(const auto& array, context.get(id));
  if (!is_packed(*array))
    return Error{ErrorKind::internal, "not_packed",
                 "An array whose elements do not lie in C order was moved in pieces."};
  const std::int64_t whole = array->view.count() * static_cast<std::int64_t>(size_of(array->dtype));
  if (offset < 0 || offset % 4 != 0 || offset > whole ||
      bytes > static_cast<std::uint64_t>(whole - offset))
    return Error{ErrorKind::internal, "bad_piece",
                 "A piece of an array was asked for that does not lie in it."};
  return array;
}

}  // namespace

Result<ArrayId> create_unset(Context& context, DType dtype, const Dims& shape) {
  TRY(auto& array, context.launcher().allocate(dtype, shape));
  return context.insert(std::move(array));
}

Result<ArrayId> packed(Context& context, ArrayId id) {
  TRY(const auto& array, context.get(id));
  if (is_packed(*array)) return id;
  TRY(auto& copy, context.launcher().copy(*array, array->dtype));
  return context.insert(std::move(copy));
}

Status upload(Context& context, ArrayId id, std::int64_t offset, std::span<const std::byte> bytes) {
  TRY(const auto& array, piece_of(context, id, offset, bytes.size()));
  TRY_DONE(context.launcher().prepare_write(*array));
  const Storage& storage = *array->storage;
  Span span(context.launcher().profile(), "upload");
  span.moved(static_cast<std::int64_t>(bytes.size()), 0);
  const Status sent = storage.backend().upload(storage.id(), array->view.offset + offset, bytes);
  if (sent) context.counters().bytes_up += static_cast<std::int64_t>(bytes.size());
  return sent;
}

Status download(Context& context, ArrayId id, std::int64_t offset, std::span<std::byte> bytes) {
  TRY(const auto& array, piece_of(context, id, offset, bytes.size()));
  TRY_DONE(context.launcher().prepare_read(*array));
  const Storage& storage = *array->storage;
  Span span(context.launcher().profile(), "read");
  span.moved(0, static_cast<std::int64_t>(bytes.size()));
  const Status read = storage.backend().download(storage.id(), array->view.offset + offset, bytes);
  if (storage.backend().is_device()) ++context.counters().sync_waits;
  if (read) context.counters().bytes_down += static_cast<std::int64_t>(bytes.size());
  return read;
}

Status timer_begin(Context& context) {
  TRY_DONE(context.launcher().flush());
  return context.launcher().raw_backend().begin_timer();
}

Status timer_end(Context& context) {
  TRY_DONE(context.launcher().flush());
  TRY(const auto& nanoseconds, context.launcher().raw_backend().end_timer());
  ++context.counters().sync_waits;
  context.counters().timer_nanoseconds = nanoseconds;
  return Done{};
}

Result<std::int32_t> fuse(Context& context, bool fusing) {
  const bool before = context.launcher().is_fusing();
  TRY_DONE(context.launcher().set_fusing(fusing));
  return before ? 1 : 0;
}

Status helped(Context& context) {
  if (context.launcher().raw_backend().is_device()) ++context.counters().cpu_ops;
  return Done{};
}

}  // namespace arraycore::calls
