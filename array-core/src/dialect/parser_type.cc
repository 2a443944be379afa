// Parses types.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "dialect/parser.h"

namespace arraycore::dialect {
namespace {

// The types of the dialect by name. dialect.h says why index types are int32.
constexpr std::array<std::pair<std::string_view, DType>, 52> kTypes{{
    {"bool", DType::boolean},
    {"char", DType::int8},
    {"signed char", DType::int8},
    {"unsigned char", DType::uint8},
    {"short", DType::int16},
    {"short int", DType::int16},
    {"unsigned short", DType::uint16},
    {"unsigned short int", DType::uint16},
    {"int", DType::int32},
    {"signed", DType::int32},
    {"signed int", DType::int32},
    {"unsigned", DType::uint32},
    {"unsigned int", DType::uint32},
    {"long", DType::int64},
    {"long int", DType::int64},
    {"unsigned long", DType::uint64},
    {"unsigned long int", DType::uint64},
    {"long long", DType::int64},
    {"long long int", DType::int64},
    {"unsigned long long", DType::uint64},
    {"unsigned long long int", DType::uint64},
    {"float", DType::float32},
    {"double", DType::float64},
    {"half", DType::float16},
    {"__half", DType::float16},
    {"float16", DType::float16},
    {"float32", DType::float32},
    {"float64", DType::float64},
    {"int8", DType::int8},
    {"int16", DType::int16},
    {"int32", DType::int32},
    {"int64", DType::int64},
    {"uint8", DType::uint8},
    {"uint16", DType::uint16},
    {"uint32", DType::uint32},
    {"uint64", DType::uint64},
    {"int8_t", DType::int8},
    {"int16_t", DType::int16},
    {"int32_t", DType::int32},
    {"int64_t", DType::int64},
    {"uint8_t", DType::uint8},
    {"uint16_t", DType::uint16},
    {"uint32_t", DType::uint32},
    {"uint64_t", DType::uint64},
    {"uint", DType::uint32},
    {"uchar", DType::uint8},
    {"ushort", DType::uint16},
    {"complex64", DType::complex64},
    {"complex128", DType::complex128},
    {"ptrdiff_t", DType::int32},
    {"size_t", DType::int32},
    {"ssize_t", DType::int32},
}};

constexpr std::array<std::string_view, 6> kTypeWords{"unsigned", "signed", "long",
                                                     "short",    "int",    "char"};
constexpr std::array<std::string_view, 9> kQualifiers{"const",           "static",     "inline",
                                                      "constexpr",       "volatile",   "__device__",
                                                      "__forceinline__", "__inline__", "register"};
}  // namespace

std::optional<DType> builtin_type(std::string_view words) {
  for (const auto& [name, dtype] : kTypes)
    if (name == words) return dtype;
  return std::nullopt;
}

bool Parser::is_type_name(const Token& token) const {
  if (token.kind != TokenKind::name) return false;
  return token.text == "auto" || token.text == "void" || token.text == "complex" ||
         among(kTypeWords, token) || type_names_.count(token.text) != 0 ||
         builtin_type(token.text).has_value();
}

bool Parser::at_type() const {
  if (among(kQualifiers, peek())) return true;
  std::size_t ahead = 0;
  while (peek(ahead).kind == TokenKind::name && peek(ahead + 1).is("::")) ahead += 2;
  if (!is_type_name(peek(ahead))) return false;
  // In a declaration, a name, * or & follows the type. If not, the text is an expression: `T(x)`,
  // or a variable that has the same name as a type.
  const Token& next = peek(ahead + 1);
  return next.kind == TokenKind::name || next.is("*") || next.is("&") ||
         (next.is("<") && peek(ahead).is("complex"));
}

TypeName Parser::type() {
  TypeName out;
  const auto qualifiers = [&] {
    while (among(kQualifiers, peek())) {
      const Token word = take();
      if (word.is("const") || word.is("constexpr")) out.is_const = true;
    }
  };
  qualifiers();
  out.where = peek().where;
  while (peek().kind == TokenKind::name && peek(1).is("::")) take(), take();
  if (accept("auto")) {
    out.kind = TypeName::Kind::automatic;
  } else if (accept("void")) {
    out.kind = TypeName::Kind::nothing;
  } else if (accept("complex")) {
    expect("<", "complex");
    // The parts of a complex type are floating types. So a complex type within another one is
    // refused here, and type() recurses only once.
    if (at("complex")) fail("complex<> takes a floating type");
    const TypeName part = failed() ? TypeName{} : type();
    expect(">", "complex<...");
    if (part.kind != TypeName::Kind::builtin && part.kind != TypeName::Kind::named)
      fail_at(part.where, "complex<> takes a floating type");
    out.kind = part.kind;
    out.builtin = part.builtin;
    out.name = part.name;
    out.is_complex = true;
  } else if (among(kTypeWords, peek())) {
    std::string words(take().text);
    while (among(kTypeWords, peek())) words += ' ' + std::string(take().text);
    const auto found = builtin_type(words);
    if (!found) fail_at(out.where, "'" + words + "' is not a type");
    out.kind = TypeName::Kind::builtin;
    out.builtin = found.value_or(DType::int32);
  } else if (peek().kind == TokenKind::name && type_names_.count(peek().text) != 0) {
    out.kind = TypeName::Kind::named;
    out.name = take().text;
  } else if (const auto found =
                 peek().kind == TokenKind::name ? builtin_type(peek().text) : std::nullopt) {
    out.kind = TypeName::Kind::builtin;
    out.builtin = *found;
    take();
  } else {
    fail(peek().kind == TokenKind::name ? "'" + std::string(peek().text) + "' is not a known type"
                                        : "a type is expected here");
  }
  qualifiers();
  if (accept("*")) out.is_pointer = true;
  qualifiers();
  if (accept("&")) out.is_reference = true;
  return out;
}

}  // namespace arraycore::dialect
