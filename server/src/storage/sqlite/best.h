// The best trials of the studies of an older database.
#pragma once

#include "storage/sqlite/db/db.h"

namespace hyperflock::storage::sqlite {

// Computes the best trials of every study from its results (R57). This is needed once for a
// database of before version 12, whose server did not know constraints or several directions.
// REQUIRES: a transaction.
void find_best_trials(Db& db);

}  // namespace hyperflock::storage::sqlite
