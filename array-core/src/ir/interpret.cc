#include "ir/interpret.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ir/op_info.h"

namespace arraycore::ir {
namespace {

std::string dims_text(const Dims& dims) {
  std::string text = "(";
  for (int i = 0; i < dims.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(dims[i]);
  return text + (dims.size() == 1 ? ",)" : ")");
}

Error bad_launch(const Kernel& kernel, const std::string& what) {
  return {ErrorKind::value, "bad_launch", "kernel '" + kernel.name + "': " + what + "."};
}

Scalar load(DType dtype, const std::byte* from) {
  Scalar value;
  std::memcpy(static_cast<void*>(&value), from, size_of(dtype));
  if (dtype == DType::boolean) value.bits = value.bits != 0;
  return value;
}

void save(DType dtype, const Scalar& value, std::byte* to) {
  std::memcpy(to, &value, size_of(dtype));
}

Dims coordinates(const Dims& shape, std::int64_t number) {
  Dims result;
  result.resize(shape.size());
  for (int axis = shape.size() - 1; axis >= 0; --axis) {
    result[axis] = number % shape[axis];
    number /= shape[axis];
  }
  return result;
}

std::int64_t count_of(const Dims& shape) {
  std::int64_t n = 1;
  for (const std::int64_t extent : shape) n *= extent;
  return n;
}

class Interpreter {
 public:
  Interpreter(const Kernel& kernel, const Launch& launch)
      : k_(kernel), launch_(launch), shape_(launch.loop), size_(count_of(launch.loop)) {
    locals_.resize(k_.locals.size());
    for (std::size_t i = 0; i < locals_.size(); ++i)
      locals_[i].resize(std::max<std::size_t>(k_.locals[i].length, 1));
    memo_.resize(k_.exprs.size());
    memo_epoch_.resize(k_.exprs.size(), 0);
  }

  void elementwise() {
    for (std::int64_t number = 0; number < size_; ++number) {
      number_ = number;
      at_ = coordinates(shape_, number);
      clear_locals();
      run(k_.body);
    }
  }

  Status reduce() {
    const Reduction& r = *k_.reduction;
    Dims outer;
    Dims inner;  // the reduced axes
    for (int axis = 0; axis < launch_.loop.size(); ++axis)
      ((launch_.reduced >> axis & 1) != 0 ? inner : outer).push_back(launch_.loop[axis]);
    const std::int64_t rows = count_of(outer);
    const std::int64_t length = count_of(inner);
    if (r.running()) {
      for (std::int64_t row = 0; row < rows && length > 0; ++row) scan(outer, row, inner, length);
      return Done{};
    }
    if (rows > 0 && length == 0 && !r.has_identity())
      return bad_launch(k_, "a reduction of no elements needs an identity, and it has none");
    for (std::int64_t row = 0; row < rows; ++row) {
      const Dims outer_at = coordinates(outer, row);
      const Values total = length == 0 ? identities() : tree(outer_at, inner, 0, length);
      number_ = row;
      at_ = outer_at;
      size_ = rows;
      clear_locals();
      set(&Accumulator::a, total);
      run(r.post);
      size_ = count_of(launch_.loop);
    }
    return Done{};
  }

 private:
  enum class Flow { on, leave, next, give };

  void clear_locals() {
    for (auto& local : locals_) std::fill(local.begin(), local.end(), Scalar{});
  }

  Scalar constant(Id id) const { return {k_.exprs[id].bits, k_.exprs[id].bits_high}; }

  // ---- reductions: one value for each accumulator
  using Values = std::vector<Scalar>;

  void set(Id Accumulator::* local, const Values& values) {
    const auto& accumulators = k_.reduction->values;
    for (std::size_t v = 0; v < values.size(); ++v) locals_[accumulators[v].*local][0] = values[v];
  }

  Values identities() const {
    Values values;
    for (const Accumulator& value : k_.reduction->values)
      values.push_back(constant(value.identity));
    return values;
  }

  Values combine(const Values& a, const Values& b) {
    clear_locals();
    set(&Accumulator::a, a);
    set(&Accumulator::b, b);
    ++epochs_;
    epoch_ = epochs_;
    Values values;
    for (const Accumulator& value : k_.reduction->values) values.push_back(value_of(value.combine));
    return values;
  }

  // Runs the body for one element and returns its mapped values. Sets number_ and at_ to the
  // element's position.
  Values map(const Dims& outer_at, const Dims& inner, std::int64_t number) {
    const Dims inner_at = coordinates(inner, number);
    at_.resize(0);
    number_ = 0;
    int o = 0;
    int i = 0;
    for (int axis = 0; axis < launch_.loop.size(); ++axis) {
      const bool reduced = (launch_.reduced >> axis & 1) != 0;
      at_.push_back(reduced ? inner_at[i++] : outer_at[o++]);
      number_ = number_ * launch_.loop[axis] + at_[axis];
    }
    reduce_number_ = number;
    clear_locals();
    run(k_.body);
    Values values;
    for (const Accumulator& value : k_.reduction->values)
      values.push_back(locals_[value.mapped][0]);
    return values;
  }

  // Returns the combined values of `count` elements from `first` on. It splits them into two
  // groups, recursively.
  Values tree(const Dims& outer_at, const Dims& inner, std::int64_t first, std::int64_t count) {
    if (count == 1) return map(outer_at, inner, first);
    const std::int64_t half = count / 2;
    const Values a = tree(outer_at, inner, first, half);
    return combine(a, tree(outer_at, inner, first + half, count - half));
  }

  // Runs a scan, which combines one element after the other.
  void scan(const Dims& outer, std::int64_t row, const Dims& inner, std::int64_t length) {
    const Dims outer_at = coordinates(outer, row);
    Values total;
    for (std::int64_t number = 0; number < length; ++number) {
      const Values mapped = map(outer_at, inner, number);
      total = number == 0 ? mapped : combine(total, mapped);
      clear_locals();
      set(&Accumulator::a, total);
      set(&Accumulator::mapped, mapped);
      run(k_.reduction->post);
    }
  }

  // ---- addresses
  std::byte* element(Id param) const {
    const Argument& argument = launch_.arguments[param];
    const View& view = argument.view;
    std::int64_t offset = view.offset;
    for (int axis = 0; axis < view.ndim(); ++axis) {
      const std::int64_t coordinate = at_[at_.size() - view.ndim() + axis];
      offset += (view.shape[axis] == 1 ? 0 : coordinate) * view.strides[axis];
    }
    return argument.base + offset;
  }

  // Returns the address of an element; nullptr if the array has no elements.
  std::byte* element_at(Id param, const std::vector<std::int64_t>& index) const {
    const Argument& argument = launch_.arguments[param];
    const View& view = argument.view;
    const std::int64_t count = view.count();
    if (count == 0) return nullptr;
    Dims at;
    if (k_.params[param].ndim < 0) {
      at = coordinates(view.shape, std::clamp<std::int64_t>(index[0], 0, count - 1));
    } else {
      for (int axis = 0; axis < view.ndim(); ++axis)
        at.push_back(std::clamp<std::int64_t>(index[static_cast<std::size_t>(axis)], 0,
                                              view.shape[axis] - 1));
    }
    std::int64_t offset = view.offset;
    for (int axis = 0; axis < view.ndim(); ++axis) offset += at[axis] * view.strides[axis];
    return argument.base + offset;
  }

  std::vector<std::int64_t> indices(Id first, std::uint32_t count) {
    std::vector<std::int64_t> result;
    for (std::uint32_t i = 0; i < count; ++i)
      result.push_back(get<std::int32_t>(value_of(k_.args[first + i])));
    return result;
  }

  // ---- expressions
  Scalar value_of(Id id) {
    if (memo_epoch_[id] == epoch_) return memo_[id];
    const Scalar value = evaluate(k_.exprs[id]);
    memo_epoch_[id] = epoch_;
    memo_[id] = value;
    return value;
  }

  Id arg(const Expr& e, std::uint32_t i) const { return k_.args[e.first_arg + i]; }
  bool truth(Id id) { return get<bool>(value_of(id)); }

  Scalar evaluate(const Expr& e) {
    const auto integer = [](std::int64_t value) { return put(static_cast<std::int32_t>(value)); };
    switch (e.op) {
      case Op::constant:
        return {e.bits, e.bits_high};
      case Op::local:
        return locals_[e.index][0];
      case Op::local_at: {
        const auto& array = locals_[e.index];
        return array[place(array, get<std::int32_t>(value_of(arg(e, 0))))];
      }
      case Op::loop_index:
        return integer(number_);
      case Op::loop_size:
        return integer(size_);
      case Op::axis_index:
        return integer(static_cast<int>(e.index) < at_.size() ? at_[static_cast<int>(e.index)] : 0);
      case Op::reduce_index:
        return integer(reduce_number_);
      case Op::param:
        if (k_.params[e.index].kind == ParamKind::scalar) return launch_.arguments[e.index].scalar;
        return load(e.type, element(e.index));
      case Op::param_at: {
        const std::byte* from = element_at(e.index, indices(e.first_arg, e.count));
        return from == nullptr ? Scalar{} : load(e.type, from);
      }
      case Op::param_shape: {
        const View& view = launch_.arguments[e.index].view;
        const auto axis = static_cast<int>(k_.exprs[arg(e, 0)].bits);
        return integer(axis < view.ndim() ? view.shape[axis] : 1);
      }
      case Op::param_size:
        return integer(launch_.arguments[e.index].view.count());
      case Op::select:
        return value_of(arg(e, truth(arg(e, 0)) ? 1 : 2));
      case Op::logical_and:
        return put(truth(arg(e, 0)) && truth(arg(e, 1)));
      case Op::logical_or:
        return put(truth(arg(e, 0)) || truth(arg(e, 1)));
      case Op::call:
        return call(e);
      default:
        break;
    }
    if (is_atomic(e.op)) return atomic(e);
    Scalar operands[3];
    for (std::uint32_t i = 0; i < e.count; ++i) operands[i] = value_of(arg(e, i));
    return apply(e.op, k_.exprs[arg(e, 0)].type, e.type, operands);
  }

  static std::size_t place(const std::vector<Scalar>& array, std::int32_t index) {
    return static_cast<std::size_t>(
        std::clamp<std::int64_t>(index, 0, static_cast<std::int64_t>(array.size()) - 1));
  }

  Scalar call(const Expr& e) {
    const Function& f = k_.functions[e.index];
    std::vector<Scalar> values;
    for (std::uint32_t i = 0; i < e.count; ++i) values.push_back(value_of(arg(e, i)));
    const std::uint64_t outer = epoch_;
    clear_function(f.body);
    for (std::uint32_t i = 0; i < e.count; ++i) locals_[f.arguments[i]][0] = values[i];
    given_ = {};
    run(f.body);
    epoch_ = outer;
    return std::exchange(given_, {});
  }

  // A function's locals begin at zero in each call.
  void clear_function(Id block) {
    for (const Id id : k_.blocks[block]) {
      const Stmt& s = k_.stmts[id];
      if (s.kind == StmtKind::assign || s.kind == StmtKind::assign_at)
        std::fill(locals_[s.target].begin(), locals_[s.target].end(), Scalar{});
      if (s.then != kNone) clear_function(s.then);
      if (s.otherwise != kNone) clear_function(s.otherwise);
    }
  }

  Scalar atomic(const Expr& e) {
    const Param& p = k_.params[e.index];
    const std::uint32_t dims = p.ndim < 0 ? 1u : static_cast<std::uint32_t>(p.ndim);
    std::byte* to = element_at(e.index, indices(e.first_arg, dims));
    const Scalar value = value_of(arg(e, dims));
    if (e.op == Op::atomic_compare_exchange) {
      const Scalar desired = value_of(arg(e, dims + 1));
      if (to == nullptr) return {};
      const Scalar old = load(e.type, to);
      if (old == value) save(e.type, desired, to);
      return old;
    }
    if (to == nullptr) return {};
    const Scalar old = load(e.type, to);
    const Scalar operands[2] = {old, value};
    Scalar updated = value;
    if (e.op == Op::atomic_add) updated = apply(Op::add, e.type, e.type, operands);
    if (e.op == Op::atomic_min) updated = apply(Op::minimum, e.type, e.type, operands);
    if (e.op == Op::atomic_max) updated = apply(Op::maximum, e.type, e.type, operands);
    save(e.type, updated, to);
    return old;
  }

  // ---- statements
  void begin_statement() { epoch_ = ++epochs_; }

  Flow run(Id block) {
    for (const Id id : k_.blocks[block]) {
      const Flow flow = run(k_.stmts[id]);
      if (flow != Flow::on) return flow;
    }
    return Flow::on;
  }

  bool condition(const Stmt& s) {
    begin_statement();
    return s.value == kNone || truth(s.value);
  }

  Flow run(const Stmt& s) {
    begin_statement();
    switch (s.kind) {
      case StmtKind::assign:
        locals_[s.target][0] = value_of(s.value);
        return Flow::on;
      case StmtKind::assign_at: {
        auto& array = locals_[s.target];
        const std::size_t to = place(array, static_cast<std::int32_t>(indices(s.first_arg, 1)[0]));
        array[to] = value_of(s.value);
        return Flow::on;
      }
      case StmtKind::store:
        save(k_.params[s.target].dtype, value_of(s.value), element(s.target));
        return Flow::on;
      case StmtKind::store_at: {
        std::byte* to = element_at(s.target, indices(s.first_arg, s.count));
        const Scalar value = value_of(s.value);
        if (to != nullptr) save(k_.params[s.target].dtype, value, to);
        return Flow::on;
      }
      case StmtKind::branch: {
        const Id block = truth(s.value) ? s.then : s.otherwise;
        return block == kNone ? Flow::on : run(block);
      }
      case StmtKind::loop:
      case StmtKind::loop_until: {
        const bool until = s.kind == StmtKind::loop_until;
        while (until || condition(s)) {
          const Flow flow = run(s.then);
          if (flow == Flow::leave) break;
          if (flow == Flow::give) return flow;
          if (s.otherwise != kNone) run(s.otherwise);
          if (until && !condition(s)) break;
        }
        return Flow::on;
      }
      case StmtKind::leave:
        return Flow::leave;
      case StmtKind::next:
        return Flow::next;
      case StmtKind::give:
        if (s.value != kNone) given_ = value_of(s.value);
        return Flow::give;
      case StmtKind::evaluate:
        value_of(s.value);
        return Flow::on;
    }
    return Flow::on;
  }

  const Kernel& k_;
  const Launch& launch_;
  Dims shape_;
  std::int64_t size_;
  std::int64_t number_ = 0;
  std::int64_t reduce_number_ = 0;
  Dims at_;
  std::vector<std::vector<Scalar>> locals_;
  std::vector<Scalar> memo_;
  std::vector<std::uint64_t> memo_epoch_;
  std::uint64_t epoch_ = 0;
  std::uint64_t epochs_ = 0;
  Scalar given_;
};

bool broadcasts_to(const Dims& from, const Dims& to) {
  if (from.size() > to.size()) return false;
  for (int i = 1; i <= from.size(); ++i) {
    const std::int64_t extent = from[from.size() - i];
    if (extent != 1 && extent != to[to.size() - i]) return false;
  }
  return true;
}

}  // namespace

Result<Dims> loop_shape(const Kernel& kernel, std::span<const Argument> arguments) {
  Dims shape;
  for (std::size_t p = 0; p < kernel.params.size() && p < arguments.size(); ++p) {
    const Param& param = kernel.params[p];
    if (param.kind != ParamKind::elementwise) continue;
    if (kernel.reduction && param.access != Access::read) continue;
    const Dims& other = arguments[p].view.shape;
    Dims joined;
    joined.resize(std::max(shape.size(), other.size()), 1);
    for (int i = 1; i <= joined.size(); ++i) {
      const std::int64_t a = i <= shape.size() ? shape[shape.size() - i] : 1;
      const std::int64_t b = i <= other.size() ? other[other.size() - i] : 1;
      if (a != b && a != 1 && b != 1)
        return bad_launch(kernel, "argument '" + param.name + "' of shape " + dims_text(other) +
                                      " does not broadcast with " + dims_text(shape));
      joined[joined.size() - i] = a == 1 ? b : a;
    }
    shape = joined;
  }
  return shape;
}

Dims output_shape(const Launch& launch) {
  Dims shape;
  for (int axis = 0; axis < launch.loop.size(); ++axis)
    if ((launch.reduced >> axis & 1) == 0) shape.push_back(launch.loop[axis]);
  return shape;
}

Status check_launch(const Kernel& kernel, const Launch& launch) {
  if (launch.arguments.size() != kernel.params.size())
    return bad_launch(kernel, "it takes " + std::to_string(kernel.params.size()) +
                                  " arguments, not " + std::to_string(launch.arguments.size()));
  if (count_of(launch.loop) > std::numeric_limits<std::int32_t>::max())
    return bad_launch(kernel, "a loop has at most 2147483647 elements");
  const Dims output = output_shape(launch);
  for (std::size_t p = 0; p < kernel.params.size(); ++p) {
    const Param& param = kernel.params[p];
    const View& view = launch.arguments[p].view;
    if (param.kind == ParamKind::scalar) continue;
    if (view.strides.size() != view.shape.size())
      return bad_launch(kernel, "argument '" + param.name + "' has a malformed view");
    if (view.count() > std::numeric_limits<std::int32_t>::max())
      return bad_launch(kernel, "argument '" + param.name + "' has over 2147483647 elements");
    if (param.kind == ParamKind::raw) {
      if (param.ndim >= 0 && param.ndim != view.ndim())
        return bad_launch(kernel, "argument '" + param.name + "' has " +
                                      std::to_string(view.ndim()) + " dimensions, not " +
                                      std::to_string(param.ndim));
      continue;
    }
    const bool written = param.access != Access::read;
    const bool totals = kernel.reduction && !kernel.reduction->running();
    const Dims& wanted = totals && written ? output : launch.loop;
    if (written ? !(view.shape == wanted) : !broadcasts_to(view.shape, wanted))
      return bad_launch(kernel, "argument '" + param.name + "' has shape " + dims_text(view.shape) +
                                    ", which does not fit " + dims_text(wanted));
  }
  return Done{};
}

Status interpret(const Kernel& kernel, const Launch& launch) {
  TRY_DONE(check_launch(kernel, launch));
  Interpreter interpreter(kernel, launch);
  if (kernel.reduction) return interpreter.reduce();
  interpreter.elementwise();
  return Done{};
}

}  // namespace arraycore::ir
