#include "codegen/glsl/translate.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace arraycore::codegen::glsl {
namespace {

// Names that helper functions use and that GLSL reserves. They get an underscore.
constexpr std::array<std::string_view, 9> kReserved{
    "active", "common", "filter", "half", "input", "output", "sample", "resource", "smooth"};

struct Token {
  std::string space;  // the white space before it
  std::string text;   // a name, a number, or one character
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::vector<Token> tokens_of(const std::string& text) {
  std::vector<Token> tokens;
  std::size_t at = 0;
  while (at < text.size()) {
    Token token;
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n')) token.space += text[at++];
    if (at == text.size()) {
      tokens.push_back(std::move(token));
      break;
    }
    const std::size_t begin = at++;
    const bool number = is_digit(text[begin]);
    const bool hex = number && at < text.size() && text[at] == 'x';
    if (number || is_name(text[begin])) {
      while (at < text.size() &&
             (is_name(text[at]) || (number && text[at] == '.') ||
              // the sign of an exponent
              (number && !hex && (text[at] == '-' || text[at] == '+') && text[at - 1] == 'e')))
        ++at;
    }
    token.text = text.substr(begin, at - begin);
    tokens.push_back(std::move(token));
  }
  return tokens;
}

// A type and, for an array, its number of elements.
struct Type {
  std::string name;
  std::string length;
};

class Translator {
 public:
  explicit Translator(const std::string& text) : tokens_(tokens_of(text)) {}

  std::string run() {
    range(0, tokens_.size());
    return std::move(out_);
  }

 private:
  const std::string& text(std::size_t i) const {
    static const std::string none;
    return i < tokens_.size() ? tokens_[i].text : none;
  }
  const std::string& space(std::size_t i) const { return tokens_[i].space; }

  static std::string name_of(const std::string& name) {
    return std::ranges::find(kReserved, name) != kReserved.end() ? name + "_" : name;
  }

  bool begins_type(std::size_t i) const {
    const std::string& t = text(i);
    return t == "f32" || t == "i32" || t == "u32" ||
           ((t == "vec2" || t == "vec4" || t == "array") && text(i + 1) == "<");
  }

  // Reads a type at `i` and moves `i` behind it.
  Type type(std::size_t& i) const {
    const std::string first = text(i++);
    if (first == "f32") return {"float", {}};
    if (first == "i32") return {"int", {}};
    if (first == "u32") return {"uint", {}};
    if (text(i) != "<" || (first != "vec2" && first != "vec4" && first != "array"))
      return {first, {}};
    ++i;
    const Type element = type(i);
    Type result;
    if (first == "array") {
      result = {element.name, text(i + 1)};
      i += 2;  // the comma and the length
    } else {
      const std::string kind = element.name == "uint" ? "u" : element.name == "int" ? "i" : "";
      result = {kind + first, {}};
    }
    ++i;  // the closing bracket
    return result;
  }

  // Returns the index of the bracket that closes the one at `i`.
  std::size_t closing(std::size_t i) const {
    const std::string open = text(i);
    const std::string close = open == "{" ? "}" : ")";
    int depth = 0;
    for (; i < tokens_.size(); ++i) {
      if (text(i) == open) ++depth;
      if (text(i) == close && --depth == 0) return i;
    }
    return tokens_.size() - 1;
  }

  void range(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end;) i = one(i);
  }

