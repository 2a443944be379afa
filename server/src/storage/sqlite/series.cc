// Stores the series of reports (R59), and joins the rows of an attempt when the attempt has ended.
// See writer.h, stored_series.h and migrations/to_0020/0013_series.sql.
#include <algorithm>

#include "storage/sqlite/db/rows.h"
#include "storage/sqlite/series/packed_series.h"
#include "storage/sqlite/series/stored_series.h"
#include "storage/sqlite/writer.h"

namespace hyperflock::storage::sqlite {
namespace {

// For each study, the numbers of at most this many series stay in memory.
constexpr std::size_t kMaxKeptNames = 4'096;
// This many bytes of a row take as long to remove as one small row.
constexpr std::int64_t kBytesOfRow = 1'024;

std::int64_t count_values(const protocol::SeriesColumn& column) {
  return std::ranges::count_if(column.values, [](const auto& one) { return one.has_value(); });
}

void pack(const std::vector<std::int64_t>& steps, const protocol::SeriesColumn& column,
          std::int64_t id, Packer& packer) {
  std::vector<std::int64_t> own_steps;
  std::vector<double> values;
  for (std::size_t i = 0; i < column.values.size(); ++i) {
    if (!column.values[i]) continue;
    own_steps.push_back(steps[i]);
    values.push_back(*column.values[i]);
  }
  packer.add(id, own_steps, values);
}

}  // namespace

void Writer::add_series(Study& study, const AppendPoints& append, Outcome& outcome) {
  Logging& known = logging_of(append.attempt);
  if (append.seq <= known.newest_seq &&
      db_->query("SELECT 1 FROM series WHERE attempt = ? AND seq = ?", append.attempt, append.seq)
          .next()) {
    return;
  }
  const auto refuse = [&](Refusal why) {
    outcome.applied = Applied::superseded;
    outcome.refusal = why;
  };
  struct Column {
    const protocol::SeriesColumn* given;
    std::optional<std::int64_t> id;
  };
  std::vector<Column> columns;
  std::int64_t values = 0;
  auto names = static_cast<std::int64_t>(known.series.size());
  for (const protocol::SeriesColumn& column : append.series->columns) {
    const std::int64_t count = count_values(column);
    if (count == 0) continue;
    values += count;
    columns.push_back({&column, find_series(study, column.name)});
    if (!columns.back().id || !known.series.contains(*columns.back().id)) ++names;
  }
  if (columns.empty()) return;
  if (names > kMostSeries) return refuse(Refusal::series_count);
  if (known.values + values > kMostSeriesValues) return refuse(Refusal::series_size);
  Packer packer;
  for (Column& column : columns) {
    if (!column.id) column.id = make_series(study, column.given->name);
    known.series.insert(*column.id);
    pack(append.series->steps, *column.given, *column.id, packer);
  }
  known.values += values;
  known.newest_seq = std::max(known.newest_seq, append.seq);
  db_->run("INSERT INTO series (attempt, seq, last, content) VALUES (?, ?, x'', ?)", append.attempt,
           append.seq, Blob{packer.bytes()});
  charge_records(study, kSmallRecord + static_cast<std::int64_t>(packer.bytes().size()));
  outcome.applied = Applied::applied;
}

void Writer::compact_series(Study& study, AttemptId attempt) {
  if (!has_series(study)) return;
  std::optional<protocol::Checkpoint> from;
  const SeriesByNumber own = own_series(*db_, attempt);
  if (own.empty()) return;
  {
    Query row = db_->query(kSelectAttempt, attempt);
    if (row.next()) from = read_attempt(row).row.from;
  }
  const LastByNumber last = last_of(*db_, attempt, from);
  Packer packer;
  for (const auto& [id, pieces] : own) packer.add(id, pieces.steps(), pieces.values());
  db_->run("DELETE FROM series WHERE attempt = ?", attempt);
  db_->run("INSERT INTO series (attempt, seq, last, content) VALUES (?, 0, ?, ?)", attempt,
           Blob{packed_last(last)}, Blob{packer.bytes()});
  logging_.erase(attempt);
}

Writer::Logging& Writer::logging_of(AttemptId attempt) {
  const auto [found, is_new] = logging_.try_emplace(attempt);
  Logging& logging = found->second;
  if (!is_new) return logging;
  Query rows = db_->query("SELECT seq, content FROM series WHERE attempt = ?", attempt);
  while (rows.next()) {
    logging.newest_seq = std::max(logging.newest_seq, rows.integer(0));
    for (Unpacker all(rows.text(1)); all.next();) {
      logging.series.insert(all.id());
      logging.values += static_cast<std::int64_t>(all.size());
    }
  }
  return logging;
}

bool Writer::has_series(Study& study) {
  if (!study.has_series) {
    study.has_series =
        db_->query("SELECT 1 FROM series_names WHERE study = ? LIMIT 1", study.row.id).next();
  }
  return *study.has_series;
}

std::optional<std::int64_t> Writer::find_series(Study& study, const std::string& name) {
  if (const auto kept = study.series.find(name); kept != study.series.end()) return kept->second;
  Query row =
      db_->query("SELECT id FROM series_names WHERE study = ? AND name = ?", study.row.id, name);
  if (!row.next()) return std::nullopt;
  if (study.series.size() >= kMaxKeptNames) study.series.clear();
  return study.series.emplace(name, row.integer(0)).first->second;
}

std::int64_t Writer::make_series(Study& study, const std::string& name) {
  std::int64_t id = 0;
  {
    Query row = db_->query(
        "INSERT INTO series_names (study, id, name) VALUES (?1, (SELECT coalesce(max(id), 0) + 1"
        " FROM series_names WHERE study = ?1), ?2) RETURNING id",
        study.row.id, name);
    row.next();
    id = row.integer(0);
  }
  study.has_series = true;
  study.series.emplace(name, id);
  charge_records(study, kSmallRecord + static_cast<std::int64_t>(name.size()));
  return id;
}

bool Writer::sweep_series(std::int64_t attempt, std::int64_t& left) {
  std::optional<std::int64_t> last;
  {
    Query rows = db_->query(
        "SELECT seq, length(content) FROM series WHERE attempt = ? ORDER BY seq", attempt);
    while (left > 0 && rows.next()) {
      last = rows.integer(0);
      left -= 1 + rows.integer(1) / kBytesOfRow;
    }
  }
  if (last) db_->run("DELETE FROM series WHERE attempt = ? AND seq <= ?", attempt, *last);
  return left > 0;
}

void Writer::sweep_series_names(StudyId id, std::int64_t& left) {
  if (left <= 0) return;
  left -= db_->run(
      "DELETE FROM series_names WHERE study = ?1 AND id <= (SELECT max(id) FROM"
      " (SELECT id FROM series_names WHERE study = ?1 ORDER BY id LIMIT ?2) AS first)",
      id, left);
}

}  // namespace hyperflock::storage::sqlite
