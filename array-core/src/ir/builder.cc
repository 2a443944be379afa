#include "ir/builder.h"

#include <algorithm>

#include "ir/op_info.h"
#include "ir/value.h"

namespace arraycore::ir {

Builder::Builder(std::string name) {
  kernel_.name = std::move(name);
  kernel_.blocks.emplace_back();
  kernel_.body = 0;
  open_.push_back(0);
}

ParamRef Builder::add_param(std::string name, DType dtype, ParamKind kind, Access access,
                            int ndim) {
  const Id id = static_cast<Id>(kernel_.params.size());
  kernel_.params.push_back(
      {std::move(name), dtype, kind, access, false, static_cast<std::int8_t>(ndim)});
  return {id, dtype};
}
ParamRef Builder::in(std::string name, DType dtype) {
  return add_param(std::move(name), dtype, ParamKind::elementwise, Access::read, -1);
}
ParamRef Builder::out(std::string name, DType dtype) {
  return add_param(std::move(name), dtype, ParamKind::elementwise, Access::write, -1);
}
ParamRef Builder::in_out(std::string name, DType dtype) {
  return add_param(std::move(name), dtype, ParamKind::elementwise, Access::read_write, -1);
}
ParamRef Builder::raw(std::string name, DType dtype, Access access, int ndim) {
  return add_param(std::move(name), dtype, ParamKind::raw, access, ndim);
}
ParamRef Builder::scalar(std::string name, DType dtype) {
  return add_param(std::move(name), dtype, ParamKind::scalar, Access::read, -1);
}

Value Builder::add(Expr expr, const std::vector<Value>& operands) {
  expr.first_arg = static_cast<Id>(kernel_.args.size());
  expr.count = static_cast<std::uint32_t>(operands.size());
  for (const Value& operand : operands) kernel_.args.push_back(operand.id);
  const Id id = static_cast<Id>(kernel_.exprs.size());
  kernel_.exprs.push_back(expr);
  return {this, id, expr.type};
}

Value Builder::bits(DType type, std::uint64_t bits, std::uint64_t bits_high) {
  return add({.op = Op::constant, .type = type, .bits = bits, .bits_high = bits_high});
}
Value Builder::constant(DType type, double value) {
  const Scalar scalar = scalar_of(type, value);
  return bits(type, scalar.bits, scalar.bits_high);
}
Value Builder::integer(DType type, std::int64_t value) {
  const Scalar scalar = scalar_of(type, value);
  return bits(type, scalar.bits, scalar.bits_high);
}
Value Builder::read(ParamRef param) {
  return add({.op = Op::param, .type = param.type, .index = param.id});
}
Value Builder::read(LocalRef local) {
  return add({.op = Op::local, .type = local.type, .index = local.id});
}
Value Builder::read_at(ParamRef param, std::initializer_list<Value> index) {
  return add({.op = Op::param_at, .type = param.type, .index = param.id}, index);
}
Value Builder::read_at(LocalRef array, Value index) {
  return add({.op = Op::local_at, .type = array.type, .index = array.id}, {index});
}
Value Builder::loop_index() { return add({.op = Op::loop_index}); }
Value Builder::loop_size() { return add({.op = Op::loop_size}); }
Value Builder::axis_index(int axis) {
  return add({.op = Op::axis_index, .index = static_cast<Id>(axis)});
}
Value Builder::reduce_index() { return add({.op = Op::reduce_index}); }
Value Builder::shape(ParamRef param, int axis) {
  return add({.op = Op::param_shape, .index = param.id}, {integer(DType::int32, axis)});
}
Value Builder::size(ParamRef param) { return add({.op = Op::param_size, .index = param.id}); }
Value Builder::convert(DType to, Value value) {
  return value.type == to ? value : add({.op = Op::convert, .type = to}, {value});
}
Value Builder::bitcast(DType to, Value value) {
  return add({.op = Op::bitcast, .type = to}, {value});
}

Value Builder::apply(Op op, const std::vector<Value>& operands) {
  DType type = operands.empty() ? DType::int32 : operands[0].type;
  switch (info(op).shape) {
    case Shape::compare:
    case Shape::test:
      type = DType::boolean;
      break;
    case Shape::special:
      if (op == Op::select && operands.size() == 3) type = operands[1].type;
      if (op == Op::leading_zeros) type = DType::int32;
      if (op == Op::make_complex) type = complex_of(type);
      if (op == Op::real || op == Op::imag || op == Op::absolute) type = real_of(type);
      break;
    default:
      break;
  }
  return add({.op = op, .type = type}, operands);
}
Value Builder::apply(Op op, std::initializer_list<Value> operands) {
  return apply(op, std::vector<Value>(operands));
}
Value Builder::select(Value condition, Value then, Value otherwise) {
  return apply(Op::select, {condition, then, otherwise});
}
Value Builder::make_complex(Value real, Value imag) {
  return apply(Op::make_complex, {real, imag});
}
Value Builder::call(FunctionRef function, const std::vector<Value>& arguments) {
  return add({.op = Op::call, .type = function.result.value_or(DType::int32), .index = function.id},
             arguments);
}
Value Builder::atomic(Op op, ParamRef param, std::initializer_list<Value> index_and_values) {
  kernel_.params[param.id].atomic = true;
  return add({.op = op, .type = param.type, .index = param.id}, index_and_values);
}

LocalRef Builder::local(std::string name, DType type, std::uint32_t length) {
  const Id id = static_cast<Id>(kernel_.locals.size());
  kernel_.locals.push_back({std::move(name), type, length});
  return {id, type};
}
LocalRef Builder::local(std::string name, Value initial) {
  const LocalRef result = local(std::move(name), initial.type);
  set(result, initial);
  return result;
}

void Builder::add(Stmt stmt) {
  const Id id = static_cast<Id>(kernel_.stmts.size());
  kernel_.stmts.push_back(stmt);
  kernel_.blocks[open_.back()].push_back(id);
}
void Builder::set(LocalRef local, Value value) {
  add({.kind = StmtKind::assign, .target = local.id, .value = value.id});
}
void Builder::set_at(LocalRef array, Value index, Value value) {
  const Id first = static_cast<Id>(kernel_.args.size());
  kernel_.args.push_back(index.id);
  add({.kind = StmtKind::assign_at,
       .target = array.id,
       .value = value.id,
       .first_arg = first,
       .count = 1});
}
void Builder::store(ParamRef param, Value value) {
  add({.kind = StmtKind::store, .target = param.id, .value = value.id});
}
void Builder::store_at(ParamRef param, std::initializer_list<Value> index, Value value) {
  const Id first = static_cast<Id>(kernel_.args.size());
  for (const Value& one : index) kernel_.args.push_back(one.id);
  add({.kind = StmtKind::store_at,
       .target = param.id,
       .value = value.id,
       .first_arg = first,
       .count = static_cast<std::uint32_t>(index.size())});
}

Id Builder::block(const Body& body) {
  const Id id = static_cast<Id>(kernel_.blocks.size());
  kernel_.blocks.emplace_back();
  open_.push_back(id);
  if (body) body();
  open_.pop_back();
  return id;
}
void Builder::if_(Value condition, const Body& then, const Body& otherwise) {
  const Id yes = block(then);
  const Id no = otherwise ? block(otherwise) : kNone;
  add({.kind = StmtKind::branch, .value = condition.id, .then = yes, .otherwise = no});
}
void Builder::while_(std::optional<Value> condition, const Body& body, const Body& step) {
  const Id then = block(body);
  const Id otherwise = step ? block(step) : kNone;
  add({.kind = StmtKind::loop,
       .value = condition ? condition->id : kNone,
       .then = then,
       .otherwise = otherwise});
}
void Builder::do_while(const Body& body, std::optional<Value> condition, const Body& step) {
  const Id then = block(body);
  const Id otherwise = step ? block(step) : kNone;
  add({.kind = StmtKind::loop_until,
       .value = condition ? condition->id : kNone,
       .then = then,
       .otherwise = otherwise});
}
void Builder::leave() { add({.kind = StmtKind::leave}); }
void Builder::next() { add({.kind = StmtKind::next}); }
void Builder::give() { add({.kind = StmtKind::give}); }
void Builder::give(Value value) { add({.kind = StmtKind::give, .value = value.id}); }
void Builder::evaluate(Value value) { add({.kind = StmtKind::evaluate, .value = value.id}); }

FunctionRef Builder::function(std::string name, const std::vector<DType>& arguments,
                              std::optional<DType> result,
                              const std::function<void(const std::vector<LocalRef>&)>& body) {
  Function function{.name = std::move(name), .arguments = {}, .result = result, .body = kNone};
  std::vector<LocalRef> locals;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    locals.push_back(local("a" + std::to_string(i), arguments[i]));
    function.arguments.push_back(locals.back().id);
  }
  function.body = block([&] { body(locals); });
  const Id id = static_cast<Id>(kernel_.functions.size());
  kernel_.functions.push_back(std::move(function));
  return {id, result};
}

