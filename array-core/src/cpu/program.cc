#include "cpu/program.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "cpu/locals.h"
#include "cpu/machine.h"
#include "ir/op_info.h"

namespace arraycore::cpu {

using ir::Expr;
using ir::Id;
using ir::kNone;
using ir::Op;
using ir::Stmt;
using ir::StmtKind;

class Compiler {
 public:
  explicit Compiler(const ir::Kernel& kernel) { p_.kernel_ = kernel; }

  Program run() {
    const ir::Kernel& k = p_.kernel_;
    for (const ir::Param& param : k.params)
      p_.params_.push_back(param.kind == ir::ParamKind::raw ? kNoRegister : fresh(param.dtype));
    for (const ir::Local& local : k.locals)
      p_.locals_.push_back(fresh(local.type, std::max<std::uint32_t>(local.length, 1)));
    lazy_.assign(k.exprs.size(), false);
    for (Id id = 0; id < k.exprs.size(); ++id) {
      const Expr& e = k.exprs[id];
      lazy_[id] = e.op == Op::call || ir::is_atomic(e.op);
      for (std::uint32_t i = 0; i < e.count; ++i) lazy_[id] = lazy_[id] || lazy_[arg(e, i)];
    }
    p_.zeroed_ = locals_to_zero(k);
    p_.body_ = block(k.body);
    if (k.reduction) {
      memo_.clear();
      for (const ir::Accumulator& value : k.reduction->values)
        p_.combined_.push_back(value_of(value.combine, p_.combine_));
      p_.post_ = block(k.reduction->post);
    }
    for (const ir::Param& param : k.params)
      if (param.kind == ir::ParamKind::raw && (param.access != ir::Access::read || param.atomic))
        p_.independent_ = false;
    if (k.reduction && k.reduction->running()) p_.independent_ = false;
    p_.work_ = static_cast<std::int64_t>(k.params.size() + k.exprs.size());
    return std::move(p_);
  }

 private:
  using Memo = std::unordered_map<Id, Register>;

  Register fresh(DType type, std::uint32_t length = 1) {
    p_.registers_.push_back({type, length});
    return static_cast<Register>(p_.registers_.size()) - 1;
  }
  Register once(Register& slot) {
    if (slot == kNoRegister) slot = fresh(DType::int32);
    return slot;
  }
  template <typename Key>
  Register once(std::vector<std::pair<Key, Register>>& list, const Key& key) {
    for (const auto& [known, to] : list)
      if (known == key) return to;
    list.emplace_back(key, fresh(DType::int32));
    return list.back().second;
  }
  Id arg(const Expr& e, std::uint32_t i) const { return p_.kernel_.args[e.first_arg + i]; }

  Register value_of(Id id, std::vector<Step>& steps) {
    if (const auto found = memo_.find(id); found != memo_.end()) return found->second;
    const Register result = compute(id, steps);
    memo_[id] = result;
    return result;
  }

  Register compute(Id id, std::vector<Step>& steps) {
    const Expr& e = p_.kernel_.exprs[id];
    switch (e.op) {
      case Op::constant: {
        const ir::Scalar value{e.bits, e.bits_high};
        for (const Fill& fill : p_.constants_)
          if (fill.value == value && p_.registers_[fill.to].type == e.type) return fill.to;
        p_.constants_.push_back({fresh(e.type), value});
        return p_.constants_.back().to;
      }
      case Op::local:
        return p_.locals_[e.index];
      case Op::loop_index:
        return once(p_.loop_index_);
      case Op::loop_size:
        return once(p_.loop_size_);
      case Op::reduce_index:
        return once(p_.reduce_index_);
      case Op::axis_index:
        return once(p_.axes_, e.index);
      case Op::param:
        return p_.params_[e.index];
      case Op::param_size:
        return once(p_.sizes_, e.index);
      case Op::param_shape:
        return once(p_.shapes_,
                    std::pair{e.index, static_cast<Id>(p_.kernel_.exprs[arg(e, 0)].bits)});
      case Op::select:
        return choose_lanes(e, steps);
      case Op::logical_and:
      case Op::logical_or:
        if (lazy_[arg(e, 1)]) return decide(e, steps);
        break;
      case Op::call:
        return call(e, steps);
      case Op::stored:  // a register has the width of memory, so nothing is to be done
        return value_of(arg(e, 0), steps);
      default:
        break;
    }
    Step step;
    step.op = e.op;
    step.type = e.type;
    step.target = e.index;
    std::vector<Register> x;
    for (std::uint32_t i = 0; i < e.count; ++i) x.push_back(value_of(arg(e, i), steps));
    if (e.op == Op::param_at || e.op == Op::local_at) {
      step.kind = e.op == Op::param_at ? Step::Kind::raw_read : Step::Kind::array_read;
      step.index = x;
      if (e.op == Op::local_at) {
        step.a = p_.locals_[e.index];
        step.length = p_.kernel_.locals[e.index].length;
      }
    } else if (ir::is_atomic(e.op)) {
      step.kind = Step::Kind::atomic;
      const std::int8_t ndim = p_.kernel_.params[e.index].ndim;
      const std::size_t dims = ndim < 0 ? 1 : static_cast<std::size_t>(ndim);
      step.index.assign(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(dims));
      step.b = x[dims];
      if (x.size() > dims + 1) step.c = x[dims + 1];
    } else {
      step.loop = loop_of(e.op, p_.kernel_.exprs[arg(e, 0)].type, e.type);
      step.a = x[0];
      step.b = x.size() > 1 ? x[1] : x[0];
      step.c = x.size() > 2 ? x[2] : x[0];
    }
    step.d = fresh(e.type);
    steps.push_back(std::move(step));
    return steps.back().d;
  }

