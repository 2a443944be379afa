// Tests that attempts are rejected and that their trials run again (R71).
#include "storage/contract/suite.h"

namespace hyperflock::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t kAll = std::int64_t{1} << 50;  // no attempt has a higher id

RejectResults reject(Selection which, std::int64_t study = 1) {
  return {.study = StudyId{study},
          .which = std::move(which),
          .last = AttemptId{kAll},
          .by = "ada",
          .reason = "it lies"};
}

RejectResults reject(const std::string& device, std::int64_t study = 1) {
  return reject(Selection{.device = device}, study);
}

StoreCheckpoint checkpoint(std::int64_t attempt, char blob, const std::string& device) {
  StoreCheckpoint store;
  store.device = device;
  store.checkpoint.attempt = AttemptId{attempt};
  store.checkpoint.blob = {sha(blob), 100};
  store.checkpoint.step = 5;
  return store;
}

StartAttempt start_from(std::int64_t attempt, TrialKey trial, const StoreCheckpoint& from,
                        const std::string& device) {
  StartAttempt begin = start(attempt, trial, device);
  begin.from = from.checkpoint;
  return begin;
}

StoreResult lost(std::int64_t attempt, const std::string& device, protocol::Cause cause) {
  StoreResult store = failed(attempt, device);
  store.result.failure->cause = cause;
  return store;
}

std::vector<std::int64_t> trials_of(const Outcome& outcome) {
  std::vector<std::int64_t> numbers;
  for (const RejectedTrial& one : outcome.rejected->trials)
    numbers.push_back(to_int(one.trial.key.number));
  return numbers;
}

TEST_P(StorageContract, R71_AnAcceptedResultBecomesEvidenceAndItsTrialRunsAgain) {
  apply({create_study(1), start(1, key(1, 0), "liar"), start(2, key(1, 1)),
         complete(1, {1e308}, "liar"), complete(2, {0.5})});
  at(kNow + 7);
  const Outcome outcome = apply_one(reject("liar"));
  EXPECT_EQ(outcome.applied, Applied::applied);
  EXPECT_EQ(outcome.rejected->attempts, 1);
  EXPECT_EQ(outcome.rejected->runs_again, 1);
  EXPECT_TRUE(outcome.rejected->succeeded);
  EXPECT_EQ(outcome.rejected->next, std::nullopt);
  EXPECT_THAT(trials_of(outcome), ElementsAre(0));
  reopen();
  EXPECT_EQ(study(1).complete, 1);
  EXPECT_EQ(study(1).running, 1);
  const TrialDetail again = trial(1, 0);
  EXPECT_EQ(again.trial.state, TrialState::running);
  EXPECT_EQ(again.trial.seq, 0);
  EXPECT_EQ(again.trial.finished_at, 0);
  EXPECT_EQ(again.trial.accepted_attempt, std::nullopt);
  EXPECT_EQ(again.trial.rejected, 1);
  ASSERT_THAT(again.attempts_list, SizeIs(1));
  const AttemptRow& kept = again.attempts_list[0];
  EXPECT_EQ(kept.state, AttemptState::evidence);
  EXPECT_THAT(kept.values, ElementsAre(1e308));
  ASSERT_TRUE(kept.rejection.has_value());
  EXPECT_EQ(kept.rejection->by, "ada");
  EXPECT_EQ(kept.rejection->at, kNow + 7);
  EXPECT_EQ(kept.rejection->reason, "it lies");
  EXPECT_FALSE(kept.rejection->inherited);
  EXPECT_THAT(finished(1), SizeIs(1));

  const Outcome repeated = apply_one(complete(1, {1e308}, "liar"));
  EXPECT_EQ(repeated.applied, Applied::repeated);
  EXPECT_EQ(repeated.verdict, protocol::Verdict::evidence);
  apply({start(3, key(1, 0)), complete(3, {0.75})});
  EXPECT_EQ(study(1).complete, 2);
  EXPECT_EQ(study(1).best_value, 0.75);
  EXPECT_EQ(trial(1, 0).trial.accepted_attempt, AttemptId{3});
  EXPECT_FALSE(trial(1, 0).attempts_list[1].rejection.has_value());
}

TEST_P(StorageContract, R71_ASecondRejectionRejectsNothing) {
  apply({create_study(1), start(1, key(1, 0), "liar"), complete(1, {1}, "liar")});
  EXPECT_EQ(applied(reject("liar")), Applied::applied);
  const Outcome second = apply_one(reject("liar"));
  EXPECT_EQ(second.applied, Applied::repeated);
  EXPECT_EQ(second.rejected->attempts, 0);
  EXPECT_THAT(second.rejected->trials, IsEmpty());
  EXPECT_EQ(study(1).running, 1);
  // The trial counts again, and is not taken back again.
  apply({start(2, key(1, 0)), complete(2, {2})});
  EXPECT_EQ(applied(reject("liar")), Applied::repeated);
  EXPECT_EQ(study(1).complete, 1);
}

