// Lowers calls of mathematical and atomic functions.
#include <algorithm>

#include "dialect/builtin.h"
#include "dialect/lower.h"
#include "dialect/types.h"
#include "ir/op_info.h"

namespace arraycore::dialect {
namespace {

using Rule = Builtin::Rule;

}  // namespace

// Returns the type in which floating functions of these operands compute: a complex type if one is
// complex.
DType Lowering::floating_of(const std::vector<Value>& values) const {
  DType out = DType::boolean;
  for (const Value& v : values)
    if (is_floating(v.type) || is_complex(v.type)) out = common_type(out, v.type);
  return is_floating(out) || is_complex(out) ? out : floating_;
}

Value Lowering::call_builtin(const Node& n, const Builtin& b, bool single) {
  const std::string name(n.text);
  if (b.rule == Rule::refused) {
    sources_.fail(n.where, "'" + name + "' is not offered in kernels", ErrorKind::not_implemented,
                  "kernel_function");
    return integer(0);
  }
  if (n.list.size() != b.arity) {
    fail(n.where, "'" + name + "' takes " + std::to_string(b.arity) +
                      (b.arity == 1 ? " argument, not " : " arguments, not ") +
                      std::to_string(n.list.size()));
    return integer(0);
  }
  if (b.rule == Rule::nothing) {  // its arguments are not evaluated, as with NDEBUG
    Value out;
    out.nothing = true;
    return out;
  }
  std::vector<Value> values = lower_list(n.list);
  if (failed()) return integer(0);
  DType type = single ? DType::float32 : floating_of(values);
  const auto all_to = [&](DType to) {
    std::vector<Id> ids;
    for (const Value& v : values) ids.push_back(convert(v, to, n.where).expr);
    return ids;
  };
  const auto no_complex = [&] {
    if (!is_complex(type)) return true;
    fail(n.where, "'" + name + "' takes no complex numbers");
    return false;
  };
  switch (b.rule) {
    case Rule::floating:
      if (!no_complex()) return integer(0);
      return make(b.op, type, all_to(type));
    case Rule::number:
      if (!ir::takes(b.op, type) && !no_complex()) return integer(0);
      return make(b.op, type, all_to(type));
    case Rule::test:
      if (!ir::takes(b.op, type) && !no_complex()) return integer(0);
      return make(b.op, DType::boolean, all_to(type));
    case Rule::smaller: {
      type = common_type(values[0].type, values[1].type);
      if (!no_complex()) return integer(0);
      if (is_floating(type)) return make(b.op, type, all_to(type));
      const bool is_min = b.op == ir::Op::fmin;
      return make(is_min ? ir::Op::minimum : ir::Op::maximum, type, all_to(type));
    }
    case Rule::magnitude: {
      type = promoted(values[0].type);
      return make(ir::Op::absolute, ir::real_of(type), all_to(type));
    }
    case Rule::power:
      return make(ir::Op::power, type, all_to(type));
    case Rule::scaled: {
      if (!no_complex()) return integer(0);
      const Value x = convert(values[0], type, n.where);
      const Value exponent = convert(values[1], DType::int32, n.where);
      return make(ir::Op::ldexp, type, {x.expr, exponent.expr});
    }
    case Rule::to_integer: {
      if (!no_complex()) return integer(0);
      return convert(make(b.op, type, all_to(type)), DType::int32, n.where);
    }
    case Rule::to_real: {
      if (is_complex(values[0].type))
        return make(b.op, ir::real_of(values[0].type), {values[0].expr});
      return b.op == ir::Op::real ? convert(values[0], type, n.where) : number(0, type);
    }
    case Rule::conjugate:
      if (!is_complex(values[0].type)) return convert(values[0], type, n.where);
      return make(ir::Op::conj, type, {values[0].expr});
    case Rule::bits: {
      const DType of = promoted(values[0].type);
      if (!is_integer(of)) {
        fail(n.where, "'" + name + "' takes an integer");
        return integer(0);
      }
      return convert(make(b.op, b.op == ir::Op::leading_zeros ? DType::int32 : of, all_to(of)),
                     DType::int32, n.where);
    }
    case Rule::as_bits: {
      const bool from_float = is_integer(b.type);
      DType from =
          b.type == DType::int32 || b.type == DType::uint32 ? DType::float32 : DType::int32;
      if (!from_float && kind_of(values[0].type) == Kind::unsigned_integer) from = DType::uint32;
      return make(ir::Op::bitcast, b.type, all_to(from));
    }
    case Rule::convert:
      return convert(values[0], b.type, n.where);
    case Rule::saturate: {
      if (!no_complex()) return integer(0);
      const Value low = number(0, DType::float32);
      const Value x = convert(values[0], DType::float32, n.where);
      const Value above = make(ir::Op::fmax, DType::float32, {x.expr, low.expr});
      const Value high = number(1, DType::float32);
      return make(ir::Op::fmin, DType::float32, {above.expr, high.expr});
    }
    case Rule::nothing:
    case Rule::refused:
      break;
  }
  return integer(0);
}

// Lowers atomicAdd(&x[k], v) and similar calls. The form x + k does not exist in the dialect.
Value Lowering::call_atomic(const Node& n, bool wanted) {
  const Atomic& atomic = *find_atomic(n.text);
  const std::string name(n.text);
  if (n.list.size() != atomic.arity) {
    fail(n.where, "'" + name + "' takes " + std::to_string(atomic.arity) + " arguments, not " +
                      std::to_string(n.list.size()));
    return integer(0);
  }
  const Node& target = node(n.list[0]);
  if (target.kind != NodeKind::unary || target.text != "&") {
    fail(n.where, "the first argument of '" + name + "' is '&' and an element of a raw array");
    return integer(0);
  }
  auto p = place(target.a);
  if (!p || failed()) return integer(0);
  if (p->kind != Place::Kind::param_at) {
    fail(target.where, "'" + name +
                           "' updates an element of a raw array: declare it 'raw' and "
                           "index it");
    return integer(0);
  }
  if (p->is_const) {
    fail(target.where,
         "'" + kernel_.params[p->target].name + "' is an input and cannot be assigned");
    return integer(0);
  }
  if (!ir::takes(atomic.op, p->type)) {
    sources_.fail(n.where, "'" + name + "' does not exist for " + std::string(name_of(p->type)),
                  ErrorKind::not_implemented, "kernel_function");
    return integer(0);
  }
  const std::size_t before = state_.current.size();
  std::vector<Value> values = lower_list({n.list.begin() + 1, n.list.end()});
  if (failed()) return integer(0);
  for (Id& index : p->index) index = keep({index, DType::int32, false}, before).expr;
  std::vector<Id> args = p->index;
  for (Value& value : values) {
    if (atomic.negate) {
      value = convert(value, promoted(value.type), n.where);
      value = make(ir::Op::negate, value.type, {value.expr});
    }
    args.push_back(convert(value, p->type, n.where).expr);
  }
  ir::Param& param = kernel_.params[p->target];
  param.atomic = true;
  const Value old = make(atomic.op, p->type, args, p->target);
  if (!wanted) {
    ir::Stmt s;
    s.kind = ir::StmtKind::evaluate;
    s.value = old.expr;
    add_statement(s);
    return old;
  }
  const Id saved = new_local("old", p->type);
  assign(saved, old);
  return local(saved);
}

}  // namespace arraycore::dialect