  Register choose_lanes(const Expr& e, std::vector<Step>& steps) {
    const Register condition = value_of(arg(e, 0), steps);
    const Register d = fresh(e.type);
    if (lazy_[arg(e, 1)] || lazy_[arg(e, 2)]) {
      side(arg(e, 1), condition, false, d, steps);
      side(arg(e, 2), condition, true, d, steps);
      return d;
    }
    Step step;
    step.kind = Step::Kind::select;
    step.type = e.type;
    step.d = d;
    step.a = condition;
    step.b = value_of(arg(e, 1), steps);
    step.c = value_of(arg(e, 2), steps);
    steps.push_back(std::move(step));
    return d;
  }

  // Adds a step that computes `id` only in the lanes where `condition` is true (with `negated`:
  // false), and stores the value to `d` there.
  void side(Id id, Register condition, bool negated, Register d, std::vector<Step>& steps) {
    const Memo before = memo_;
    Step step;
    step.kind = Step::Kind::lazy;
    step.type = p_.kernel_.exprs[id].type;
    step.negated = negated;
    step.a = condition;
    step.d = d;
    step.b = value_of(id, step.steps);
    memo_ = before;
    steps.push_back(std::move(step));
  }

  Register decide(const Expr& e, std::vector<Step>& steps) {
    const Register first = value_of(arg(e, 0), steps);
    const Register d = fresh(DType::boolean);
    Step copy;
    copy.loop = loop_of(Op::convert, DType::boolean, DType::boolean);
    copy.type = DType::boolean;
    copy.d = d;
    copy.a = copy.b = copy.c = first;
    steps.push_back(std::move(copy));
    side(arg(e, 1), first, e.op == Op::logical_or, d, steps);
    return d;
  }

  Register call(const Expr& e, std::vector<Step>& steps) {
    const ir::Function& f = p_.kernel_.functions[e.index];
    std::vector<Register> values;
    for (std::uint32_t i = 0; i < e.count; ++i) values.push_back(value_of(arg(e, i), steps));
    Step step;
    step.kind = Step::Kind::call;
    step.type = e.type;
    step.d = fresh(e.type);
    const Memo outer = std::exchange(memo_, {});
    const Register outer_result = std::exchange(result_, f.result ? step.d : kNoRegister);
    for (std::size_t i = 0; i < values.size(); ++i) {
      Node node;
      node.kind = StmtKind::assign;
      node.type = p_.kernel_.locals[f.arguments[i]].type;
      node.value = values[i];
      node.to = p_.locals_[f.arguments[i]];
      step.body.push_back(std::move(node));
    }
    locals_of(f.body, step.zero);
    std::vector<Node> body = block(f.body);
    std::move(body.begin(), body.end(), std::back_inserter(step.body));
    memo_ = outer;
    result_ = outer_result;
    const Register d = step.d;
    steps.push_back(std::move(step));
    return d;
  }

  void locals_of(Id block_id, std::vector<Register>& registers) const {
    for (const Id id : p_.kernel_.blocks[block_id]) {
      const Stmt& s = p_.kernel_.stmts[id];
      if (s.kind == StmtKind::assign || s.kind == StmtKind::assign_at)
        registers.push_back(p_.locals_[s.target]);
      if (s.then != kNone) locals_of(s.then, registers);
      if (s.otherwise != kNone) locals_of(s.otherwise, registers);
    }
  }

  std::vector<Node> block(Id id) {
    std::vector<Node> nodes;
    for (const Id stmt : p_.kernel_.blocks[id]) nodes.push_back(statement(p_.kernel_.stmts[stmt]));
    return nodes;
  }

  Node statement(const Stmt& s) {
    Node node;
    node.kind = s.kind;
    node.target = s.target;
    memo_.clear();
    for (std::uint32_t i = 0; i < s.count; ++i)
      node.index.push_back(value_of(p_.kernel_.args[s.first_arg + i], node.steps));
    if (s.value != kNone) {
      node.value = value_of(s.value, node.steps);
      node.type = p_.kernel_.exprs[s.value].type;
    }
    if (s.kind == StmtKind::assign || s.kind == StmtKind::assign_at) {
      node.to = p_.locals_[s.target];
      node.length = p_.kernel_.locals[s.target].length;
    }
    if (s.kind == StmtKind::store) node.to = p_.params_[s.target];
    if (s.kind == StmtKind::give) node.to = result_;
    if (s.then != kNone) node.then = block(s.then);
    if (s.otherwise != kNone) node.otherwise = block(s.otherwise);
    return node;
  }

  Program p_;
  Memo memo_;
  Register result_ = kNoRegister;
  std::vector<bool> lazy_;
};

Program Program::compile(const ir::Kernel& kernel) { return Compiler(kernel).run(); }

Status Program::run(const ir::Launch& launch) const { return Machine(*this).run(launch); }

}  // namespace arraycore::cpu