  // Translates what begins at token `i`. Returns the index of the next token.
  std::size_t one(std::size_t i) {
    const std::string& t = text(i);
    if (t == "fn") return function(i);
    if (t == "struct") return structure(i);
    if (t == "let" || t == "var") return variable(i);
    if (t == "loop") return loop(i);
    if (t == "break" && text(i + 1) == "if") return break_if(i);
    if (t == "bitcast") {
      std::size_t after = i + 2;
      out_ += space(i) + "as_" + type(after).name;
      return after + 1;
    }
    if (begins_type(i)) {
      std::size_t after = i;
      const Type named = type(after);
      out_ += space(i) + named.name;
      if (!named.length.empty()) out_ += "[" + named.length + "]";
      if (text(after) != "(" || text(after + 1) != ")") return after;
      out_ += "(0)";
      return after + 2;
    }
    if (t == "bool" && text(i + 1) == "(" && text(i + 2) == ")") {
      out_ += space(i) + "false";
      return i + 3;
    }
    out_ += space(i);
    const bool is_int = !t.empty() && is_digit(t[0]) && t.back() == 'i';
    out_ += is_int ? t.substr(0, t.size() - 1) : name_of(t);
    return i + 1;
  }

  std::size_t function(std::size_t i) {
    const std::string before = space(i);
    const std::string& name = text(i + 1);
    std::string arguments;
    std::size_t at = i + 3;
    while (text(at) != ")") {
      const std::string& argument = text(at);
      at += 2;
      const Type of = type(at);
      arguments += (arguments.empty() ? "" : ", ") + of.name + " " + name_of(argument);
      if (text(at) == ",") ++at;
    }
    ++at;
    std::string result = "void";
    if (text(at) == "-") {
      at += 2;
      result = type(at).name;
    }
    out_ += before + result + " " + name + "(" + arguments + ")";
    return at;
  }

  std::size_t structure(std::size_t i) {
    out_ += space(i) + "struct " + text(i + 1) + " {";
    std::size_t at = i + 3;
    while (text(at) != "}") {
      const std::string& member = text(at);
      at += 2;
      out_ += " " + type(at).name + " " + name_of(member) + ";";
      if (text(at) == ",") ++at;
    }
    out_ += " };";
    return at + 1;
  }

  std::size_t variable(std::size_t i) {
    const std::string before = space(i);
    const bool global = text(i + 1) == "<";
    std::size_t at = i + (global ? 4 : 1);
    const std::string name = name_of(text(at));
    at += 2;
    const bool known = begins_type(at) || text(at) == "bool";
    const Type of = type(at);
    out_ += before + of.name + " " + name;
    if (!of.length.empty()) out_ += "[" + of.length + "]";
    if (global || text(at) != ";" || !known) return at;
    // A variable without a value begins as 0.
    if (of.length.empty()) {
      out_ += " = " + of.name + "(0)";
      return at;
    }
    out_ += "; for (int zero = 0; zero < " + of.length + "; ++zero) " + name +
            "[zero] = " + of.name + "(0)";
    return at;
  }

  // What `continuing` has runs before each turn but the first, so that `continue` leads to it.
  std::size_t loop(std::size_t i) {
    const std::size_t end = closing(i + 1);
    std::size_t turn = end;
    int depth = 0;
    for (std::size_t at = i + 1; at < end; ++at) {
      if (text(at) == "{") ++depth;
      if (text(at) == "}") --depth;
      if (depth == 1 && text(at) == "continuing") turn = at;
    }
    if (turn == end) {
      out_ += space(i) + "while (true)";
      range(i + 1, end);
    } else {
      const std::string again = "again" + std::to_string(loops_++);
      out_ += space(i) + "for (bool " + again + " = false; ; " + again + " = true) {" +
              space(turn) + "if (" + again + ") {";
      range(turn + 2, closing(turn + 1));
      out_ += space(turn) + "}";
      range(i + 2, turn);
    }
    out_ += space(end) + "}";
    return end + 1;
  }

  std::size_t break_if(std::size_t i) {
    out_ += space(i) + "if (";
    std::size_t end = i + 2;
    tokens_[end].space.clear();
    while (text(end) != ";") ++end;
    range(i + 2, end);
    out_ += ") { break; }";
    return end + 1;
  }

