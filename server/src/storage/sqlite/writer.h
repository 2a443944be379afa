// Applies batches of guarded transitions to a database. These are the rules of every back end that
// speaks SQL: only the connection and the rows of leases (sql/lease_rows.h) differ. Writer thread
// only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "storage/best.h"
#include "storage/sql/connection.h"
#include "storage/sql/lease_rows.h"
#include "storage/sqlite/db/db.h"
#include "storage/storage.h"

namespace hyperflock::storage::sqlite {

// Returns the outcome of a transition of a whole study.
inline Outcome of_study(Applied applied, StudyId study) {
  Outcome result;
  result.applied = applied;
  result.study = study;
  return result;
}

class Writer {
 public:
  // `db` and `rows` must outlive this object.
  Writer(Connection& db, sql::LeaseRows& rows, WallClock clock)
      : db_(&db), rows_(&rows), clock_(std::move(clock)) {}

  // Applies the batch in one transaction. Returns the outcomes after the commit. If it throws
  // DbError, nothing has changed, unless the connection was lost during the commit.
  std::vector<Outcome> apply(std::span<const Transition> batch);
  // Empties the caches. Later calls fill them from the database.
  void forget();

 private:
  // A study's counters. They stay in memory between batches, and are written once for each batch
  // that changed them. Of StudyRow::spec only the kind and the directions are set. `total` counts
  // only trials that an owner has asked for.
  struct Study {
    StudyRow row;
    bool changed = false;  // is in changed_
    // The best trials of a study with several directions; nullopt: not read yet.
    std::optional<std::vector<Candidate>> front{};
    // Known numbers of series by name, and whether the study has any series.
    std::unordered_map<std::string, std::int64_t> series{};
    std::optional<bool> has_series{};
    bool has_range = false;  // whether the range in the row's spec was read
  };

  // What the writer must know to decide whether an owner's records may grow. These values are
  // copies of stored rows.
  struct Owner {
    std::int64_t records = 0;
    std::int64_t quota_bytes = 0;
  };

  // The facts about an attempt's series that the writer keeps in memory while reports arrive.
  struct Logging {
    std::unordered_set<std::int64_t> series;  // their numbers
    std::int64_t values = 0;
    std::int64_t newest_seq = 0;
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
  Outcome apply_one(const SetPriority& set);
  Outcome apply_one(const JudgeStudy& judge);
  Outcome apply_one(const ExtendStudy& extend);
  Outcome apply_one(const ReissueTrials& reissue);

  // The next functions are in rejection.cc.
  Outcome apply_one(const RejectResults& reject);
  // A trial of which attempts are to be rejected, or which may run again.
  struct Suspect {
    std::int64_t newest_attempt = 0;
    std::int64_t forgiven_attempt = 0;
    std::optional<std::int64_t> accepted_attempt{};
    TrialNumber number{};
    TrialState state = TrialState::running;
    sql::Constrained constrained = sql::Constrained::no;
    std::vector<AttemptRow> attempts{};  // all of the trial, oldest first
    std::vector<std::size_t> chosen{};   // those of `attempts` that are rejected now
    bool runs_again = false;
  };
  // Returns the next trials of which something is rejected. `result` gets the trial to go on with.
  std::vector<Suspect> next_suspects(const RejectResults& reject, const Study& study,
                                     Rejected& result);
  void reject_attempts(Study& study, const Suspect& suspect, std::int64_t rejection,
                       bool has_checkpoints, Outcome& outcome);
  // Gives the trial the state that it has without the attempts. Returns whether it has changed.
  bool change_trial(Study& study, const RejectResults& reject, const Suspect& suspect,
                    RejectedTrial& trial, Outcome& outcome);
  std::int64_t add_rejection(const RejectResults& reject);
  // Returns whether the trial of an ask-and-tell study lost its result. Its owner has then asked
  // for another one in its place.
  bool was_replaced(const Study& study, TrialKey trial, TrialState state);
  // Returns the trials among these that a device may not get any more (R71); nullptr: none.
  std::shared_ptr<const Rejected> rejected_among(StudyId study,
                                                 const std::vector<TrialNumber>& trials);

  // The next functions are in deletion.cc.
  Outcome apply_one(const DeleteStudy& gone);
  Outcome apply_one(const SweepDeleted& sweep);
  // Releases the blobs that only this study names, so neither its owner nor its project has them.
  void disown_blobs(StudyId id, Outcome& outcome);
  // Adds what devices contributed to a deleted study, before its rows are removed. Returns false if
  // it has to go on in a later commit.
  bool fold_deleted(StudyId id);
  // Each of the next two functions removes rows of a deleted study and subtracts their number from
  // `left`, the number of rows that it may still remove. It stops when `left` is not positive.
  void sweep_artifacts(StudyId id, std::int64_t& left, Outcome& outcome);
  void sweep_trials(StudyId id, std::int64_t& left);
  // Removes the attempts of one trial in the same way. Returns true if the trial has no attempts
  // any more.
  bool sweep_attempts(TrialKey trial, std::int64_t newest, std::int64_t& left);

