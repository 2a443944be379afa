#include "dialect/token.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

namespace arraycore::dialect {
namespace {

// The dialect's punctuation, the longest signs first.
constexpr std::array<std::string_view, 46> kPunctuation{
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=",
    "&&",  "||",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^=", "::", "##",
    "+",   "-",   "*",   "/",  "%",  "&",  "|",  "^",  "~",  "!",  "<",  ">",
    "=",   "?",   ":",   ";",  ",",  ".",  "(",  ")",  "[",  "]"};
constexpr std::string_view kBraces = "{}#";

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool in_name(char c) { return starts_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Splits a text into tokens in one pass. Comments and line continuations count as space.
class Scanner {
 public:
  Scanner(Sources& sources, std::uint32_t text)
      : sources_(sources), text_(sources.text(text)), index_(text) {}

  std::vector<Token> run() {
    while (skip_space(), at_ < text_.size() && !sources_.failed()) {
      Token token;
      token.where = {index_, static_cast<std::uint32_t>(at_)};
      token.starts_line = line_start_;
      token.after_space = spaced_;
      line_start_ = spaced_ = false;
      const char c = text_[at_];
      if (starts_name(c))
        name(token);
      else if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1])))
        number(token);
      else
        punctuation(token);
      if (tokens_.size() >= kMaxTokens) sources_.fail(token.where, "the text is too long");
      tokens_.push_back(token);
    }
    return std::move(tokens_);
  }

 private:
  bool looking_at(std::string_view s) const { return text_.substr(at_, s.size()) == s; }

  void skip_space() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        line_start_ = spaced_ = true;
        ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
        spaced_ = true;
        ++at_;
      } else if (looking_at("\\\n")) {
        spaced_ = true;
        at_ += 2;
      } else if (looking_at("\\\r\n")) {
        spaced_ = true;
        at_ += 3;
      } else if (looking_at("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (looking_at("/*")) {
        const std::size_t close = text_.find("*/", at_ + 2);
        if (close == std::string_view::npos) {
          sources_.fail({index_, static_cast<std::uint32_t>(at_)}, "this comment is never closed");
          at_ = text_.size();
          return;
        }
        spaced_ = true;
        at_ = close + 2;
      } else {
        return;
      }
    }
  }

  void name(Token& token) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && in_name(text_[at_])) ++at_;
    token.kind = TokenKind::name;
    token.text = text_.substr(begin, at_ - begin);
  }

  void number(Token& token) {
    const std::size_t begin = at_;
    const bool hex = looking_at("0x") || looking_at("0X");
    bool floating = false;
    if (hex) {
      at_ += 2;
      while (at_ < text_.size() && std::isxdigit(static_cast<unsigned char>(text_[at_])) != 0)
        ++at_;
    } else {
      while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
      if (at_ < text_.size() && text_[at_] == '.') {
        floating = true;
        ++at_;
        while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
      }
      if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
        std::size_t digits = at_ + 1;
        if (digits < text_.size() && (text_[digits] == '+' || text_[digits] == '-')) ++digits;
        if (digits < text_.size() && is_digit(text_[digits])) {
          floating = true;
          at_ = digits;
          while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
        }
      }
    }
    const std::string digits(text_.substr(begin, at_ - begin));
    token.text = text_.substr(begin, at_ - begin);
    while (at_ < text_.size() && in_name(text_[at_])) suffix(token, text_[at_++], floating);
    if (floating) {
      token.kind = TokenKind::floating;
      token.floating = token.is_float ? static_cast<double>(std::strtof(digits.c_str(), nullptr))
                                      : std::strtod(digits.c_str(), nullptr);
      return;
    }
    token.kind = TokenKind::integer;
    integer(token, digits, hex);
  }

  void suffix(Token& token, char c, bool floating) {
    if ((c == 'f' || c == 'F') && floating && !token.is_float)
      token.is_float = true;
    else if (c == 'l' || c == 'L')
      token.is_long = true;
    else if ((c == 'u' || c == 'U') && !floating && !token.is_unsigned)
      token.is_unsigned = true;
    else
      sources_.fail(token.where, "this number has an unknown suffix");
  }

  void integer(Token& token, const std::string& digits, bool hex) {
    const bool octal = !hex && digits.size() > 1 && digits[0] == '0';
    const unsigned base = hex ? 16 : octal ? 8 : 10;
    const std::string_view body = std::string_view(digits).substr(hex ? 2 : 0);
    if (body.empty()) return sources_.fail(token.where, "a hexadecimal number needs digits");
    std::uint64_t value = 0;
    for (const char c : body) {
      const auto digit = static_cast<unsigned>(
          is_digit(c) ? c - '0' : std::tolower(static_cast<unsigned char>(c)) - 'a' + 10);
      if (digit >= base) return sources_.fail(token.where, "an octal number has digits 0 to 7");
      if (value > (~std::uint64_t{0} - digit) / base)
        return sources_.fail(token.where, "this number does not fit in 64 bits");
      value = value * base + digit;
    }
    token.integer = value;
  }

  void punctuation(Token& token) {
    token.kind = TokenKind::punctuation;
    for (const std::string_view p : kPunctuation) {
      if (!looking_at(p)) continue;
      token.text = text_.substr(at_, p.size());
      at_ += p.size();
      return;
    }
    if (kBraces.find(text_[at_]) == std::string_view::npos) {
      const bool quote = text_[at_] == '"' || text_[at_] == '\'';
      sources_.fail(token.where, quote ? "texts and characters are not part of the dialect"
                                       : "this character is not part of the dialect");
    }
    token.text = text_.substr(at_, 1);
    ++at_;
  }

  Sources& sources_;
  std::string_view text_;
  std::uint32_t index_;
  std::size_t at_ = 0;
  bool line_start_ = true;
  bool spaced_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

