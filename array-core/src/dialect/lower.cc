// Emits IR, and manages names and types.
#include "dialect/lower.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "dialect/parser.h"
#include "dialect/types.h"
#include "dtype/half.h"

namespace arraycore::dialect {
namespace {

std::uint64_t mask_of(DType type) {
  const std::size_t bits = size_of(type) * 8;
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

}  // namespace

Lowering::Lowering(Sources& sources, const Tree& tree, ir::Kernel& kernel, DType floating)
    : sources_(sources), tree_(tree), kernel_(kernel), floating_(floating) {
  for (const Node& n : tree.nodes)
    if (n.kind == NodeKind::subscript && node(n.a).kind == NodeKind::name &&
        node(n.b).kind != NodeKind::integer)
      indexed_.push_back(node(n.a).text);
  std::sort(indexed_.begin(), indexed_.end());
  open_scope();
}

ir::Id Lowering::emit(ir::Op op, DType type, const std::vector<Id>& args, Id index) {
  if (kernel_.exprs.size() >= kMaxExprs)
    sources_.fail({0, 0}, "the kernel is too large once its functions are written out");
  ir::Expr e;
  e.op = op;
  e.type = type;
  e.index = index;
  e.first_arg = static_cast<Id>(kernel_.args.size());
  e.count = static_cast<std::uint32_t>(args.size());
  kernel_.args.insert(kernel_.args.end(), args.begin(), args.end());
  kernel_.exprs.push_back(e);
  return static_cast<Id>(kernel_.exprs.size() - 1);
}

Value Lowering::integer(std::int64_t value, DType type) {
  const Value out = make(ir::Op::constant, type);
  kernel_.exprs[out.expr].bits = static_cast<std::uint64_t>(value) & mask_of(type);
  return out;
}

Value Lowering::number(double value, DType type) {
  const Value out = make(ir::Op::constant, type);
  std::uint64_t& bits = kernel_.exprs[out.expr].bits;
  if (type == DType::float64)
    bits = std::bit_cast<std::uint64_t>(value);
  else if (type == DType::float16)
    bits = to_half(value);
  else
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return out;
}

Value Lowering::zero(DType type) { return make(ir::Op::constant, type); }  // all bits 0

void Lowering::add_statement(ir::Stmt statement) {
  if (kernel_.stmts.size() >= kMaxExprs)
    sources_.fail({0, 0}, "the kernel is too large once its functions are written out");
  kernel_.stmts.push_back(statement);
  state_.current.push_back(static_cast<Id>(kernel_.stmts.size() - 1));
}

void Lowering::assign(Id target, Value value) {
  ir::Stmt s;
  s.kind = ir::StmtKind::assign;
  s.target = target;
  s.value = value.expr;
  add_statement(s);
}

void Lowering::branch(Value condition, Id then, Id otherwise) {
  ir::Stmt s;
  s.kind = ir::StmtKind::branch;
  s.value = condition.expr;
  s.then = then;
  s.otherwise = otherwise;
  add_statement(s);
}

void Lowering::simple(ir::StmtKind kind) {
  ir::Stmt s;
  s.kind = kind;
  add_statement(s);
}

ir::Id Lowering::block_of(const std::function<void()>& fill) {
  ir::Block block;
  std::swap(block, state_.current);
  if (++block_depth_ > kMaxBlocks)
    sources_.fail({0, 0}, "blocks are nested too deeply once functions are written out");
  else
    fill();
  --block_depth_;
  std::swap(block, state_.current);
  kernel_.blocks.push_back(std::move(block));
  return static_cast<Id>(kernel_.blocks.size() - 1);
}

ir::Id Lowering::new_local(std::string_view name, DType type, std::uint32_t length) {
  ir::Local l;
  l.name = name;
  l.type = type;
  l.length = length;
  kernel_.locals.push_back(std::move(l));
  return static_cast<Id>(kernel_.locals.size() - 1);
}

Value Lowering::keep(Value value, std::size_t position) {
  if (state_.current.size() <= position || value.nothing || is_constant(value)) return value;
  const Id saved = new_local("kept", value.type);
  assign(saved, value);
  // Moves the assignment before the statements that were added since `position`.
  std::rotate(state_.current.begin() + static_cast<std::ptrdiff_t>(position),
              state_.current.end() - 1, state_.current.end());
  return local(saved);
}

std::optional<double> Lowering::constant_number(Value value) const {
  if (!is_constant(value)) return std::nullopt;
  const ir::Expr& e = kernel_.exprs[value.expr];
  if (is_complex(e.type)) return std::nullopt;
  if (e.type == DType::float64) return std::bit_cast<double>(e.bits);
  if (e.type == DType::float32)
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(e.bits)));
  if (e.type == DType::float16) return from_half<double>(static_cast<std::uint16_t>(e.bits));
  if (e.type == DType::uint64) return static_cast<double>(e.bits);
  return static_cast<double>(*constant_integer(value));
}

