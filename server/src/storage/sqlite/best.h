// Finds the best trials of the studies of an older database, and checks those of any database.
#pragma once

#include <vector>

#include "base/ids.h"
#include "storage/sqlite/db/db.h"

namespace hyperflock::storage::sqlite {

// Computes the best trials of every study from its results (R57). A database needs this once if its
// schema is older than version 12, when the server knew no constraints and only one direction.
// REQUIRES: a transaction.
void find_best_trials(Connection& db);

// Returns the studies whose stored best trials are not those of their results. Changes nothing.
std::vector<StudyId> studies_with_wrong_best(Connection& db);

}  // namespace hyperflock::storage::sqlite