void Builder::reduce(Value mapped, std::optional<Value> identity,
                     const std::function<Value(Value, Value)>& combine,
                     const std::function<void(Value)>& post) {
  reduce(
      {{mapped, identity}},
      [&](const Values& a, const Values& b) { return Values{combine(a[0], b[0])}; },
      [&](const Values& total) { post(total[0]); });
}

void Builder::reduce(const std::vector<Mapped>& mapped, const Combine& combine,
                     const std::function<void(const Values&)>& post) {
  fold(mapped, combine, Reduction::Gives::totals,
       [&](const Values& totals, const Values&) { post(totals); });
}

void Builder::scan(const std::vector<Mapped>& mapped, const Combine& combine,
                   const std::function<void(const Values&, const Values&)>& post) {
  fold(mapped, combine, Reduction::Gives::running, post);
}

void Builder::fold(const std::vector<Mapped>& mapped, const Combine& combine,
                   Reduction::Gives gives,
                   const std::function<void(const Values&, const Values&)>& post) {
  Reduction reduction;
  reduction.gives = gives;
  std::vector<LocalRef> own;
  std::vector<LocalRef> a;
  std::vector<LocalRef> b;
  for (const Mapped& one : mapped) {
    own.push_back(local("mapped", one.value));
    a.push_back(local("a", one.value.type));
    b.push_back(local("b", one.value.type));
    reduction.values.push_back(
        {own.back().id, a.back().id, b.back().id, kNone, one.identity ? one.identity->id : kNone});
  }
  const auto all = [&](const std::vector<LocalRef>& locals) {
    Values values;
    for (const LocalRef each : locals) values.push_back(read(each));
    return values;
  };
  const Values so_far = all(a);
  const Values combined = combine(so_far, all(b));
  for (std::size_t v = 0; v < mapped.size(); ++v) reduction.values[v].combine = combined[v].id;
  reduction.post = block([&] {
    const Values totals = all(a);
    post(totals, gives == Reduction::Gives::running ? all(own) : Values{});
  });
  kernel_.reduction = std::move(reduction);
}

