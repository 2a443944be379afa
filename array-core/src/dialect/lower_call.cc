// Lowers calls of functions in a kernel's text. A function whose arguments are values becomes an IR
// function for each list of types. A function that writes its arguments (`int &low`) is inlined at
// each call.
#include <algorithm>
#include <utility>

#include "dialect/builtin.h"
#include "dialect/lower.h"
#include "dialect/types.h"

namespace arraycore::dialect {

std::vector<Value> Lowering::lower_list(const std::vector<NodeId>& list) {
  std::vector<Value> out;
  for (const NodeId id : list) {
    const std::size_t before = state_.current.size();
    Value value = lower(id);
    if (value.nothing) {
      fail(node(id).where, "this function gives no value");
      value = integer(0);
    }
    for (Value& earlier : out) earlier = keep(earlier, before);
    out.push_back(value);
  }
  return out;
}

Value Lowering::call(const Node& n, bool wanted) {
  if (failed()) return integer(0);
  std::optional<std::size_t> chosen;
  bool known = false;
  for (std::size_t k = 0; k < tree_.functions.size(); ++k) {
    const FunctionText& f = tree_.functions[k];
    if (f.name != n.text) continue;
    known = true;
    if (f.arguments.size() == n.list.size()) chosen = k;
  }
  if (chosen) return call_user(n, *chosen);
  if (!known) {
    if (find_atomic(n.text) != nullptr) return call_atomic(n, wanted);
    const FoundBuiltin found = find_builtin(n.text);
    if (found.builtin != nullptr) return call_builtin(n, *found.builtin, found.single);
  }
  fail(n.where, known ? "no function '" + std::string(n.text) + "' takes " +
                            std::to_string(n.list.size()) + " arguments"
                      : "the function '" + std::string(n.text) + "' is not known here");
  return integer(0);
}

Value Lowering::call_user(const Node& n, std::size_t index) {
  const FunctionText& f = tree_.functions[index];
  if (std::find(calling_.begin(), calling_.end(), index) != calling_.end()) {
    fail(n.where, "'" + std::string(f.name) + "' calls itself: recursion does not exist on a GPU");
    return integer(0);
  }
  if (calling_.size() >= kMaxCallDepth) {
    fail(n.where, "functions call each other too deeply here");
    return integer(0);
  }
  Arguments arguments;
  TypeArguments types;
  if (!evaluate_arguments(n, f, arguments) || !deduce(n, f, arguments, types)) return integer(0);
  calling_.push_back(index);
  const bool writes = std::any_of(f.arguments.begin(), f.arguments.end(),
                                  [this](const Argument& a) { return is_written(a); });
  const Value out = writes ? call_inlined(f, arguments, types, n.where)
                           : call_instance(index, arguments, types, n.where);
  calling_.pop_back();
  return failed() ? integer(0) : out;
}

bool Lowering::evaluate_arguments(const Node& n, const FunctionText& f, Arguments& arguments) {
  for (std::size_t k = 0; k < f.arguments.size() && !failed(); ++k) {
    const std::size_t before = state_.current.size();
    Value value;
    Place target;
    if (is_written(f.arguments[k])) {
      const auto found = place(n.list[k]);
      if (!found) return false;
      target = *found;
      fix_index(target);
      value.nothing = true;
      value.type = target.type;
    } else {
      value = lower(n.list[k]);
      if (value.nothing) fail(node(n.list[k]).where, "this function gives no value");
    }
    for (Value& earlier : arguments.values) earlier = keep(earlier, before);
    arguments.values.push_back(value);
    arguments.places.push_back(target);
  }
  return !failed();
}

bool Lowering::deduce(const Node& n, const FunctionText& f, const Arguments& arguments,
                      TypeArguments& types) {
  if (n.types.size() > f.type_parameters.size()) {
    fail(n.where, "'" + std::string(f.name) + "' has fewer type parameters");
    return false;
  }
  for (std::size_t t = 0; t < f.type_parameters.size(); ++t) {
    const std::string_view parameter = f.type_parameters[t];
    std::optional<DType> type;
    if (t < n.types.size()) {
      type = type_of(n.types[t]);
      if (!type) return false;
    }
    for (std::size_t k = 0; !(t < n.types.size()) && k < f.arguments.size(); ++k) {
      const TypeName& written = f.arguments[k].type;
      if (written.kind != TypeName::Kind::named || written.name != parameter) continue;
      DType given = arguments.values[k].type;
      if (written.is_complex) given = ir::real_of(given);
      if (type && *type != given) {
        fail(node(n.list[k]).where, "'" + std::string(parameter) + "' would be both " +
                                        std::string(name_of(*type)) + " and " +
                                        std::string(name_of(given)));
        return false;
      }
      type = given;
    }
    if (!type) {
      fail(n.where, "no argument tells which type '" + std::string(parameter) + "' is");
      return false;
    }
    types.emplace_back(parameter, *type);
  }
  return true;
}

void Lowering::declare_types(const TypeArguments& types) {
  for (const auto& [name, type] : types) {
    Symbol symbol;
    symbol.kind = Symbol::Kind::type;
    symbol.place.type = type;
    declare(name, std::move(symbol));
  }
}

// Converts the arguments to the parameters' types. REQUIRES: the function's scope is open, and its
// types are declared.
bool Lowering::convert_arguments(const FunctionText& f, Arguments& arguments, Where where) {
  for (std::size_t k = 0; k < f.arguments.size(); ++k) {
    const auto type = type_of(f.arguments[k].type);
    if (!type) return false;
    if (!is_written(f.arguments[k])) {
      arguments.values[k] = convert(arguments.values[k], *type, where);
    } else if (arguments.places[k].type != *type) {
      fail(where, "argument " + std::to_string(k + 1) + " of '" + std::string(f.name) + "' is " +
                      std::string(name_of(arguments.places[k].type)) + ", and a reference to " +
                      std::string(name_of(*type)) + " cannot refer to it");
      return false;
    }
  }
  return !failed();
}

Value Lowering::call_inlined(const FunctionText& f, Arguments& arguments,
                             const TypeArguments& types, Where where) {
  std::vector<Scope> scopes(1);
  std::swap(scopes, state_.scopes);
  Context context;
  context.kind = Context::Kind::inlined;
  std::swap(context, state_.context);
  declare_types(types);
  Value out;
  out.nothing = true;
  const bool gives = f.result.kind != TypeName::Kind::nothing;
  if (gives) state_.context.result = type_of(f.result);
  if (!failed() && convert_arguments(f, arguments, where)) {
    for (std::size_t k = 0; k < f.arguments.size(); ++k) {
      Symbol symbol;
      if (is_written(f.arguments[k])) {
        symbol.place = arguments.places[k];
      } else {
        symbol.place.type = arguments.values[k].type;
        symbol.place.target = new_local(f.arguments[k].name, symbol.place.type);
        symbol.place.is_const = f.arguments[k].type.is_const;
        assign(symbol.place.target, arguments.values[k]);
      }
      declare(f.arguments[k].name, std::move(symbol));
    }
    if (gives) {
      state_.context.result_local = new_local(f.name, *state_.context.result);
      assign(state_.context.result_local, zero(*state_.context.result));
    }
    const Statement& body = tree_.statements[f.body];
    if (ends_with_only_return(f.body)) {
      statements(body.list);
    } else {
      state_.context.wrapped = true;
      state_.context.done = new_local("done", DType::boolean);
      assign(state_.context.done, zero(DType::boolean));
      ir::Stmt once;
      once.kind = ir::StmtKind::loop_until;
      once.then = block_of([&] { statements(body.list); });
      once.value = zero(DType::boolean).expr;
      add_statement(once);
    }
    if (gives) out = local(state_.context.result_local);
  }
  std::swap(context, state_.context);
  std::swap(scopes, state_.scopes);
  return out;
}

Value Lowering::call_instance(std::size_t index, Arguments& arguments, const TypeArguments& types,
                              Where where) {
  const FunctionText& f = tree_.functions[index];
  std::string key = std::to_string(index);
  std::string suffix;
  for (const auto& [name, type] : types) suffix += "_" + std::string(name_of(type));
  key += suffix;
  State outer;
  outer.scopes.emplace_back();
  std::swap(outer, state_);
  declare_types(types);
  const bool gives = f.result.kind != TypeName::Kind::nothing;
  std::optional<DType> result;
  if (gives) result = type_of(f.result);
  Value out;
  out.nothing = !gives;
  if (!failed() && convert_arguments(f, arguments, where)) {
    // `state_` is now that of the called function. It has no statements yet, because converting the
    // arguments added only expressions.
    auto found = instances_.find(key);
    if (found == instances_.end()) {
      ir::Function made;
      made.name = std::string(f.name) + suffix;
      made.result = result;
      state_.context.kind = Context::Kind::function;
      state_.context.result = result;
      for (std::size_t k = 0; k < f.arguments.size(); ++k) {
        Symbol symbol;
        symbol.place.type = arguments.values[k].type;
        symbol.place.target = new_local(f.arguments[k].name, symbol.place.type);
        symbol.place.is_const = f.arguments[k].type.is_const;
        made.arguments.push_back(symbol.place.target);
        declare(f.arguments[k].name, std::move(symbol));
      }
      made.body = block_of([&] {
        const std::vector<StatementId>& list = tree_.statements[f.body].list;
        statements(list);
        const bool ends =
            !list.empty() && tree_.statements[list.back()].kind == StatementKind::give;
        if (result && !ends && !failed()) {  // in C++ this is undefined; here it returns 0
          ir::Stmt last;
          last.kind = ir::StmtKind::give;
          last.value = zero(*result).expr;
          add_statement(last);
        }
      });
      kernel_.functions.push_back(std::move(made));
      found = instances_.emplace(key, static_cast<Id>(kernel_.functions.size() - 1)).first;
    }
    std::vector<Id> ids;
    for (const Value& value : arguments.values) ids.push_back(value.expr);
    if (result) out = make(ir::Op::call, *result, ids, found->second);
  }
  std::swap(outer, state_);
  return out;
}

}  // namespace arraycore::dialect
