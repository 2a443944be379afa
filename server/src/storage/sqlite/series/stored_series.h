// Reads the rows of series for the readers and the writer. Each function throws
// DbError.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/lineage.h"
#include "storage/sqlite/db/db.h"

namespace hyperflock::storage::sqlite {

// Series by their numbers in the study.
using SeriesByNumber = std::map<std::int64_t, SeriesPieces>;
using LastByNumber = std::vector<std::pair<std::int64_t, double>>;

// Returns the series that the attempt itself has reported.
SeriesByNumber own_series(Connection& db, AttemptId attempt);
// Returns the series of an attempt that began with checkpoint `from`, including the values of
// earlier attempts up to that checkpoint. If `only` is given, returns just the series with this
// number.
SeriesByNumber series_of(Connection& db, AttemptId attempt,
                         const std::optional<protocol::Checkpoint>& from,
                         std::optional<std::int64_t> only);
// Returns the newest value of each of these series.
LastByNumber last_of(Connection& db, AttemptId attempt,
                     const std::optional<protocol::Checkpoint>& from);

// Returns the values packed for the database column `last`.
std::string packed_last(const LastByNumber& values);

}  // namespace hyperflock::storage::sqlite
