// Lowers what can be read and written: variables, elements of arrays, raw arrays and their
// shapes.
#include "dialect/lower.h"
#include "dialect/types.h"

namespace arraycore::dialect {
namespace {
constexpr std::size_t kMaxIndices = 32;  // NumPy's largest ndim
}  // namespace

std::optional<Place> Lowering::place(NodeId id) {
  if (failed()) return std::nullopt;
  const Node& n = node(id);
  if (n.kind == NodeKind::subscript && !is_special_subscript(n)) return element(n);
  if (n.kind == NodeKind::name) {
    const Symbol* symbol = find(n.text);
    if (symbol != nullptr && symbol->kind == Symbol::Kind::variable) return symbol->place;
    name(n);  // this reports the error
    fail(n.where, "'" + std::string(n.text) + "' cannot be assigned");
    return std::nullopt;
  }
  fail(n.where, "this cannot be assigned: it is not a variable");
  return std::nullopt;
}

std::optional<Place> Lowering::element(const Node& n) {
  const Node& base = node(n.a);
  const Symbol* found = base.kind == NodeKind::name ? find(base.text) : nullptr;
  if (found == nullptr) {
    fail(n.where, base.kind == NodeKind::name ? "'" + std::string(base.text) + "' is not known here"
                                              : "only raw parameters and arrays have elements");
    return std::nullopt;
  }
  const Symbol symbol = *found;
  Place out = symbol.place;
  switch (symbol.kind) {
    case Symbol::Kind::raw:
      out.index = indices(n.b, symbol);
      return out;
    case Symbol::Kind::array:
      out.index = {index_value(n.b).expr};
      return out;
    case Symbol::Kind::parts: {
      const auto at = constant_integer(lower(n.b));
      if (!at || *at < 0 || static_cast<std::size_t>(*at) >= symbol.parts.size()) {
        fail(n.where, "this index is outside the array");
        return std::nullopt;
      }
      out.kind = Place::Kind::local;
      out.target = symbol.parts[static_cast<std::size_t>(*at)];
      return out;
    }
    case Symbol::Kind::hidden:
      fail(n.where, symbol.why);
      return std::nullopt;
    default:
      fail(n.where, "'" + std::string(base.text) +
                        "' is one element: only raw parameters and arrays have an index");
      return std::nullopt;
  }
}

Value Lowering::index_value(NodeId id) {
  Value v = lower(id);
  if (failed() || v.nothing || !(is_integer(v.type) || v.type == DType::boolean)) {
    fail(node(id).where, "an index is an integer");
    return integer(0);
  }
  return convert(v, DType::int32, node(id).where);
}

// In the text, x[k] is the k-th element in C order, and x[at] has one index for each axis. The IR
// has only one of these forms for each parameter. If a kernel uses both on one array, the array
// gets the form that was used first.
std::vector<ir::Id> Lowering::indices(NodeId id, const Symbol& raw) {
  const Node& n = node(id);
  const Id param_id = raw.place.target;
  ir::Param& param = kernel_.params[param_id];
  const Symbol* list = n.kind == NodeKind::name ? find(n.text) : nullptr;
  const bool is_list =
      list != nullptr && (list->kind == Symbol::Kind::array || list->kind == Symbol::Kind::parts);
  std::vector<Id> out =
      is_list ? axis_indices(*list, n.where) : std::vector<Id>{index_value(id).expr};
  if (failed()) return out;
  const auto ndim = static_cast<std::int8_t>(out.size());
  if (is_list && ndim > 1) {
    std::int8_t& known = axes_[param_id];
    if (known > 0 && known != ndim)
      fail(n.where, "'" + param.name + "' has had " + std::to_string(known) +
                        " indices before, and now " + std::to_string(ndim));
    known = ndim;
    if (!by_number_[param_id]) param.ndim = ndim;
    return by_number_[param_id] ? std::vector<Id>{element_number(out, param_id)} : out;
  }
  if (param.ndim > 1) return coordinates(out[0], param_id);
  by_number_[param_id] = true;
  return out;
}

std::vector<ir::Id> Lowering::axis_indices(const Symbol& list, Where where) {
  std::vector<Id> out;
  if (!is_integer(list.place.type)) {
    fail(where, "an index is an integer");
    return {integer(0).expr};
  }
  if (list.kind == Symbol::Kind::parts) {
    for (const Id part : list.parts) out.push_back(convert(local(part), DType::int32, where).expr);
  } else {
    const std::uint32_t length = kernel_.locals[list.place.target].length;
    for (std::uint32_t k = 0; k < length; ++k) {
      Place at = list.place;
      at.index = {integer(k).expr};
      out.push_back(convert(load(at), DType::int32, where).expr);
    }
  }
  if (out.size() > kMaxIndices) fail(where, "an array has at most 32 dimensions");
  return out;
}

ir::Id Lowering::extent(Id param, std::size_t axis) {
  return emit(ir::Op::param_shape, DType::int32, {integer(static_cast<std::int64_t>(axis)).expr},
              param);
}

ir::Id Lowering::element_number(const std::vector<Id>& at, Id param) {
  Id number = at[0];
  for (std::size_t axis = 1; axis < at.size(); ++axis) {
    number = emit(ir::Op::multiply, DType::int32, {number, extent(param, axis)});
    number = emit(ir::Op::add, DType::int32, {number, at[axis]});
  }
  return number;
}

std::vector<ir::Id> Lowering::coordinates(Id number, Id param) {
  const auto ndim = static_cast<std::size_t>(kernel_.params[param].ndim);
  std::vector<Id> out(ndim);
  for (std::size_t axis = ndim; axis-- > 0;) {
    const Id size = extent(param, axis);
    out[axis] = axis == 0 ? number : emit(ir::Op::remainder, DType::int32, {number, size});
    number = emit(ir::Op::divide, DType::int32, {number, size});
  }
  return out;
}

Value Lowering::load(const Place& p) {
  switch (p.kind) {
    case Place::Kind::local:
      return make(ir::Op::local, p.type, {}, p.target);
    case Place::Kind::local_at:
      return make(ir::Op::local_at, p.type, p.index, p.target);
    case Place::Kind::param:
      read_[p.target] = true;
      return make(ir::Op::param, p.type, {}, p.target);
    case Place::Kind::param_at:
      read_[p.target] = true;
      return make(ir::Op::param_at, p.type, p.index, p.target);
  }
  return integer(0);
}

void Lowering::store(const Place& p, Value value, Where where) {
  const bool is_param = p.kind == Place::Kind::param || p.kind == Place::Kind::param_at;
  if (p.is_const) {
    const std::string& name =
        is_param ? kernel_.params[p.target].name : kernel_.locals[p.target].name;
    return fail(where, is_param ? "'" + name + "' is an input and cannot be assigned"
                                : "'" + name + "' is const and cannot be assigned");
  }
  value = convert(value, p.type, where);
  ir::Stmt s;
  s.target = p.target;
  s.value = value.expr;
  switch (p.kind) {
    case Place::Kind::local:
      s.kind = ir::StmtKind::assign;
      break;
    case Place::Kind::local_at:
      s.kind = ir::StmtKind::assign_at;
      break;
    case Place::Kind::param:
      s.kind = ir::StmtKind::store;
      break;
    case Place::Kind::param_at:
      s.kind = ir::StmtKind::store_at;
      break;
  }
  s.first_arg = static_cast<Id>(kernel_.args.size());
  s.count = static_cast<std::uint32_t>(p.index.size());
  kernel_.args.insert(kernel_.args.end(), p.index.begin(), p.index.end());
  add_statement(s);
}

void Lowering::fix_index(Place& p) {
  for (Id& index : p.index) {
    const Value value{index, DType::int32, false};
    if (is_constant(value)) continue;
    const Id saved = new_local("at", DType::int32);
    assign(saved, value);
    index = local(saved).expr;
  }
}

// Returns whether the subscript is x.shape()[k], _ind.get()[k] or x.strides()[k].
bool Lowering::is_special_subscript(const Node& n) const {
  const Node& base = node(n.a);
  return base.kind == NodeKind::method &&
         (base.text == "shape" || base.text == "get" || base.text == "strides");
}

Value Lowering::special_subscript(const Node& n) {
  const Node& base = node(n.a);
  const Node& owner = node(base.a);
  const Symbol* symbol = owner.kind == NodeKind::name ? find(owner.text) : nullptr;
  const auto axis = constant_integer(lower(n.b));
  if (failed()) return integer(0);
  if (!axis || *axis < 0 || *axis >= static_cast<std::int64_t>(kMaxIndices)) {
    fail(n.where, "the axis is a constant");
    return integer(0);
  }
  if (symbol != nullptr && symbol->kind == Symbol::Kind::raw && base.text == "shape")
    return make(ir::Op::param_shape, DType::int32, {integer(*axis).expr}, symbol->place.target);
  if (symbol != nullptr && symbol->kind == Symbol::Kind::indexer && base.text == "get")
    return make(ir::Op::axis_index, DType::int32, {}, static_cast<Id>(*axis));
  if (base.text == "strides")
    sources_.fail(base.where, "strides() is not offered: index by x[{...}] arrays and shape()",
                  ErrorKind::not_implemented, "raw_strides");
  fail(base.where, "only a raw parameter has shape(), and only _ind has get()");
  return integer(0);
}

Value Lowering::method(const Node& n) {
  const Node& owner = node(n.a);
  const Symbol* symbol = owner.kind == NodeKind::name ? find(owner.text) : nullptr;
  if (!n.list.empty()) {
    fail(n.where, "this method takes no argument");
    return integer(0);
  }
  if (n.text == "size") {
    if (symbol != nullptr && symbol->kind == Symbol::Kind::raw)
      return make(ir::Op::param_size, DType::int32, {}, symbol->place.target);
    if (symbol != nullptr && symbol->kind == Symbol::Kind::indexer)
      return make(ir::Op::loop_size, DType::int32);
    fail(n.where, "only raw parameters and _ind have size()");
    return integer(0);
  }
  if (n.text == "real" || n.text == "imag") {
    const Value v = lower(n.a);
    if (is_complex(v.type))
      return make(n.text == "real" ? ir::Op::real : ir::Op::imag, ir::real_of(v.type), {v.expr});
    fail(n.where, "only complex numbers have real() and imag()");
    return integer(0);
  }
  fail(n.where, n.text == "shape" || n.text == "strides" || n.text == "get"
                    ? std::string(n.text) + "() needs an index"
                    : "there is no method '" + std::string(n.text) + "'");
  return integer(0);
}

}  // namespace arraycore::dialect
