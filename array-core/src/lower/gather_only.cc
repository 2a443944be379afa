#include "lower/gather_only.h"

#include <algorithm>

#include "ir/op_info.h"

namespace arraycore::lower {

Gather gather_only(const ir::Kernel& kernel) {
  Gather result;
  const auto because = [&](std::string reason) {
    result.only = false;
    if (std::find(result.reasons.begin(), result.reasons.end(), reason) == result.reasons.end())
      result.reasons.push_back(std::move(reason));
  };
  for (const ir::Stmt& s : kernel.stmts)
    if (s.kind == ir::StmtKind::store_at)
      because("It stores to '" + kernel.params[s.target].name + "' at a computed place.");
  for (const ir::Expr& e : kernel.exprs)
    if (ir::is_atomic(e.op))
      because("It updates '" + kernel.params[e.index].name + "' atomically.");
  return result;
}

}  // namespace arraycore::lower
