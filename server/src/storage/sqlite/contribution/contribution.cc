// See contribution.h.
#include "storage/sqlite/contribution/contribution.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace hyperflock::storage::sqlite {
namespace {

using sql::Query;
using sql::Sql;

// The columns that read_counted() reads, of trials t, devices d, studies s and attempts a.
#define HYPERFLOCK_COUNTED_COLUMNS                                                \
  "t.seq, d.device, s.project, a.finished_at, a.started_at, a.load_ms, a.run_ms," \
  " a.given_ms, a.moved_best"
// The studies that may have results after the seq ?1. Of a deleted study only its trials tell.
#define HYPERFLOCK_UNFOLDED                                                              \
  "(SELECT study FROM study_progress WHERE cursor > ?1 UNION ALL SELECT id FROM studies" \
  " WHERE owner = '') AS unfolded"
// Lets an INSERT of a row that exists add to it.
#define HYPERFLOCK_ADD_TO_ROW                                                              \
  " ON CONFLICT (device, day, project) DO UPDATE SET"                                      \
  " trials = contributions.trials + excluded.trials, ms = contributions.ms + excluded.ms," \
  " moved = contributions.moved + excluded.moved"

// How far the sums go, and the revision of the results behind that.
struct Folded {
  std::int64_t seq = 0;
  std::int64_t revision = 0;
};

Folded folded(sql::Connection& db) {
  Query row = db.query("SELECT seq, revision FROM contribution_fold");
  if (!row.next()) return {};
  return {row.integer(0), row.integer(1)};
}

// A piece that was read before this counts no more.
void change_unfolded(sql::Connection& db) {
  db.post("UPDATE contribution_fold SET revision = revision + 1");
}

// What one accepted attempt counts.
struct Counted {
  std::int64_t seq = 0;
  std::string device;
  Contribution one;
};

// Reads HYPERFLOCK_COUNTED_COLUMNS.
Counted read_counted(const Query& row) {
  const std::int64_t finished_at = row.integer(3);
  // Without given_ms the lease ended with the result.
  const std::int64_t ms = row.maybe_integer(7).value_or(device_ms(
      row.integer(4), 0, finished_at, {.load_ms = row.integer(5), .run_ms = row.integer(6)}));
  return {row.integer(0),
          std::string(row.text(1)),
          {std::string(row.text(2)), day_of(finished_at), 1, ms, row.integer(8)}};
}

// Adds to the row of a day, or to that of the earlier days if the day has no row any more.
void adjust(sql::Connection& db, const std::string& device, const Contribution& by) {
  db.run(
      "UPDATE contributions SET trials = trials + ?1, ms = ms + ?2, moved = moved + ?3"
      " WHERE device = ?4 AND project = ?5 AND day = (SELECT max(c.day) FROM contributions AS c"
      " WHERE c.device = ?4 AND c.project = ?5 AND c.day IN (0, ?6))",
      by.trials, by.ms, by.moved, device, by.project, by.day);
}

// Changes what an accepted attempt counts, wherever it counts now. Nothing counts for an erased
// device.
void adjust(sql::Connection& db, AttemptId attempt, Contribution (*by)(const Contribution& now)) {
  Counted counted;
  {
    Query row =
        db.query("SELECT " HYPERFLOCK_COUNTED_COLUMNS
                 " FROM attempts AS a JOIN device_versions AS d"
                 " ON d.id = a.device_version JOIN studies AS s ON s.id = a.study JOIN trials AS t"
                 " ON t.study = a.study AND t.number = a.number WHERE a.id = ?",
                 attempt);
    if (!row.next()) return;
    counted = read_counted(row);
  }
  if (counted.seq > folded(db).seq) {
    change_unfolded(db);
  } else {
    adjust(db, counted.device, by(counted.one));
  }
}

// The first seq of a result that is not in the sums; nullopt if there is none.
std::optional<std::int64_t> first_unfolded(sql::Connection& db, std::int64_t after) {
  Query row = db.query(
      "SELECT min(first) FROM (SELECT (SELECT min(t.seq) FROM trials AS t WHERE t.study ="
      " unfolded.study AND t.seq > ?1) AS first FROM " HYPERFLOCK_UNFOLDED ") AS firsts",
      after);
  if (!row.next()) return std::nullopt;
  return row.maybe_integer(0);
}

// Adds up the results of the piece. Shortens the piece if its sums would have more than this many
// rows.
std::vector<DeviceContribution> sums_until(sql::Connection& db, ContributionPiece& piece,
                                           std::int64_t rows) {
  using Key = std::tuple<std::string, std::string, std::int64_t>;  // device, project, day
  std::map<Key, Contribution> sums;
  Query row =
      db.query("SELECT " HYPERFLOCK_COUNTED_COLUMNS " FROM " HYPERFLOCK_UNFOLDED
               " CROSS JOIN trials AS t"
               " INDEXED BY trials_by_seq ON t.study = unfolded.study CROSS JOIN studies AS s"
               " ON s.id = t.study CROSS JOIN attempts AS a ON a.id = t.accepted_attempt"
               " CROSS JOIN device_versions AS d ON d.id = a.device_version"
               " WHERE t.seq > ?1 AND t.seq <= ?2 ORDER BY t.seq",
               piece.from, piece.to);
  while (row.next()) {
    Counted counted = read_counted(row);
    if (counted.one.day <= piece.earlier) counted.one.day = kEarlierDays;
    Key key{counted.device, counted.one.project, counted.one.day};
    const auto found = sums.find(key);
    if (found != sums.end()) {
      found->second += counted.one;
    } else if (std::ssize(sums) < rows) {
      sums.emplace(std::move(key), std::move(counted.one));
    } else {
      piece.to = counted.seq - 1;
      break;
    }
  }
  std::vector<DeviceContribution> more;
  more.reserve(sums.size());
  for (auto& [key, sum] : sums) more.push_back({std::get<0>(key), std::move(sum)});
  return more;
}

// Returns the devices of the piece that have rows of days which are earlier ones now.
std::vector<std::string> aged_devices(sql::Connection& db, const ContributionPiece& piece) {
  std::set<std::string> devices;
  for (const DeviceContribution& one : piece.more) devices.insert(one.device);
  std::vector<std::string> aged;
  for (const std::string& device : devices) {
    if (db.query("SELECT 1 FROM contributions WHERE device = ? AND day BETWEEN 1 AND ? LIMIT 1",
                 device, piece.earlier)
            .next())
      aged.push_back(device);
  }
  return aged;
}

}  // namespace

