// Deletes studies. A small commit hides the study from every reader. The study's rows are removed
// in pieces afterwards. See writer.h and migrations/to_0020/0011_deleting.sql.
#include <algorithm>

#include "storage/sqlite/contribution/contribution.h"
#include "storage/sqlite/db/rows.h"
#include "storage/sqlite/writer.h"
#include "storage/study_ledger.h"

namespace hyperflock::storage::sqlite {
namespace {

// The number of trials that are read at once. A SweepDeleted may end before all their rows are
// removed.
constexpr std::int64_t kTrialsInHand = 256;
// One artifact counts as this many rows: it is in three indexes, and its removal searches two
// indexes for its blob.
constexpr std::int64_t kRowsOfArtifact = 4;

}  // namespace

Outcome Writer::apply_one(const DeleteStudy& gone) {
  const StudyId id = gone.study;
  const Study* study = find_study(id);
  if (study == nullptr) return of_study(Applied::conflict, id);
  if (ledger::is_running(study->row)) return of_study(Applied::superseded, id);
  Outcome outcome = of_study(Applied::applied, id);
  const StudyRow& row = study->row;
  outcome.freed = Freed{row.complete + row.pruned + row.failed, 0, row.artifact_bytes};
  if (row.artifacts > 0) {
    Query kept = db_->query("SELECT count(*) FROM artifacts WHERE study = ?", id);
    kept.next();
    outcome.freed->artifacts = kept.integer(0);
  }
  db_->run(Sql("UPDATE given SET study = max(study, (SELECT max(id) FROM studies)),"
               " attempt = max(attempt, (SELECT coalesce(max(id), 0) FROM attempts)), seq = ?",
               "UPDATE given SET study = greatest(study, (SELECT max(id) FROM studies)),"
               " attempt = greatest(attempt, (SELECT max(id) FROM attempts)), seq = $1"),
           next_seq() - 1);
  write_changed_studies();  // now, because nothing is written of the study later
  db_->run("DELETE FROM device_use WHERE study = ?", id);
  db_->run("DELETE FROM study_progress WHERE study = ?", id);
  db_->run("DELETE FROM best_trials WHERE study = ?", id);
  forget_webhook(id);
  owners_.clear();
  studies_.erase(id);
  disown_blobs(id, outcome);
  db_->run("UPDATE studies SET owner = '', submit_key = CAST(id AS TEXT) WHERE id = ?", id);
  return outcome;
}

void Writer::disown_blobs(StudyId id, Outcome& outcome) {
  std::string owner;
  std::string project;
  {
    Query study = db_->query("SELECT owner, project FROM studies WHERE id = ?", id);
    study.next();
    owner = study.text(0);
    project = study.text(1);
  }
  std::vector<std::string> blobs;
  {
    Query named = db_->query("SELECT sha256 FROM study_blobs WHERE study = ? ORDER BY sha256", id);
    while (named.next()) blobs.emplace_back(named.text(0));
  }
  db_->run("DELETE FROM study_blobs WHERE study = ?", id);
  for (std::string& blob : blobs) {
    db_->run(
        "DELETE FROM project_blobs WHERE project = ?1 AND sha256 = ?2 AND NOT EXISTS (SELECT 1"
        " FROM study_blobs AS named JOIN studies ON id = named.study"
        " WHERE named.sha256 = ?2 AND project = ?1)",
        project, blob);
    {
      Query freed = db_->query(
          "DELETE FROM owner_blobs WHERE owner = ?1 AND sha256 = ?2 AND NOT EXISTS (SELECT 1"
          " FROM study_blobs AS named JOIN studies ON id = named.study"
          " WHERE named.sha256 = ?2 AND owner = ?1) RETURNING bytes",
          owner, blob);
      if (!freed.next()) continue;
      outcome.freed->bytes += freed.integer(0);
    }
    if (!db_->query("SELECT 1 FROM owner_blobs WHERE sha256 = ? LIMIT 1", blob).next())
      outcome.disowned.push_back(std::move(blob));
  }
}

Outcome Writer::apply_one(const SweepDeleted& sweep) {
  Outcome outcome;
  outcome.applied = Applied::repeated;
  for (std::int64_t left = sweep.rows; left > 0;) {
    StudyId id{};
    {
      Query deleted = db_->query("SELECT id FROM studies WHERE owner = '' LIMIT 1");
      if (!deleted.next()) break;
      id = StudyId{deleted.integer(0)};
    }
    outcome.applied = Applied::applied;
    if (!fold_deleted(id)) break;
    sweep_artifacts(id, left, outcome);
    sweep_trials(id, left);
    sweep_series_names(id, left);
    if (left <= 0) break;
    left -= db_->run("DELETE FROM earlier_specs WHERE study = ?", id);
    left -= db_->run("DELETE FROM rejections WHERE study = ?", id);
    db_->run("DELETE FROM studies WHERE id = ?", id);
    --left;
  }
  return outcome;
}

bool Writer::fold_deleted(StudyId id) {
  // As few as the rows that one piece removes take as long.
  constexpr PieceLimits kFoldedHere{.results = 1'000, .rows = 500};
  if (!has_unfolded(*db_, id)) return true;
  write_changed_studies();  // so that the piece has the newest results of this batch, too
  fold_contributions(*db_, next_contributions(*db_, day_of(now_), kFoldedHere));
  return !has_unfolded(*db_, id);
}

Outcome Writer::apply_one(const FoldContributions& fold) {
  Outcome outcome;
  outcome.applied = fold_contributions(*db_, fold.piece) ? Applied::applied : Applied::superseded;
  return outcome;
}

void Writer::sweep_artifacts(StudyId id, std::int64_t& left, Outcome& outcome) {
  const std::int64_t most = std::max<std::int64_t>(left / kRowsOfArtifact, 1);
  std::int64_t last = 0;
  std::vector<std::string> blobs;
  {
    Query rows = db_->query(
        "SELECT arrived, sha256 FROM artifacts WHERE study = ? ORDER BY arrived LIMIT ?", id, most);
    while (rows.next()) {
      last = rows.integer(0);
      blobs.emplace_back(rows.text(1));
    }
  }
  if (blobs.empty()) return;
  const int gone = db_->run("DELETE FROM artifacts WHERE study = ? AND arrived <= ?", id, last);
  left = gone < most ? left - gone * kRowsOfArtifact : 0;  // 0: perhaps more are left
  for (std::string& blob : unnamed(std::move(blobs))) outcome.dropped.push_back(std::move(blob));
}

void Writer::sweep_trials(StudyId id, std::int64_t& left) {
  struct Row {
    TrialKey key;
    std::int64_t newest = 0;
  };
  std::vector<Row> trials;
  while (left > 0) {
    trials.clear();
    {
      Query rows = db_->query(
          "SELECT number, newest_attempt FROM trials WHERE study = ? ORDER BY number LIMIT ?", id,
          std::min(left, kTrialsInHand));
      while (rows.next()) trials.push_back({{id, TrialNumber{rows.integer(0)}}, rows.integer(1)});
    }
    if (trials.empty()) return;
    for (const Row& trial : trials) {
      if (!sweep_attempts(trial.key, trial.newest, left)) return;
      left -=
          db_->run("DELETE FROM suggestions WHERE study = ? AND number = ?", id, trial.key.number);
      left -= db_->run("DELETE FROM trials WHERE study = ? AND number = ?", id, trial.key.number);
      if (left <= 0) return;
    }
  }
}

bool Writer::sweep_attempts(TrialKey trial, std::int64_t newest, std::int64_t& left) {
  for (std::int64_t attempt = newest; attempt != 0;) {
    const int points = db_->run(
        "DELETE FROM points WHERE attempt = ?1 AND step <= (SELECT max(step) FROM"
        " (SELECT step FROM points WHERE attempt = ?1 ORDER BY step LIMIT ?2) AS first)",
        attempt, left);
    left -= points;
    // If the limit of rows is reached, this attempt may still have points or series. The next
    // SweepDeleted then begins with this attempt.
    if (left <= 0 || !sweep_series(attempt, left)) {
      if (attempt != newest)
        db_->run("UPDATE trials SET newest_attempt = ? WHERE study = ? AND number = ?", attempt,
                 trial.study, trial.number);
      return false;
    }
    std::int64_t previous = 0;
    {
      Query row = db_->query("SELECT previous FROM attempts WHERE id = ?", attempt);
      if (row.next()) previous = row.maybe_integer(0).value_or(0);
    }
    left -= db_->run("DELETE FROM attempts WHERE id = ?", attempt);
    attempt = previous;
  }
  return true;
}

}  // namespace hyperflock::storage::sqlite