TEST_P(StorageContract, R71_AllConditionsMustHold) {
  apply({create_study(1), start(1, key(1, 0), "liar"), start(2, key(1, 1), "liar"),
         start(3, key(1, 2), "phone"), start(4, key(1, 3), "liar"), complete(1, {1}, "liar"),
         complete(3, {1}, "phone")});
  at(kNow + 100);
  apply({complete(2, {1}, "liar")});
  EXPECT_EQ(applied(reject({.device = "other"})), Applied::repeated);
  EXPECT_EQ(applied(reject({.device = "phone", .trial = TrialNumber{0}})), Applied::repeated);
  EXPECT_EQ(applied(reject({.trial = TrialNumber{9}})), Applied::repeated);
  EXPECT_EQ(applied(reject({.since = kNow + 101})), Applied::repeated);
  EXPECT_EQ(applied(reject({.device = "phone", .since = kNow + 1})), Applied::repeated);
  // Without a device or a trial, attempts that still run are not meant.
  EXPECT_THAT(trials_of(apply_one(reject({.since = kNow + 100}))), ElementsAre(1));
  EXPECT_FALSE(trial(1, 3).attempts_list[0].rejection.has_value());
  EXPECT_THAT(trials_of(apply_one(reject({.device = "liar", .since = kNow + 1}))), ElementsAre(3));
  EXPECT_THAT(trials_of(apply_one(reject({.device = "liar", .trial = TrialNumber{0}}))),
              ElementsAre(0));
  EXPECT_THAT(trials_of(apply_one(reject({.trial = TrialNumber{2}}))), ElementsAre(2));
  EXPECT_EQ(study(1).complete, 0);
  EXPECT_EQ(study(1).running, 4);
}

TEST_P(StorageContract, R71_OnlyAttemptsOfTheStudyThatBeganBeforeAreRejected) {
  apply({create_study(1), create_study(2, "other"), start(1, key(1, 0), "liar"),
         start(2, key(2, 0), "liar"), start(3, key(1, 1), "liar"), complete(1, {1}, "liar"),
         complete(2, {1}, "liar"), complete(3, {1}, "liar")});
  RejectResults first = reject("liar");
  first.last = AttemptId{1};
  EXPECT_THAT(trials_of(apply_one(first)), ElementsAre(0));
  EXPECT_EQ(study(1).complete, 1);
  EXPECT_EQ(study(2).complete, 1);
  EXPECT_EQ(applied(reject("liar", 3)), Applied::conflict);
}

TEST_P(StorageContract, R71_AResultThatComesAfterTheRejectionIsEvidence) {
  apply({create_study(1), start(1, key(1, 0), "liar"), start(2, key(1, 1), "liar")});
  EXPECT_EQ(apply_one(reject("liar")).rejected->attempts, 2);
  apply({end(1, AttemptState::revoked)});
  const Outcome late = apply_one(complete(1, {1}, "liar"));
  EXPECT_EQ(late.applied, Applied::superseded);
  EXPECT_EQ(late.verdict, protocol::Verdict::evidence);
  EXPECT_EQ(apply_one(pruned(2, "liar")).verdict, protocol::Verdict::evidence);
  EXPECT_EQ(study(1).complete + study(1).pruned, 0);
  EXPECT_EQ(trial(1, 0).trial.state, TrialState::running);
}

TEST_P(StorageContract, R71_TheBestOfTheOtherTrialsIsFound) {
  apply({create_study(1), start(1, key(1, 0), "liar"), start(2, key(1, 1)), start(3, key(1, 2)),
         start(4, key(1, 3), "liar"), complete(1, {9}, "liar"), complete(2, {3}), complete(3, {4}),
         pruned(4, "liar")});
  EXPECT_EQ(study(1).best_trial, TrialNumber{0});
  const Outcome outcome = apply_one(reject("liar"));
  EXPECT_TRUE(outcome.searches);
  EXPECT_EQ(study(1).best_trial, std::nullopt);
  EXPECT_EQ(study(1).pruned, 0);
  EXPECT_TRUE(storage().load().value().unswept);
  apply_one(SearchBest{});
  EXPECT_EQ(study(1).best_trial, TrialNumber{2});
  EXPECT_EQ(study(1).best_value, 4);
  // The other trials of the device were not the best, so nothing is looked for.
  EXPECT_FALSE(apply_one(reject({.trial = TrialNumber{1}})).searches);
}

