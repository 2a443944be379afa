// See arrays.h.
#include "storage/postgres/arrays.h"

#include <algorithm>

namespace hyperflock::storage::postgres {
namespace {

// Returns the length of the valid UTF-8 sequence at the beginning of the text; 0: there is none.
std::size_t sequence_at(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto follows = [&](std::size_t i, unsigned from = 0x80, unsigned to = 0xbf) {
    return byte(i) >= from && byte(i) <= to;
  };
  const unsigned first = byte(0);
  if (first == 0) return 0;
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return follows(1) ? 2 : 0;
  if (first < 0xf0) {  // not a surrogate, and not too long
    return follows(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf) && follows(2) ? 3
                                                                                              : 0;
  }
  if (first > 0xf4) return 0;
  return follows(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf) && follows(2) &&
                 follows(3)
             ? 4
             : 0;
}

}  // namespace

std::optional<std::string> storable(std::string_view text) {
  // Most texts are plain.
  if (std::ranges::all_of(text, [](char c) { return static_cast<signed char>(c) > 0; }))
    return std::nullopt;
  std::string out;
  bool differs = false;
  while (!text.empty()) {
    const std::size_t length = sequence_at(text);
    if (length == 0) {
      out += "\xef\xbf\xbd";
      differs = true;
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  if (!differs) return std::nullopt;
  return out;
}

}  // namespace hyperflock::storage::postgres
