#include "wgsl/declarations.h"

#include <limits>
#include <string>
#include <utility>

namespace arraycore::wgsl {
namespace {

class Reader {
 public:
  Reader(Tokens tokens, dialect::Sources& sources) : tokens_(tokens), sources_(sources) {}

  Declarations run() {
    while (!sources_.failed() && !at_end()) {
      const Attributes attributes = read_attributes();
      const Token& keyword = take();
      if (keyword.is("var")) {
        variable(attributes);
      } else if (keyword.is("fn")) {
        found_.functions.push_back({take(), find(attributes, "compute") != nullptr});
        skip_to("{");
        block();
      } else if (keyword.is("struct")) {
        structure();
      } else if (keyword.is("alias")) {
        const Token name = take();
        skip_to("=");
        found_.aliases[name.text] = until(";");
      } else if (keyword.is("const")) {
        const Token name = take();
        skip_to("=");
        found_.constants[name.text] = until(";");
      } else if (!keyword.is(";")) {
        until(";");
      }
    }
    return std::move(found_);
  }

 private:
  bool at_end() const { return tokens_[at_].kind == Token::Kind::end; }
  const Token& peek() const { return tokens_[at_]; }
  const Token& take() { return at_end() ? tokens_[at_] : tokens_[at_++]; }
  void fail(const Token& where, std::string_view why) { refuse(sources_, where, why); }

  static std::string_view closing(const Token& token) {
    if (token.kind != Token::Kind::sign) return {};
    if (token.is("(")) return ")";
    if (token.is("[")) return "]";
    if (token.is("{")) return "}";
    return {};
  }

  // Takes the tokens up to and including the next `end` that is outside of brackets.
  Tokens until(std::string_view end) {
    const std::size_t begin = at_;
    std::vector<std::string_view> open;
    for (; !at_end(); ++at_) {
      const Token& token = peek();
      if (open.empty() && token.is(end)) return tokens_.subspan(begin, at_++ - begin);
      if (const std::string_view close = closing(token); !close.empty()) {
        open.push_back(close);
      } else if (token.is(")") || token.is("]") || token.is("}")) {
        if (open.empty() || open.back() != token.text) break;
        open.pop_back();
      }
    }
    fail(peek(), "'" + std::string(end) + "' is missing before this");
    return {};
  }
  void skip_to(std::string_view end) { until(end); }
  void block() { until("}"); }

  Attributes read_attributes() {
    Attributes attributes;
    while (peek().is("@")) {
      take();
      Attribute attribute{take(), {}};
      if (peek().is("(")) {
        take();
        attribute.arguments = until(")");
        if (!attribute.arguments.empty() && attribute.arguments.back().is(","))
          attribute.arguments = attribute.arguments.first(attribute.arguments.size() - 1);
      }
      attributes.push_back(attribute);
    }
    return attributes;
  }

  void variable(const Attributes& attributes) {
    Variable variable;
    variable.attributes = attributes;
    if (peek().is("<")) {
      take();
      variable.space = until(">");
    }
    variable.name = take();
    if (peek().is(":")) {
      take();
      variable.type = until(";");
    } else {
      until(";");
    }
    found_.variables.push_back(std::move(variable));
  }

  void structure() {
    const Token name = take();
    skip_to("{");
    std::vector<Member>& members = found_.structures[name.text];
    while (!sources_.failed() && !peek().is("}") && !at_end()) {
      Member member;
      member.attributes = read_attributes();
      member.name = take();
      skip_to(":");
      const std::size_t begin = at_;
      int depth = 0;
      for (; !at_end() && !(depth == 0 && (peek().is(",") || peek().is("}"))); ++at_)
        depth += peek().is("<") || peek().is("(") ? 1 : peek().is(">") || peek().is(")") ? -1 : 0;
      member.type = tokens_.subspan(begin, at_ - begin);
      if (peek().is(",")) take();
      members.push_back(std::move(member));
    }
    if (at_end()) fail(peek(), "'}' is missing before this");
    take();
  }

  Tokens tokens_;
  dialect::Sources& sources_;
  std::size_t at_ = 0;
  Declarations found_;
};

}  // namespace

const Attribute* find(const Attributes& attributes, std::string_view name) {
  for (const Attribute& attribute : attributes)
    if (attribute.name.is(name)) return &attribute;
  return nullptr;
}

Declarations read_declarations(Tokens tokens, dialect::Sources& sources) {
  return Reader(tokens, sources).run();
}

std::optional<std::uint32_t> integer_of(Tokens tokens, const Declarations& declarations) {
  // A constant may name another constant. The limit ends the search if constants name each other in
  // a cycle.
  for (int depth = 0; depth < 8 && tokens.size() == 1; ++depth) {
    std::string_view text = tokens[0].text;
    if (tokens[0].kind == Token::Kind::identifier) {
      const auto constant = declarations.constants.find(text);
      if (constant == declarations.constants.end()) return std::nullopt;
      tokens = constant->second;
      continue;
    }
    if (tokens[0].kind != Token::Kind::number) return std::nullopt;
    const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    if (hexadecimal) text.remove_prefix(2);
    if (text.ends_with('u') || text.ends_with('i')) text.remove_suffix(1);
    std::uint64_t value = 0;
    for (const char c : text) {
      const int digit = c >= '0' && c <= '9'                  ? c - '0'
                        : hexadecimal && c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : hexadecimal && c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                              : -1;
      if (digit < 0) return std::nullopt;
      value = value * (hexadecimal ? 16 : 10) + static_cast<std::uint64_t>(digit);
      if (value > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
    }
    if (text.empty()) return std::nullopt;
    return static_cast<std::uint32_t>(value);
  }
  return std::nullopt;
}

}  // namespace arraycore::wgsl