TEST_P(StorageContract, R71_AFinishedStudyRunsAgain) {
  apply({create_study(1), start(1, key(1, 0), "liar"), complete(1, {1}, "liar"),
         start(2, key(1, 1)), complete(2, {1}), end_study(1, StudyState::finished)});
  RejectResults above = reject("liar");
  above.quota = {.studies = 1, .trials = 1};
  EXPECT_TRUE(apply_one(above).excess.has_value());
  EXPECT_EQ(study(1).state, StudyState::finished);
  EXPECT_EQ(study(1).complete, 2);
  EXPECT_EQ(applied(reject("liar")), Applied::applied);
  EXPECT_EQ(study(1).state, StudyState::running);
  EXPECT_EQ(study(1).finished_at, 0);
  const Snapshot snapshot = storage().load().value();
  ASSERT_THAT(snapshot.studies, SizeIs(1));
  ASSERT_THAT(snapshot.studies[0].unfinished, SizeIs(1));
  EXPECT_THAT(snapshot.studies[0].unfinished[0].rejected_devices, ElementsAre("liar"));
  apply({start(3, key(1, 0)), complete(3, {2}), end_study(1, StudyState::finished)});
  EXPECT_EQ(study(1).complete, 2);
}

TEST_P(StorageContract, R71_ACancelledStudyStaysCancelled) {
  apply({create_study(1), start(1, key(1, 0), "liar"), complete(1, {1}, "liar"),
         end_study(1, StudyState::cancelled)});
  const Outcome outcome = apply_one(reject("liar"));
  EXPECT_EQ(outcome.rejected->attempts, 1);
  EXPECT_EQ(outcome.rejected->runs_again, 0);
  EXPECT_EQ(study(1).state, StudyState::cancelled);
  EXPECT_EQ(study(1).complete, 0);
  EXPECT_EQ(study(1).best_trial, std::nullopt);
  EXPECT_EQ(trial(1, 0).trial.state, TrialState::cancelled);
  EXPECT_THAT(finished(1), SizeIs(1));
}

TEST_P(StorageContract, R71_ATrialOfAnAskAndTellStudyFails) {
  CreateStudy create = create_study(1);
  create.spec.kind = protocol::StudyKind::asked;
  create.spec.space.clear();
  create.spec.directions = {create.spec.direction};
  create.total = 0;
  apply({create, ClaimStudy{StudyId{1}, "owner"},
         AskTrials{.study = StudyId{1}, .generation = 1, .trials = {{TrialNumber{0}, "{}", 7}}},
         start(1, key(1, 0), "liar"), start(2, key(1, 0)), complete(1, {1}, "liar")});
  const std::int64_t before = trial(1, 0).trial.seq;
  const Outcome outcome = apply_one(reject("liar"));
  EXPECT_EQ(outcome.rejected->runs_again, 0);
  EXPECT_TRUE(outcome.rejected->changed);
  const TrialRow row = trial(1, 0).trial;
  EXPECT_EQ(row.state, TrialState::failed);
  EXPECT_EQ(row.failure->code, kResultRejected);
  EXPECT_EQ(row.failure->message, "ada rejected the result: it lies");
  EXPECT_GT(row.seq, before);
  EXPECT_TRUE(outcome.rejected->trials.at(0).failed);
  EXPECT_EQ(outcome.rejected->trials.at(0).seq, row.seq);
  EXPECT_EQ(study(1).complete, 0);
  EXPECT_EQ(study(1).failed, 1);
  EXPECT_THAT(finished(1, before), SizeIs(1));
  // The owner has asked for another trial in its place.
  EXPECT_EQ(apply_one(complete(2, {2})).verdict, protocol::Verdict::evidence);
  EXPECT_EQ(trial(1, 0).trial.state, TrialState::failed);
}

