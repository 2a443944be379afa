// See stored_series.h.
#include "storage/sqlite/series/stored_series.h"

#include "storage/sqlite/db/rows.h"
#include "storage/sqlite/series/packed_series.h"

namespace hyperflock::storage::sqlite {
namespace {

void add_rows(Connection& db, AttemptId attempt, const Ancestry& ancestry,
              std::optional<std::int64_t> only, SeriesByNumber& found) {
  Query rows = db.query("SELECT content FROM series WHERE attempt = ? ORDER BY seq", attempt);
  while (rows.next()) {
    for (Unpacker all(rows.text(0)); all.next();) {
      if (!only || *only == all.id()) found[all.id()].add(all.steps(), all.values(), ancestry);
    }
  }
}

SeriesByNumber settled(SeriesByNumber found) {
  std::erase_if(found, [](const auto& one) { return one.second.empty(); });
  for (auto& [id, pieces] : found) pieces.settle();
  return found;
}

LastByNumber unpacked_last(std::string_view bytes) {
  LastByNumber values;
  for (Unpacker all(bytes); all.next();) values.emplace_back(all.id(), all.last_value());
  return values;
}

}  // namespace

SeriesByNumber own_series(Connection& db, AttemptId attempt) {
  SeriesByNumber found;
  add_rows(db, attempt, Ancestry(attempt, &protocol::Checkpoint::logged), {}, found);
  return settled(std::move(found));
}

SeriesByNumber series_of(Connection& db, AttemptId attempt,
                         const std::optional<protocol::Checkpoint>& from,
                         std::optional<std::int64_t> only) {
  SeriesByNumber found;
  Ancestry ancestry(attempt, &protocol::Checkpoint::logged);
  while (const auto id = ancestry.wanted()) {
    add_rows(db, *id, ancestry, only, found);
    if (*id == attempt) {
      ancestry.go_on(from);
      continue;
    }
    Query row = db.query(kSelectAttempt, *id);
    ancestry.go_on(row.next() ? read_attempt(row).row.from : std::nullopt);
  }
  return settled(std::move(found));
}

LastByNumber last_of(Connection& db, AttemptId attempt,
                     const std::optional<protocol::Checkpoint>& from) {
  {
    Query rows =
        db.query("SELECT seq, last FROM series WHERE attempt = ? ORDER BY seq LIMIT 2", attempt);
    // After the attempt's result, all of its series are in one row with seq 0, unless a report came
    // later.
    if (rows.next() && rows.integer(0) == 0) {
      LastByNumber values = unpacked_last(rows.text(1));
      if (!rows.next()) return values;
    }
  }
  LastByNumber values;
  for (const auto& [id, pieces] : series_of(db, attempt, from, {}))
    values.emplace_back(id, pieces.values().back());
  return values;
}

std::string packed_last(const LastByNumber& values) {
  Packer packer;
  for (const auto& [id, value] : values) packer.add(id, {0}, {value});
  return packer.bytes();
}

}  // namespace hyperflock::storage::sqlite
