// The untyped syntax tree of the dialect: nodes in arenas, which refer to each other by index. The
// parser bounds the depth of the tree, so that recursive code cannot overflow the stack.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "dialect/source.h"
#include "dtype/dtype.h"

namespace arraycore::dialect {

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = std::numeric_limits<NodeId>::max();

// A type as written in the text. A name is resolved only when the code around it is typed, because
// a template's parameter means another type at each use.
struct TypeName {
  enum class Kind : std::uint8_t { none, builtin, named, automatic, nothing };  // `nothing` is void
  Kind kind = Kind::none;
  DType builtin = DType::int32;
  std::string_view name;    // of a type letter, a typedef or a template's parameter
  bool is_complex = false;  // complex<...>, where `builtin` or `name` is the type of its parts
  bool is_const = false;
  bool is_reference = false;
  bool is_pointer = false;
  Where where;
};

enum class NodeKind : std::uint8_t {
  integer,    // value, is_unsigned, is_long
  floating,   // number, is_float
  boolean,    // value
  name,       // text
  unary,      // text: + - ! ~ & *; a
  increment,  // text: ++ --; a; is_prefix
  binary,     // text; a, b. Also && || and ','
  assign,     // text: = += ...; a, b
  choice,     // a ? b : c
  call,       // text: the function's name; list: arguments; types: explicit template arguments
  method,     // a.text(list)
  subscript,  // a[b]
  cast,       // (type)a, type(a), static_cast<type>(a)
  construct,  // type(list), unless it has exactly one argument
};

struct Node {
  NodeKind kind = NodeKind::integer;
  Where where;
  std::string_view text;
  NodeId a = kNoNode;
  NodeId b = kNoNode;
  NodeId c = kNoNode;
  std::vector<NodeId> list;
  std::vector<TypeName> types;
  std::uint64_t value = 0;
  double number = 0;
  bool is_unsigned = false;
  bool is_long = false;
  bool is_float = false;
  bool is_prefix = false;
  std::uint16_t depth = 0;
};

struct Declarator {
  Where where;
  std::string_view name;
  bool is_pointer = false;
  bool is_array = false;
  // The length of an array; kNoNode if the array is as long as its list of initial values.
  NodeId length = kNoNode;
  NodeId init = kNoNode;
  bool has_list = false;  // it has a list of initial values, {...}
  std::vector<NodeId> list;
};

enum class StatementKind : std::uint8_t {
  nothing,
  expression,    // the expression a
  declaration,   // type, declarators
  alias,         // typedef type text; using text = type
  block,         // list
  branch,        // if (a) first else second
  repeat,        // while (a) first; in a for loop, list[0] is the first part and b the step
  repeat_until,  // do first while (a)
  leave,         // break
  next,          // continue
  give,          // return a
};

using StatementId = std::uint32_t;
inline constexpr StatementId kNoStatement = std::numeric_limits<StatementId>::max();

struct Statement {
  StatementKind kind = StatementKind::nothing;
  Where where;
  NodeId a = kNoNode;
  NodeId b = kNoNode;
  StatementId first = kNoStatement;
  StatementId second = kNoStatement;
  TypeName type;
  std::string_view text;
  std::vector<Declarator> declarators;
  std::vector<StatementId> list;
};

struct Argument {
  TypeName type;
  std::string_view name;
  Where where;
};

struct FunctionText {
  Where where;
  std::string_view name;
  std::vector<std::string_view> type_parameters;  // of a template
  TypeName result;
  std::vector<Argument> arguments;
  StatementId body = kNoStatement;
};

struct Tree {
  std::vector<Node> nodes;
  std::vector<Statement> statements;
  std::vector<FunctionText> functions;
};

}  // namespace arraycore::dialect
