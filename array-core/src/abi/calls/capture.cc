// Operations that record and play steps (runtime/capture/captures.h). Python's thread only.
#include <cstdint>
#include <vector>

#include "abi/calls/functions.h"

namespace arraycore::calls {

namespace {

constexpr std::int64_t kDifferenceWords = 7;

}  // namespace

std::vector<std::uint32_t> read_uint32s(Words& words) {
  std::vector<std::uint32_t> values;
  while (words.left() > 0) values.push_back(static_cast<std::uint32_t>(words.next()));
  return values;
}

std::vector<std::uint64_t> read_bits(Words& words) {
  std::vector<std::uint64_t> values;
  while (words.left() > 0) values.push_back(static_cast<std::uint64_t>(words.integer()));
  return values;
}

Status capture_abort(Context& context) {
  context.captures().abort();
  return Done{};
}

Result<std::int32_t> capture_position(Context& context) {
  const capture::Captures& captures = context.captures();
  return static_cast<std::int32_t>(captures.position() * 2 + (captures.is_refused() ? 1 : 0));
}

Result<std::int32_t> capture_compare(Context& context) {
  TRY(const auto& differences, context.captures().compare());
  std::vector<std::uint32_t> rows;
  for (const capture::Difference& each : differences) {
    rows.push_back(each.command);
    rows.push_back(each.argument);
    rows.push_back(each.dtype ? static_cast<std::uint32_t>(*each.dtype) : ~0U);
    for (const ir::Scalar& scalar : {each.before, each.after})
      for (const std::uint64_t bits : {scalar.bits, scalar.bits >> 32})
        rows.push_back(static_cast<std::uint32_t>(bits));
  }
  const auto count = static_cast<std::int64_t>(differences.size());
  return context.create(DType::uint32, {count, kDifferenceWords}, rows.data());
}

Status capture_close(Context& context, std::int32_t number) {
  context.captures().close(number);
  return Done{};
}

Result<std::int32_t> capture_about(Context& context, std::int32_t number, CaptureFact fact) {
  TRY(const auto& found, context.captures().get(number));
  const capture::Capture& capture = *found;
  switch (fact) {
    case CaptureFact::commands:
      return static_cast<std::int32_t>(capture.commands());
    case CaptureFact::values:
      return static_cast<std::int32_t>(capture.values());
    case CaptureFact::kib:
      return static_cast<std::int32_t>((capture.bytes() + 1023) / 1024);
    case CaptureFact::carried:
      return static_cast<std::int32_t>(capture.carried());
    case CaptureFact::interrupted:
      break;
  }
  return capture.is_interrupted() ? 1 : 0;
}

Result<std::int32_t> capture_keeps(Context& context, std::int32_t number, std::int32_t dtype,
                                   std::uint64_t bits) {
  TRY(const auto& found, context.captures().get(number));
  std::optional<DType> known;
  if (static_cast<std::size_t>(dtype) < kDTypes) known = static_cast<DType>(dtype);
  return found->keeps(known, bits) ? 1 : 0;
}

}  // namespace arraycore::calls
