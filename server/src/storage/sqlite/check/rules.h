// The invariants of the rows, as queries that find what breaks them.
#pragma once

#include <span>

#include "storage/sqlite/db/db.h"

namespace hyperflock::storage::sqlite {

// `sql` has no parameters. Each of its rows is one text that names what breaks the rule.
struct RowRule {
  const char* code;
  const char* sentence;
  Sql sql;
};

// Returns the rules of the newest schema.
std::span<const RowRule> row_rules();

}  // namespace hyperflock::storage::sqlite
