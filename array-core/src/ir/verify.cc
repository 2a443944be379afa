#include "ir/verify.h"

#include <algorithm>
#include <string>
#include <vector>

#include "ir/op_info.h"

namespace arraycore::ir {
namespace {

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel) : k_(kernel) {}

  Status run() {
    expr_depth_.assign(k_.exprs.size(), 1);
    stmt_seen_.assign(k_.stmts.size(), false);
    block_seen_.assign(k_.blocks.size(), false);
    local_owner_.assign(k_.locals.size(), kNone);
    for (Id id = 0; id < k_.exprs.size() && ok(); ++id) expression(id);
    for (Id f = 0; f < k_.functions.size() && ok(); ++f) function(f);
    owner_ = kKernel;
    part_ = k_.reduction ? Part::map : Part::element;
    if (ok()) block(k_.body, 0, 1);
    if (ok() && k_.reduction) reduction(*k_.reduction);
    if (ok()) return Done{};
    return Error{ErrorKind::internal, "bad_kernel", "kernel '" + k_.name + "': " + problem_ + "."};
  }

 private:
  enum class Part { element, map, combine, post, function };
  static constexpr Id kKernel = kNone - 1;

  bool ok() const { return problem_.empty(); }
  void fail(std::string problem) {
    if (ok()) problem_ = std::move(problem);
  }
  void require(bool condition, const std::string& where, const char* what) {
    if (!condition) fail(where + " " + what);
  }

  // ---- expressions: only their types; the context is checked with the statements
  DType type(Id expr) const { return k_.exprs[expr].type; }
  Id arg(const Expr& e, std::uint32_t i) const { return k_.args[e.first_arg + i]; }

  void expression(Id id) {
    const Expr& e = k_.exprs[id];
    const std::string at = "expression e" + std::to_string(id);
    if (static_cast<std::size_t>(e.op) >= kOps) return fail(at + " has no known operation");
    if (static_cast<std::size_t>(e.type) >= kDTypes) return fail(at + " has no known type");
    const std::string where = at + " (" + std::string(name_of(e.op)) + ")";
    if (e.count > k_.args.size() || e.first_arg > k_.args.size() - e.count)
      return fail(where + " has operands outside the kernel");
    for (std::uint32_t i = 0; i < e.count; ++i) {
      const Id operand = arg(e, i);
      if (operand >= id) return fail(where + " uses an expression that does not precede it");
      expr_depth_[id] = std::max(expr_depth_[id], expr_depth_[operand] + 1);
    }
    require(expr_depth_[id] <= kMaxExprDepth, where, "is nested too deeply");
    switch (info(e.op).shape) {
      case Shape::leaf:
        return leaf(e, where);
      case Shape::special:
        return special(e, where);
      case Shape::unary:
        return uniform(e, where, 1, e.type);
      case Shape::binary:
        return uniform(e, where, 2, e.type);
      case Shape::ternary:
        return uniform(e, where, 3, e.type);
      case Shape::compare:
      case Shape::test:
        require(e.type == DType::boolean, where, "does not give bool");
        if (e.count == 0) return fail(where + " has no operand");
        return uniform(e, where, info(e.op).shape == Shape::test ? 1 : 2, type(arg(e, 0)));
    }
  }

  void uniform(const Expr& e, const std::string& where, std::uint32_t count, DType operands) {
    require(e.count == count, where, "has the wrong number of operands");
    require(takes(e.op, operands), where, "does not take its operands' type");
    for (std::uint32_t i = 0; ok() && i < count; ++i)
      require(type(arg(e, i)) == operands, where, "has operands of another type");
  }

  void expect_int32(const Expr& e, std::uint32_t from, std::uint32_t to, const std::string& where) {
    for (std::uint32_t i = from; i < to; ++i)
      require(type(arg(e, i)) == DType::int32, where, "is indexed by something else than int32");
  }

  // Returns the number of indices that a raw parameter takes.
  std::uint32_t indices(const Param& p) const {
    return p.ndim < 0 ? 1u : static_cast<std::uint32_t>(p.ndim);
  }

