// The declarations of a WGSL module, as far as a launch needs them. For this folder's own files.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "dialect/source.h"
#include "wgsl/token.h"

namespace arraycore::wgsl {

using Tokens = std::span<const Token>;

struct Attribute {
  Token name;
  Tokens arguments;  // between its parentheses
};
using Attributes = std::vector<Attribute>;

// The attribute of that name; nullptr where there is none.
const Attribute* find(const Attributes& attributes, std::string_view name);

struct Variable {
  Token name;
  Attributes attributes;
  Tokens space;  // between the angle brackets: "storage", ",", "read_write"
  Tokens type;
};

struct Member {
  Token name;
  Attributes attributes;
  Tokens type;
};

struct EntryPoint {
  Token name;
  bool is_compute = false;
};

struct Declarations {
  std::vector<Variable> variables;  // of the module's scope
  std::vector<EntryPoint> functions;
  std::map<std::string_view, std::vector<Member>> structures;
  std::map<std::string_view, Tokens> aliases;
  std::map<std::string_view, Tokens> constants;  // what they are initialised with
};

// Notes the error of a text at a token: compile, "raw_text".
inline void refuse(dialect::Sources& sources, const Token& where, std::string_view why) {
  sources.fail({0, where.offset}, why, ErrorKind::compile, "raw_text");
}

// Fails in `sources` (text 0) on a text whose brackets do not match. `tokens` outlive the result.
Declarations read_declarations(Tokens tokens, dialect::Sources& sources);

// An integer literal, or the name of a constant that is one; nullopt for anything else.
std::optional<std::uint32_t> integer_of(Tokens tokens, const Declarations& declarations);

}  // namespace arraycore::wgsl