std::optional<std::int64_t> Lowering::constant_integer(Value value) const {
  if (!is_constant(value)) return std::nullopt;
  const ir::Expr& e = kernel_.exprs[value.expr];
  if (is_floating(e.type) || is_complex(e.type)) return std::nullopt;
  std::uint64_t bits = e.bits;
  const std::uint64_t mask = mask_of(e.type);
  const bool negative =
      kind_of(e.type) == Kind::signed_integer && (bits & (mask ^ (mask >> 1U))) != 0;
  if (negative) bits |= ~mask;
  return static_cast<std::int64_t>(bits);
}

// Constants are folded, so that array lengths, identities and `1.0 / 0.0` are constants. WGSL
// refuses to compile an expression whose value is infinity.
Value Lowering::fold(ir::Op op, DType type, Value a, Value b) {
  if (is_floating(type)) {
    const auto x = constant_number(a);
    const auto y = constant_number(b);
    if (x && y && (type == DType::float32 || type == DType::float64)) {
      const bool single = type == DType::float32;
      const auto rounded = [single](double v) {
        return single ? static_cast<double>(static_cast<float>(v)) : v;
      };
      // One operation in double, rounded to float, gives the same result as float's own operation,
      // because double's 53 binary digits are at least 2 * 24 + 2 (float has 24).
      if (op == ir::Op::add) return number(rounded(*x + *y), type);
      if (op == ir::Op::subtract) return number(rounded(*x - *y), type);
      if (op == ir::Op::multiply) return number(rounded(*x * *y), type);
      if (op == ir::Op::divide) {
        // C++ leaves division by 0 undefined. So its result, as IEEE 754 defines it, is computed
        // here without `/`.
        if (*y != 0) return number(rounded(*x / *y), type);
        if (*x == 0 || std::isnan(*x)) return number(std::nan(""), type);
        const bool negative = std::signbit(*x) != std::signbit(*y);
        return number(negative ? -HUGE_VAL : HUGE_VAL, type);
      }
    }
  } else if (is_integer(type)) {
    const auto x = constant_integer(a);
    const auto y = constant_integer(b);
    if (x && y) {
      const auto u = static_cast<std::uint64_t>(*x);
      const auto v = static_cast<std::uint64_t>(*y);
      if (op == ir::Op::add) return integer(static_cast<std::int64_t>(u + v), type);
      if (op == ir::Op::subtract) return integer(static_cast<std::int64_t>(u - v), type);
      if (op == ir::Op::multiply) return integer(static_cast<std::int64_t>(u * v), type);
    }
  }
  return make(op, type, {a.expr, b.expr});
}

Value Lowering::convert(Value value, DType to, Where where) {
  if (value.nothing) {
    fail(where, "this function gives no value");
    return zero(to);
  }
  if (value.type == to) return value;
  if (is_complex(value.type) && !is_complex(to) && to != DType::boolean) {
    fail(where, "a complex number does not become " + std::string(name_of(to)) +
                    " by itself: use .real(), .imag() or abs()");
    return zero(to);
  }
  if (const auto x = constant_number(value)) {
    if (to == DType::boolean) return integer(*x != 0 ? 1 : 0, to);
    if (is_floating(to) && (is_floating(value.type) || std::abs(*x) < 9007199254740992.0))
      return number(*x, to);
    if (is_integer(to) && !is_floating(value.type)) return integer(*constant_integer(value), to);
  }
  return make(ir::Op::convert, to, {value.expr});
}

