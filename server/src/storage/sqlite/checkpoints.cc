// Checks uploads of attempts, and stores, replaces and drops checkpoints of unfinished trials. See
// writer.h.
#include <algorithm>
#include <iterator>

#include "storage/sqlite/db/rows.h"
#include "storage/sqlite/readers.h"
#include "storage/sqlite/writer.h"

namespace hyperflock::storage::sqlite {

Outcome Writer::judge_upload(AttemptId attempt, const std::string& device) {
  Outcome outcome;
  Query row = db_->query(
      "SELECT a.study, a.number, d.device, a.state, t.state, a.rejection FROM attempts AS a"
      " JOIN device_versions AS d ON d.id = a.device_version"
      " JOIN trials AS t ON t.study = a.study AND t.number = a.number WHERE a.id = ?",
      attempt);
  if (!row.next() || row.text(2) != device) {
    outcome.applied = Applied::conflict;
    return outcome;
  }
  const TrialKey trial{StudyId{row.integer(0)}, TrialNumber{row.integer(1)}};
  if (find_study(trial.study) == nullptr) {
    outcome.applied = Applied::conflict;
    return outcome;
  }
  outcome.trial = trial;
  const bool open = static_cast<AttemptState>(row.integer(3)) == AttemptState::live &&
                    static_cast<TrialState>(row.integer(4)) == TrialState::running && row.null(5);
  if (!open) outcome.applied = Applied::superseded;
  return outcome;
}

Outcome Writer::apply_one(const StoreCheckpoint& store) {
  const protocol::Checkpoint& checkpoint = store.checkpoint;
  Outcome outcome = judge_upload(checkpoint.attempt, store.device);
  if (outcome.applied != Applied::applied) return outcome;
  const TrialKey trial = *outcome.trial;
  if (!is_resumable(*find_study(trial.study), checkpoint.attempt)) {
    outcome.applied = Applied::repeated;
    outcome.dropped = unnamed({checkpoint.blob.sha256});
    return outcome;
  }
  {
    Query newest = db_->query(kSelectNewestCheckpoint, trial.study, trial.number);
    if (newest.next()) {
      const auto last = read_checkpoint(newest, 0);
      if (last->attempt == checkpoint.attempt && last->blob == checkpoint.blob) {
        outcome.applied = Applied::repeated;
        return outcome;
      }
    }
  }
  write_changed_studies();  // including changes earlier in this batch
  const Outcome judged = judge_bytes(*db_, checkpoint.attempt, UploadKind::checkpoint,
                                     checkpoint.blob.bytes, store.room);
  if (judged.applied != Applied::applied) {
    outcome.applied = judged.applied;
    outcome.excess = judged.excess;
    outcome.refusal = judged.refusal;
    return outcome;
  }
  const CheckpointColumns columns(&checkpoint);
  db_->run(
      "INSERT INTO checkpoints (study, number, saved, attempt, format, sha256, bytes, step,"
      " logged, artifacts) VALUES (?1, ?2, (SELECT coalesce(max(saved), 0) + 1 FROM checkpoints"
      " WHERE study = ?1 AND number = ?2), ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
      trial.study, trial.number, columns.attempt, columns.format, columns.sha256, columns.bytes,
      columns.step, columns.logged, find_study(trial.study)->row.artifacts);
  charge_checkpoint(*find_study(trial.study), checkpoint.attempt, checkpoint.blob.bytes);
  outcome.dropped = drop_checkpoints(trial, kKeptCheckpoints);
  return outcome;
}

std::vector<std::string> Writer::drop_checkpoints(TrialKey trial, std::size_t kept) {
  constexpr Sql kOld =
      "SELECT number, saved, sha256, attempt, bytes FROM checkpoints WHERE study = ?"
      " AND number = ? ORDER BY saved DESC LIMIT -1 OFFSET ?";
  return drop_checkpoints(trial.study, db_->query(kOld, trial.study, trial.number, kept));
}

std::vector<std::string> Writer::drop_checkpoints(StudyId study) {
  constexpr Sql kAll =
      "SELECT number, saved, sha256, attempt, bytes FROM checkpoints WHERE study = ?";
  return drop_checkpoints(study, db_->query(kAll, study));
}

std::vector<std::string> Writer::drop_checkpoints(StudyId study, Query rows) {
  struct Row {
    std::int64_t number;
    std::int64_t saved;
    AttemptId attempt;
    std::int64_t bytes;
  };
  std::vector<Row> gone;
  std::vector<std::string> blobs;
  while (rows.next()) {
    gone.push_back({rows.integer(0), rows.integer(1), AttemptId{rows.integer(3)}, rows.integer(4)});
    blobs.emplace_back(rows.text(2));
  }
  if (gone.empty()) return blobs;
  Study& owner = *find_study(study);
  for (const Row& row : gone) {
    db_->run("DELETE FROM checkpoints WHERE study = ? AND number = ? AND saved = ?", study,
             row.number, row.saved);
    charge_checkpoint(owner, row.attempt, -row.bytes);
  }
  return unnamed(std::move(blobs));
}

std::vector<std::string> Writer::unnamed(std::vector<std::string> blobs) {
  std::ranges::sort(blobs);
  blobs.erase(std::unique(blobs.begin(), blobs.end()), blobs.end());
  std::erase_if(blobs, [this](const std::string& blob) {
    return db_
        ->query(
            "SELECT 1 FROM checkpoints WHERE sha256 = ?1"
            " UNION ALL SELECT 1 FROM artifacts WHERE sha256 = ?1 LIMIT 1",
            blob)
        .next();
  });
  return blobs;
}

}  // namespace hyperflock::storage::sqlite
