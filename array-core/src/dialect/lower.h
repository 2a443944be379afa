// Turns the syntax tree into typed IR. Expressions become IR trees. An effect in a C++ expression
// (an assignment, ++, a call that writes its arguments) becomes a statement before it. Operands are
// evaluated from left to right. An object serves one kernel, on one thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dialect/ast.h"
#include "dialect/dialect.h"
#include "dialect/source.h"
#include "ir/ir.h"

namespace arraycore::dialect {

inline constexpr std::size_t kMaxExprs = 100'000;  // inlined functions can multiply the code
inline constexpr std::size_t kMaxCallDepth = 16;
inline constexpr std::size_t kMaxBlocks = 90;  // nested blocks; the verifier accepts 100
inline constexpr std::uint32_t kMaxArray = 64;

struct Builtin;

struct Value {
  ir::Id expr = ir::kNone;
  DType type = DType::int32;
  bool nothing = false;  // the value of a void function
};

// A variable or an element: it can be read and, unless it is const, written.
struct Place {
  enum class Kind : std::uint8_t { local, local_at, param, param_at };
  Kind kind = Kind::local;
  ir::Id target = ir::kNone;
  DType type = DType::int32;
  bool is_const = false;
  std::vector<ir::Id> index;
};

struct Symbol {
  enum class Kind : std::uint8_t {
    variable,      // place
    array,         // place.target: a Local with a length
    parts,         // an array whose elements are separate Locals, because it is never indexed by a
                   // variable
    raw,           // place.target: a Param
    constant,      // value
    type,          // place.type
    loop_index,    // i
    loop_size,     // n
    reduce_index,  // _j
    indexer,       // _ind
    hidden,        // known, but not available here; `why` says why
  };
  Kind kind = Kind::variable;
  Place place;
  std::vector<ir::Id> parts;
  ir::Expr value;
  std::string why;
};

class Lowering {
 public:
  // `floating` is the type of floating literals without a suffix.
  Lowering(Sources& sources, const Tree& tree, ir::Kernel& kernel, DType floating);

  // ---- the functions that compile.cc calls, in this order
  void add_letters(const BoundTypes& types);
  void add_preamble(const std::vector<StatementId>& statements);
  // Adds the parameter to the kernel and, with `name_it`, to the innermost scope.
  ir::Id add_param(const ParamSpec& spec, const BoundParam& bound, bool is_output);
  void declare(std::string_view name, Symbol symbol);
  void declare_param(std::string_view name, ir::Id param, bool is_output);
  void open_scope() { scopes_.emplace_back(); }
  void close_scope() { scopes_.pop_back(); }
  ir::Id block_of(const std::function<void()>& fill);
  // Lowers statements in which `return`, and `continue` outside of a loop, end the work on the
  // element. If `then` is true, the code after these statements still runs.
  void operation(const std::vector<StatementId>& statements, bool then);
  void statements(const std::vector<StatementId>& list);
  Value expression(NodeId id);
  void discard(NodeId id);  // lowers an expression whose value is not needed, only its effects
  Value convert(Value value, DType to, Where where);
  ir::Id new_local(std::string_view name, DType type, std::uint32_t length = 0);
  void assign(ir::Id local, Value value);
  std::optional<DType> named_type(std::string_view name) const;
  bool is_constant(Value value) const {
    return !value.nothing && kernel_.exprs[value.expr].op == ir::Op::constant;
  }
  void finish_params();  // sets each parameter's access from its uses

 private:
  using Id = ir::Id;
  struct Scope {
    std::unordered_map<std::string_view, Symbol> names;
  };
  // Says what `return` means at the present point of the code.
  struct Context {
    enum class Kind : std::uint8_t { kernel, function, inlined };
    Kind kind = Kind::kernel;
    std::optional<DType> result;
    Id result_local = ir::kNone;
    Id done =
        // In an inlined function, a `return` inside of loops sets this Local, which ends the loops.
        ir::kNone;
    // True if an inlined function's code is inside of do {} while (false), which `return` leaves.
    bool wrapped = false;
    bool done_set = false;   // a `return` in the loop that is being lowered has set `done`
    bool operation = false;  // this is the element's own code, in which `continue` means `return`
    int loops = 0;           // loops that are open in this context
  };
  struct State {
    std::vector<Scope> scopes;
    ir::Block current;
    Context context;
  };
  struct Arguments {
    std::vector<Value> values;  // an argument that is a reference has no value
    std::vector<Place> places;
  };

