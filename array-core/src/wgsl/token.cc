#include "wgsl/token.h"

namespace arraycore::wgsl {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
// WGSL's identifiers may have letters of any script, which are bytes from 0x80 on.
bool begins_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool in_word(char c) { return begins_word(c) || is_digit(c); }
bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0'; }

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    while (true) {
      skip();
      if (at_ == text_.size()) break;
      const std::size_t begin = at_;
      const char first = text_[at_];
      Token::Kind kind = Token::Kind::sign;
      if (begins_word(first)) {
        kind = Token::Kind::identifier;
        while (in_word(peek())) ++at_;
      } else if (is_digit(first) || (first == '.' && is_digit(peek(1)))) {
        kind = Token::Kind::number;
        number();
      } else {
        ++at_;
      }
      tokens.push_back({kind, static_cast<std::uint32_t>(begin), text_.substr(begin, at_ - begin)});
    }
    tokens.push_back({Token::Kind::end, static_cast<std::uint32_t>(text_.size()), {}});
    return tokens;
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : ' ';
  }
  bool sees(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  // Skips blanks and comments. Block comments nest.
  void skip() {
    while (at_ < text_.size()) {
      if (is_blank(text_[at_])) {
        ++at_;
      } else if (sees("//")) {
        while (at_ < text_.size() && !ends_line()) ++at_;
      } else if (sees("/*")) {
        skip_block();
      } else if (sees("\u0085") || sees("\u200E") || sees("\u200F") || sees("\u2028") ||
                 sees("\u2029")) {
        at_ += static_cast<unsigned char>(text_[at_]) < 0xE0 ? 2U : 3U;
      } else {
        return;
      }
    }
  }
  bool ends_line() const {
    return (text_[at_] >= '\n' && text_[at_] <= '\r') || sees("\u0085") || sees("\u2028") ||
           sees("\u2029");
  }
  void skip_block() {
    int depth = 0;
    do {
      if (sees("/*")) {
        ++depth;
        at_ += 2;
      } else if (sees("*/")) {
        --depth;
        at_ += 2;
      } else {
        ++at_;
      }
    } while (depth > 0 && at_ < text_.size());
  }

  // Reads a number, such as "12u", "0x1p-3f" or "1.5e+2". A sign belongs to it only after the
  // exponent's letter.
  void number() {
    const bool hexadecimal = sees("0x") || sees("0X");
    char last = ' ';
    while (in_word(peek()) || peek() == '.' ||
           ((peek() == '+' || peek() == '-') &&
            (hexadecimal ? last == 'p' || last == 'P' : last == 'e' || last == 'E')))
      last = text_[at_++];
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text) { return Tokenizer(text).run(); }

}  // namespace arraycore::wgsl
