#include "fuse/fuse.h"

#include <algorithm>
#include <utility>

#include "ir/op_info.h"

namespace arraycore::fuse {

namespace {

using ir::Expr;
using ir::Id;
using ir::Kernel;
using ir::kNone;
using ir::Op;
using ir::Stmt;
using ir::StmtKind;

// If a part's result has one reader, the result's expression can be put into the reader, without a
// local. The expression's depth must be at most this, which is less than half of ir::kMaxExprDepth.
constexpr std::uint32_t kForwardDepth = 400;
constexpr std::size_t kNamedParts = 3;

bool is_read_element(const ir::Param& param) {
  return param.kind == ir::ParamKind::elementwise && param.access == ir::Access::read;
}

// Returns whether a device may change the value by compiling it together with the expression that
// reads it. For example, the device may round a product and a sum only once. float16 is safe,
// because it is rounded by its bits, and float64 is never compiled for a device.
bool needs_rounding(DType dtype) { return dtype == DType::float32 || dtype == DType::complex64; }

bool returns(const Kernel& kernel, Id block) {
  return std::any_of(kernel.blocks[block].begin(), kernel.blocks[block].end(), [&](Id id) {
    const Stmt& s = kernel.stmts[id];
    return s.kind == StmtKind::give || (s.then != kNone && returns(kernel, s.then)) ||
           (s.otherwise != kNone && returns(kernel, s.otherwise));
  });
}

class Fuser {
 public:
  Fuser(std::string name, std::span<const Part> parts, std::size_t params) : parts_(parts) {
    to_.name = std::move(name);
    to_.params.resize(params);
    to_.blocks.emplace_back();
    to_.body = 0;
    for (const Part& part : parts_) traits_.push_back(traits_of(*part.kernel));
    values_.resize(parts_.size());
    forwards_ = forwarded();
  }

  Kernel run() {
    for (std::size_t p = 0; p < parts_.size(); ++p) add(p);
    return std::move(to_);
  }

 private:
  // The result of a part for the later parts: either the local that holds it, or its expression.
  struct Value {
    Id local = kNone;
    Id expr = kNone;
  };

  // Finds the parts whose result needs no local, because only one expression in a single statement
  // reads it.
  std::vector<bool> forwarded() {
    uses_.assign(parts_.size(), 0);
    std::vector<bool> into_simple(parts_.size(), true);
    for (std::size_t p = 0; p < parts_.size(); ++p)
      for (const Expr& e : parts_[p].kernel->exprs) {
        if (e.op != Op::param) continue;
        const Wire& wire = parts_[p].wires[e.index];
        if (wire.kind != Wire::Kind::value || wire.index == p) continue;
        ++uses_[wire.index];
        into_simple[wire.index] = into_simple[wire.index] && traits_[p].simple;
      }
    std::vector<bool> result(parts_.size());
    for (std::size_t p = 0; p < parts_.size(); ++p)
      result[p] = uses_[p] == 1 && into_simple[p] && traits_[p].simple && !stored(p);
    return result;
  }

  bool stored(std::size_t p) const {
    return parts_[p].wires[traits_[p].result].kind == Wire::Kind::param;
  }

  void add(std::size_t p) {
    const Kernel& from = *parts_[p].kernel;
    first_local_ = static_cast<Id>(to_.locals.size());
    first_function_ = static_cast<Id>(to_.functions.size());
    first_block_ = static_cast<Id>(to_.blocks.size());
    first_stmt_ = static_cast<Id>(to_.stmts.size());
    to_.locals.insert(to_.locals.end(), from.locals.begin(), from.locals.end());
    params(p);
    expressions(p);
    // A result that other parts read becomes a local of the fused kernel, or is forwarded as an
    // expression.
    const bool kept = uses_[p] > 0 || (p + 1 < parts_.size() && !stored(p));
    const Id result = kept ? traits_[p].result : kNone;
    const bool forwards = kept && forwards_[p] && depth_[at_[value_of_store(from)]] < kForwardDepth;
    if (kept && !forwards) {
      values_[p].local = static_cast<Id>(to_.locals.size());
      to_.locals.push_back({from.params[result].name, from.params[result].dtype, 0});
    }
    for (const ir::Function& f : from.functions) {
      ir::Function moved = f;
      for (Id& argument : moved.arguments) argument += first_local_;
      moved.body = block_at(f.body);
      to_.functions.push_back(std::move(moved));
    }
    if (forwards) {
      values_[p].expr = as_stored(at_[value_of_store(from)]);
      return;
    }
    statements(p, result);
    if (kept && stored(p)) {
      Expr read{.op = Op::local, .type = from.params[result].dtype, .index = values_[p].local};
      read.first_arg = static_cast<Id>(to_.args.size());
      Stmt store{.kind = StmtKind::store, .target = parts_[p].wires[result].index};
      store.value = put(read, 1);
      to_.blocks[to_.body].push_back(static_cast<Id>(to_.stmts.size()));
      to_.stmts.push_back(store);
    }
    if (from.reduction) reduction(*from.reduction);
  }