  // The next functions are in series.cc.
  // Stores the series of a report, or notes the refusal in `outcome`.
  void add_series(Study& study, const AppendPoints& append, Outcome& outcome);
  // Puts the series of an attempt that has ended into one row.
  void compact_series(Study& study, AttemptId attempt);
  Logging& logging_of(AttemptId attempt);
  bool has_series(Study& study);
  // Returns the number of a series; nullopt if the study has no series of this name.
  std::optional<std::int64_t> find_series(Study& study, const std::string& name);
  std::int64_t make_series(Study& study, const std::string& name);
  // These two functions remove rows of a deleted study as sweep_artifacts() does. sweep_series()
  // returns false if it stopped early; the attempt may then still have series.
  bool sweep_series(std::int64_t attempt, std::int64_t& left);
  void sweep_series_names(StudyId id, std::int64_t& left);

  // The next functions are in identity.cc, too.
  Owner& owner_of(const std::string& name);
  // The next functions add bytes to what is counted for a study, its owner, and the device that
  // uploaded them. Negative bytes are subtracted.
  void charge_records(Study& study, std::int64_t bytes);
  enum class Charge { adds, frees };
  void charge_artifact(Study& study, AttemptId uploader, Charge how, std::int64_t bytes);
  void charge_checkpoint(Study& study, AttemptId uploader, std::int64_t bytes);
  void charge_device(StudyId study, AttemptId uploader, std::int64_t bytes);
  // Returns the failure of a result with a value outside of the study's range (R73).
  std::optional<protocol::Failure> odd_value(Study& study, const protocol::TrialResult& result);
  bool has_room_for_records(const Study& study, std::int64_t bytes);

  // The next functions are in asked.cc.
  Outcome apply_one(const ClaimStudy& claim);
  Outcome apply_one(const AskTrials& ask);
  Outcome apply_one(const StoreSuggestion& store);
  Outcome apply_one(const StoreConstraints& store);
  Outcome apply_one(const SearchBest& search);       // in best.cc
  Outcome apply_one(const FoldContributions& fold);  // in deletion.cc
  // Returns the limit of the owner's quota that the new trials would exceed; nullopt if none.
  std::optional<Excess> excess_of_trials(const AskTrials& ask, const std::string& owner);

  // The next functions are in webhooks.cc.
  Outcome apply_one(const SetWebhook& set);
  Outcome apply_one(const StoreWebhookSecret& store);
  Outcome apply_one(const NoteDevices& note);
  Outcome apply_one(const NoteDelivery& note);
  void store_webhook(StudyId study, const protocol::Webhook& webhook, const std::string& owner,
                     const std::string& secret);
  // Queues an event if the study's webhook wants it, and returns whether it was queued.
  // store_events() stores the queued events at the end of the batch.
  bool queue_event(StudyId study, protocol::WebhookEvent event);
  void store_events();
  void forget_webhook(StudyId study);

  // The next functions are in best.cc.
  // Makes the trial one of the study's best, if no other one beats it (R57). Returns whether the
  // trial is better than all before it.
  bool offer(Study& study, Candidate one);
  std::vector<Candidate>& front_of(Study& study);
  // Takes a trial from the study's best ones, and returns whether it was one of them. SearchBest
  // then looks at all trials again.
  bool take_back(Study& study, TrialNumber number);
  // Some trials of a study that were looked at, and from which trial on to look further; nullopt:
  // these were the last ones.
  struct Searched {
    std::vector<Candidate> found;  // those that may be the best
    std::optional<TrialNumber> next;
  };
  // Reads at most this many trials, from StudyRow::search_from on.
  Searched next_candidates(const Study& study, std::int64_t most);

  // The next functions are in operator_rules.cc.
  Outcome apply_one(const FreezeProject& freeze);
  Outcome apply_one(const BarBlob& bar);
  Outcome apply_one(const SetCeiling& set);
  Outcome apply_one(const SetShare& set);