  void leaf(const Expr& e, const std::string& where) {
    if (e.op == Op::constant) return require(e.count == 0, where, "has operands");
    if (e.op == Op::local || e.op == Op::local_at) {
      if (e.index >= k_.locals.size()) return fail(where + " names no local");
      const Local& local = k_.locals[e.index];
      require(e.type == local.type, where, "has another type than the local");
      require((local.length > 0) == (e.op == Op::local_at), where, "mixes arrays and plain locals");
      require(e.count == (e.op == Op::local_at ? 1u : 0u), where,
              "has the wrong number of indices");
      return ok() ? expect_int32(e, 0, e.count, where) : void();
    }
    if (e.op == Op::loop_index || e.op == Op::loop_size || e.op == Op::axis_index ||
        e.op == Op::reduce_index) {
      require(e.type == DType::int32 && e.count == 0, where, "is int32 without operands");
      return require(e.op != Op::axis_index || e.index < 32, where, "names an axis over 31");
    }
    if (e.index >= k_.params.size()) return fail(where + " names no parameter");
    const Param& p = k_.params[e.index];
    if (e.op == Op::param) {
      require(e.type == p.dtype, where, "has another type than the parameter");
      require(e.count == 0, where, "has operands");
      return require(p.kind != ParamKind::raw, where, "reads a raw parameter without an index");
    }
    if (e.op == Op::param_at) {
      require(e.type == p.dtype, where, "has another type than the parameter");
      require(p.kind == ParamKind::raw, where, "indexes a parameter that is not raw");
      require(p.access != Access::write, where, "reads a write-only parameter");
      require(e.count == indices(p), where, "has the wrong number of indices");
      return ok() ? expect_int32(e, 0, e.count, where) : void();
    }
    require(e.type == DType::int32, where, "is not int32");
    require(p.kind != ParamKind::scalar, where, "asks a scalar for its shape");
    if (e.op == Op::param_size) return require(e.count == 0, where, "has operands");
    require(e.count == 1 && k_.exprs[arg(e, 0)].op == Op::constant &&
                type(arg(e, 0)) == DType::int32 && k_.exprs[arg(e, 0)].bits < 32,
            where, "needs one constant axis");
  }

  void special(const Expr& e, const std::string& where) {
    const auto count = [&](std::uint32_t n) {
      require(e.count == n, where, "has the wrong number of operands");
      return ok();
    };
    if (is_atomic(e.op)) return atomic(e, where);
    switch (e.op) {
      case Op::convert:
        count(1);
        return;
      case Op::bitcast:
        if (!count(1)) return;
        return require(takes(e.op, e.type) && takes(e.op, type(arg(e, 0))) &&
                           size_of(e.type) == size_of(type(arg(e, 0))),
                       where, "needs real types of one size");
      case Op::absolute:
      case Op::real:
      case Op::imag:
      case Op::leading_zeros: {
        if (!count(1)) return;
        const DType operand = type(arg(e, 0));
        require(takes(e.op, operand), where, "does not take its operand's type");
        const DType result = e.op == Op::leading_zeros ? DType::int32 : real_of(operand);
        return require(e.type == result, where, "has the wrong type");
      }
      case Op::ldexp:
        if (!count(2)) return;
        require(takes(e.op, e.type), where, "does not take its operand's type");
        return require(type(arg(e, 0)) == e.type && type(arg(e, 1)) == DType::int32, where,
                       "needs a float and an int32");
      case Op::make_complex:
        if (!count(2)) return;
        return require(is_complex(e.type) && type(arg(e, 0)) == real_of(e.type) &&
                           type(arg(e, 1)) == real_of(e.type),
                       where, "needs two real parts of its own type");
      case Op::select:
        if (!count(3)) return;
        return require(type(arg(e, 0)) == DType::boolean && type(arg(e, 1)) == e.type &&
                           type(arg(e, 2)) == e.type,
                       where, "needs a bool and two values of its own type");
      case Op::call: {
        if (e.index >= k_.functions.size()) return fail(where + " names no function");
        const Function& f = k_.functions[e.index];
        if (!count(static_cast<std::uint32_t>(f.arguments.size()))) return;
        for (std::uint32_t i = 0; i < e.count; ++i)
          require(f.arguments[i] < k_.locals.size() &&
                      type(arg(e, i)) == k_.locals[f.arguments[i]].type,
                  where, "has an argument of another type");
        return require(!f.result || *f.result == e.type, where, "has another type than its result");
      }
      default:
        return fail(where + " is not known");
    }
  }

  void atomic(const Expr& e, const std::string& where) {
    if (e.index >= k_.params.size()) return fail(where + " names no parameter");
    const Param& p = k_.params[e.index];
    require(p.kind == ParamKind::raw && p.atomic && p.access == Access::read_write, where,
            "needs a raw parameter that is read, written and marked atomic");
    require(takes(e.op, p.dtype), where, "takes integers and floats");
    require(e.type == p.dtype, where, "has another type than the parameter");
    const std::uint32_t values = e.op == Op::atomic_compare_exchange ? 2 : 1;
    require(e.count == indices(p) + values, where, "has the wrong number of operands");
    if (!ok()) return;
    expect_int32(e, 0, indices(p), where);
    for (std::uint32_t i = indices(p); i < e.count; ++i)
      require(type(arg(e, i)) == p.dtype, where, "has a value of another type");
  }

