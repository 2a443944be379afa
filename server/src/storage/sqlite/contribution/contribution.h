// What devices have contributed (contribution.h): reads pieces of results that are not in the sums
// yet, adds them, and takes back what was rejected. Nothing here is on the way of a result.
// Functions that change something are for the writer's thread, within its transaction.
#pragma once

#include <string>
#include <vector>

#include "storage/contribution.h"
#include "storage/records.h"
#include "storage/sql/connection.h"

namespace hyperflock::storage::sqlite {

// Returns what a result counts whose lease has ended. Call it before the result's row is written.
std::int64_t late_ms(sql::Connection& db, const protocol::TrialResult& result, std::int64_t now);

// Returns the newest seq that a trial has got.
std::int64_t newest_seq(sql::Connection& db);

// REQUIRES: a transaction, so that all queries see the same rows.
ContributionPiece next_contributions(sql::Connection& db, std::int64_t today, PieceLimits limits);

// Adds a piece to the sums. Returns false, and changes nothing, if the piece is old.
bool fold_contributions(sql::Connection& db, const ContributionPiece& piece);

// Returns whether the study has results that are not in the sums yet.
bool has_unfolded(sql::Connection& db, StudyId study);

// Takes back what an accepted attempt counts. Call it before the attempt's state changes.
void take_back_contribution(sql::Connection& db, AttemptId attempt);

// Notes whether the accepted result of a trial was better than all results of its study before it.
// Constraints that come after the result may decide this.
void set_moved(sql::Connection& db, TrialKey trial, bool moved);

// Removes a device's rows. Call it before the device's versions are removed.
void forget_contributions(sql::Connection& db, const std::string& device);

// Returns a device's rows, sorted by project and day.
std::vector<Contribution> contributions(sql::Connection& db, const std::string& device);

}  // namespace hyperflock::storage::sqlite
