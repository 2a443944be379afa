// The declarations of a WGSL module that a launch needs. Only for the files of this folder.
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
  Tokens arguments;  // inside of its parentheses
};
using Attributes = std::vector<Attribute>;

// Returns the attribute with that name, or nullptr.
const Attribute* find(const Attributes& attributes, std::string_view name);

struct Variable {
  Token name;
  Attributes attributes;
  Tokens space;  // the tokens between the angle brackets: "storage", ",", "read_write"
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
  std::vector<Variable> variables;  // at the scope of the module
  std::vector<EntryPoint> functions;
  std::map<std::string_view, std::vector<Member>> structures;
  std::map<std::string_view, Tokens> aliases;
  std::map<std::string_view, Tokens> constants;  // their initial values
};

// Reports an error of the WGSL text at a token: compile, "raw_text".
inline void refuse(dialect::Sources& sources, const Token& where, std::string_view why) {
  sources.fail({0, where.offset}, why, ErrorKind::compile, "raw_text");
}

// Reads the declarations. If brackets do not match, it reports an error in `sources` (text 0).
// `tokens` must outlive the result.
Declarations read_declarations(Tokens tokens, dialect::Sources& sources);

// Returns the value of an integer literal or of a constant with that name; nullopt for anything
// else.
std::optional<std::uint32_t> integer_of(Tokens tokens, const Declarations& declarations);

}  // namespace arraycore::wgsl