  std::vector<Token> tokens_;
  std::string out_;
  int loops_ = 0;
};

// NOLINTNEXTLINE(*-avoid-c-arrays)
constexpr std::pair<std::string_view, std::string_view> kMissing[] = {
    {"select(", R"(bool select(bool no, bool yes, bool which) { return which ? yes : no; }
int select(int no, int yes, bool which) { return which ? yes : no; }
uint select(uint no, uint yes, bool which) { return which ? yes : no; }
float select(float no, float yes, bool which) { return which ? yes : no; }
vec2 select(vec2 no, vec2 yes, bool which) { return which ? yes : no; }
uvec2 select(uvec2 no, uvec2 yes, bool which) { return which ? yes : no; }
)"},
    {"as_uint(", R"(uint as_uint(float x) { return floatBitsToUint(x); }
uint as_uint(int x) { return uint(x); }
uint as_uint(uint x) { return x; }
)"},
    {"as_int(", R"(int as_int(float x) { return floatBitsToInt(x); }
int as_int(uint x) { return int(x); }
int as_int(int x) { return x; }
)"},
    {"as_float(", R"(float as_float(uint x) { return uintBitsToFloat(x); }
float as_float(int x) { return intBitsToFloat(x); }
float as_float(float x) { return x; }
)"},
    {"as_uvec2(", "uvec2 as_uvec2(vec2 x) { return floatBitsToUint(x); }\n"},
    {"as_vec2(", "vec2 as_vec2(uvec2 x) { return uintBitsToFloat(x); }\n"},
    {"countOneBits(", R"(uint countOneBits(uint x) {
  x -= (x >> 1u) & 0x55555555u;
  x = (x & 0x33333333u) + ((x >> 2u) & 0x33333333u);
  return (((x + (x >> 4u)) & 0x0f0f0f0fu) * 0x01010101u) >> 24u;
}
)"},
    {"countLeadingZeros(", R"(uint countLeadingZeros(uint x) {
  if (x == 0u) { return 32u; }
  uint zeros = 0u;
  if (x < 0x00010000u) { zeros += 16u; x <<= 16u; }
  if (x < 0x01000000u) { zeros += 8u; x <<= 8u; }
  if (x < 0x10000000u) { zeros += 4u; x <<= 4u; }
  if (x < 0x40000000u) { zeros += 2u; x <<= 2u; }
  return x < 0x80000000u ? zeros + 1u : zeros;
}
)"},
    {"fma(", "float fma(float a, float b, float c) { return a * b + c; }\n"},
};

}  // namespace

std::string translate(const std::string& text) { return Translator(text).run(); }

std::string used_functions(const std::string& code, const std::string& user) {
  struct Function {
    std::string_view text;
    bool used = false;
  };
  std::map<std::string_view, Function> functions;
  std::vector<Function*> in_order;
  const std::string_view all = code;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t next = all.find("\nfn ", at);
    const std::size_t end = next == all.npos ? all.size() : next + 1;
    const std::string_view text = all.substr(at, end - at);
    Function& function = functions[text.substr(3, text.find('(') - 3)];
    function.text = text;
    in_order.push_back(&function);
    at = end;
  }
  const auto mark = [&](const auto& self, std::string_view text) -> void {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t begin = at;
      while (at < text.size() && is_name(text[at])) ++at;
      const auto found = functions.find(text.substr(begin, at - begin));
      if (found != functions.end() && !found->second.used) {
        found->second.used = true;
        self(self, found->second.text);
      }
      if (at == begin) ++at;
    }
  };
  mark(mark, user);
  std::string result;
  for (const Function* function : in_order)
    if (function->used) result += function->text;
  return result;
}

std::string missing_functions(const std::string& translated) {
  std::string result;
  for (const auto& [name, text] : kMissing) {
    for (std::size_t at = translated.find(name); at != std::string::npos;
         at = translated.find(name, at + 1)) {
      if (at > 0 && is_name(translated[at - 1])) continue;
      result += text;
      break;
    }
  }
  return result;
}

}  // namespace arraycore::codegen::glsl
