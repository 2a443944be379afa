// Lowers statements: declarations, branches, loops, return.
#include <algorithm>

#include "dialect/lower.h"
#include "dialect/types.h"

namespace arraycore::dialect {

void Lowering::statements(const std::vector<StatementId>& list) {
  for (const StatementId id : list) {
    if (failed()) return;
    statement(id);
  }
}

void Lowering::statement(StatementId id) {
  const Statement& s = tree_.statements[id];
  switch (s.kind) {
    case StatementKind::nothing:
      break;
    case StatementKind::expression:
      discard(s.a);
      break;
    case StatementKind::declaration:
      declaration(s);
      break;
    case StatementKind::alias: {
      const auto type = type_of(s.type);
      Symbol symbol;
      symbol.kind = Symbol::Kind::type;
      symbol.place.type = type.value_or(DType::int32);
      declare(s.text, std::move(symbol));
      break;
    }
    case StatementKind::block:
      open_scope();
      statements(s.list);
      close_scope();
      break;
    case StatementKind::branch: {
      const Value test = condition(s.a);
      const auto arm = [&](StatementId body) {
        return block_of([&] {
          open_scope();
          statement(body);
          close_scope();
        });
      };
      const Id then = arm(s.first);
      branch(test, then, s.second == kNoStatement ? ir::kNone : arm(s.second));
      break;
    }
    case StatementKind::repeat:
      loop(s);
      break;
    case StatementKind::repeat_until:
      loop_until(s);
      break;
    case StatementKind::leave:
      if (state_.context.loops == 0) return fail(s.where, "'break' stands outside a loop");
      simple(ir::StmtKind::leave);
      break;
    case StatementKind::next:
      // Outside of loops `continue` ends the work on the element, because CuPy puts the operation
      // into a loop over the elements.
      if (state_.context.loops > 0)
        simple(ir::StmtKind::next);
      else
        give(s);
      break;
    case StatementKind::give:
      give(s);
      break;
  }
}

void Lowering::declaration(const Statement& s) {
  for (const Declarator& d : s.declarators) {
    if (failed()) return;
    if (d.is_pointer || s.type.is_pointer) {
      sources_.fail(d.where, "pointers do not exist here, but for the target of an atomic function",
                    ErrorKind::not_implemented, "device_pointer");
      return;
    }
    if (d.is_array) {
      declare_array(s, d);
      continue;
    }
    if (d.has_list && d.list.size() > 1) return fail(d.where, "a variable has one value");
    const NodeId init = d.has_list ? (d.list.empty() ? kNoNode : d.list[0]) : d.init;
    Symbol symbol;
    if (s.type.is_reference && !s.type.is_const) {
      if (init == kNoNode) return fail(d.where, "a reference needs something to refer to");
      auto target = place(init);
      if (!target) return;
      fix_index(*target);
      symbol.place = *target;
      declare(d.name, std::move(symbol));
      continue;
    }
    Value value;
    if (init != kNoNode) {
      value = lower(init);
      if (value.nothing) return fail(d.where, "this function gives no value");
    }
    DType type = value.type;
    if (s.type.kind == TypeName::Kind::automatic) {
      if (init == kNoNode) return fail(d.where, "'auto' needs an initial value");
    } else {
      const auto named = type_of(s.type);
      if (!named) return;
      type = *named;
    }
    if (init == kNoNode) value = zero(type);
    value = convert(value, type, d.where);
    symbol.place.target = new_local(d.name, type);
    symbol.place.type = type;
    symbol.place.is_const = s.type.is_const;
    assign(symbol.place.target, value);
    declare(d.name, std::move(symbol));
  }
}

// Declares an array. If no variable indexes it, each element becomes a Local. So `int at[] = {b,
// t}; x[at]` takes no memory.
void Lowering::declare_array(const Statement& s, const Declarator& d) {
  const auto type = type_of(s.type);
  if (!type) return;
  std::size_t length = d.list.size();
  if (d.length != kNoNode) {
    const Value value = lower(d.length);
    const auto constant = failed() ? std::nullopt : constant_integer(value);
    if (!constant || *constant < 1 || *constant > kMaxArray)
      return fail(d.where, "an array's length is a constant from 1 to 64");
    length = static_cast<std::size_t>(*constant);
  }
  if (d.init != kNoNode) return fail(d.where, "an array's values stand in braces");
  if (length == 0 || length > kMaxArray)
    return fail(d.where, "an array's length is a constant from 1 to 64");
  if (d.list.size() > length) return fail(d.where, "there are more values than elements");
  std::vector<Value> values;
  for (const NodeId id : d.list) {
    const std::size_t before = state_.current.size();
    const Value value = convert(lower(id), *type, node(id).where);
    for (Value& earlier : values) earlier = keep(earlier, before);
    values.push_back(value);
  }
  while (values.size() < length) values.push_back(zero(*type));
  if (failed()) return;
  Symbol symbol;
  symbol.place.type = *type;
  symbol.place.is_const = s.type.is_const;
  if (!std::binary_search(indexed_.begin(), indexed_.end(), d.name)) {
    symbol.kind = Symbol::Kind::parts;
    for (std::size_t k = 0; k < length; ++k) {
      symbol.parts.push_back(new_local(std::string(d.name) + "_" + std::to_string(k), *type));
      assign(symbol.parts.back(), values[k]);
    }
  } else {
    symbol.kind = Symbol::Kind::array;
    symbol.place.kind = Place::Kind::local_at;
    symbol.place.target = new_local(d.name, *type, static_cast<std::uint32_t>(length));
    for (std::size_t k = 0; k < length; ++k) {
      Place element = symbol.place;
      element.is_const = false;
      element.index = {integer(static_cast<std::int64_t>(k)).expr};
      store(element, values[k], d.where);
    }
  }
  declare(d.name, std::move(symbol));
}

void Lowering::constant_declaration(const Statement& s) {
  for (const Declarator& d : s.declarators) {
    if (failed()) return;
    if (!s.type.is_const || d.is_array || d.is_pointer || d.init == kNoNode)
      return fail(d.where, "what the preamble declares besides functions and types is constant");
    Value value = lower(d.init);
    if (value.nothing) return fail(d.where, "this function gives no value");
    if (s.type.kind != TypeName::Kind::automatic) {
      const auto type = type_of(s.type);
      if (!type) return;
      value = convert(value, *type, d.where);
    }
    if (failed()) return;
    if (!is_constant(value)) return fail(d.where, "this value is not a constant");
    Symbol symbol;
    symbol.kind = Symbol::Kind::constant;
    symbol.value = kernel_.exprs[value.expr];
    globals_.names[d.name] = std::move(symbol);
  }
}

void Lowering::loop(const Statement& s) {
  open_scope();  // for what the `for` declares
  statements(s.list);
  const bool outer_done = std::exchange(state_.context.done_set, false);
  Value test;
  bool has_test = s.a != kNoNode;
  ir::Stmt out;
  out.kind = ir::StmtKind::loop;
  out.then = block_of([&] {
    if (has_test) test = condition(s.a);
    // A condition that needs statements is tested inside of the loop, at the beginning of each
    // iteration.
    if (has_test && !state_.current.empty()) {
      const Id stop = block_of([&] { simple(ir::StmtKind::leave); });
      branch(make(ir::Op::logical_not, DType::boolean, {test.expr}), stop);
      has_test = false;
    }
    ++state_.context.loops;
    open_scope();
    statement(s.first);
    close_scope();
    --state_.context.loops;
  });
  if (s.b != kNoNode) out.otherwise = block_of([&] { discard(s.b); });
  if (has_test) out.value = test.expr;
  add_statement(out);
  after_loop();
  state_.context.done_set = state_.context.done_set || outer_done;
  close_scope();
}

void Lowering::loop_until(const Statement& s) {
  const bool outer_done = std::exchange(state_.context.done_set, false);
  const auto body = [&] {
    ++state_.context.loops;
    open_scope();
    statement(s.first);
    close_scope();
    --state_.context.loops;
  };
  ir::Stmt out;
  Value test;
  out.then = block_of(body);
  const Id tail = block_of([&] { test = condition(s.a); });
  if (kernel_.blocks[tail].empty()) {
    out.kind = ir::StmtKind::loop_until;
    out.value = test.expr;
  } else {
    // The condition's statements must run after `continue` too. So they become the loop's step.
    const Id more = new_local("more", DType::boolean);
    assign(more, integer(1, DType::boolean));
    ir::Block block = kernel_.blocks[tail];
    std::swap(block, state_.current);
    assign(more, test);
    std::swap(block, state_.current);
    kernel_.blocks[tail] = std::move(block);
    out.kind = ir::StmtKind::loop;
    out.value = local(more).expr;
    out.otherwise = tail;
  }
  add_statement(out);
  after_loop();
  state_.context.done_set = state_.context.done_set || outer_done;
}

// After an inner loop: ends the outer loop too, if a `return` has left the inner
// loop.
void Lowering::after_loop() {
  Context& c = state_.context;
  if (c.kind != Context::Kind::inlined || !c.done_set) return;
  const Id out = block_of([&] { simple(ir::StmtKind::leave); });
  branch(local(c.done), out);
}

void Lowering::give(const Statement& s) {
  Context& c = state_.context;
  const bool is_next = s.kind == StatementKind::next;
  if (is_next && !c.operation) return fail(s.where, "'continue' stands outside a loop");
  Value value;
  if (s.a != kNoNode) {
    value = lower(s.a);
    if (!c.result) {
      if (!value.nothing) fail(s.where, "nothing is returned here");
      return;
    }
    value = convert(value, *c.result, s.where);
  } else if (c.result && !is_next) {
    return fail(s.where, "a value must be returned here");
  }
  if (c.kind != Context::Kind::inlined) {
    ir::Stmt out;
    out.kind = ir::StmtKind::give;
    if (c.result) out.value = value.expr;
    add_statement(out);
    return;
  }
  if (c.result) assign(c.result_local, value);
  if (!c.wrapped) return;  // `return` is the last statement anyway
  if (c.loops > 0) {
    assign(c.done, integer(1, DType::boolean));
    c.done_set = true;
  }
  simple(ir::StmtKind::leave);
}

int Lowering::count_returns(StatementId id, bool with_next) const {
  if (id == kNoStatement) return 0;
  const Statement& s = tree_.statements[id];
  int count = s.kind == StatementKind::give || (with_next && s.kind == StatementKind::next) ? 1 : 0;
  count += count_returns(s.first, with_next) + count_returns(s.second, with_next);
  for (const StatementId part : s.list) count += count_returns(part, with_next);
  return count;
}

bool Lowering::ends_with_only_return(StatementId body) const {
  const int count = count_returns(body, false);
  if (count == 0) return true;
  const Statement& s = tree_.statements[body];
  return count == 1 && !s.list.empty() &&
         tree_.statements[s.list.back()].kind == StatementKind::give;
}

void Lowering::operation(const std::vector<StatementId>& list, bool then) {
  int returns = 0;
  for (const StatementId id : list) returns += count_returns(id, true);
  state_.context.operation = true;
  if (!then || returns == 0) return statements(list);
  Context outer = state_.context;
  state_.context = {};
  state_.context.kind = Context::Kind::inlined;
  state_.context.wrapped = true;
  state_.context.operation = true;
  state_.context.done = new_local("done", DType::boolean);
  assign(state_.context.done, zero(DType::boolean));
  ir::Stmt once;
  once.kind = ir::StmtKind::loop_until;
  once.then = block_of([&] { statements(list); });
  once.value = zero(DType::boolean).expr;
  add_statement(once);
  state_.context = outer;
}

}  // namespace arraycore::dialect