Tokenizer::Tokens Tokenizer::scan(std::uint32_t text) {
  if (sources_.text(text).size() > kMaxTextBytes) {
    sources_.fail({text, 0}, "the text is longer than 256 KiB");
    return {};
  }
  return Scanner(sources_, text).run();
}

bool Tokenizer::skipping() const {
  return std::find(conditions_.begin(), conditions_.end(), false) != conditions_.end();
}

std::vector<Token> Tokenizer::run(std::uint32_t text) {
  const Tokens raw = scan(text);
  Tokens out;
  Tokens plain;  // the tokens between two directives
  std::unordered_set<std::string_view> active;
  std::size_t at = 0;
  while (at < raw.size() && !sources_.failed()) {
    if (!(raw[at].starts_line && raw[at].is("#"))) {
      if (!skipping()) plain.push_back(raw[at]);
      ++at;
      continue;
    }
    expand(plain, out, active, 0);
    plain.clear();
    Tokens line{raw[at++]};
    while (at < raw.size() && !raw[at].starts_line) line.push_back(raw[at++]);
    directive(line);
  }
  expand(plain, out, active, 0);
  const Where end{text, static_cast<std::uint32_t>(sources_.text(text).size())};
  if (!conditions_.empty()) sources_.fail(end, "an #ifdef is never closed");
  conditions_.clear();
  Token last;
  last.where = end;
  out.push_back(last);
  return out;
}

void Tokenizer::directive(const Tokens& line) {
  if (line.size() < 2) return;  // a lone '#' does nothing
  const std::string_view word = line[1].text;
  if (word == "ifdef" || word == "ifndef") {
    if (line.size() != 3 || line[2].kind != TokenKind::name)
      return sources_.fail(line[1].where, "#ifdef takes one name");
    conditions_.push_back((macros_.count(line[2].text) != 0) == (word == "ifdef"));
  } else if (word == "else") {
    if (conditions_.empty()) return sources_.fail(line[1].where, "#else without #ifdef");
    conditions_.back() = !conditions_.back();
  } else if (word == "endif") {
    if (conditions_.empty()) return sources_.fail(line[1].where, "#endif without #ifdef");
    conditions_.pop_back();
  } else if (skipping() || word == "pragma" || word == "include") {
    // An #include needs no work, because everything that CUDA's and CuPy's headers declare is built
    // in.
  } else if (word == "define") {
    define(line);
  } else if (word == "undef" && line.size() == 3) {
    macros_.erase(line[2].text);
  } else {
    sources_.fail(line[1].where, "this directive is not part of the dialect");
  }
}

