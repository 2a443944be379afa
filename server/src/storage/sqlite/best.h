// Finds the best trials of the studies in a database with an older schema.
#pragma once

#include "storage/sqlite/db/db.h"

namespace hyperflock::storage::sqlite {

// Computes the best trials of every study from its results (R57). A database needs this once if its
// schema is older than version 12, when the server knew no constraints and only one direction.
// REQUIRES: a transaction.
void find_best_trials(Db& db);

}  // namespace hyperflock::storage::sqlite