  // ---- context
  //
  // Visits every expression that statement `where` evaluates. Checks that the expressions' locals
  // belong to the statement's body or function, and that parameters are used only where allowed.
  void in_context(Id root, const std::string& where, bool may_be_void) {
    if (root >= k_.exprs.size()) return fail(where + " evaluates an expression that is not there");
    if (context_mark_.size() != k_.exprs.size()) context_mark_.assign(k_.exprs.size(), 0);
    ++context_epoch_;
    std::vector<Id> todo{root};
    while (!todo.empty() && ok()) {
      const Id id = todo.back();
      todo.pop_back();
      if (context_mark_[id] == context_epoch_) continue;
      context_mark_[id] = context_epoch_;
      const Expr& e = k_.exprs[id];
      const std::string at = where + ", e" + std::to_string(id);
      if (e.op == Op::local || e.op == Op::local_at) own(e.index, at);
      if (e.op == Op::call) {
        require(part_ != Part::function || e.index < owner_, at, "calls a later function");
        require(k_.functions[e.index].result || (may_be_void && id == root), at,
                "uses the result of a function that has none");
      }
      placed(e, at);
      for (std::uint32_t i = 0; i < e.count; ++i) todo.push_back(arg(e, i));
    }
  }

  void placed(const Expr& e, const std::string& at) {
    if (part_ == Part::function)
      require(info(e.op).shape != Shape::leaf || e.op == Op::constant || e.op == Op::local ||
                  e.op == Op::local_at,
              at, "uses the kernel's parameters inside a function");
    if (part_ == Part::function || part_ == Part::combine)
      require(!is_atomic(e.op), at, "has an effect where none is allowed");
    if (part_ == Part::combine)
      require(info(e.op).shape != Shape::leaf || e.op == Op::constant || e.op == Op::local, at,
              "combines with something else than a and b");
    if (e.op == Op::reduce_index)
      require(part_ == Part::map, at, "asks for the reduction's index outside its map");
    if (e.op != Op::param) return;
    const Param& p = k_.params[e.index];
    if (p.kind != ParamKind::elementwise) return;
    if (part_ == Part::map)
      require(p.access == Access::read, at, "reads an output in a reduction's map");
    if (part_ == Part::post)
      require(p.access != Access::read, at, "reads an input after the reduction");
  }

  void own(Id local, const std::string& at) {
    if (local >= k_.locals.size()) return fail(at + " names no local");
    if (local_owner_[local] == kNone) local_owner_[local] = owner_;
    require(local_owner_[local] == owner_, at, "uses a local of another function");
  }

  void block(Id id, std::uint32_t loops, std::uint32_t depth) {
    if (id >= k_.blocks.size()) return fail("a statement names no block");
    if (block_seen_[id]) return fail("block " + std::to_string(id) + " stands in two places");
    if (depth > kMaxBlockDepth) return fail("blocks are nested too deeply");
    block_seen_[id] = true;
    for (const Id stmt : k_.blocks[id]) {
      if (stmt >= k_.stmts.size()) return fail("a block names no statement");
      if (stmt_seen_[stmt])
        return fail("statement s" + std::to_string(stmt) + " stands in two places");
      stmt_seen_[stmt] = true;
      statement(stmt, loops, depth);
      if (!ok()) return;
    }
  }