void Tokenizer::define(const Tokens& line) {
  if (line.size() < 3 || line[2].kind != TokenKind::name)
    return sources_.fail(line[1].where, "#define needs a name");
  Macro macro;
  std::size_t at = 3;
  if (at < line.size() && line[at].is("(") && !line[at].after_space) {
    macro.has_arguments = true;
    ++at;
    while (at < line.size() && !line[at].is(")")) {
      if (line[at].kind != TokenKind::name)
        return sources_.fail(line[at].where, "an argument of a macro is a name");
      macro.arguments.push_back(line[at++].text);
      if (at < line.size() && line[at].is(",")) ++at;
    }
    if (at == line.size())
      return sources_.fail(line[2].where, "')' is missing after the arguments");
    ++at;
  }
  for (; at < line.size(); ++at) {
    if (line[at].is("#") || line[at].is("##"))
      return sources_.fail(line[at].where, "# and ## in macros are not part of the dialect");
    macro.body.push_back(line[at]);
  }
  macros_[line[2].text] = std::move(macro);
}

void Tokenizer::expand(const Tokens& tokens, Tokens& out,
                       std::unordered_set<std::string_view>& active, int depth) {
  for (std::size_t at = 0; at < tokens.size() && !sources_.failed(); ++at) {
    const Token& token = tokens[at];
    const auto found = token.kind == TokenKind::name ? macros_.find(token.text) : macros_.end();
    const bool use =
        found != macros_.end() && active.count(token.text) == 0 &&
        (!found->second.has_arguments || (at + 1 < tokens.size() && tokens[at + 1].is("(")));
    if (!use) {
      if (++produced_ > kMaxTokens)
        return sources_.fail(token.where, "the macros expand to too long a text");
      out.push_back(token);
      continue;
    }
    if (++produced_ > kMaxTokens)
      return sources_.fail(token.where, "the macros expand to too long a text");
    if (depth >= kMaxMacroDepth)
      return sources_.fail(token.where, "macros are nested too deeply here");
    const Macro& macro = found->second;
    std::vector<Tokens> arguments;
    if (macro.has_arguments) {
      int open = 0;
      arguments.emplace_back();
      std::size_t end = at + 1;
      for (; end < tokens.size(); ++end) {
        const Token& t = tokens[end];
        if (t.is("(") && open++ == 0) continue;
        if (t.is(")") && --open == 0) break;
        if (t.is(",") && open == 1)
          arguments.emplace_back();
        else
          arguments.back().push_back(t);
      }
      if (end == tokens.size())
        return sources_.fail(token.where, "')' is missing after this macro's arguments");
      if (macro.arguments.empty() && arguments.size() == 1 && arguments[0].empty())
        arguments.clear();
      if (arguments.size() != macro.arguments.size())
        return sources_.fail(token.where,
                             "this macro takes " + std::to_string(macro.arguments.size()) +
                                 " arguments, not " + std::to_string(arguments.size()));
      at = end;
    }
    Tokens body;
    for (const Token& part : macro.body) {
      const auto argument = std::find(macro.arguments.begin(), macro.arguments.end(), part.text);
      if (part.kind == TokenKind::name && argument != macro.arguments.end()) {
        expand(arguments[static_cast<std::size_t>(argument - macro.arguments.begin())], body,
               active, depth + 1);
      } else {
        body.push_back(part);
        body.back().where = token.where;
      }
    }
    active.insert(token.text);
    expand(body, out, active, depth + 1);
    active.erase(token.text);
  }
}

}  // namespace arraycore::dialect
