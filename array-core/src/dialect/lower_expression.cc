// Lowers expressions by the typing rule.
#include <array>
#include <limits>
#include <utility>

#include "dialect/lower.h"
#include "dialect/types.h"

namespace arraycore::dialect {
namespace {

// The constants of CUDA's headers. A floating constant has the same type as a floating literal.
struct NamedNumber {
  std::string_view name;
  double value;
};
constexpr std::array<NamedNumber, 18> kNumbers{{
    {"INFINITY", std::numeric_limits<double>::infinity()},
    {"HUGE_VAL", std::numeric_limits<double>::infinity()},
    {"CUDART_INF_F", std::numeric_limits<double>::infinity()},
    {"CUDART_INF", std::numeric_limits<double>::infinity()},
    {"NAN", std::numeric_limits<double>::quiet_NaN()},
    {"CUDART_NAN_F", std::numeric_limits<double>::quiet_NaN()},
    {"CUDART_NAN", std::numeric_limits<double>::quiet_NaN()},
    {"M_PI", 3.14159265358979323846},
    {"M_PI_2", 1.57079632679489661923},
    {"M_E", 2.71828182845904523536},
    {"M_LN2", 0.69314718055994530942},
    {"M_SQRT2", 1.41421356237309504880},
    {"M_SQRT1_2", 0.70710678118654752440},
    {"CUDART_PI_F", 3.14159265358979323846},
    {"FLT_MAX", std::numeric_limits<float>::max()},
    {"FLT_MIN", std::numeric_limits<float>::min()},
    {"FLT_EPSILON", std::numeric_limits<float>::epsilon()},
    {"DBL_MAX", std::numeric_limits<double>::max()},
}};
struct NamedInteger {
  std::string_view name;
  std::int64_t value;
  DType type;
};
constexpr std::array<NamedInteger, 5> kIntegers{{
    {"INT_MAX", std::numeric_limits<std::int32_t>::max(), DType::int32},
    {"INT_MIN", std::numeric_limits<std::int32_t>::min(), DType::int32},
    {"UINT_MAX", std::numeric_limits<std::uint32_t>::max(), DType::uint32},
    {"LLONG_MAX", std::numeric_limits<std::int64_t>::max(), DType::int64},
    {"LLONG_MIN", std::numeric_limits<std::int64_t>::min(), DType::int64},
}};

struct Operator {
  std::string_view text;
  ir::Op op;
};
constexpr std::array<Operator, 10> kArithmetic{{
    {"+", ir::Op::add},
    {"-", ir::Op::subtract},
    {"*", ir::Op::multiply},
    {"/", ir::Op::divide},
    {"%", ir::Op::remainder},
    {"&", ir::Op::bit_and},
    {"|", ir::Op::bit_or},
    {"^", ir::Op::bit_xor},
    {"<<", ir::Op::shift_left},
    {">>", ir::Op::shift_right},
}};
constexpr std::array<Operator, 6> kComparisons{{
    {"==", ir::Op::equal},
    {"!=", ir::Op::not_equal},
    {"<", ir::Op::less},
    {"<=", ir::Op::less_equal},
    {">", ir::Op::greater},
    {">=", ir::Op::greater_equal},
}};

}  // namespace

Value Lowering::expression(NodeId id) { return lower(id); }

void Lowering::discard(NodeId id) {
  const Node& n = node(id);
  if (n.kind == NodeKind::assign) {
    assignment(n, false);
  } else if (n.kind == NodeKind::increment) {
    increment(n, false);
  } else if (n.kind == NodeKind::call) {
    call(n, false);
  } else if (n.kind == NodeKind::binary && n.text == ",") {
    discard(n.a);
    discard(n.b);
  } else {
    // The value is not used. lower() turns the effects of this expression into statements.
    lower(id);
  }
}

Value Lowering::lower(NodeId id) {
  if (failed()) return integer(0);
  const Node& n = node(id);
  switch (n.kind) {
    case NodeKind::integer: {
      DType type = n.is_long ? DType::int64 : DType::int32;
      if (n.value > std::uint64_t{std::numeric_limits<std::int32_t>::max()} && !n.is_unsigned)
        type = DType::int64;
      if (n.is_unsigned) {
        const bool wide = n.is_long || n.value > std::numeric_limits<std::uint32_t>::max();
        type = wide ? DType::uint64 : DType::uint32;
      } else if (n.value > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
        type = DType::uint64;
      }
      return integer(static_cast<std::int64_t>(n.value), type);
    }
    case NodeKind::floating:
      return number(n.number, n.is_float ? DType::float32 : floating_);
    case NodeKind::boolean:
      return integer(static_cast<std::int64_t>(n.value), DType::boolean);
    case NodeKind::name:
      return name(n);
    case NodeKind::unary:
      return unary(n);
    case NodeKind::increment:
      return increment(n, true);
    case NodeKind::binary:
      return binary(n);
    case NodeKind::assign:
      return assignment(n, true);
    case NodeKind::choice:
      return choice(n);
    case NodeKind::call:
      return call(n, true);
    case NodeKind::method:
      return method(n);
    case NodeKind::subscript: {
      if (is_special_subscript(n)) return special_subscript(n);
      const auto p = element(n);
      return p ? load(*p) : integer(0);
    }
    case NodeKind::cast: {
      if (n.types[0].kind == TypeName::Kind::nothing) {
        discard(n.a);
        Value out;
        out.nothing = true;
        return out;
      }
      const auto type = type_of(n.types[0]);
      if (!type) return integer(0);
      return convert(lower(n.a), *type, n.where);
    }
    case NodeKind::construct:
      return construct(n);
  }
  return integer(0);
}

Value Lowering::name(const Node& n) {
  const Symbol* symbol = find(n.text);
  if (symbol == nullptr) {
    for (const auto& [name, value] : kNumbers)
      if (name == n.text) return number(value, floating_);
    for (const auto& [name, value, type] : kIntegers)
      if (name == n.text) return integer(value, type);
    fail(n.where, "'" + std::string(n.text) + "' is not known here");
    return integer(0);
  }
  switch (symbol->kind) {
    case Symbol::Kind::variable:
      return load(Place(symbol->place));
    case Symbol::Kind::constant: {
      kernel_.exprs.push_back(symbol->value);
      return {static_cast<Id>(kernel_.exprs.size() - 1), symbol->value.type, false};
    }
    case Symbol::Kind::loop_index:
      return make(ir::Op::loop_index, DType::int32);
    case Symbol::Kind::loop_size:
      return make(ir::Op::loop_size, DType::int32);
    case Symbol::Kind::reduce_index:
      return make(ir::Op::reduce_index, DType::int32);
    case Symbol::Kind::hidden:
      fail(n.where, symbol->why);
      break;
    case Symbol::Kind::type:
      fail(n.where, "'" + std::string(n.text) + "' is a type, not a value");
      break;
    case Symbol::Kind::raw:
    case Symbol::Kind::array:
    case Symbol::Kind::parts:
    case Symbol::Kind::indexer:
      fail(n.where, "'" + std::string(n.text) + "' is not one value: it needs an index");
      break;
  }
  return integer(0);
}

Value Lowering::to_bool(Value value, Where where) { return convert(value, DType::boolean, where); }

Value Lowering::condition(NodeId id) { return to_bool(lower(id), node(id).where); }

Value Lowering::unary(const Node& n) {
  if (n.text == "&" || n.text == "*") {
    sources_.fail(n.where, "pointers do not exist here, but for the target of an atomic function",
                  ErrorKind::not_implemented, "device_pointer");
    return integer(0);
  }
  Value v = lower(n.a);
  if (n.text == "!") return make(ir::Op::logical_not, DType::boolean, {to_bool(v, n.where).expr});
  v = convert(v, promoted(v.type), n.where);
  if (n.text == "+") return v;
  if (n.text == "~") {
    if (is_integer(v.type)) return make(ir::Op::bit_not, v.type, {v.expr});
    fail(n.where, "'~' takes integers");
    return v;
  }
  if (!failed() && (v.type == DType::float32 || v.type == DType::float64)) {
    if (const auto x = constant_number(v)) return number(-*x, v.type);
  } else if (is_integer(v.type)) {
    if (const auto x = constant_integer(v))
      return integer(static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(*x)), v.type);
  }
  return make(ir::Op::negate, v.type, {v.expr});
}

