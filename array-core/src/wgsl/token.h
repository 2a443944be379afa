// The words of a WGSL text, without comments. For this folder's own files.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace arraycore::wgsl {

struct Token {
  enum class Kind : std::uint8_t {
    identifier,  // keywords too
    number,
    sign,  // one character; `>>` is two, so that template lists nest
    end,   // after the last
  };
  Kind kind = Kind::end;
  std::uint32_t offset = 0;  // byte of the text
  std::string_view text;

  bool is(std::string_view other) const { return text == other; }
};

// The last token is the end's. Never fails: what no WGSL text has becomes signs, which the device's
// compiler then names. `text` outlives the tokens.
std::vector<Token> tokens_of(std::string_view text);

}  // namespace arraycore::wgsl