Value operator+(Value a, Value b) { return a.builder->apply(Op::add, {a, b}); }
Value operator-(Value a, Value b) { return a.builder->apply(Op::subtract, {a, b}); }
Value operator*(Value a, Value b) { return a.builder->apply(Op::multiply, {a, b}); }
Value operator/(Value a, Value b) { return a.builder->apply(Op::divide, {a, b}); }
Value operator%(Value a, Value b) { return a.builder->apply(Op::remainder, {a, b}); }
Value operator&(Value a, Value b) { return a.builder->apply(Op::bit_and, {a, b}); }
Value operator|(Value a, Value b) { return a.builder->apply(Op::bit_or, {a, b}); }
Value operator^(Value a, Value b) { return a.builder->apply(Op::bit_xor, {a, b}); }
Value operator<<(Value a, Value b) { return a.builder->apply(Op::shift_left, {a, b}); }
Value operator>>(Value a, Value b) { return a.builder->apply(Op::shift_right, {a, b}); }
Value operator<(Value a, Value b) { return a.builder->apply(Op::less, {a, b}); }
Value operator<=(Value a, Value b) { return a.builder->apply(Op::less_equal, {a, b}); }
Value operator>(Value a, Value b) { return a.builder->apply(Op::greater, {a, b}); }
Value operator>=(Value a, Value b) { return a.builder->apply(Op::greater_equal, {a, b}); }
Value operator==(Value a, Value b) { return a.builder->apply(Op::equal, {a, b}); }
Value operator!=(Value a, Value b) { return a.builder->apply(Op::not_equal, {a, b}); }
Value operator-(Value a) { return a.builder->apply(Op::negate, {a}); }
Value operator!(Value a) { return a.builder->apply(Op::logical_not, {a}); }
Value operator+(Value a, double b) { return a + a.builder->constant(a.type, b); }
Value operator-(Value a, double b) { return a - a.builder->constant(a.type, b); }
Value operator*(Value a, double b) { return a * a.builder->constant(a.type, b); }
Value operator*(double a, Value b) { return b.builder->constant(b.type, a) * b; }
Value operator/(Value a, double b) { return a / a.builder->constant(a.type, b); }
Value operator<(Value a, double b) { return a < a.builder->constant(a.type, b); }
Value operator>(Value a, double b) { return a > a.builder->constant(a.type, b); }
Value operator==(Value a, double b) { return a == a.builder->constant(a.type, b); }

}  // namespace arraycore::ir