Value Lowering::increment(const Node& n, bool wanted) {
  const auto p = place(n.a);
  if (!p) return integer(0);
  if (p->type == DType::boolean || is_complex(p->type)) {
    fail(n.where, "'" + std::string(n.text) + "' takes integers and floats");
    return integer(0);
  }
  Value old = load(*p);
  const bool keeps = wanted && !n.is_prefix;
  if (keeps) {
    const Id saved = new_local("old", old.type);
    assign(saved, old);
    old = local(saved);
  }
  store(*p, arithmetic(n.text.substr(0, 1), old, integer(1), n.where), n.where);
  if (!wanted) return old;
  return keeps ? old : load(*p);
}

Value Lowering::binary(const Node& n) {
  if (n.text == ",") {
    discard(n.a);
    return lower(n.b);
  }
  if (n.text == "&&" || n.text == "||") return logical(n);
  Value a = lower(n.a);
  const std::size_t before = state_.current.size();
  const Value b = lower(n.b);
  a = keep(a, before);
  return arithmetic(n.text, a, b, n.where);
}

Value Lowering::arithmetic(std::string_view op, Value a, Value b, Where where) {
  if (failed()) return integer(0);
  if (a.nothing || b.nothing) {
    fail(where, "this function gives no value");
    return integer(0);
  }
  for (const auto& [text, comparison] : kComparisons) {
    if (text != op) continue;
    const DType type =
        a.type == b.type && a.type == DType::boolean ? a.type : common_type(a.type, b.type);
    if (is_complex(type) && comparison != ir::Op::equal && comparison != ir::Op::not_equal) {
      fail(where, "complex numbers have no order");
      return integer(0, DType::boolean);
    }
    a = convert(a, type, where);
    b = convert(b, type, where);
    return make(comparison, DType::boolean, {a.expr, b.expr});
  }
  for (const auto& [text, operation] : kArithmetic) {
    if (text != op) continue;
    const bool bits = operation >= ir::Op::bit_and && operation <= ir::Op::bit_xor;
    const bool shift = operation == ir::Op::shift_left || operation == ir::Op::shift_right;
    // bool & bool stays bool, because as a number or a condition it has the same value.
    const bool truth = bits && a.type == DType::boolean && b.type == DType::boolean;
    const DType type = truth   ? DType::boolean
                       : shift ? promoted(a.type)
                               : common_type(a.type, b.type);
    const bool integers = truth || is_integer(type);
    if ((bits || shift || operation == ir::Op::remainder) &&
        (!integers || (shift && !is_integer(promoted(b.type))))) {
      fail(where, operation == ir::Op::remainder ? std::string("'%' takes integers: use fmod")
                                                 : "'" + std::string(op) + "' takes integers");
      return integer(0);
    }
    a = convert(a, type, where);
    b = convert(b, type, where);
    return fold(operation, type, a, b);
  }
  fail(where, "'" + std::string(op) + "' is not part of the dialect");
  return integer(0);
}

