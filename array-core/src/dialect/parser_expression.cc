// Parses expressions by precedence climbing, with the precedences of C++.
#include <array>
#include <string>
#include <utility>

#include "dialect/parser.h"

namespace arraycore::dialect {
namespace {

constexpr std::array<std::pair<std::string_view, int>, 18> kBinary{{
    {"||", 1},
    {"&&", 2},
    {"|", 3},
    {"^", 4},
    {"&", 5},
    {"==", 6},
    {"!=", 6},
    {"<", 7},
    {"<=", 7},
    {">", 7},
    {">=", 7},
    {"<<", 8},
    {">>", 8},
    {"+", 9},
    {"-", 9},
    {"*", 10},
    {"/", 10},
    {"%", 10},
}};
constexpr std::array<std::string_view, 11> kAssignments{
    "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};

int precedence(const Token& token) {
  if (token.kind != TokenKind::punctuation) return 0;
  for (const auto& [text, level] : kBinary)
    if (text == token.text) return level;
  return 0;
}

}  // namespace

NodeId Parser::expression() {
  NodeId left = assignment();
  while (at(",") && !failed()) {
    Node node;
    node.kind = NodeKind::binary;
    const Token comma = take();
    node.where = comma.where;
    node.text = comma.text;
    node.a = left;
    node.b = assignment();
    left = add(std::move(node));
  }
  return left;
}

NodeId Parser::assignment() {
  const Nested nested(*this);
  if (failed()) return add(Node{});
  const NodeId left = binary(1);
  Node node;
  node.where = peek().where;
  node.a = left;
  if (accept("?")) {
    node.kind = NodeKind::choice;
    node.b = expression();
    expect(":", "the value after '?'");
    node.c = assignment();
    return add(std::move(node));
  }
  for (const std::string_view text : kAssignments) {
    if (!at(text)) continue;
    node.kind = NodeKind::assign;
    node.text = take().text;
    node.b = assignment();
    return add(std::move(node));
  }
  return left;
}

NodeId Parser::binary(int lowest) {
  NodeId left = unary();
  for (;;) {
    const int level = precedence(peek());
    if (level < lowest || level == 0 || failed()) return left;
    const Token op = take();
    Node node;
    node.kind = NodeKind::binary;
    node.where = op.where;
    node.text = op.text;
    node.a = left;
    node.b = binary(level + 1);
    left = add(std::move(node));
  }
}

NodeId Parser::unary() {
  const Nested nested(*this);
  if (failed()) return add(Node{});
  Node node;
  node.where = peek().where;
  if (at("++") || at("--")) {
    node.kind = NodeKind::increment;
    node.is_prefix = true;
  } else if (at("+") || at("-") || at("!") || at("~") || at("&") || at("*")) {
    node.kind = NodeKind::unary;
  } else if (at("(") && at_cast()) {
    take();
    const TypeName to = type();
    expect(")", "the type");
    return cast_from(node.where, to);
  } else {
    return postfix();
  }
  node.text = take().text;
  node.a = unary();
  return add(std::move(node));
}

NodeId Parser::cast_from(Where where, TypeName to) {
  Node node;
  node.kind = NodeKind::cast;
  node.where = where;
  node.types.push_back(to);
  node.a = unary();
  return add(std::move(node));
}

bool Parser::at_cast() const {
  std::size_t ahead = 1;
  if (peek(ahead).is("const")) return true;
  while (peek(ahead).kind == TokenKind::name && peek(ahead + 1).is("::")) ahead += 2;
  if (!is_type_name(peek(ahead))) return false;
  const Token& next = peek(ahead + 1);
  return next.is(")") || next.is("*") || next.is("&") ||
         (next.kind == TokenKind::name && is_type_name(next)) ||
         (next.is("<") && peek(ahead).is("complex"));
}

std::vector<NodeId> Parser::arguments(std::string_view close) {
  std::vector<NodeId> out;
  while (!at(close) && !at_end()) {
    out.push_back(assignment());
    if (!at(close)) expect(",", "the value");
  }
  expect(close, "the values");
  return out;
}

NodeId Parser::postfix() {
  NodeId left = primary();
  while (!failed()) {
    Node node;
    node.where = peek().where;
    node.a = left;
    if (accept("[")) {
      node.kind = NodeKind::subscript;
      node.b = expression();
      expect("]", "the index");
    } else if (at("++") || at("--")) {
      node.kind = NodeKind::increment;
      node.text = take().text;
    } else if (accept(".")) {
      node.kind = NodeKind::method;
      node.where = peek().where;
      node.text = expect_name("the method");
      expect("(", "the method's name");
      node.list = arguments(")");
    } else if (at("->")) {
      fail("pointers are not part of the dialect");
      break;
    } else {
      break;
    }
    left = add(std::move(node));
  }
  return left;
}

NodeId Parser::primary() {
  Node node;
  node.where = peek().where;
  const Token& token = peek();
  switch (token.kind) {
    case TokenKind::integer:
      node.kind = NodeKind::integer;
      node.value = token.integer;
      node.is_unsigned = token.is_unsigned;
      node.is_long = token.is_long;
      take();
      return add(std::move(node));
    case TokenKind::floating:
      node.kind = NodeKind::floating;
      node.number = token.floating;
      node.is_float = token.is_float;
      take();
      return add(std::move(node));
    case TokenKind::name:
      return named();
    case TokenKind::punctuation:
      if (accept("(")) {
        const NodeId inner = expression();
        expect(")", "the expression");
        return inner;
      }
      fail("'" + std::string(token.text) + "' cannot start an expression");
      break;
    case TokenKind::end:
      fail("an expression is expected here, but the text ends");
      break;
  }
  return add(std::move(node));
}

NodeId Parser::named() {
  Node node;
  node.where = peek().where;
  if (at("true") || at("false")) {
    node.kind = NodeKind::boolean;
    node.value = take().is("true") ? 1 : 0;
    return add(std::move(node));
  }
  if (at("static_cast") || at("reinterpret_cast") || at("const_cast")) {
    const Token word = take();
    if (word.is("reinterpret_cast")) {
      // Chainer's kernels that read device memory by address (in pad_sequence and the multi-process
      // updater) get a message that says what to do instead.
      sources_.fail(word.where,
                    "addresses of device memory do not exist here; pass the arrays themselves",
                    ErrorKind::not_implemented, "device_pointer");
      at_ = tokens_.size() - 1;
    }
    expect("<", "the cast");
    node.kind = NodeKind::cast;
    node.types.push_back(type());
    expect(">", "the type");
    expect("(", "the cast");
    node.a = expression();
    expect(")", "the value");
    return add(std::move(node));
  }
  while (peek(1).is("::")) take(), take();
  if (is_type_name(peek()) && (peek(1).is("(") || peek(1).is("{") || at("complex"))) {
    const TypeName to = type();
    const std::string_view close = at("{") ? "}" : ")";
    if (!accept("{")) expect("(", "the type");
    node.list = arguments(close);
    node.types.push_back(to);
    node.kind = NodeKind::construct;
    if (node.list.size() == 1) {
      node.kind = NodeKind::cast;
      node.a = node.list[0];
      node.list.clear();
    }
    return add(std::move(node));
  }
  node.text = expect_name("a value");
  if (at("<") && template_names_.count(node.text) != 0 && is_type_name(peek(1))) {
    take();
    do {
      node.types.push_back(type());
    } while (accept(","));
    expect(">", "the template's types");
  }
  if (accept("(")) {
    node.kind = NodeKind::call;
    node.list = arguments(")");
  } else {
    node.kind = NodeKind::name;
  }
  return add(std::move(node));
}

}  // namespace arraycore::dialect
