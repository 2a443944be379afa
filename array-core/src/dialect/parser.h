// Turns tokens into a syntax tree by recursive descent. Nesting is bounded (kMaxNesting,
// kMaxDepth), so that a deeply nested text is refused and never overflows the stack.
#pragma once

#include <string_view>
#include <unordered_set>
#include <vector>

#include "dialect/ast.h"
#include "dialect/token.h"

namespace arraycore::dialect {

inline constexpr int kMaxNesting = 128;  // a parenthesis counts as 2, a block as 1
inline constexpr int kMaxDepth = 200;    // of an expression's tree; the terms of a sum count too

class Parser {
 public:
  // `type_names` are the kernel's type letters.
  Parser(Sources& sources, Tree& tree, std::unordered_set<std::string_view> type_names)
      : sources_(sources), tree_(tree), type_names_(std::move(type_names)) {}

  // Parses a preamble: functions, typedefs (returned as statements) and constants.
  std::vector<StatementId> parse_preamble(std::vector<Token> tokens);
  // Parses the statements of an operation; the last ';' may be missing.
  std::vector<StatementId> parse_statements(std::vector<Token> tokens);
  // Parses exactly one expression.
  NodeId parse_expression(std::vector<Token> tokens);

 private:
  // The next functions are in parser.cc and parse statements, declarations and functions.
  StatementId statement();
  StatementId block();
  StatementId simple_statement();  // a declaration or an expression, with its ';'
  StatementId declaration();
  StatementId alias();
  StatementId loop_for();
  void function(std::vector<std::string_view> type_parameters);
  bool at_type() const;
  bool at_function() const;
  TypeName type();
  Declarator declarator();

  // The next functions are in parser_expression.cc and parse expressions.
  NodeId expression();  // includes ','
  NodeId assignment();
  NodeId binary(int lowest);
  NodeId unary();
  NodeId postfix();
  NodeId primary();
  NodeId named();
  NodeId cast_from(Where where, TypeName to);
  bool at_cast() const;
  std::vector<NodeId> arguments(std::string_view close);

  // The next members are for parser.cc and parser_expression.cc.
  struct Nested;  // counts nesting during its lifetime
  void start(std::vector<Token> tokens);
  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[at_ + ahead < tokens_.size() ? at_ + ahead : tokens_.size() - 1];
  }
  bool at_end() const { return peek().kind == TokenKind::end; }
  bool at(std::string_view text) const { return peek().is(text); }
  Token take();
  bool accept(std::string_view text);
  void expect(std::string_view text, std::string_view after);
  std::string_view expect_name(std::string_view what);
  // Reports an error at the next token. Moves to the end of the tokens, so that every loop stops.
  void fail(std::string_view message) { fail_at(peek().where, message); }
  void fail_at(Where where, std::string_view message);
  bool failed() const { return sources_.failed(); }
  bool is_type_name(const Token& token) const;

  NodeId add(Node node);
  StatementId add(Statement statement);

  Sources& sources_;
  Tree& tree_;
  std::unordered_set<std::string_view> type_names_;
  std::unordered_set<std::string_view> template_names_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int nesting_ = 0;
};

struct Parser::Nested {
  explicit Nested(Parser& p) : parser(p) {
    if (++parser.nesting_ > kMaxNesting) parser.fail("the text is nested too deeply here");
  }
  ~Nested() { --parser.nesting_; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;
  Parser& parser;
};

// Returns a built-in type: "unsigned char", "ptrdiff_t" and so on. `words` are separated by one
// space.
std::optional<DType> builtin_type(std::string_view words);

}  // namespace arraycore::dialect