Value Lowering::logical(const Node& n) {
  const bool is_and = n.text == "&&";
  const Value a = condition(n.a);
  ir::Block block;
  std::swap(block, state_.current);
  const Value b = condition(n.b);
  std::swap(block, state_.current);
  const ir::Op op = is_and ? ir::Op::logical_and : ir::Op::logical_or;
  if (block.empty()) return make(op, DType::boolean, {a.expr, b.expr});
  // The second operand needs statements. They run only if the first operand does not decide the
  // result.
  const Id out = new_local("truth", DType::boolean);
  assign(out, a);
  std::swap(block, state_.current);
  assign(out, b);
  std::swap(block, state_.current);
  kernel_.blocks.push_back(std::move(block));
  const Value test =
      is_and ? local(out) : make(ir::Op::logical_not, DType::boolean, {local(out).expr});
  branch(test, static_cast<Id>(kernel_.blocks.size() - 1));
  return local(out);
}

Value Lowering::choice(const Node& n) {
  const Value test = condition(n.a);
  std::array<ir::Block, 2> blocks;
  std::array<Value, 2> values;
  const std::array<NodeId, 2> arms{n.b, n.c};
  for (std::size_t k = 0; k < 2; ++k) {
    std::swap(blocks[k], state_.current);
    values[k] = lower(arms[k]);
    std::swap(blocks[k], state_.current);
  }
  if (failed()) return integer(0);
  if (values[0].nothing != values[1].nothing) {
    fail(n.where, "only one side of '?:' gives a value");
    return integer(0);
  }
  const DType type = values[0].type == values[1].type ? values[0].type
                                                      : common_type(values[0].type, values[1].type);
  const bool nothing = values[0].nothing;
  if (!nothing)
    for (Value& value : values) value = convert(value, type, n.where);
  if (blocks[0].empty() && blocks[1].empty()) {
    if (nothing) return values[0];
    return make(ir::Op::select, type, {test.expr, values[0].expr, values[1].expr});
  }
  const Id out = nothing ? ir::kNone : new_local("chosen", type);
  std::array<Id, 2> ids{};
  for (std::size_t k = 0; k < 2; ++k) {
    std::swap(blocks[k], state_.current);
    if (!nothing) assign(out, values[k]);
    std::swap(blocks[k], state_.current);
    kernel_.blocks.push_back(std::move(blocks[k]));
    ids[k] = static_cast<Id>(kernel_.blocks.size() - 1);
  }
  branch(test, ids[0], ids[1]);
  return nothing ? values[0] : local(out);
}

Value Lowering::assignment(const Node& n, bool wanted) {
  Value value = lower(n.b);  // the right side first, as in C++17
  const std::size_t before = state_.current.size();
  const auto p = place(n.a);
  if (!p || failed()) return integer(0);
  if (value.nothing) {
    fail(n.where, "this function gives no value");
    return integer(0);
  }
  value = keep(value, before);
  if (n.text != "=")
    value = arithmetic(n.text.substr(0, n.text.size() - 1), load(*p), value, n.where);
  store(*p, value, n.where);
  return wanted ? load(*p) : value;
}

Value Lowering::construct(const Node& n) {
  const auto type = type_of(n.types[0]);
  if (!type) return integer(0);
  if (n.list.empty()) return zero(*type);
  if (!is_complex(*type) || n.list.size() != 2) {
    fail(n.where, "this type takes one value");
    return integer(0);
  }
  const DType part = ir::real_of(*type);
  Value re = convert(lower(n.list[0]), part, n.where);
  const std::size_t before = state_.current.size();
  const Value im = convert(lower(n.list[1]), part, n.where);
  re = keep(re, before);
  return make(ir::Op::make_complex, *type, {re.expr, im.expr});
}

}  // namespace arraycore::dialect
