#include "dialect/parser.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace arraycore::dialect {
namespace {

// Words that begin constructs of C++ that the dialect lacks. They are listed so that the message
// can name them.
constexpr std::array<std::string_view, 14> kRefused{
    "switch", "goto", "struct", "class", "enum",       "union",        "try",
    "throw",  "new",  "delete", "asm",   "__shared__", "__constant__", "namespace"};

}  // namespace

void Parser::start(std::vector<Token> tokens) {
  tokens_ = std::move(tokens);
  if (tokens_.empty() || tokens_.back().kind != TokenKind::end) tokens_.emplace_back();
  at_ = 0;
  nesting_ = 0;
  if (failed()) at_ = tokens_.size() - 1;
}

std::vector<StatementId> Parser::parse_preamble(std::vector<Token> tokens) {
  start(std::move(tokens));
  std::vector<StatementId> out;
  while (!at_end()) {
    if (accept(";")) continue;
    if (among(kRefused, peek())) {
      fail("'" + std::string(peek().text) + "' is not part of the dialect");
    } else if (accept("template")) {
      expect("<", "template");
      std::vector<std::string_view> parameters;
      do {
        if (!accept("typename") && !accept("class"))
          fail("a template's parameter is 'typename' and a name");
        parameters.push_back(expect_name("a template's parameter"));
      } while (accept(","));
      expect(">", "the template's parameters");
      function(std::move(parameters));
    } else if (at("typedef") || at("using")) {
      out.push_back(alias());
    } else if (at_function()) {
      function({});
    } else if (at_type()) {
      out.push_back(simple_statement());
    } else {
      fail("the preamble holds functions, types, constants and macros only");
    }
  }
  return out;
}

std::vector<StatementId> Parser::parse_statements(std::vector<Token> tokens) {
  start(std::move(tokens));
  std::vector<StatementId> out;
  while (!at_end()) out.push_back(statement());
  return out;
}

NodeId Parser::parse_expression(std::vector<Token> tokens) {
  start(std::move(tokens));
  const NodeId node = expression();
  if (!at_end()) fail("one expression ends here; this does not belong to it");
  return node;
}

StatementId Parser::statement() {
  const Nested nested(*this);
  if (failed()) return add(Statement{});
  Statement s;
  s.where = peek().where;
  if (among(kRefused, peek())) {
    fail("'" + std::string(peek().text) + "' is not part of the dialect");
  } else if (at("{")) {
    return block();
  } else if (accept(";")) {
    return add(std::move(s));
  } else if (at("typedef") || at("using")) {
    return alias();
  } else if (accept("if")) {
    s.kind = StatementKind::branch;
    expect("(", "if");
    s.a = expression();
    expect(")", "the condition");
    s.first = statement();
    if (accept("else")) s.second = statement();
  } else if (accept("while")) {
    s.kind = StatementKind::repeat;
    expect("(", "while");
    s.a = expression();
    expect(")", "the condition");
    s.first = statement();
  } else if (accept("do")) {
    s.kind = StatementKind::repeat_until;
    s.first = statement();
    expect("while", "the body of do");
    expect("(", "while");
    s.a = expression();
    expect(")", "the condition");
    if (!at_end()) expect(";", "do ... while (...)");
  } else if (at("for")) {
    return loop_for();
  } else if (at("break") || at("continue")) {
    s.kind = accept("break") ? StatementKind::leave : StatementKind::next;
    if (s.kind == StatementKind::next) take();
    if (!at_end()) expect(";", "break and continue");
  } else if (accept("return")) {
    s.kind = StatementKind::give;
    if (!at(";") && !at_end()) s.a = expression();
    if (!at_end()) expect(";", "return");
  } else {
    return simple_statement();
  }
  return add(std::move(s));
}

StatementId Parser::block() {
  Statement s;
  s.kind = StatementKind::block;
  s.where = peek().where;
  expect("{", "this");
  while (!at("}") && !at_end()) s.list.push_back(statement());
  expect("}", "the block that began above");
  return add(std::move(s));
}

StatementId Parser::simple_statement() {
  if (at_type()) return declaration();
  Statement s;
  s.kind = StatementKind::expression;
  s.where = peek().where;
  s.a = expression();
  // The last ';' may be missing, because CuPy adds one to the operation.
  if (!at_end()) expect(";", "the statement");
  return add(std::move(s));
}

StatementId Parser::declaration() {
  Statement s;
  s.kind = StatementKind::declaration;
  s.where = peek().where;
  s.type = type();
  do {
    s.declarators.push_back(declarator());
  } while (accept(","));
  if (!at_end()) expect(";", "the declaration");
  return add(std::move(s));
}

