// Tests each guard of transition.h: what it accepts and refuses, and what is stored afterwards.
#include "storage/contract/suite.h"

namespace hyperflock::storage {
namespace {

using protocol::Verdict;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST_P(StorageContract, CreateStudyIsRepeatedForTheSameSubmitKey) {
  const Outcome first = apply_one(create_study(1, "a"));
  EXPECT_EQ(first.applied, Applied::applied);
  EXPECT_EQ(first.study, StudyId{1});

  const Outcome again = apply_one(create_study(2, "a"));
  EXPECT_EQ(again.applied, Applied::repeated);
  EXPECT_EQ(again.study, StudyId{1});
  EXPECT_THAT(storage().studies({}).value().studies, SizeIs(1));
}

TEST_P(StorageContract, SubmitKeyIsUniquePerOwnerOnly) {
  apply_one(create_study(1, "a"));
  CreateStudy of_another = create_study(2, "a");
  of_another.owner = "grace";
  EXPECT_EQ(applied(of_another), Applied::applied);
}

TEST_P(StorageContract, CreateStudyConflictsOnATakenId) {
  apply_one(create_study(1, "a"));
  EXPECT_EQ(applied(create_study(1, "b")), Applied::conflict);
  EXPECT_EQ(study(1).spec.submit_key, "a");
}

TEST_P(StorageContract, StartAttemptInsertsTheTrialOnce) {
  apply_one(create_study(1));
  const Outcome first = apply_one(start(1, key(1, 0)));
  EXPECT_EQ(first.applied, Applied::applied);
  EXPECT_EQ(first.trial, key(1, 0));
  at(kNow + 5);
  EXPECT_EQ(applied(start(2, key(1, 0), "tablet")), Applied::applied);

  const TrialDetail detail = trial(1, 0);
  EXPECT_EQ(detail.trial.state, TrialState::running);
  EXPECT_EQ(detail.trial.attempts, 2);
  EXPECT_EQ(detail.trial.started_at, kNow);
  EXPECT_EQ(study(1).running, 1);
  EXPECT_EQ(study(1).attempts, 2);
}

TEST_P(StorageContract, StartAttemptConflictsOnAKnownAttemptAndChangesNothing) {
  apply_one(create_study(1));
  apply_one(start(1, key(1, 0)));
  EXPECT_EQ(applied(start(1, key(1, 1))), Applied::conflict);
  EXPECT_FALSE(storage().trial(key(1, 1)).value().has_value());
  EXPECT_EQ(study(1).attempts, 1);
}

TEST_P(StorageContract, StartAttemptConflictsOnAnUnknownStudy) {
  EXPECT_EQ(applied(start(1, key(9, 0))), Applied::conflict);
}

TEST_P(StorageContract, StartAttemptIsSupersededWhenTheTrialIsFinished) {
  apply({create_study(1), start(1, key(1, 0)), complete(1, {0.5})});
  EXPECT_EQ(applied(start(2, key(1, 0))), Applied::superseded);
  EXPECT_EQ(trial(1, 0).trial.attempts, 1);
}

TEST_P(StorageContract, StartAttemptIsSupersededWhenTheStudyHasEnded) {
  apply({create_study(1), end_study(1, StudyState::cancelled)});
  EXPECT_EQ(applied(start(1, key(1, 0))), Applied::superseded);
  EXPECT_FALSE(storage().trial(key(1, 0)).value().has_value());
}

TEST_P(StorageContract, R11_FirstResultIsAccepted) {
  apply({create_study(1), start(1, key(1, 2))});
  at(kNow + 9);
  const Outcome accepted = apply_one(complete(1, {0.25, 8.0}));
  EXPECT_EQ(accepted.applied, Applied::applied);
  EXPECT_EQ(accepted.verdict, Verdict::accepted);
  EXPECT_EQ(accepted.trial, key(1, 2));
  EXPECT_EQ(accepted.seq, 1);

  const TrialDetail detail = trial(1, 2);
  EXPECT_EQ(detail.trial.state, TrialState::complete);
  EXPECT_EQ(detail.trial.accepted_attempt, AttemptId{1});
  EXPECT_THAT(detail.trial.values, ElementsAre(0.25, 8.0));
  EXPECT_EQ(detail.trial.seq, 1);
  EXPECT_EQ(detail.trial.finished_at, kNow + 9);
  EXPECT_EQ(detail.trial.params, R"({"channels": 4})");
  EXPECT_EQ(detail.trial.seed, 4'294'967'295U);
  ASSERT_TRUE(detail.attempt.has_value());
  EXPECT_EQ(detail.attempt->state, AttemptState::accepted);
  EXPECT_EQ(detail.attempt->device, "phone");
  EXPECT_EQ(detail.attempt->device_class, "phone");
  EXPECT_EQ(detail.attempt->engine, "chromium 131");
  EXPECT_EQ(detail.attempt->adapter, "vendor family");
  EXPECT_EQ(detail.attempt->backend, "cpu");
  EXPECT_EQ(detail.attempt->software, "worker/1 numpy/2");
  EXPECT_EQ(detail.attempt->metrics, (protocol::RunMetrics{1'500, 2'500}));
  EXPECT_EQ(detail.attempt->result_seq, 3);
  EXPECT_EQ(detail.attempt->started_at, kNow);
  EXPECT_EQ(detail.attempt->finished_at, kNow + 9);
}

TEST_P(StorageContract, R13_SecondAttemptsResultIsEvidenceAndCountsNothing) {
  apply({create_study(1), start(1, key(1, 0)), start(2, key(1, 0), "tablet")});
  apply_one(complete(2, {0.7}, "tablet"));
  const Outcome late = apply_one(complete(1, {0.9}));
  EXPECT_EQ(late.applied, Applied::superseded);
  EXPECT_EQ(late.verdict, Verdict::evidence);
  EXPECT_EQ(late.seq, 0);

  const TrialDetail detail = trial(1, 0);
  EXPECT_EQ(detail.trial.accepted_attempt, AttemptId{2});
  EXPECT_THAT(detail.trial.values, ElementsAre(0.7));
  ASSERT_THAT(detail.attempts_list, SizeIs(2));
  EXPECT_EQ(detail.attempts_list[0].state, AttemptState::evidence);
  EXPECT_THAT(detail.attempts_list[0].values, ElementsAre(0.9));
  EXPECT_EQ(study(1).complete, 1);
  EXPECT_EQ(study(1).best_value, 0.7);
  EXPECT_THAT(finished(1), SizeIs(1));
}

TEST_P(StorageContract, R14_SameAttemptsSecondResultIsRepeated) {
  apply({create_study(1), start(1, key(1, 0)), complete(1, {0.5})});
  const Outcome again = apply_one(complete(1, {0.6}));
  EXPECT_EQ(again.applied, Applied::repeated);
  EXPECT_EQ(again.verdict, Verdict::accepted);
  EXPECT_EQ(again.trial, key(1, 0));
  EXPECT_THAT(trial(1, 0).trial.values, ElementsAre(0.5));
  EXPECT_EQ(study(1).complete, 1);
}

TEST_P(StorageContract, R14_RepeatedResultKeepsTheFirstVerdict) {
  apply({create_study(1), start(1, key(1, 0)), start(2, key(1, 0)), start(3, key(1, 1))});
  apply({complete(1, {0.5}), complete(2, {0.6}), failed(3)});
  EXPECT_EQ(apply_one(complete(2, {0.6})).verdict, Verdict::evidence);
  EXPECT_EQ(apply_one(complete(3, {0.6})).verdict, Verdict::recorded);
  EXPECT_EQ(study(1).complete, 1);
}

TEST_P(StorageContract, R16_ResultOfAnotherDeviceOrOfNobodyConflicts) {
  apply({create_study(1), start(1, key(1, 0), "phone")});
  EXPECT_EQ(apply_one(complete(1, {0.5}, "tablet")).applied, Applied::conflict);
  EXPECT_EQ(apply_one(complete(7, {0.5})).applied, Applied::conflict);
  EXPECT_EQ(trial(1, 0).trial.state, TrialState::running);
}

TEST_P(StorageContract, R12_ReleasedExpiredAndRevokedAttemptsMayStillBringTheResult) {
  apply_one(create_study(1));
  std::int64_t attempt = 0;
  for (const AttemptState state :
       {AttemptState::released, AttemptState::expired, AttemptState::revoked}) {
    const TrialKey trial_key = key(1, attempt++);
    apply({start(attempt, trial_key), end(attempt, state)});
    EXPECT_EQ(apply_one(complete(attempt, {0.5})).verdict, Verdict::accepted);
  }
  EXPECT_EQ(study(1).complete, 3);
}

TEST_P(StorageContract, R12_FailedTrialIsAcceptedLateAndCountsOnce) {
  apply({create_study(1), start(1, key(1, 0)), end(1, AttemptState::expired), fail(key(1, 0))});
  EXPECT_EQ(study(1).failed, 1);
  const Outcome late = apply_one(complete(1, {0.5}));
  EXPECT_EQ(late.verdict, Verdict::accepted);
  EXPECT_EQ(late.seq, 2);

  EXPECT_EQ(study(1).failed, 0);
  EXPECT_EQ(study(1).complete, 1);
  EXPECT_EQ(study(1).cursor, 2);
  const auto rows = finished(1);
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].trial.seq, 2);
  EXPECT_FALSE(rows[0].trial.failure.has_value());
}

TEST_P(StorageContract, PrunedResultIsAcceptedWithoutValuesOrBest) {
  apply({create_study(1), start(1, key(1, 0))});
  EXPECT_EQ(apply_one(pruned(1)).verdict, Verdict::accepted);
  EXPECT_EQ(trial(1, 0).trial.state, TrialState::pruned);
  EXPECT_EQ(study(1).pruned, 1);
  EXPECT_EQ(study(1).best_trial, std::nullopt);
}

TEST_P(StorageContract, FailedResultEndsTheAttemptOnly) {
  apply({create_study(1), start(1, key(1, 0))});
  const Outcome recorded = apply_one(failed(1));
  EXPECT_EQ(recorded.applied, Applied::applied);
  EXPECT_EQ(recorded.verdict, Verdict::recorded);
  EXPECT_EQ(recorded.seq, 0);

  const TrialDetail detail = trial(1, 0);
  EXPECT_EQ(detail.trial.state, TrialState::running);
  EXPECT_EQ(detail.attempt->state, AttemptState::failed);
  EXPECT_EQ(detail.attempt->failure, a_failure());
  EXPECT_EQ(study(1).running, 1);
}

TEST_P(StorageContract, R73_AValueOutsideOfTheRangeIsKeptAndNeverAccepted) {
  CreateStudy create = create_study(1);
  create.spec.value_range = {{.low = 0, .high = 1}};
  apply({create, start(1, key(1, 0)), end(1, AttemptState::expired)});
  const Outcome late = apply_one(complete(1, {7}));
  EXPECT_EQ(late.verdict, protocol::Verdict::recorded);
  EXPECT_EQ(trial(1, 0).trial.state, TrialState::running);
  EXPECT_THAT(trial(1, 0).attempts_list.at(0).values, ::testing::ElementsAre(7));
  apply({start(2, key(1, 0))});
  EXPECT_EQ(apply_one(complete(2, {7})).verdict, protocol::Verdict::recorded);
  EXPECT_EQ(trial(1, 0).attempts_list.at(1).state, AttemptState::failed);
  EXPECT_EQ(trial(1, 0).attempts_list.at(1).failure->code, "value_out_of_range");
  apply({start(3, key(1, 0))});
  EXPECT_EQ(apply_one(complete(3, {1})).verdict, protocol::Verdict::accepted);
}

TEST_P(StorageContract, R18_LateFailureOfAnEndedAttemptIsRecordedAndChangesNeitherStateNorFailure) {
  apply({create_study(1), start(1, key(1, 0)), start(2, key(1, 1)), start(3, key(1, 2))});
  EndAttempt expired = end(1, AttemptState::expired);
  expired.failure = protocol::Failure{protocol::Cause::worker_lost, "lease_expired", "", ""};
  apply({expired, end(2, AttemptState::released)});
  for (const std::int64_t attempt : {1, 2}) {
    const Outcome late = apply_one(failed(attempt));
    EXPECT_EQ(late.applied, Applied::applied);
    EXPECT_EQ(late.verdict, protocol::Verdict::recorded);
    EXPECT_EQ(apply_one(failed(attempt)).verdict, protocol::Verdict::recorded);
  }
  EXPECT_EQ(trial(1, 0).attempts_list[0].state, AttemptState::expired);
  EXPECT_EQ(trial(1, 0).attempts_list[0].failure, expired.failure);
  EXPECT_EQ(trial(1, 1).attempts_list[0].state, AttemptState::released);
  EXPECT_EQ(trial(1, 1).attempts_list[0].failure, a_failure());  // listed, not counted
  EXPECT_EQ(trial(1, 1).trial.state, TrialState::running);
  // An attempt whose result was accepted has no failure.
  apply({end(3, AttemptState::expired), complete(3, {0.5})});
  EXPECT_FALSE(trial(1, 2).attempts_list[0].failure.has_value());
}

TEST_P(StorageContract, ResultAfterTheStudyEndedIsEvidence) {
  apply({create_study(1), start(1, key(1, 0)), end_study(1, StudyState::cancelled)});
  EXPECT_EQ(apply_one(complete(1, {0.5})).verdict, Verdict::evidence);
  EXPECT_EQ(trial(1, 0).trial.state, TrialState::cancelled);
  EXPECT_EQ(study(1).complete, 0);
}

TEST_P(StorageContract, EndAttemptNeedsALiveOne) {
  apply({create_study(1), start(1, key(1, 0))});
  at(kNow + 3);
  EndAttempt expire = end(1, AttemptState::expired);
  expire.failure = a_failure("silent");
  const Outcome ended = apply_one(expire);
  EXPECT_EQ(ended.applied, Applied::applied);
  EXPECT_EQ(ended.trial, key(1, 0));
  EXPECT_EQ(applied(end(1, AttemptState::released)), Applied::repeated);
  EXPECT_EQ(applied(end(2, AttemptState::released)), Applied::conflict);

  const TrialDetail detail = trial(1, 0);
  EXPECT_EQ(detail.attempt->state, AttemptState::expired);
  EXPECT_EQ(detail.attempt->failure, a_failure("silent"));
  EXPECT_EQ(detail.attempt->finished_at, kNow + 3);
}

TEST_P(StorageContract, AppendPointsSkipsKnownSteps) {
  apply({create_study(1), start(1, key(1, 0))});
  EXPECT_EQ(applied(append(1, {{2, 0.2}, {1, 0.1}, {2, 9.0}})), Applied::applied);
  EXPECT_EQ(applied(append(1, {{1, 5.0}, {2, 5.0}})), Applied::repeated);
  EXPECT_EQ(applied(append(1, {{2, 5.0}, {3, 0.3}})), Applied::applied);
  EXPECT_EQ(applied(append(1, {{4, 0.4}}, "tablet")), Applied::conflict);
  EXPECT_EQ(applied(append(9, {{4, 0.4}})), Applied::conflict);
  EXPECT_THAT(trial(1, 0).points, ElementsAre(protocol::Point{1, 0.1}, protocol::Point{2, 0.2},
                                              protocol::Point{3, 0.3}));
}

TEST_P(StorageContract, ResultBringsThePointsThatWereNotSentBefore) {
  apply({create_study(1), start(1, key(1, 0)), append(1, {{1, 0.1}})});
  StoreResult result = complete(1, {0.5});
  result.result.points = {{1, 7.0}, {2, 0.2}};
  apply_one(result);
  EXPECT_THAT(trial(1, 0).points, ElementsAre(protocol::Point{1, 0.1}, protocol::Point{2, 0.2}));
}

TEST_P(StorageContract, FailTrialNeedsAnUnfinishedOne) {
  apply({create_study(1), start(1, key(1, 0)), start(2, key(1, 1)), complete(2, {0.5})});
  const Outcome given_up = apply_one(fail(key(1, 0)));
  EXPECT_EQ(given_up.applied, Applied::applied);
  EXPECT_EQ(given_up.seq, 2);
  EXPECT_EQ(applied(fail(key(1, 0))), Applied::superseded);
  EXPECT_EQ(applied(fail(key(1, 1))), Applied::superseded);
  EXPECT_EQ(applied(fail(key(1, 2))), Applied::conflict);

  EXPECT_EQ(trial(1, 0).trial.state, TrialState::failed);
  EXPECT_EQ(trial(1, 0).trial.failure, a_failure("poison"));
  EXPECT_EQ(study(1).failed, 1);
  EXPECT_EQ(study(1).complete, 1);
  EXPECT_EQ(study(1).running, 0);
}

TEST_P(StorageContract, EndStudyCancelsWhatHasNotFinished) {
  apply({create_study(1), start(1, key(1, 0)), start(2, key(1, 1)), start(3, key(1, 2)),
         complete(1, {0.5})});
  at(kNow + 8);
  EXPECT_EQ(applied(end_study(1, StudyState::cancelled)), Applied::applied);
  EXPECT_EQ(applied(end_study(1, StudyState::finished)), Applied::repeated);
  EXPECT_EQ(applied(end_study(2, StudyState::finished)), Applied::conflict);

  const StudyRow row = study(1);
  EXPECT_EQ(row.state, StudyState::cancelled);
  EXPECT_EQ(row.finished_at, kNow + 8);
  EXPECT_EQ(row.running, 0);
  EXPECT_EQ(row.complete, 1);
  EXPECT_EQ(row.cursor, 3);
  const auto rows = finished(1);
  ASSERT_THAT(rows, SizeIs(3));
  EXPECT_EQ(rows[0].trial.state, TrialState::complete);
  EXPECT_EQ(rows[1].trial.state, TrialState::cancelled);
  EXPECT_EQ(rows[2].trial.key, key(1, 2));
  // EndStudy leaves attempts live, so the dispatcher can still end attempt 2.
  EXPECT_EQ(applied(end(2, AttemptState::revoked)), Applied::applied);
}

TEST_P(StorageContract, R33_ReissueedTrialsRunAgainAndTheirFailuresAreForgiven) {
  apply({create_study(1), start(1, key(1, 0)), start(2, key(1, 1)), start(3, key(1, 2)), failed(1),
         fail(key(1, 0)), complete(2, {0.5}), failed(3), fail(key(1, 2))});
  apply({end_study(1, StudyState::finished)});
  const Outcome reissued = apply_one(ReissueTrials{StudyId{1}});
  EXPECT_EQ(reissued.applied, Applied::applied);
  EXPECT_THAT(reissued.trials, testing::ElementsAre(TrialNumber{0}, TrialNumber{2}));
  const StudyRow row = study(1);
  EXPECT_EQ(row.state, StudyState::running);
  EXPECT_EQ(row.finished_at, 0);
  EXPECT_EQ(row.failed, 0);
  EXPECT_EQ(row.running, 2);
  EXPECT_THAT(finished(1), SizeIs(1));
  EXPECT_EQ(trial(1, 0).trial.state, TrialState::running);
  EXPECT_FALSE(trial(1, 0).trial.failure.has_value());
  EXPECT_THAT(trial(1, 0).attempts_list, SizeIs(1));  // earlier attempts are still listed

  apply({start(4, key(1, 0))});
  ASSERT_TRUE(storage().load().has_value());
  const Snapshot snapshot = storage().load().value();
  ASSERT_THAT(snapshot.studies, SizeIs(1));
  ASSERT_THAT(snapshot.studies[0].unfinished, SizeIs(2));
  ASSERT_THAT(snapshot.studies[0].unfinished[0].attempts, SizeIs(1));
  EXPECT_EQ(snapshot.studies[0].unfinished[0].attempts[0].id, AttemptId{4});
  EXPECT_THAT(snapshot.studies[0].unfinished[1].attempts, testing::IsEmpty());

  const Outcome accepted = apply_one(complete(4, {0.75}));
  EXPECT_EQ(accepted.verdict, protocol::Verdict::accepted);
  EXPECT_GT(accepted.seq, 3);
  EXPECT_EQ(study(1).complete, 2);
}

TEST_P(StorageContract, R33_ReissueNeedsFailedTrialsOfAStudyThatWasNotCancelled) {
  apply({create_study(1), start(1, key(1, 0)), start(2, key(1, 1)), complete(1, {0.5})});
  EXPECT_EQ(applied(ReissueTrials{StudyId{1}}), Applied::repeated);
  EXPECT_EQ(applied(ReissueTrials{StudyId{2}}), Applied::conflict);
  apply({failed(2), fail(key(1, 1)), end_study(1, StudyState::cancelled)});
  EXPECT_EQ(applied(ReissueTrials{StudyId{1}}), Applied::superseded);
  EXPECT_EQ(study(1).state, StudyState::cancelled);
}

TEST_P(StorageContract, R12_ALateResultOfAForgivenAttemptIsAcceptedToo) {
  apply({create_study(1), start(1, key(1, 0)), end(1, AttemptState::expired), fail(key(1, 0)),
         ReissueTrials{StudyId{1}}});
  EXPECT_EQ(apply_one(complete(1, {0.5})).verdict, protocol::Verdict::accepted);
  EXPECT_EQ(study(1).running, 0);
  EXPECT_EQ(study(1).complete, 1);
  EXPECT_EQ(applied(ReissueTrials{StudyId{1}}), Applied::repeated);
}

// ---- new code for failed trials (R64)

ReissueTrials with_mended_code(char bundle) {
  ReissueTrials reissue{.study = StudyId{1}};
  reissue.code = protocol::NewCode{.entry = "mended:objective",
                                   .bundle = {sha(bundle), 7},
                                   .data = {{"extra", "file", "e.npy", {sha('f'), 3}}},
                                   .versions = {.numpy = "2.4.3"},
                                   .provenance_json = R"({"client":"c"})"};
  reissue.runtime_index = sha('9');
  return reissue;
}

TEST_P(StorageContract, R64_OtherCodeIsForTheAttemptsThatFollow) {
  apply({create_study(1), start(1, key(1, 0)), start(2, key(1, 1)), start(3, key(1, 2)),
         complete(1, {0.5}), failed(2), fail(key(1, 1))});
  const protocol::StudySpec before = study(1).spec;
  const Outcome outcome = apply_one(with_mended_code('e'));
  EXPECT_EQ(outcome.applied, Applied::applied);
  EXPECT_THAT(outcome.trials, testing::ElementsAre(TrialNumber{1}));
  EXPECT_EQ(study(1).code, 2);
  EXPECT_EQ(*outcome.spec, study(1).spec);
  protocol::StudySpec expected = before;
  expected.entry = "mended:objective";
  expected.bundle = {sha('e'), 7};
  expected.data = with_mended_code('e').code->data;
  expected.versions = {.numpy = "2.4.3"};
  expected.provenance_json = R"({"client":"c"})";
  expected.runtime_index = sha('9');
  EXPECT_EQ(study(1).spec, expected);
  apply({start(4, key(1, 1)), complete(4, {0.7}), complete(3, {0.1})});
  reopen();
  EXPECT_EQ(trial(1, 0).attempt->code, 1);
  EXPECT_EQ(trial(1, 2).attempt->code, 1);  // it ran before the change
  EXPECT_EQ(trial(1, 1).attempt->code, 2);
  EXPECT_EQ(trial(1, 1).attempts_list.front().code, 1);
  EXPECT_EQ(storage().spec(StudyId{1}, 1).value(), before);
  EXPECT_EQ(storage().spec(StudyId{1}, 2).value(), expected);
  EXPECT_EQ(storage().spec(StudyId{1}, 3).value(), std::nullopt);
  EXPECT_EQ(storage().spec(StudyId{2}, 1).value(), std::nullopt);
  EXPECT_TRUE(storage().project_references("default", sha('f')).value());
}

TEST_P(StorageContract, R64_TheSameCodeAndNoFailedTrialMakeNoVersion) {
  apply({create_study(1), start(1, key(1, 0))});
  EXPECT_EQ(applied(with_mended_code('e')), Applied::repeated);
  EXPECT_EQ(study(1).code, 1);
  apply({failed(1), fail(key(1, 0)), with_mended_code('e'), start(2, key(1, 0)), failed(2),
         fail(key(1, 0))});
  const Outcome again = apply_one(with_mended_code('e'));
  EXPECT_EQ(again.applied, Applied::applied);  // the trial runs again
  EXPECT_EQ(again.spec, nullptr);
  EXPECT_EQ(study(1).code, 2);
  apply({start(3, key(1, 0)), failed(3), fail(key(1, 0)), end_study(1, StudyState::cancelled)});
  EXPECT_EQ(applied(with_mended_code('d')), Applied::superseded);
}

TEST_P(StorageContract, R64_EarlierSpecsGoWithTheirStudy) {
  apply({create_study(1), start(1, key(1, 0)), failed(1), fail(key(1, 0)), with_mended_code('e'),
         end_study(1, StudyState::cancelled)});
  const Outcome gone = apply_one(DeleteStudy{StudyId{1}});
  EXPECT_THAT(gone.disowned, testing::Contains(sha('e')));
  EXPECT_THAT(gone.disowned, testing::Contains(create_study(1).spec.bundle.sha256));
  EXPECT_EQ(storage().spec(StudyId{1}, 1).value(), std::nullopt);
  while (applied(SweepDeleted{}) == Applied::applied) {
  }
  EXPECT_FALSE(storage().load().value().unswept);
}

// ---- larger spaces (R65)

ExtendStudy with_value(const StudyRow& row, const std::string& value, Quota quota = {}) {
  ExtendStudy extend{StudyId{1}, {row.spec.space}, quota};
  extend.more.space.back().values_json.push_back(value);
  return extend;
}

TEST_P(StorageContract, R65_AnExtendedStudyRunsAgain) {
  apply({create_study(1), start(1, key(1, 0)), complete(1, {0.5}),
         end_study(1, StudyState::finished)});
  const StudyRow before = study(1);
  const std::int64_t had = protocol::trial_count(before.spec);
  const Outcome outcome = apply_one(with_value(before, "77"));
  EXPECT_EQ(outcome.applied, Applied::applied);
  EXPECT_EQ(outcome.id, had);
  reopen();
  const StudyRow after = study(1);
  EXPECT_EQ(after.state, StudyState::running);
  EXPECT_EQ(after.finished_at, 0);
  EXPECT_EQ(after.spec, *outcome.spec);
  EXPECT_EQ(after.total, protocol::trial_count(after.spec));
  EXPECT_GT(after.total, had);
  EXPECT_EQ(after.complete, 1);
  EXPECT_EQ(protocol::trial_params(after.spec, had - 1),
            protocol::trial_params(before.spec, had - 1));
  EXPECT_EQ(applied(ExtendStudy{StudyId{1}, {after.spec.space}}), Applied::repeated);
  apply({start(2, key(1, had)), complete(2, {0.7})});
  EXPECT_EQ(study(1).complete, 2);
}

TEST_P(StorageContract, R65_WhatIsNoExtensionChangesNothing) {
  EXPECT_EQ(applied(ExtendStudy{StudyId{1}}), Applied::conflict);
  apply_one(create_study(1));
  const StudyRow before = study(1);
  ExtendStudy lost{StudyId{1}, {before.spec.space}};
  lost.more.space.front().values_json.erase(lost.more.space.front().values_json.begin());
  const Outcome refused = apply_one(lost);
  EXPECT_EQ(refused.applied, Applied::superseded);
  EXPECT_EQ(refused.refusal, Refusal::space_changed);
  EXPECT_EQ(study(1).spec, before.spec);
  apply_one(end_study(1, StudyState::cancelled));
  const Outcome cancelled = apply_one(with_value(before, "77"));
  EXPECT_EQ(cancelled.applied, Applied::superseded);
  EXPECT_EQ(cancelled.refusal, std::nullopt);
}

TEST_P(StorageContract, R65_AnExtensionNeedsRoomInTheQuota) {
  apply_one(create_study(1));
  const StudyRow before = study(1);
  const std::int64_t has =
      protocol::trial_count(protocol::extended(before.spec, with_value(before, "77").more).value());
  const Outcome refused = apply_one(with_value(before, "77", {.trials = has - 1}));
  EXPECT_EQ(refused.applied, Applied::superseded);
  ASSERT_TRUE(refused.excess.has_value());
  EXPECT_EQ(applied(with_value(before, "77", {.trials = has})), Applied::applied);
  // If an extension makes an ended study run again, the quota must have room for all of its trials
  // and for one more study.
  apply_one(end_study(1, StudyState::finished));
  apply_one(create_study(2, "other"));
  const StudyRow ended = study(1);
  EXPECT_TRUE(apply_one(with_value(ended, "78", {.studies = 1})).excess.has_value());
  EXPECT_EQ(applied(with_value(ended, "78", {.studies = 2})), Applied::applied);
}

TEST_P(StorageContract, R53_AStudyIsPausedWhileItRuns) {
  EXPECT_EQ(apply_one(pause_study(1)).applied, Applied::conflict);
  apply_one(create_study(1));
  EXPECT_EQ(apply_one(pause_study(1, false)).applied, Applied::repeated);
  EXPECT_EQ(apply_one(pause_study(1)).applied, Applied::applied);
  EXPECT_EQ(apply_one(pause_study(1)).applied, Applied::repeated);
  EXPECT_TRUE(storage().study(StudyId{1}).value()->paused);
  EXPECT_TRUE(storage().load().value().studies.at(0).study.paused);
  EXPECT_EQ(apply_one(pause_study(1, false)).applied, Applied::applied);
  EXPECT_FALSE(storage().study(StudyId{1}).value()->paused);
  // A study that has ended is no longer paused.
  apply_one(pause_study(1));
  apply_one(end_study(1, StudyState::finished));
  EXPECT_FALSE(storage().study(StudyId{1}).value()->paused);
  EXPECT_EQ(apply_one(pause_study(1)).applied, Applied::superseded);
}

TEST_P(StorageContract, R61_AStudyKeepsItsPriority) {
  EXPECT_EQ(applied(SetPriority{StudyId{1}, 2}), Applied::conflict);
  CreateStudy create = create_study(1);
  create.spec.priority = 5;
  apply_one(create);
  EXPECT_EQ(study(1).priority, 5);
  EXPECT_EQ(applied(SetPriority{StudyId{1}, 5}), Applied::repeated);
  EXPECT_EQ(applied(SetPriority{StudyId{1}, -2}), Applied::applied);
  reopen();
  EXPECT_EQ(study(1).priority, -2);
  EXPECT_EQ(study(1).spec.priority, 5);  // the spec stays as it was submitted
  EXPECT_EQ(storage().load().value().studies.at(0).study.priority, -2);
  // The priority of a study that has ended can change too, because the study may run again.
  apply({start(1, key(1, 0)), fail(key(1, 0)), end_study(1, StudyState::finished)});
  EXPECT_EQ(applied(SetPriority{StudyId{1}, 9}), Applied::applied);
  EXPECT_EQ(apply_one(ReissueTrials{StudyId{1}}).priority, 9);
}

TEST_P(StorageContract, R53_ARestartForgetsNoPause) {
  apply({create_study(1), start(1, key(1, 0)), pause_study(1)});
  reopen();
  apply_one(complete(1, {0.5}));  // the running attempt goes on, and its result counts
  EXPECT_TRUE(study(1).paused);
  reopen();
  EXPECT_EQ(apply_one(pause_study(1, false)).applied, Applied::applied);
  EXPECT_FALSE(study(1).paused);
}

TEST_P(StorageContract, R23_TheServerStoresHowLongAnAttemptTookThatItEnded) {
  EndAttempt late = end(1, AttemptState::failed);
  late.failure = a_failure("time_limit");
  late.metrics = {5'000, 60'000};
  apply({create_study(1), start(1, key(1, 0)), late});
  EXPECT_EQ(trial(1, 0).attempt->metrics, (protocol::RunMetrics{5'000, 60'000}));
  apply_one(failed(1));  // the device's own times are better
  EXPECT_EQ(trial(1, 0).attempt->metrics, (protocol::RunMetrics{1'500, 2'500}));
}

// ---- a study that pauses itself (R56)

CreateStudy stopping_study(std::int64_t id = 1) {
  CreateStudy create = create_study(id);
  create.spec.max_failures = 2;
  return create;
}

FailTrial fail_and_pause(TrialKey trial) {
  FailTrial out = fail(trial);
  out.pauses = true;
  return out;
}

TEST_P(StorageContract, R56_AFailedTrialPausesItsStudyInTheSameTransaction) {
  apply({stopping_study(), start(1, key(1, 0)), failed(1)});
  const Outcome outcome = apply_one(fail_and_pause(key(1, 0)));
  EXPECT_EQ(outcome.applied, Applied::applied);
  EXPECT_TRUE(outcome.paused);
  reopen();
  EXPECT_TRUE(study(1).paused);
  EXPECT_EQ(study(1).stopped_by, TrialNumber{0});
  ASSERT_TRUE(study(1).stop_failure.has_value());
  EXPECT_EQ(study(1).stop_failure->code, "poison");
  EXPECT_EQ(applied(fail_and_pause(key(1, 0))), Applied::superseded);
  EXPECT_EQ(storage().studies({}).value().studies.at(0).stop_failure, study(1).stop_failure);
}

TEST_P(StorageContract, R56_AStudyWithASuccessOrAPauseDoesNotPauseItself) {
  apply({stopping_study(), start(1, key(1, 0)), start(2, key(1, 1)), complete(1, {0.5})});
  EXPECT_FALSE(apply_one(fail_and_pause(key(1, 1))).paused);
  EXPECT_FALSE(study(1).paused);
  CreateStudy other = stopping_study(2);
  other.spec.submit_key = "other";
  apply({other, start(3, key(2, 0)), pause_study(2)});
  const Outcome outcome = apply_one(fail_and_pause(key(2, 0)));
  EXPECT_EQ(outcome.applied, Applied::applied);
  EXPECT_FALSE(outcome.paused);
  EXPECT_FALSE(study(2).stopped_by.has_value());
}

TEST_P(StorageContract, R56_TheSnapshotHasTheFailuresThatCount) {
  apply({stopping_study(), start(1, key(1, 0)), start(2, key(1, 1)), start(3, key(1, 2)),
         fail(key(1, 1)), FailTrial{key(1, 0), a_failure("second")}});
  reopen();
  const auto failures = [this] { return storage().load().value().studies.at(0).failures; };
  EXPECT_THAT(failures(), ElementsAre(a_failure("poison"), a_failure("second")));
  apply({pause_study(1), pause_study(1, false)});
  EXPECT_THAT(failures(), IsEmpty());
  apply_one(FailTrial{key(1, 2), a_failure("third")});
  EXPECT_THAT(failures(), ElementsAre(a_failure("third")));
  apply({start(4, key(1, 3)), complete(4, {0.5})});
  EXPECT_THAT(failures(), IsEmpty());
}

TEST_P(StorageContract, R56_ResumingReissuingAndEndingForgetTheReason) {
  apply({stopping_study(), start(1, key(1, 0)), fail_and_pause(key(1, 0)), pause_study(1, false)});
  EXPECT_FALSE(study(1).stopped_by.has_value());
  apply({start(2, key(1, 1)), fail_and_pause(key(1, 1)), ReissueTrials{StudyId{1}, {}}});
  EXPECT_TRUE(study(1).paused);
  EXPECT_FALSE(study(1).stopped_by.has_value());
  apply({pause_study(1, false), start(3, key(1, 2)), fail_and_pause(key(1, 2)),
         end_study(1, StudyState::cancelled)});
  EXPECT_FALSE(study(1).paused);
  EXPECT_FALSE(study(1).stopped_by.has_value());
}

}  // namespace
}  // namespace hyperflock::storage