  // The next functions are in identity.cc.
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
  Outcome apply_one(const SeeDevice& see);
  Outcome apply_one(const JoinPassphrase& join);
  Outcome apply_one(const CollectDevice& collect);
  // Removes what is left of a device of this project whose row was removed.
  void forget_device(const std::string& device, const std::string& project);
  // Returns the numbers of devices by project.
  std::map<std::string, std::int64_t>& joined();
  // Returns the number of the device's version (class, engine, adapter) that the attempt names.
  // Stores the version if it is new.
  std::int64_t device_version(const StartAttempt& start);
  Outcome apply_one(const OwnBlob& own);
  Outcome apply_one(const NoteAudit& note);
  Outcome apply_one(const TrimAudit& trim);
  Outcome apply_one(const KeepTime& keep);
  // Each returns how many entries it has removed.
  std::int64_t trim_by_age(const TrimAudit& trim);
  std::int64_t trim_by_size(const TrimAudit& trim);
  // Returns the limit of the owner's quota that the study would exceed; nullopt if none.
  std::optional<Excess> excess_of_study(const CreateStudy& create, std::int64_t spec_bytes);
  // `spec_bytes` is the length of the spec with new code; 0 without new code.
  std::optional<Excess> excess_of_reissue(const StudyRow& study, const Quota& quota,
                                          std::int64_t spec_bytes);
  // `before` and `after` are numbers of trials.
  std::optional<Excess> excess_of_extension(const StudyRow& study, const Quota& quota,
                                            std::int64_t before, std::int64_t after,
                                            std::int64_t more_spec_bytes);
  Usage used_by(const std::string& owner);
  void add_blob(const std::string& owner, const std::string& sha256, std::int64_t bytes);
  std::int64_t add_token(std::int64_t principal, const std::string& hash, std::int64_t expires_at);
  bool has_principal(std::int64_t id);
  bool projects_exist(const std::vector<std::string>& names);
  void set_projects(std::int64_t principal, const std::vector<std::string>& names);

  // Returns the study with its counters, or nullptr. The pointer is valid until the batch ends or
  // the study is deleted.
  Study* find_study(StudyId id);
  void add_study(const CreateStudy& create, const std::string& spec);
  // Notes that the study, its owner and its project name the blobs of the spec.
  void add_blobs(StudyId study, const std::string& owner, const std::string& project,
                 const protocol::StudySpec& spec);
  // The spec of a study with new code.
  struct NewSpec {
    protocol::StudySpec spec;
    std::string text;
    std::string project;
  };
  // Returns nullopt if the study runs this code already. REQUIRES: reissue.code.
  std::optional<NewSpec> with_new_code(const Study& study, const ReissueTrials& reissue);
  // Gives the study a new version of its code (R64).
  void take_code(Study& study, const ReissueTrials& reissue, NewSpec made, Outcome& outcome);
  // Returns whether checkpoints that this attempt saved are handed to the study's attempts.
  bool is_resumable(const Study& study, AttemptId saved_by);
  // Checks whether the attempt may upload a checkpoint or an artifact. If it may, the outcome is
  // `applied` and contains the attempt's trial.
  Outcome judge_upload(AttemptId attempt, const std::string& device);
  // Deletes all but the newest `kept` checkpoints of a trial, or all checkpoints of a study.
  // Returns the blobs that no row names any more.
  std::vector<std::string> drop_checkpoints(TrialKey trial, std::size_t kept);
  std::vector<std::string> drop_checkpoints(StudyId study);
  // Drops what the query `rows` returns (number, saved, sha256, attempt, bytes).
  std::vector<std::string> drop_checkpoints(StudyId study, Query rows);
  // Returns how many artifacts the study had when the checkpoint in `start.from` was
  // saved.
  std::int64_t artifacts_before(const StartAttempt& start);
  // The accepted attempt may continue from checkpoints of earlier attempts. Gives it the artifacts
  // that those attempts had uploaded before the checkpoints were saved.
  // Returns the blobs that no row names any more.
  std::vector<std::string> inherit_artifacts(Study& study, TrialKey trial, AttemptId accepted);
  // The next four functions drop artifacts and return the blobs that no row names any more. In this
  // order, they drop the artifacts of a trial's attempts except the accepted one, of one attempt,
  // of all trials that have no outcome, and those that the query `rows` returns (arrived, sha256,
  // bytes, uploader).
  std::vector<std::string> drop_artifacts_of_others(Study& study, TrialKey trial,
                                                    AttemptId accepted);
  std::vector<std::string> drop_artifacts_of(Study& study, TrialKey trial, AttemptId attempt);
  std::vector<std::string> drop_unfinished_artifacts(Study& study);
  std::vector<std::string> drop_artifacts(Study& study, Query rows);
  std::vector<std::string> unnamed(std::vector<std::string> blobs);
  // Cancels the unfinished trials of a study that ends.
  void cancel_trials(Study& study);
  // Returns the place in the finishing order for the next trial. The place is used up when
  // last_seq_ is set to it.
  std::int64_t next_seq();
  void touch(Study& study);
  void keep_time();
  void write_changed_studies();

  Connection* db_;
  sql::LeaseRows* rows_;
  WallClock clock_;
  std::int64_t now_ = 0;       // wall time of the batch
  bool last_applied_ = false;  // whether the batch's previous transition was applied
  std::unordered_map<StudyId, Study> studies_;
  std::vector<Study*> changed_;
  std::unordered_map<std::string, Owner> owners_;
  std::optional<std::map<std::string, std::int64_t>> joined_{};     // nullopt: not read yet
  std::vector<std::pair<StudyId, protocol::WebhookEvent>> events_;  // of the batch
  std::unordered_map<AttemptId, Logging> logging_;
  std::int64_t last_seq_ = -1;  // -1: not read yet
  std::int64_t kept_time_ = 0;  // as this writer has stored it; 0: not yet
};

}  // namespace hyperflock::storage::sqlite
