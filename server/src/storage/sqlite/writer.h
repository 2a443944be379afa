// Applies batches of guarded transitions to the database. Writer thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "storage/sqlite/db.h"
#include "storage/sqlite/log.h"
#include "storage/storage.h"

namespace hyperflock::storage::sqlite {

class Writer {
 public:
  Writer(std::unique_ptr<Db> db, WallClock clock, LogLimits limits)
      : db_(std::move(db)), clock_(std::move(clock)), log_(*db_, limits) {}

  // All outcomes, committed. Throws SqliteError, and then nothing has changed.
  std::vector<Outcome> apply(std::span<const Transition> batch);

  // For idle moments: copies what the log has to the database.
  void copy_log() { log_.copy(); }
  // `PRAGMA synchronous`, read back.
  int synchronous() { return std::stoi(db_->single("PRAGMA synchronous")); }
  // The database grows no further than this; for tests of a full disk.
  void limit_pages(std::int64_t pages);

 private:
  // A study's counters, kept between batches and written once per batch in which they changed. Of
  // StudyRow::spec only the kind and the directions are filled, and `total` counts asked trials
  // alone.
  struct Study {
    StudyRow row;
    bool changed = false;  // is in changed_
  };

  Outcome apply_one(const CreateStudy& create);
  Outcome apply_one(const StartAttempt& start);
  Outcome apply_one(const StoreResult& store);
  Outcome apply_one(const EndAttempt& end);
  Outcome apply_one(const AppendPoints& append);
  Outcome apply_one(const StoreCheckpoint& store);
  Outcome apply_one(const StoreArtifact& store);
  Outcome apply_one(const FailTrial& fail);
  Outcome apply_one(const EndStudy& end);
  Outcome apply_one(const PauseStudy& pause);
  Outcome apply_one(const ReissueTrials& reissue);

  // deletion.cc
  Outcome apply_one(const DeleteStudy& gone);
  Outcome apply_one(const SweepDeleted& sweep);
  // Takes the blobs that only this study names from its owner and its project.
  void disown_blobs(StudyId id, Outcome& outcome);
  // Each removes rows of a deleted study and takes them off `left`, which ends it where it comes to
  // 0 or below.
  void sweep_artifacts(StudyId id, std::int64_t& left, Outcome& outcome);
  void sweep_trials(StudyId id, std::int64_t& left);
  // True where the trial has no attempts any more.
  bool sweep_attempts(TrialKey trial, std::int64_t newest, std::int64_t& left);

  // asked.cc
  Outcome apply_one(const ClaimStudy& claim);
  Outcome apply_one(const AskTrials& ask);
  Outcome apply_one(const StoreSuggestion& store);
  // The limit of its owner's quota that so many more trials of the study would break.
  std::optional<Excess> excess_of_trials(const AskTrials& ask, std::int64_t more);

  // identity.cc
  Outcome apply_one(const CreatePrincipal& create);
  Outcome apply_one(const UpdatePrincipal& update);
  Outcome apply_one(const CreateToken& create);
  Outcome apply_one(const RevokeToken& revoke);
  Outcome apply_one(const CreateProject& create);
  Outcome apply_one(const CreateEnrolment& create);
  Outcome apply_one(const RevokeEnrolment& revoke);
  Outcome apply_one(const CreateDevice& create);
  Outcome apply_one(const RevokeDevice& revoke);
  Outcome apply_one(const EraseDevice& erase);
  Outcome apply_one(const OwnBlob& own);
  Outcome apply_one(const NoteAudit& note);
  Outcome apply_one(const TrimAudit& trim);
  // Returns the limit of its owner's quota that the study would exceed.
  std::optional<Excess> excess_of_study(const CreateStudy& create);
  std::optional<Excess> excess_of_reissue(const ReissueTrials& reissue);
  Usage used_by(const std::string& owner);
  void add_blob(const std::string& owner, const std::string& sha256, std::int64_t bytes);
  std::int64_t add_token(std::int64_t principal, const std::string& hash, std::int64_t expires_at);
  bool has_principal(std::int64_t id);
  bool projects_exist(const std::vector<std::string>& names);
  void set_projects(std::int64_t principal, const std::vector<std::string>& names);

  // Returns the study with its counters, or nullptr. The pointer is valid until the batch ends or
  // the study is deleted.
  Study* find_study(StudyId id);
  void add_study(const CreateStudy& create);
  // How many of the points are new.
  int add_points(AttemptId attempt, const std::vector<protocol::Point>& points);
  // Whether the attempt may upload: the guard of checkpoints and artifacts, with the trial.
  Outcome judge_upload(AttemptId attempt, const std::string& device);
  // Each function returns the blobs that no row names any more.
  // Deletes all but the newest `kept` checkpoints of a trial, or all of a study.
  std::vector<std::string> drop_checkpoints(TrialKey trial, std::size_t kept);
  std::vector<std::string> drop_checkpoints(StudyId study);
  // How many artifacts had arrived when the checkpoint was saved with which the attempt begins.
  std::int64_t artifacts_before(const StartAttempt& start);
  // Gives an accepted attempt the artifacts that earlier attempts uploaded before the checkpoints
  // from which it continues.
  void inherit_artifacts(const Study& study, TrialKey trial, AttemptId accepted);
  // Artifacts: of the trial's attempts but the accepted one, of one attempt, of all trials that
  // have no outcome; those that `rows` names (arrived, sha256, bytes).
  std::vector<std::string> drop_artifacts_of_others(Study& study, TrialKey trial,
                                                    AttemptId accepted);
  std::vector<std::string> drop_artifacts_of(Study& study, TrialKey trial, AttemptId attempt);
  std::vector<std::string> drop_unfinished_artifacts(Study& study);
  std::vector<std::string> drop_artifacts(Study& study, Query rows);
  std::vector<std::string> unnamed(std::vector<std::string> blobs);
  // Returns the limit of its owner's quota that this many more bytes would exceed.
  std::optional<Excess> excess_of_artifact(StudyId study, std::int64_t bytes);
  // Cancels the unfinished trials of a study that ends.
  void cancel_trials(Study& study);
  // The place in the finishing order for the next trial. Setting last_seq_ takes it.
  std::int64_t next_seq();
  void touch(Study& study);
  void write_changed_studies();
  // Empties what is kept in memory after a failure. It is read again.
  void forget();

  std::unique_ptr<Db> db_;
  WallClock clock_;
  LogKeeper log_;
  std::int64_t now_ = 0;       // wall time of the batch
  bool last_applied_ = false;  // whether the batch's previous transition was applied
  std::unordered_map<StudyId, Study> studies_;
  std::vector<Study*> changed_;
  std::int64_t last_seq_ = -1;  // -1: not read yet
};

}  // namespace hyperflock::storage::sqlite