TEST_P(StorageContract, R71_AFailedTrialRunsAgainIfOnlyRejectedAttemptsFailed) {
  using protocol::Cause;
  apply({create_study(1), start(1, key(1, 0), "liar"), failed(1, "liar"), fail(key(1, 0)),
         start(2, key(1, 1), "liar"), lost(2, "liar", Cause::device_lost), start(3, key(1, 1)),
         failed(3), fail(key(1, 1)), start(4, key(1, 2)), failed(4), fail(key(1, 2))});
  const Outcome outcome = apply_one(reject("liar"));
  EXPECT_EQ(outcome.rejected->attempts, 2);
  EXPECT_EQ(outcome.rejected->runs_again, 1);
  EXPECT_EQ(trial(1, 0).trial.state, TrialState::running);
  EXPECT_FALSE(trial(1, 0).trial.failure.has_value());
  EXPECT_EQ(trial(1, 1).trial.state, TrialState::failed);  // the phone's failure is enough
  EXPECT_EQ(trial(1, 2).trial.state, TrialState::failed);
  EXPECT_EQ(study(1).failed, 2);
  // Once the phone's attempt is rejected too, nothing else has failed.
  EXPECT_EQ(apply_one(reject({.trial = TrialNumber{1}})).rejected->runs_again, 1);
  EXPECT_EQ(study(1).failed, 1);
}

// The server may stop between a rejection and the failure that is stored after it.
TEST_P(StorageContract, R71_ATrialThatFailsAfterTheRejectionOfItsAttemptsRunsAgainLater) {
  apply({create_study(1), start(1, key(1, 0), "liar"), failed(1, "liar"), reject("liar"),
         fail(key(1, 0))});
  EXPECT_EQ(trial(1, 0).trial.state, TrialState::failed);
  RejectResults again = reject(Selection{.trial = TrialNumber{0}});
  again.last = AttemptId{0};
  const Outcome outcome = apply_one(again);
  EXPECT_EQ(outcome.applied, Applied::applied);
  EXPECT_EQ(outcome.rejected->attempts, 0);
  EXPECT_EQ(outcome.rejected->runs_again, 1);
  EXPECT_EQ(trial(1, 0).trial.state, TrialState::running);
}

TEST_P(StorageContract, R71_CheckpointsOfARejectedAttemptAreNotUsed) {
  const StoreCheckpoint saved = checkpoint(1, 'c', "liar");
  apply({create_study(1), start(1, key(1, 0), "liar"), saved, end(1, AttemptState::released),
         start_from(2, key(1, 0), saved, "phone"), checkpoint(2, 'd', "phone")});
  EXPECT_EQ(storage().stored("ada").value().checkpoints, 200);
  const Outcome outcome = apply_one(reject("liar"));
  EXPECT_EQ(outcome.rejected->attempts, 2);  // the phone's attempt began with the liar's checkpoint
  EXPECT_THAT(outcome.dropped, ElementsAre(sha('c'), sha('d')));
  EXPECT_EQ(storage().stored("ada").value().checkpoints, 0);
  EXPECT_TRUE(trial(1, 0).attempts_list[1].rejection->inherited);
  EXPECT_EQ(applied(checkpoint(2, 'e', "phone")), Applied::superseded);
  EXPECT_EQ(apply_one(complete(2, {1})).verdict, protocol::Verdict::evidence);
  // A lease that was proposed before the rejection begins without the checkpoint.
  apply({start_from(3, key(1, 0), saved, "phone")});
  EXPECT_FALSE(trial(1, 0).attempts_list[2].from.has_value());
  const RunningTrial running = storage().load().value().studies.at(0).unfinished.at(0);
  EXPECT_FALSE(running.checkpoint.has_value());
  EXPECT_THAT(running.rejected_devices, ElementsAre("liar"));  // not the phone
  EXPECT_EQ(apply_one(complete(3, {1})).verdict, protocol::Verdict::accepted);
}

TEST_P(StorageContract, R71_CheckpointsOfOthersStay) {
  apply({create_study(1), start(1, key(1, 0)), start(2, key(1, 0), "liar"),
         checkpoint(1, 'c', "phone"), checkpoint(2, 'd', "liar")});
  const Outcome outcome = apply_one(reject("liar"));
  EXPECT_EQ(outcome.rejected->attempts, 1);
  EXPECT_EQ(outcome.rejected->trials.at(0).trial.checkpoint->attempt, AttemptId{1});
  EXPECT_EQ(storage().stored("ada").value().checkpoints, 100);
}

TEST_P(StorageContract, R71_ArtifactsOfARejectedAttemptAreDropped) {
  StoreArtifact store;
  store.device = "liar";
  store.artifact = {.id = "a",
                    .trial = key(1, 0),
                    .attempt = AttemptId{1},
                    .name = "f",
                    .type = "t",
                    .blob = {sha('e'), 50}};
  apply({create_study(1), start(1, key(1, 0), "liar"), store, complete(1, {1}, "liar")});
  EXPECT_EQ(study(1).artifact_bytes, 50);
  EXPECT_THAT(apply_one(reject("liar")).dropped, ElementsAre(sha('e')));
  EXPECT_EQ(study(1).artifact_bytes, 0);
  EXPECT_THAT(storage().artifacts(StudyId{1}, {}, 0, 10).value(), IsEmpty());
}

