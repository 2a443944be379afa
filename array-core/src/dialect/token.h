// Splits a text of the dialect into tokens, with macros expanded.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "dialect/source.h"

namespace arraycore::dialect {

// The largest accepted text. A kernel is about a page of code. The limit bounds how far later steps
// recurse and how much they copy.
inline constexpr std::size_t kMaxTextBytes = 256 * 1024;
inline constexpr std::size_t kMaxTokens = 64 * 1024;  // after macros
inline constexpr int kMaxMacroDepth = 32;

enum class TokenKind : std::uint8_t { end, name, integer, floating, punctuation };

struct Token {
  TokenKind kind = TokenKind::end;
  Where where;
  std::string_view text;  // of a name or of punctuation: "x", "<<="
  std::uint64_t integer = 0;
  double floating = 0;
  bool is_unsigned = false;  // suffix u
  bool is_long = false;      // suffix l: makes an integer 64 bits wide, and has no effect on floats
  bool is_float = false;     // suffix f
  bool starts_line = false;  // it is the first on its line, where '#' begins a directive
  bool after_space = false;  // "#define F (x)" has no arguments, "#define F(x)" has

  bool is(std::string_view s) const {
    return (kind == TokenKind::punctuation || kind == TokenKind::name) && text == s;
  }
};

// Returns whether the token is a name that is among `words`.
template <std::size_t N>
bool among(const std::array<std::string_view, N>& words, const Token& token) {
  return token.kind == TokenKind::name &&
         std::find(words.begin(), words.end(), token.text) != words.end();
}

// Reads several texts in turn. A macro that one text defines is known in the texts after it.
class Tokenizer {
 public:
  explicit Tokenizer(Sources& sources) : sources_(sources) {}

  // Returns the tokens of one text; the last one is `end`. After an error Sources::failed() is
  // true, and the result has the tokens up to the error.
  std::vector<Token> run(std::uint32_t text);

 private:
  struct Macro {
    bool has_arguments = false;
    std::vector<std::string_view> arguments;
    std::vector<Token> body;
  };
  using Tokens = std::vector<Token>;

  Tokens scan(std::uint32_t text);
  void directive(const Tokens& line);
  void define(const Tokens& line);
  // Appends `tokens` to `out`. Names in `active` are not expanded, because a macro does not expand
  // in itself. Errors are reported at `at`, the place of use.
  void expand(const Tokens& tokens, Tokens& out, std::unordered_set<std::string_view>& active,
              int depth);
  bool skipping() const;

  Sources& sources_;
  std::unordered_map<std::string_view, Macro> macros_;
  std::vector<bool> conditions_;  // one for each open #ifdef
  std::size_t produced_ = 0;
};

}  // namespace arraycore::dialect