Declarator Parser::declarator() {
  Declarator d;
  if (accept("*")) d.is_pointer = true;
  d.where = peek().where;
  d.name = expect_name("the variable");
  if (accept("[")) {
    d.is_array = true;
    if (!at("]")) d.length = assignment();
    expect("]", "the array's length");
    if (at("[")) fail("an array here has one dimension");
  }
  if (accept("=")) {
    if (accept("{")) {
      d.has_list = true;
      d.list = arguments("}");
    } else {
      d.init = assignment();
    }
  } else if (accept("(")) {
    d.init = expression();
    expect(")", "the initial value");
  } else if (accept("{")) {
    d.has_list = true;
    d.list = arguments("}");
  }
  return d;
}

StatementId Parser::alias() {
  Statement s;
  s.kind = StatementKind::alias;
  s.where = peek().where;
  const bool is_using = accept("using");
  if (!is_using) take();
  if (is_using) {
    s.text = expect_name("the type's name");
    expect("=", "using");
    s.type = type();
  } else {
    s.type = type();
    s.text = expect_name("the type's name");
  }
  if (!at_end()) expect(";", "the type's name");
  type_names_.insert(s.text);
  return add(std::move(s));
}

StatementId Parser::loop_for() {
  Statement s;
  s.kind = StatementKind::repeat;
  s.where = peek().where;
  take();
  expect("(", "for");
  if (!accept(";")) s.list.push_back(simple_statement());
  if (!accept(";")) {
    s.a = expression();
    expect(";", "the loop's condition");
  }
  if (!at(")")) s.b = expression();
  expect(")", "for (...; ...; ...)");
  s.first = statement();
  return add(std::move(s));
}

bool Parser::at_function() const {
  // A function has the form `type name ( ... ) {`. The token after the name distinguishes it from a
  // constant.
  if (!at_type()) return false;
  for (std::size_t ahead = 0; ahead < 16; ++ahead) {
    const Token& t = peek(ahead);
    if (t.is("(")) return ahead > 0;
    if (t.is("=") || t.is(";") || t.is("{") || t.is("[") || t.kind == TokenKind::end) return false;
  }
  return false;
}

void Parser::function(std::vector<std::string_view> type_parameters) {
  FunctionText f;
  std::vector<std::string_view> added;
  for (const std::string_view name : type_parameters)
    if (type_names_.insert(name).second) added.push_back(name);
  f.type_parameters = std::move(type_parameters);
  f.result = type();
  f.where = peek().where;
  f.name = expect_name("the function");
  if (!f.type_parameters.empty()) template_names_.insert(f.name);
  expect("(", "the function's name");
  if (peek().is("void") && peek(1).is(")")) take();
  while (!at(")") && !at_end()) {
    Argument a;
    a.type = type();
    a.where = peek().where;
    a.name = expect_name("the argument");
    if (at("[")) a.type.is_pointer = true;
    if (a.type.is_pointer) fail_at(a.where, "pointer arguments are not part of the dialect");
    f.arguments.push_back(a);
    if (!at(")")) expect(",", "the argument");
  }
  expect(")", "the function's arguments");
  if (accept(";")) {  // it is declared here and defined below; functions are known everywhere
    for (const std::string_view name : added) type_names_.erase(name);
    return;
  }
  f.body = block();
  for (const std::string_view name : added) type_names_.erase(name);
  if (!failed()) tree_.functions.push_back(std::move(f));
}

Token Parser::take() {
  const Token token = peek();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool Parser::accept(std::string_view text) {
  if (!at(text)) return false;
  take();
  return true;
}

void Parser::expect(std::string_view text, std::string_view after) {
  if (accept(text)) return;
  const std::string found =
      at_end() ? "the text ends" : "'" + std::string(peek().text) + "' stands";
  fail("'" + std::string(text) + "' is expected after " + std::string(after) + ", but " + found +
       " here");
}

std::string_view Parser::expect_name(std::string_view what) {
  if (peek().kind == TokenKind::name) return take().text;
  fail("a name is expected here for " + std::string(what));
  return {};
}

void Parser::fail_at(Where where, std::string_view message) {
  sources_.fail(where, message);
  at_ = tokens_.size() - 1;
}

NodeId Parser::add(Node node) {
  std::uint16_t depth = 0;
  const auto below = [&](NodeId id) {
    if (id != kNoNode) depth = std::max(depth, tree_.nodes[id].depth);
  };
  below(node.a), below(node.b), below(node.c);
  for (const NodeId id : node.list) below(id);
  node.depth = static_cast<std::uint16_t>(depth + 1);
  if (node.depth > kMaxDepth && !failed())
    fail_at(node.where, "this expression is too long: split it with variables");
  tree_.nodes.push_back(std::move(node));
  return static_cast<NodeId>(tree_.nodes.size() - 1);
}

StatementId Parser::add(Statement statement) {
  tree_.statements.push_back(std::move(statement));
  return static_cast<StatementId>(tree_.statements.size() - 1);
}

}  // namespace arraycore::dialect