const Symbol* Lowering::find(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->names.find(name);
    if (found != scope->names.end()) return &found->second;
  }
  const auto found = globals_.names.find(name);
  return found != globals_.names.end() ? &found->second : nullptr;
}

void Lowering::declare(std::string_view name, Symbol symbol) {
  scopes_.back().names[name] = std::move(symbol);
}

std::optional<DType> Lowering::named_type(std::string_view name) const {
  const Symbol* symbol = find(name);
  if (symbol != nullptr && symbol->kind == Symbol::Kind::type) return symbol->place.type;
  return std::nullopt;
}

std::optional<DType> Lowering::type_of(const TypeName& name) {
  if (name.is_pointer) {
    sources_.fail(name.where,
                  "pointers do not exist here, but for the target of an atomic function",
                  ErrorKind::not_implemented, "device_pointer");
    return std::nullopt;
  }
  DType type = name.builtin;
  if (name.kind == TypeName::Kind::named) {
    const auto found = named_type(name.name);
    if (!found) {
      fail(name.where, "'" + std::string(name.name) + "' is not a type here");
      return std::nullopt;
    }
    type = *found;
  } else if (name.kind != TypeName::Kind::builtin) {
    fail(name.where, "a type with values is expected here");
    return std::nullopt;
  }
  if (!name.is_complex) return type;
  if (type != DType::float32 && type != DType::float64) {
    fail(name.where, "complex numbers have parts of type float or double");
    return std::nullopt;
  }
  return ir::complex_of(type);
}

void Lowering::add_letters(const BoundTypes& types) {
  for (const auto& [letter, dtype] : types.letters) {
    Symbol symbol;
    symbol.kind = Symbol::Kind::type;
    symbol.place.type = dtype;
    globals_.names[letter] = symbol;
  }
}

void Lowering::add_preamble(const std::vector<StatementId>& list) {
  for (const StatementId id : list) {
    const Statement& s = tree_.statements[id];
    if (s.kind == StatementKind::alias) {
      const auto type = type_of(s.type);
      Symbol symbol;
      symbol.kind = Symbol::Kind::type;
      symbol.place.type = type.value_or(DType::int32);
      globals_.names[s.text] = symbol;
    } else {
      constant_declaration(s);
    }
  }
}

ir::Id Lowering::add_param(const ParamSpec& spec, const BoundParam& bound, bool is_output) {
  ir::Param param;
  param.name = spec.name;
  param.dtype = bound.dtype;
  param.kind = bound.kind;
  param.access = is_output ? ir::Access::write : ir::Access::read;
  kernel_.params.push_back(std::move(param));
  read_.push_back(false);
  by_number_.push_back(false);
  axes_.push_back(0);
  return static_cast<Id>(kernel_.params.size() - 1);
}

void Lowering::declare_param(std::string_view name, Id param, bool is_output) {
  const ir::Param& p = kernel_.params[param];
  Symbol symbol;
  const bool raw = p.kind == ir::ParamKind::raw;
  symbol.kind = raw ? Symbol::Kind::raw : Symbol::Kind::variable;
  symbol.place.kind = raw ? Place::Kind::param_at : Place::Kind::param;
  symbol.place.target = param;
  symbol.place.type = p.dtype;
  symbol.place.is_const = !is_output;
  declare(name, std::move(symbol));
}

void Lowering::finish_params() {
  for (std::size_t k = 0; k < kernel_.params.size(); ++k) {
    ir::Param& p = kernel_.params[k];
    if (p.access == ir::Access::read) continue;
    p.access = read_[k] || p.atomic ? ir::Access::read_write : ir::Access::write;
  }
}

}  // namespace arraycore::dialect
