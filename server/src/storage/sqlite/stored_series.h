// Reads the rows of series. Used by the readers and by the writer; each function throws
// SqliteError.
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

// Series by their numbers.
using SeriesByNumber = std::map<std::int64_t, SeriesPieces>;
using LastByNumber = std::vector<std::pair<std::int64_t, double>>;

// Returns the series of an attempt's own reports.
SeriesByNumber own_series(Db& db, AttemptId attempt);
// Returns the series of an attempt that began with `from`, those that it continues included. With
// `only` it returns the series with this number.
SeriesByNumber series_of(Db& db, AttemptId attempt, const std::optional<protocol::Checkpoint>& from,
                         std::optional<std::int64_t> only);
// Returns the newest value of each of them.
LastByNumber last_of(Db& db, AttemptId attempt, const std::optional<protocol::Checkpoint>& from);

// The bytes of the column `last`.
std::string packed_last(const LastByNumber& values);

}  // namespace hyperflock::storage::sqlite