  void params(std::size_t p) {
    const Kernel& from = *parts_[p].kernel;
    for (std::size_t i = 0; i < from.params.size(); ++i) {
      const Wire& wire = parts_[p].wires[i];
      if (wire.kind != Wire::Kind::param) continue;
      ir::Param& param = to_.params[wire.index];
      param = from.params[i];
      const bool output = param.access != ir::Access::read;
      param.name = (param.kind == ir::ParamKind::scalar ? "s"
                    : output                            ? "y"
                                                        : "x") +
                   std::to_string(wire.index);
    }
  }

  static Id value_of_store(const Kernel& simple) {
    return simple.stmts[simple.blocks[simple.body][0]].value;
  }

  Id put(const Expr& expr, std::uint32_t depth) {
    to_.exprs.push_back(expr);
    depth_.push_back(depth);
    return static_cast<Id>(to_.exprs.size() - 1);
  }

  // Returns the value rounded as a store to memory would round it.
  Id as_stored(Id value) {
    Expr e{.op = Op::stored, .type = to_.exprs[value].type};
    if (!needs_rounding(e.type)) return value;
    e.first_arg = static_cast<Id>(to_.args.size());
    e.count = 1;
    to_.args.push_back(value);
    return put(e, depth_[value] + 1);
  }

  void expressions(std::size_t p) {
    const Kernel& from = *parts_[p].kernel;
    at_.assign(from.exprs.size(), kNone);
    for (Id id = 0; id < from.exprs.size(); ++id) {
      Expr e = from.exprs[id];
      const Wire* const wire = names_param(e.op) ? &parts_[p].wires[e.index] : nullptr;
      if (e.op == Op::param && wire->kind == Wire::Kind::value) {
        const Value& value = values_[wire->index];
        if (value.expr != kNone) {
          at_[id] = value.expr;
          continue;
        }
        e.op = Op::local;
        e.index = value.local;
      } else if (wire != nullptr) {
        e.index = wire->index;
      } else if (e.op == Op::local || e.op == Op::local_at) {
        e.index += first_local_;
      } else if (e.op == Op::call) {
        e.index += first_function_;
      }
      std::uint32_t depth = 1;
      e.first_arg = arguments(from, e.first_arg, e.count);
      for (std::uint32_t i = 0; i < e.count; ++i)
        depth = std::max(depth, depth_[to_.args[e.first_arg + i]] + 1);
      at_[id] = put(e, depth);
    }
  }

  static bool names_param(Op op) {
    return op == Op::param || op == Op::param_at || op == Op::param_shape || op == Op::param_size ||
           ir::is_atomic(op);
  }

  Id arguments(const Kernel& from, Id first, std::uint32_t count) {
    const Id result = static_cast<Id>(to_.args.size());
    for (std::uint32_t i = 0; i < count; ++i) to_.args.push_back(at_[from.args[first + i]]);
    return result;
  }

  Id block_at(Id block) const { return block == kNone ? kNone : first_block_ + block; }

