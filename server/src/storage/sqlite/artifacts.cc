// Stores, counts and drops artifacts of trials. See writer.h.
#include <utility>

#include "storage/sqlite/db/rows.h"
#include "storage/sqlite/readers.h"
#include "storage/sqlite/writer.h"
#include "storage/study_ledger.h"

namespace hyperflock::storage::sqlite {

Outcome Writer::apply_one(const StoreArtifact& store) {
  const ArtifactRow& artifact = store.artifact;
  Outcome outcome = judge_upload(artifact.attempt, store.device);
  if (outcome.applied != Applied::applied) return outcome;
  const TrialKey trial = *outcome.trial;
  outcome.applied = Applied::superseded;  // stays so unless all checks pass
  {
    Query same =
        db_->query("SELECT sha256 FROM artifacts WHERE study = ? AND id = ? AND uploader = ?",
                   trial.study, artifact.id, artifact.attempt);
    if (same.next()) {
      if (same.text(0) == artifact.blob.sha256) {
        outcome.applied = Applied::repeated;
      } else {
        outcome.refusal = Refusal::artifact_exists;
      }
      return outcome;
    }
  }
  {
    Query earlier = db_->query(
        "SELECT count(*), coalesce(sum(bytes), 0) FROM artifacts INDEXED BY artifacts_by_trial"
        " WHERE study = ? AND number = ? AND attempt = ?",
        trial.study, trial.number, artifact.attempt);
    earlier.next();
    if (earlier.integer(0) >= kMostArtifacts ||
        earlier.integer(1) + artifact.blob.bytes > kMostArtifactBytes) {
      outcome.refusal = Refusal::artifact_count;
      return outcome;
    }
  }
  write_changed_studies();  // including changes earlier in this batch
  const Outcome judged =
      judge_bytes(*db_, artifact.attempt, UploadKind::artifact, artifact.blob.bytes, store.room);
  outcome.excess = judged.excess;
  outcome.refusal = judged.refusal;
  if (judged.applied != Applied::applied) return outcome;
  Study& study = *find_study(trial.study);
  ledger::artifact_stored(study.row, artifact.blob.bytes);
  db_->run(
      "INSERT INTO artifacts (study, arrived, number, attempt, id, name, type, store, sha256,"
      " bytes, created_at, uploader) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?4)",
      trial.study, study.row.artifacts, trial.number, artifact.attempt, artifact.id, artifact.name,
      artifact.type, artifact.store, artifact.blob.sha256, artifact.blob.bytes, now_);
  charge_artifact(study, artifact.attempt, Charge::adds, artifact.blob.bytes);
  outcome.applied = Applied::applied;
  return outcome;
}

std::int64_t Writer::artifacts_before(const StartAttempt& start) {
  Query saved = db_->query(
      "SELECT artifacts FROM checkpoints WHERE study = ? AND number = ? AND attempt = ?"
      " AND sha256 = ? ORDER BY saved DESC LIMIT 1",
      start.trial.study, start.trial.number, start.from->attempt, start.from->blob.sha256);
  return saved.next() ? saved.integer(0) : 0;
}

std::vector<std::string> Writer::inherit_artifacts(Study& study, TrialKey trial,
                                                   AttemptId accepted) {
  if (study.row.artifacts == 0) return {};
  const int inherited = db_->run(
      "WITH RECURSIVE line (attempt, last) AS ("
      " SELECT resumed_attempt, resumed_artifacts FROM attempts WHERE id = ?3"
      " UNION ALL SELECT resumed_attempt, resumed_artifacts FROM line"
      " JOIN attempts ON id = line.attempt)"
      " UPDATE artifacts INDEXED BY artifacts_by_trial SET attempt = ?3"
      " WHERE study = ?1 AND number = ?2 AND EXISTS ("
      " SELECT 1 FROM line WHERE line.attempt = artifacts.attempt AND arrived <= last)",
      trial.study, trial.number, accepted);
  if (inherited == 0) return {};
  constexpr Sql kReplaced =
      "SELECT arrived, sha256, bytes, uploader FROM artifacts AS old INDEXED BY artifacts_by_trial"
      " WHERE study = ?1 AND number = ?2 AND attempt = ?3 AND EXISTS (SELECT 1 FROM artifacts AS "
      "new"
      " WHERE new.study = ?1 AND new.id = old.id AND new.number = ?2 AND new.attempt = ?3"
      " AND new.arrived > old.arrived)";
  return drop_artifacts(study, db_->query(kReplaced, trial.study, trial.number, accepted));
}

std::vector<std::string> Writer::drop_artifacts_of_others(Study& study, TrialKey trial,
                                                          AttemptId accepted) {
  if (study.row.artifacts == 0) return {};
  constexpr Sql kOthers =
      "SELECT arrived, sha256, bytes, uploader FROM artifacts INDEXED BY artifacts_by_trial"
      " WHERE study = ? AND number = ? AND attempt <> ?";
  return drop_artifacts(study, db_->query(kOthers, trial.study, trial.number, accepted));
}

std::vector<std::string> Writer::drop_artifacts_of(Study& study, TrialKey trial,
                                                   AttemptId attempt) {
  if (study.row.artifacts == 0) return {};
  constexpr Sql kOwn =
      "SELECT arrived, sha256, bytes, uploader FROM artifacts INDEXED BY artifacts_by_trial"
      " WHERE study = ? AND number = ? AND attempt = ?";
  return drop_artifacts(study, db_->query(kOwn, trial.study, trial.number, attempt));
}

std::vector<std::string> Writer::drop_unfinished_artifacts(Study& study) {
  if (study.row.artifacts == 0) return {};
  // CROSS JOIN makes SQLite read the trials first, because few trials are unfinished.
  constexpr Sql kUnfinished =
      "SELECT arrived, sha256, bytes, uploader FROM trials CROSS JOIN artifacts INDEXED BY "
      "artifacts_by_trial"
      " ON artifacts.study = trials.study AND artifacts.number = trials.number"
      " WHERE trials.study = ? AND seq = 0";
  return drop_artifacts(study, db_->query(kUnfinished, study.row.id));
}

std::vector<std::string> Writer::drop_artifacts(Study& study, Query rows) {
  struct Row {
    std::int64_t arrived;
    std::int64_t bytes;
    AttemptId uploader;
  };
  std::vector<Row> gone;
  std::vector<std::string> blobs;
  while (rows.next()) {
    gone.push_back({rows.integer(0), rows.integer(2), AttemptId{rows.integer(3)}});
    blobs.emplace_back(rows.text(1));
  }
  if (gone.empty()) return blobs;
  for (const Row& row : gone) {
    db_->run("DELETE FROM artifacts WHERE study = ? AND arrived = ?", study.row.id, row.arrived);
    ledger::artifact_dropped(study.row, row.bytes);
    charge_artifact(study, row.uploader, Charge::frees, row.bytes);
  }
  return unnamed(std::move(blobs));
}

}  // namespace hyperflock::storage::sqlite
