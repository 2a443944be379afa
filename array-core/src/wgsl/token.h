// Splits a WGSL text into tokens, without comments. Only for the files of this folder.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace arraycore::wgsl {

struct Token {
  enum class Kind : std::uint8_t {
    identifier,  // includes keywords
    number,
    sign,  // one character; `>>` is two signs, because it may end two template lists
    end,   // the end of the text
  };
  Kind kind = Kind::end;
  std::uint32_t offset = 0;  // in bytes from the beginning of the text
  std::string_view text;

  bool is(std::string_view other) const { return text == other; }
};

// Returns the tokens; the last one is `end`. It never fails: an invalid character becomes a token
// of its own, which the device's compiler reports. `text` must outlive the tokens.
std::vector<Token> tokens_of(std::string_view text);

}  // namespace arraycore::wgsl