TEST_P(StorageContract, R71_AReissueForgetsNoRejectedDevice) {
  apply({create_study(1), start(1, key(1, 0), "liar"), failed(1, "liar"), reject("liar"),
         start(2, key(1, 0)), failed(2), fail(key(1, 0)), ReissueTrials{.study = StudyId{1}}});
  const RunningTrial running = storage().load().value().studies.at(0).unfinished.at(0);
  EXPECT_THAT(running.rejected_devices, ElementsAre("liar"));
  EXPECT_THAT(running.attempts, IsEmpty());
}

TEST_P(StorageContract, R71_ARejectionInPiecesRejectsEachAttemptOnce) {
  std::vector<Transition> batch{create_study(1)};
  for (std::int64_t i = 0; i < 6; ++i) {
    batch.emplace_back(start(i + 1, key(1, i), i == 2 ? "phone" : "liar"));
    batch.emplace_back(complete(i + 1, {1}, i == 2 ? "phone" : "liar"));
  }
  apply(batch);
  RejectResults piece = reject("liar");
  piece.trials = 4;
  piece.attempts = 2;
  std::vector<std::int64_t> trials;
  int pieces = 0;
  for (bool more = true; more; ++pieces) {
    const Outcome outcome = apply_one(piece);
    for (const std::int64_t number : trials_of(outcome)) trials.push_back(number);
    piece.rejection = outcome.rejected->rejection;
    more = outcome.rejected->next.has_value();
    if (more) piece.from = *outcome.rejected->next;
    reopen();
  }
  EXPECT_THAT(trials, ElementsAre(0, 1, 3, 4, 5));
  EXPECT_GE(pieces, 3);
  EXPECT_EQ(piece.rejection, 1);
  EXPECT_EQ(study(1).complete, 1);
  EXPECT_EQ(study(1).running, 5);
}

// The call is repeated after the server was killed between two pieces.
TEST_P(StorageContract, R71_ARepeatedCallGoesOnWhereTheFirstOneStopped) {
  apply({create_study(1), start(1, key(1, 0), "liar"), start(2, key(1, 1), "liar"),
         complete(1, {1}, "liar"), complete(2, {1}, "liar")});
  RejectResults piece = reject("liar");
  piece.trials = 1;
  EXPECT_THAT(trials_of(apply_one(piece)), ElementsAre(0));
  reopen();
  EXPECT_THAT(trials_of(apply_one(reject("liar"))), ElementsAre(1));
  EXPECT_EQ(study(1).running, 2);
}

TEST_P(StorageContract, R71_TheDevicesOfACodeAreKnown) {
  Enrolment code{.code_hash = sha('c'), .project = "default"};
  apply_one(CreateProject{"default"});
  const std::int64_t id = apply_one(CreateEnrolment{code}).id;
  CreateDevice joined = create_device("liar");
  joined.code_hash = code.code_hash;
  apply({joined, create_device("phone")});
  EXPECT_THAT(storage().devices_of_code(id).value(), ElementsAre("liar"));
  EXPECT_THAT(storage().devices_of_code(0).value(), IsEmpty());
}

TEST_P(StorageContract, R71_TheStudiesOfADeviceAreKnown) {
  apply({create_study(1), create_study(2, "two"), create_study(3, "three"),
         start(1, key(3, 0), "liar"), start(2, key(1, 0), "liar"), start(3, key(1, 1), "liar"),
         start(4, key(2, 0)), end_study(3, StudyState::cancelled)});
  EXPECT_THAT(storage().studies_of_device("liar").value(), ElementsAre(StudyId{1}, StudyId{3}));
  apply({DeleteStudy{StudyId{3}}});
  EXPECT_THAT(storage().studies_of_device("liar").value(), ElementsAre(StudyId{1}));
  EXPECT_THAT(storage().studies_of_device("nobody").value(), IsEmpty());
}

TEST_P(StorageContract, R71_TheRowsOfADeletedStudyGo) {
  apply({create_study(1), start(1, key(1, 0), "liar"), complete(1, {1}, "liar"), reject("liar"),
         end_study(1, StudyState::cancelled), DeleteStudy{StudyId{1}}});
  EXPECT_EQ(applied(reject("liar")), Applied::conflict);
  while (applied(SweepDeleted{}) == Applied::applied) {
  }
  EXPECT_FALSE(storage().load().value().unswept);
}

}  // namespace
}  // namespace hyperflock::storage