  void statement(Id id, std::uint32_t loops, std::uint32_t depth) {
    const Stmt& s = k_.stmts[id];
    const std::string where = "statement s" + std::to_string(id);
    if (s.value != kNone) in_context(s.value, where, s.kind == StmtKind::evaluate);
    if (s.count > k_.args.size() || s.first_arg > k_.args.size() - s.count)
      return fail(where + " has indices outside the kernel");
    for (std::uint32_t i = 0; i < s.count && ok(); ++i) {
      const Id index = k_.args[s.first_arg + i];
      in_context(index, where, false);
      if (ok())
        require(type(index) == DType::int32, where, "is indexed by something else than int32");
    }
    if (!ok()) return;
    const bool needs_value = s.kind != StmtKind::loop && s.kind != StmtKind::loop_until &&
                             s.kind != StmtKind::leave && s.kind != StmtKind::next &&
                             s.kind != StmtKind::give;
    require(!needs_value || s.value != kNone, where, "has no value");
    if (!ok()) return;
    switch (s.kind) {
      case StmtKind::assign:
      case StmtKind::assign_at: {
        own(s.target, where);
        if (!ok()) return;
        const Local& local = k_.locals[s.target];
        const bool array = s.kind == StmtKind::assign_at;
        require((local.length > 0) == array, where, "mixes arrays and plain locals");
        require(s.count == (array ? 1u : 0u), where, "has the wrong number of indices");
        return require(type(s.value) == local.type, where, "assigns another type");
      }
      case StmtKind::store:
      case StmtKind::store_at:
        return store(s, where);
      case StmtKind::branch:
        require(type(s.value) == DType::boolean, where, "branches on something else than bool");
        if (s.then != kNone) block(s.then, loops, depth + 1);
        if (s.otherwise != kNone) block(s.otherwise, loops, depth + 1);
        return;
      case StmtKind::loop:
      case StmtKind::loop_until:
        require(s.value == kNone || type(s.value) == DType::boolean, where,
                "loops on something else than bool");
        block(s.then, loops + 1, depth + 1);
        if (s.otherwise != kNone && ok()) {
          const bool outer = in_step_;
          in_step_ = true;
          block(s.otherwise, 0, depth + 1);
          in_step_ = outer;
        }
        return;
      case StmtKind::leave:
      case StmtKind::next:
        return require(loops > 0, where, "stands outside a loop's body");
      case StmtKind::give:
        return give(s, where);
      case StmtKind::evaluate:
        return;
    }
    fail(where + " is of no known kind");
  }

  void store(const Stmt& s, const std::string& where) {
    if (part_ == Part::function) return fail(where + " stores inside a function");
    if (s.target >= k_.params.size()) return fail(where + " names no parameter");
    const Param& p = k_.params[s.target];
    const bool at = s.kind == StmtKind::store_at;
    require(p.kind == (at ? ParamKind::raw : ParamKind::elementwise), where,
            "stores to a parameter of another kind");
    require(p.access != Access::read, where, "stores to a parameter that is only read");
    require(s.count == (at ? indices(p) : 0u), where, "has the wrong number of indices");
    require(type(s.value) == p.dtype, where, "stores another type");
    require(at || part_ != Part::map, where, "stores to an output in a reduction's map");
  }

  void give(const Stmt& s, const std::string& where) {
    require(!in_step_, where, "returns from a loop's step");
    if (part_ != Part::function)
      return require(s.value == kNone, where, "returns a value from an element");
    const std::optional<DType> result = k_.functions[owner_].result;
    require(result.has_value() == (s.value != kNone), where, "returns a value, or none, wrongly");
    if (ok() && result) require(type(s.value) == *result, where, "returns another type");
  }

  void function(Id f) {
    owner_ = f;
    part_ = Part::function;
    const Function& function = k_.functions[f];
    for (const Id argument : function.arguments) {
      own(argument, "function '" + function.name + "'");
      if (ok())
        require(k_.locals[argument].length == 0, "function '" + function.name + "'",
                "takes an array");
    }
    if (ok()) block(function.body, 0, 1);
  }

  void reduction(const Reduction& r) {
    require(!r.values.empty(), "the reduction", "has nothing to combine");
    for (const Accumulator& value : r.values) {
      accumulator(value);
      if (!ok()) return;
    }
    part_ = Part::post;
    if (ok()) block(r.post, 0, 1);
  }

  void accumulator(const Accumulator& r) {
    for (const Id local : {r.mapped, r.a, r.b}) own(local, "the reduction");
    if (!ok()) return;
    const DType t = k_.locals[r.a].type;
    require(k_.locals[r.mapped].type == t && k_.locals[r.b].type == t, "the reduction",
            "maps and combines different types");
    part_ = Part::combine;
    in_context(r.combine, "the reduction", false);
    if (!ok()) return;
    require(type(r.combine) == t, "the reduction", "combines to another type");
    if (r.identity == kNone) return;
    if (r.identity >= k_.exprs.size()) return fail("the reduction's identity is not there");
    const Expr& e = k_.exprs[r.identity];
    require(e.op == Op::constant && e.type == t, "the reduction's identity",
            "is no constant of its type");
  }

  const Kernel& k_;
  std::string problem_;
  std::vector<std::uint32_t> expr_depth_;
  std::vector<bool> stmt_seen_;
  std::vector<bool> block_seen_;
  std::vector<Id> local_owner_;
  std::vector<std::uint32_t> context_mark_;
  std::uint32_t context_epoch_ = 0;
  Id owner_ = kKernel;
  Part part_ = Part::element;
  bool in_step_ = false;
};

}  // namespace

Status verify(const Kernel& kernel) { return Verifier(kernel).run(); }

}  // namespace arraycore::ir
