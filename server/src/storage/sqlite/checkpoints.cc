// Checks uploads of attempts, and stores, replaces and drops checkpoints of unfinished trials. See
// writer.h.
#include <algorithm>
#include <iterator>

#include "storage/sqlite/db/rows.h"
#include "storage/sqlite/writer.h"

namespace hyperflock::storage::sqlite {

Outcome Writer::judge_upload(AttemptId attempt, const std::string& device) {
  Outcome outcome;
  Query row = db_->query(
      "SELECT a.study, a.number, a.device, a.state, t.state FROM attempts AS a"
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
                    static_cast<TrialState>(row.integer(4)) == TrialState::running;
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
  const CheckpointColumns columns(&checkpoint);
  db_->run(
      "INSERT INTO checkpoints (study, number, saved, attempt, format, sha256, bytes, step,"
      " logged, artifacts) VALUES (?1, ?2, (SELECT coalesce(max(saved), 0) + 1 FROM checkpoints"
      " WHERE study = ?1 AND number = ?2), ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
      trial.study, trial.number, columns.attempt, columns.format, columns.sha256, columns.bytes,
      columns.step, columns.logged, find_study(trial.study)->row.artifacts);
  outcome.dropped = drop_checkpoints(trial, kKeptCheckpoints);
  return outcome;
}

std::vector<std::string> Writer::drop_checkpoints(TrialKey trial, std::size_t kept) {
  std::vector<std::string> blobs;
  std::optional<std::int64_t> newest_gone;
  {
    Query rows = db_->query(
        "SELECT saved, sha256 FROM checkpoints WHERE study = ? AND number = ?"
        " ORDER BY saved DESC",
        trial.study, trial.number);
    for (std::size_t place = 0; rows.next(); ++place) {
      if (place < kept) continue;
      if (!newest_gone) newest_gone = rows.integer(0);
      blobs.emplace_back(rows.text(1));
    }
  }
  if (!newest_gone) return blobs;
  db_->run("DELETE FROM checkpoints WHERE study = ? AND number = ? AND saved <= ?", trial.study,
           trial.number, *newest_gone);
  return unnamed(std::move(blobs));
}

std::vector<std::string> Writer::drop_checkpoints(StudyId study) {
  std::vector<std::string> blobs;
  {
    Query rows = db_->query("SELECT sha256 FROM checkpoints WHERE study = ?", study);
    while (rows.next()) blobs.emplace_back(rows.text(0));
  }
  if (blobs.empty()) return blobs;
  db_->run("DELETE FROM checkpoints WHERE study = ?", study);
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