std::int64_t late_ms(sql::Connection& db, const protocol::TrialResult& result, std::int64_t now) {
  Query row = db.query("SELECT started_at, finished_at FROM attempts WHERE id = ?", result.attempt);
  if (!row.next()) return 0;
  return device_ms(row.integer(0), row.integer(1), now, result.metrics);
}

std::int64_t newest_seq(sql::Connection& db) {
  Query newest = db.query(
      Sql("SELECT max(seq, (SELECT coalesce(max(cursor), 0) FROM study_progress)) FROM given",
          "SELECT greatest(seq, (SELECT max(cursor) FROM study_progress)) FROM given"));
  newest.next();
  return newest.integer(0);
}

ContributionPiece next_contributions(sql::Connection& db, std::int64_t today, PieceLimits limits) {
  const Folded done = folded(db);
  ContributionPiece piece{.from = done.seq,
                          .to = done.seq,
                          .revision = done.revision,
                          .last = true,
                          .earlier = today - kContributionDays};
  const auto first = first_unfolded(db, done.seq);
  if (!first) return piece;
  const std::int64_t newest = newest_seq(db);
  piece.to = std::min(*first + limits.results - 1, newest);
  piece.more = sums_until(db, piece, limits.rows);
  piece.last = piece.to == newest;
  piece.aged = aged_devices(db, piece);
  return piece;
}

bool fold_contributions(sql::Connection& db, const ContributionPiece& piece) {
  const Folded done = folded(db);
  if (done.seq != piece.from || done.revision != piece.revision) return false;
  for (const std::string& device : piece.aged) {
    db.post(
        "INSERT INTO contributions (device, day, project, trials, ms, moved)"
        " SELECT device, 0, project, sum(trials), sum(ms), sum(moved) FROM contributions"
        " WHERE device = ?1 AND day BETWEEN 1 AND ?2 GROUP BY device, "
        "project" HYPERFLOCK_ADD_TO_ROW,
        device, piece.earlier);
    db.post("DELETE FROM contributions WHERE device = ? AND day BETWEEN 1 AND ?", device,
            piece.earlier);
  }
  for (const DeviceContribution& one : piece.more) {
    db.post(
        "INSERT INTO contributions (device, day, project, trials, ms, moved)"
        " VALUES (?, ?, ?, ?, ?, ?)" HYPERFLOCK_ADD_TO_ROW,
        one.device, one.more.day, one.more.project, one.more.trials, one.more.ms, one.more.moved);
  }
  db.post("UPDATE contribution_fold SET seq = ?", piece.to);
  return true;
}

bool has_unfolded(sql::Connection& db, StudyId study) {
  return db
      .query(
          "SELECT 1 FROM trials WHERE study = ? AND seq > (SELECT seq FROM contribution_fold)"
          " LIMIT 1",
          study)
      .next();
}

void take_back_contribution(sql::Connection& db, AttemptId attempt) {
  adjust(db, attempt, [](const Contribution& now) {
    return Contribution{now.project, now.day, -now.trials, -now.ms, -now.moved};
  });
}

void set_moved(sql::Connection& db, TrialKey trial, bool moved) {
  std::optional<AttemptId> changed;
  {
    Query row = db.query(
        "UPDATE attempts SET moved_best = ?1 WHERE moved_best <> ?1 AND id ="
        " (SELECT accepted_attempt FROM trials WHERE study = ?2 AND number = ?3) RETURNING id",
        moved ? 1 : 0, trial.study, trial.number);
    while (row.next()) changed = AttemptId{row.integer(0)};
  }
  if (!changed) return;
  adjust(db, *changed, [](const Contribution& now) {
    return Contribution{now.project, now.day, 0, 0, now.moved > 0 ? 1 : -1};
  });
}

void forget_contributions(sql::Connection& db, const std::string& device) {
  db.run("DELETE FROM contributions WHERE device = ?", device);
  if (db.query("SELECT 1 FROM device_versions WHERE device = ? AND finished = 1 LIMIT 1", device)
          .next())
    change_unfolded(db);
}

std::vector<Contribution> contributions(sql::Connection& db, const std::string& device) {
  std::vector<Contribution> rows;
  Query row = db.query(
      "SELECT project, day, trials, ms, moved FROM contributions WHERE device = ?"
      " ORDER BY project, day",
      device);
  while (row.next()) {
    rows.push_back(
        {std::string(row.text(0)), row.integer(1), row.integer(2), row.integer(3), row.integer(4)});
  }
  return rows;
}

}  // namespace hyperflock::storage::sqlite
