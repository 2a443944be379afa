#include "abi/calls/capture.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "arraycore/arraycore.h"

namespace arraycore::calls {

namespace {

using capture::Captures;
using capture::Difference;

constexpr std::int64_t kDifferenceWords = 7;

Result<std::int32_t> zero(const Status& status) {
  if (!status) return status.error();
  return 0;
}

Result<std::int32_t> begin(Context& context, Words& words) {
  if (const Status end = words.end(); !end) return end.error();
  return zero(context.captures().begin());
}

Result<std::int32_t> end(Context& context, Words& words) {
  if (const Status end = words.end(); !end) return end.error();
  return zero(context.captures().end());
}

Result<std::int32_t> abort(Context& context, Words& words) {
  if (const Status end = words.end(); !end) return end.error();
  context.captures().abort();
  return 0;
}

Result<std::int32_t> position(Context& context, Words& words) {
  if (const Status end = words.end(); !end) return end.error();
  const Captures& captures = context.captures();
  return static_cast<std::int32_t>(captures.position() * 2 + (captures.is_refused() ? 1 : 0));
}

Result<std::int32_t> compare(Context& context, Words& words) {
  if (const Status end = words.end(); !end) return end.error();
  const auto differences = context.captures().compare();
  if (!differences) return differences.error();
  std::vector<std::uint32_t> told;
  for (const Difference& each : *differences) {
    told.push_back(each.command);
    told.push_back(each.argument);
    told.push_back(each.dtype ? static_cast<std::uint32_t>(*each.dtype) : ~0U);
    for (const ir::Scalar& scalar : {each.before, each.after})
      for (const std::uint64_t bits : {scalar.bits, scalar.bits >> 32})
        told.push_back(static_cast<std::uint32_t>(bits));
  }
  const auto count = static_cast<std::int64_t>(differences->size());
  return context.create(DType::uint32, {count, kDifferenceWords}, told.data());
}

Result<std::int32_t> blame(Context& context, Words& words) {
  if (const Status end = words.end(); !end) return end.error();
  return static_cast<std::int32_t>(context.captures().blame());
}

Result<std::int32_t> build(Context& context, Words& words) {
  std::vector<std::uint32_t> values;
  while (words.left() > 0) values.push_back(static_cast<std::uint32_t>(words.next()));
  if (const Status end = words.end(); !end) return end.error();
  return context.captures().build(values);
}

Result<std::int32_t> play(Context& context, Words& words) {
  const std::int32_t number = words.next();
  std::vector<std::uint64_t> values;
  while (words.left() > 0) values.push_back(static_cast<std::uint64_t>(words.integer()));
  if (const Status end = words.end(); !end) return end.error();
  return zero(context.captures().play(number, values));
}

Result<std::int32_t> resume(Context& context, Words& words) {
  const std::int32_t number = words.next();
  if (const Status end = words.end(); !end) return end.error();
  return zero(context.captures().resume(number));
}

Result<std::int32_t> close(Context& context, Words& words) {
  const std::int32_t number = words.next();
  if (const Status end = words.end(); !end) return end.error();
  context.captures().close(number);
  return 0;
}

Result<std::int32_t> about(Context& context, Words& words) {
  const std::int32_t number = words.next();
  const std::int32_t what = words.below(5);
  if (const Status end = words.end(); !end) return end.error();
  const auto found = context.captures().get(number);
  if (!found) return found.error();
  const capture::Capture& capture = **found;
  if (what == 0) return static_cast<std::int32_t>(capture.commands());
  if (what == 1) return static_cast<std::int32_t>(capture.values());
  if (what == 2) return static_cast<std::int32_t>((capture.bytes() + 1023) / 1024);
  if (what == 3) return static_cast<std::int32_t>(capture.carried());
  return capture.is_interrupted() ? 1 : 0;
}

Result<std::int32_t> keeps(Context& context, Words& words) {
  const std::int32_t number = words.next();
  const auto dtype = static_cast<std::size_t>(words.below(kDTypes + 1));
  const auto bits = static_cast<std::uint64_t>(words.integer());
  if (const Status end = words.end(); !end) return end.error();
  const auto found = context.captures().get(number);
  if (!found) return found.error();
  const auto known =
      dtype < kDTypes ? std::optional(static_cast<DType>(dtype)) : std::optional<DType>();
  return (*found)->keeps(known, bits) ? 1 : 0;
}

Result<std::int32_t> origin(Context& context, Words& words) {
  const auto array = context.get(static_cast<ArrayId>(words.next()));
  if (const Status end = words.end(); !end) return end.error();
  if (!array) return array.error();
  return context.captures().origin(*(*array)->storage);
}

}  // namespace

Call find_capture_call(std::int32_t operation) {
  switch (operation) {
    case AC_CALL_CAPTURE_BEGIN:
      return begin;
    case AC_CALL_CAPTURE_END:
      return end;
    case AC_CALL_CAPTURE_ABORT:
      return abort;
    case AC_CALL_CAPTURE_POSITION:
      return position;
    case AC_CALL_CAPTURE_COMPARE:
      return compare;
    case AC_CALL_CAPTURE_BLAME:
      return blame;
    case AC_CALL_CAPTURE_BUILD:
      return build;
    case AC_CALL_CAPTURE_PLAY:
      return play;
    case AC_CALL_CAPTURE_RESUME:
      return resume;
    case AC_CALL_CAPTURE_CLOSE:
      return close;
    case AC_CALL_CAPTURE_ABOUT:
      return about;
    case AC_CALL_CAPTURE_KEEPS:
      return keeps;
    case AC_CALL_CAPTURE_ORIGIN:
      return origin;
    default:
      return nullptr;
  }
}

}  // namespace arraycore::calls