  // ---- lower.cc: emission
  Id emit(ir::Op op, DType type, const std::vector<Id>& args = {}, Id index = 0);
  Value make(ir::Op op, DType type, const std::vector<Id>& args = {}, Id index = 0) {
    return {emit(op, type, args, index), type, false};
  }
  Value integer(std::int64_t value, DType type = DType::int32);
  Value number(double value, DType type);
  Value zero(DType type);
  void add_statement(ir::Stmt statement);
  void branch(Value condition, Id then, Id otherwise = ir::kNone);
  void simple(ir::StmtKind kind);
  Value local(Id id) { return make(ir::Op::local, kernel_.locals[id].type, {}, id); }
  // Saves `value` in a Local before the statements that were added since `position`.
  Value keep(Value value, std::size_t position);
  Value fold(ir::Op op, DType type, Value a, Value b);
  std::optional<double> constant_number(Value value) const;
  std::optional<std::int64_t> constant_integer(Value value) const;
  void fail(Where where, std::string_view message) { sources_.fail(where, message); }
  bool failed() const { return sources_.failed(); }
  const Node& node(NodeId id) const { return tree_.nodes[id]; }

  // ---- names and types
  const Symbol* find(std::string_view name) const;
  std::optional<DType> type_of(const TypeName& name);

  // ---- lower_statement.cc
  void statement(StatementId id);
  void declaration(const Statement& s);
  void declare_array(const Statement& s, const Declarator& d);
  void constant_declaration(const Statement& s);
  void loop(const Statement& s);
  void loop_until(const Statement& s);
  void after_loop();
  void give(const Statement& s);
  bool ends_with_only_return(StatementId body) const;
  int count_returns(StatementId id, bool with_next) const;

  // ---- lower_expression.cc
  Value lower(NodeId id);
  Value condition(NodeId id);  // bool
  Value to_bool(Value value, Where where);
  Value name(const Node& n);
  Value unary(const Node& n);
  Value increment(const Node& n, bool wanted);
  Value binary(const Node& n);
  Value logical(const Node& n);
  Value arithmetic(std::string_view op, Value a, Value b, Where where);
  Value assignment(const Node& n, bool wanted);
  Value choice(const Node& n);
  Value construct(const Node& n);

  // ---- lower_place.cc
  std::optional<Place> place(NodeId id);
  std::optional<Place> element(const Node& n);
  Value load(const Place& place);
  void store(const Place& place, Value value, Where where);
  std::vector<Id> indices(NodeId id, const Symbol& raw);
  std::vector<Id> axis_indices(const Symbol& list, Where where);
  Id extent(Id param, std::size_t axis);
  Id element_number(const std::vector<Id>& at,
                    Id param);  // from one index for each axis to a C-order number
  std::vector<Id> coordinates(Id number, Id param);  // from a C-order number to the indices
  Value index_value(NodeId id);
  Value method(const Node& n);
  Value special_subscript(const Node& n);
  bool is_special_subscript(const Node& n) const;
  void fix_index(Place& place);  // copies the indices to Locals, so that they keep their values

  // ---- lower_call.cc
  using TypeArguments = std::vector<std::pair<std::string_view, DType>>;
  Value call(const Node& n, bool wanted);
  Value call_user(const Node& n, std::size_t index);
  bool is_written(const Argument& a) const { return a.type.is_reference && !a.type.is_const; }
  bool evaluate_arguments(const Node& n, const FunctionText& f, Arguments& arguments);
  bool deduce(const Node& n, const FunctionText& f, const Arguments& arguments,
              TypeArguments& types);
  void declare_types(const TypeArguments& types);
  bool convert_arguments(const FunctionText& f, Arguments& arguments, Where where);
  Value call_inlined(const FunctionText& f, Arguments& arguments, const TypeArguments& types,
                     Where where);
  Value call_instance(std::size_t index, Arguments& arguments, const TypeArguments& types,
                      Where where);
  std::vector<Value> lower_list(const std::vector<NodeId>& list);

  // ---- lower_builtin.cc
  Value call_builtin(const Node& n, const Builtin& builtin, bool single);
  Value call_atomic(const Node& n, bool wanted);
  DType floating_of(const std::vector<Value>& values) const;

  Sources& sources_;
  const Tree& tree_;
  ir::Kernel& kernel_;
  const DType floating_;
  State state_;
  Scope globals_;  // types and constants, which functions see too
  std::map<std::string, Id> instances_;
  std::vector<std::size_t> calling_;       // functions that are being lowered, to refuse recursion
  std::vector<std::string_view> indexed_;  // sorted names of everything that a variable indexes
  std::vector<Scope>& scopes_ = state_.scopes;
  // For each Param: whether it was read; whether it was indexed by one number; and, if it was
  // indexed by an array, the number of its axes.
  std::vector<bool> read_;
  std::vector<bool> by_number_;
  std::vector<std::int8_t> axes_;
  std::size_t block_depth_ = 0;
};

}  // namespace arraycore::dialect
