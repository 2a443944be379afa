// Checks a parser: it either refuses a text with an error code and a sentence, or accepts it. The
// check then serializes the parsed message, which must be parsed as the same message again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/codec.h"
#include "require.h"

namespace hyperflock::fuzz {

template <typename Parse, typename Write>
void check_text(const std::uint8_t* data, std::size_t size, Parse parse, Write write) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto first = parse(text);
  if (!first.has_value()) {
    require(!first.error().code.empty() && !first.error().message.empty(),
            "error without a code or a sentence", first.error().field);
    return;
  }
  const std::string written = write(*first);
  const auto second = parse(written);
  require(second.has_value(), "what was written is not read", written);
  // The messages are compared as texts, because NaN is not equal to itself.
  require(write(*second) == written, "what was written is read as something else", written);
}

}  // namespace hyperflock::fuzz
