#include "cpu/locals.h"

#include <algorithm>

namespace arraycore::cpu {
namespace {

using ir::Id;
using ir::kNone;
using ir::Op;
using ir::Stmt;
using ir::StmtKind;

class Uses {
 public:
  explicit Uses(const ir::Kernel& kernel) : k_(kernel) {
    // One pass is enough, because operands come before the expressions that use them.
    for (const ir::Expr& e : k_.exprs) {
      std::vector<bool> reads(k_.locals.size());
      if (e.op == Op::local || e.op == Op::local_at) reads[e.index] = true;
      for (std::uint32_t i = 0; i < e.count; ++i) {
        const std::vector<bool>& operand = reads_[k_.args[e.first_arg + i]];
        for (std::size_t local = 0; local < reads.size(); ++local)
          if (operand[local]) reads[local] = true;
      }
      reads_.push_back(std::move(reads));
    }
  }

  bool has_return(Id block) const {
    return block != kNone &&
           std::any_of(k_.blocks[block].begin(), k_.blocks[block].end(), [&](Id id) {
             const Stmt& s = k_.stmts[id];
             return s.kind == StmtKind::give || has_return(s.then) || has_return(s.otherwise);
           });
  }

  bool mentions(Id block, Id local) const {
    return block != kNone && std::any_of(k_.blocks[block].begin(), k_.blocks[block].end(),
                                         [&](Id id) { return mentions(k_.stmts[id], local); });
  }

  // Returns whether the block's first statement that mentions the local assigns it in every lane.
  bool assigns_first(Id block, Id local) const {
    for (const Id id : k_.blocks[block]) {
      const Stmt& s = k_.stmts[id];
      if (mentions(s, local)) return s.kind == StmtKind::assign && !reads(s, local);
    }
    return false;
  }

  // Returns whether a lane that runs the block may read the local before the block has assigned it.
  bool may_read_first(Id block, Id local) const {
    if (block == kNone || assigns_first(block, local)) return false;
    const ir::Block& list = k_.blocks[block];
    const auto mentioning = [&](Id id) { return mentions(k_.stmts[id], local); };
    const auto first = std::find_if(list.begin(), list.end(), mentioning);
    if (first == list.end()) return false;
    const Stmt& s = k_.stmts[*first];
    if (reads(s, local)) return true;
    // A later statement may read the local, and the first one may have assigned it in some lanes
    // only, or not in every iteration.
    if (std::any_of(first + 1, list.end(), mentioning)) return true;
    const bool is_loop = s.kind == StmtKind::loop || s.kind == StmtKind::loop_until;
    if (is_loop && mentions(s.then, local) && mentions(s.otherwise, local)) return true;
    return s.kind == StmtKind::assign_at || may_read_first(s.then, local) ||
           may_read_first(s.otherwise, local);
  }

 private:
  // Returns whether the statement itself, without its blocks, reads the local.
  bool reads(const Stmt& s, Id local) const {
    if (s.value != kNone && reads_[s.value][local]) return true;
    for (std::uint32_t i = 0; i < s.count; ++i)
      if (reads_[k_.args[s.first_arg + i]][local]) return true;
    return false;
  }
  bool mentions(const Stmt& s, Id local) const {
    const bool assigns = s.kind == StmtKind::assign || s.kind == StmtKind::assign_at;
    return reads(s, local) || (assigns && s.target == local) || mentions(s.then, local) ||
           mentions(s.otherwise, local);
  }

  const ir::Kernel& k_;
  std::vector<std::vector<bool>> reads_;  // by expression and local
};

}  // namespace

std::vector<Id> locals_to_zero(const ir::Kernel& kernel) {
  const Uses uses(kernel);
  const bool returns = uses.has_return(kernel.body);
  std::vector<Id> zeroed;
  for (Id local = 0; local < kernel.locals.size(); ++local) {
    // A reduction reads the mapped values of all lanes after the body, also of lanes that returned
    // before they assigned them.
    const bool is_mapped =
        kernel.reduction &&
        std::any_of(kernel.reduction->values.begin(), kernel.reduction->values.end(),
                    [&](const auto& each) { return each.mapped == local; });
    if (is_mapped ? returns || !uses.assigns_first(kernel.body, local)
                  : uses.may_read_first(kernel.body, local))
      zeroed.push_back(local);
  }
  return zeroed;
}

}  // namespace arraycore::cpu