  // Copies a part's blocks and statements in order; the statements of its body go to the common
  // body. Stores to parameter `result` become assignments to the part's local.
  void statements(std::size_t p, Id result) {
    const Kernel& from = *parts_[p].kernel;
    for (Id b = 0; b < from.blocks.size(); ++b) {
      ir::Block moved = from.blocks[b];
      for (Id& stmt : moved) stmt += first_stmt_;
      if (b != from.body) {
        to_.blocks.push_back(std::move(moved));
        continue;
      }
      ir::Block& body = to_.blocks[to_.body];
      body.insert(body.end(), moved.begin(), moved.end());
      to_.blocks.emplace_back();
    }
    for (Stmt s : from.stmts) {
      if (s.value != kNone) s.value = at_[s.value];
      s.first_arg = arguments(from, s.first_arg, s.count);
      s.then = block_at(s.then);
      s.otherwise = block_at(s.otherwise);
      if (s.kind == StmtKind::store && s.target == result) {
        s.kind = StmtKind::assign;
        s.target = values_[p].local;
        s.value = as_stored(s.value);
      } else if (s.kind == StmtKind::store || s.kind == StmtKind::store_at) {
        s.target = parts_[p].wires[s.target].index;
      } else if (s.kind == StmtKind::assign || s.kind == StmtKind::assign_at) {
        s.target += first_local_;
      }
      to_.stmts.push_back(s);
    }
  }

  void reduction(ir::Reduction r) {
    for (ir::Accumulator& value : r.values) {
      value.mapped += first_local_;
      value.a += first_local_;
      value.b += first_local_;
      value.combine = at_[value.combine];
      if (value.identity != kNone) value.identity = at_[value.identity];
    }
    r.post = block_at(r.post);
    to_.reduction = std::move(r);
  }

  std::span<const Part> parts_;
  std::vector<Traits> traits_;
  std::vector<std::uint32_t> uses_;  // how often later parts use each part's result
  std::vector<bool> forwards_;
  std::vector<Value> values_;  // one for each part
  Kernel to_;
  std::vector<std::uint32_t> depth_;  // of each expression of `to_`
  // The indices in `to_` at which the current part's items begin. at_[e] is the index in `to_` of
  // the part's expression e.
  Id first_local_ = 0, first_function_ = 0, first_block_ = 0, first_stmt_ = 0;
  std::vector<Id> at_;
};

}  // namespace

Traits traits_of(const Kernel& kernel) {
  Traits traits;
  traits.expressions = static_cast<std::uint32_t>(kernel.exprs.size());
  std::size_t results = 0;
  bool plain = true;
  for (std::size_t i = 0; i < kernel.params.size(); ++i) {
    const ir::Param& param = kernel.params[i];
    if (param.kind == ir::ParamKind::scalar || is_read_element(param)) continue;
    ++results;
    traits.result = static_cast<Id>(i);
    plain = plain && param.kind == ir::ParamKind::elementwise && param.access == ir::Access::write;
  }
  if (!plain || results != 1) traits.result = kNone;
  bool asks = false;
  bool reads_result = false;
  for (const Expr& e : kernel.exprs) {
    if (e.op == Op::param_shape || e.op == Op::param_size)
      asks = asks || kernel.params[e.index].kind == ir::ParamKind::elementwise;
    if (e.op == Op::param) reads_result = reads_result || e.index == traits.result;
  }
  traits.consumer = !asks;
  traits.member = !kernel.reduction && traits.result != kNone && !asks && !reads_result &&
                  !returns(kernel, kernel.body);
  const ir::Block& body = kernel.blocks[kernel.body];
  traits.simple = traits.member && body.size() == 1 &&
                  kernel.stmts[body[0]].kind == StmtKind::store && kernel.functions.empty();
  return traits;
}

Kernel fuse(std::string name, std::span<const Part> parts, std::size_t params) {
  return Fuser(std::move(name), parts, params).run();
}

std::string name_of(std::span<const Part> parts) {
  std::string name;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const bool left_out =
        parts.size() > kNamedParts + 1 && p >= kNamedParts && p + 1 < parts.size();
    if (left_out && p > kNamedParts) continue;
    if (p != 0) name += "+";
    name +=
        left_out ? std::to_string(parts.size() - kNamedParts - 1) + " more" : parts[p].kernel->name;
  }
  return name;
}

}  // namespace arraycore::fuse
