// Tests how checkpoints are stored, resumed, superseded and dropped (R37, R38).
#include "storage/contract/suite.h"

namespace hyperflock::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

protocol::Checkpoint saved(std::int64_t attempt, char digit,
                           std::optional<std::int64_t> step = {}) {
  return {.attempt = AttemptId{attempt},
          .format = protocol::CheckpointFormat::npz,
          .blob = {sha(digit), 10},
          .step = step};
}
StoreCheckpoint store(const protocol::Checkpoint& checkpoint, const std::string& device = "phone") {
  return {device, checkpoint};
}
StartAttempt resume(std::int64_t attempt, TrialKey trial, const protocol::Checkpoint& from,
                    const std::string& device = "phone") {
  StartAttempt start = storage::start(attempt, trial, device);
  start.from = from;
  return start;
}

std::vector<Transition> begun_for_checkpoints() {
  return {create_study(1), start(1, key(1, 0)), start(2, key(1, 1))};
}

std::optional<protocol::Checkpoint> newest(Storage& storage, std::int64_t number) {
  const Snapshot snapshot = storage.load().value();
  for (const RunningTrial& trial : snapshot.studies.at(0).unfinished) {
    if (trial.key == key(1, number)) return trial.checkpoint;
  }
  return std::nullopt;
}

std::vector<std::string> checkpoint_blobs(Storage& storage) { return storage.kept_blobs().value(); }

TEST_P(StorageContract, R37_TheNewestIsPassedOnAndTheLineageIsKept) {
  apply(begun_for_checkpoints());
  EXPECT_EQ(applied(store(saved(1, 'a', 3))), Applied::applied);
  EXPECT_EQ(newest(storage(), 0), saved(1, 'a', 3));
  EXPECT_EQ(newest(storage(), 1), std::nullopt);
  apply({end(1, AttemptState::released), resume(3, key(1, 0), saved(1, 'a', 3))});
  reopen();
  EXPECT_EQ(newest(storage(), 0), saved(1, 'a', 3));
  EXPECT_EQ(storage().attempt(AttemptId{3}).value()->from, saved(1, 'a', 3));
  EXPECT_EQ(storage().attempt(AttemptId{1}).value()->from, std::nullopt);
  EXPECT_FALSE(storage().attempt(AttemptId{9}).value().has_value());
  EXPECT_EQ(trial(1, 0).attempts_list.at(1).from, saved(1, 'a', 3));
}

TEST_P(StorageContract, R14_TheSameCheckpointAgainIsRepeated) {
  apply(begun_for_checkpoints());
  apply_one(store(saved(1, 'a')));
  EXPECT_EQ(applied(store(saved(1, 'a'))), Applied::repeated);
  EXPECT_EQ(applied(store(saved(1, 'b'))), Applied::applied);
  EXPECT_EQ(applied(store(saved(1, 'a'))), Applied::applied);  // the first one is the newest again
  EXPECT_EQ(newest(storage(), 0), saved(1, 'a'));
}

TEST_P(StorageContract, R16_OfAnotherDeviceOrOfNobodyIsAConflict) {
  apply(begun_for_checkpoints());
  EXPECT_EQ(applied(store(saved(1, 'a'), "laptop")), Applied::conflict);
  EXPECT_EQ(applied(store(saved(9, 'a'))), Applied::conflict);
  EXPECT_THAT(checkpoint_blobs(storage()), IsEmpty());
}

TEST_P(StorageContract, R37_OfAnAttemptOrATrialThatHasEndedIsSuperseded) {
  apply(begun_for_checkpoints());
  apply_one(end(1, AttemptState::expired));
  EXPECT_EQ(applied(store(saved(1, 'a'))), Applied::superseded);
  apply_one(end_study(1, StudyState::cancelled));
  EXPECT_EQ(applied(store(saved(2, 'a'))), Applied::superseded);
  EXPECT_THAT(checkpoint_blobs(storage()), IsEmpty());
}

TEST_P(StorageContract, R37_TheTwoNewestOfATrialAreKept) {
  apply(begun_for_checkpoints());
  EXPECT_THAT(apply_one(store(saved(1, 'a'))).dropped, IsEmpty());
  EXPECT_THAT(apply_one(store(saved(1, 'b'))).dropped, IsEmpty());
  EXPECT_THAT(apply_one(store(saved(1, 'c'))).dropped, ElementsAre(sha('a')));
  EXPECT_THAT(checkpoint_blobs(storage()), ElementsAre(sha('b'), sha('c')));
}

TEST_P(StorageContract, R37_ABlobThatAnotherTrialNamesIsNotDropped) {
  apply(begun_for_checkpoints());
  apply({store(saved(1, 'a')), store(saved(2, 'a')), store(saved(1, 'b'))});
  EXPECT_THAT(apply_one(store(saved(1, 'c'))).dropped, IsEmpty());
  EXPECT_THAT(apply_one(complete(2, {0.5})).dropped, ElementsAre(sha('a')));
  EXPECT_THAT(checkpoint_blobs(storage()), ElementsAre(sha('b'), sha('c')));
}

TEST_P(StorageContract, R37_AnAcceptedTrialAndAStudyThatEndsDropTheirs) {
  apply(begun_for_checkpoints());
  apply({store(saved(1, 'a')), store(saved(2, 'b'))});
  EXPECT_THAT(apply_one(complete(1, {0.5})).dropped, ElementsAre(sha('a')));
  EXPECT_THAT(apply_one(end_study(1, StudyState::cancelled)).dropped, ElementsAre(sha('b')));
  EXPECT_THAT(checkpoint_blobs(storage()), IsEmpty());
}

TEST_P(StorageContract, R33_AReissueDropsThem) {
  apply(begun_for_checkpoints());
  apply({store(saved(1, 'a')), fail(key(1, 0))});
  EXPECT_THAT(apply_one(ReissueTrials{StudyId{1}}).dropped, ElementsAre(sha('a')));
  EXPECT_EQ(newest(storage(), 0), std::nullopt);
}

TEST_P(StorageContract, R38_AFailureThatTheCheckpointMayHaveMadeDropsIt) {
  apply(begun_for_checkpoints());
  apply({store(saved(1, 'a')), failed(1)});  // did not resume from the checkpoint
  EXPECT_EQ(newest(storage(), 0), saved(1, 'a'));
  apply_one(resume(3, key(1, 0), saved(1, 'a')));
  EXPECT_THAT(apply_one(failed(3)).dropped, ElementsAre(sha('a')));
  EXPECT_EQ(newest(storage(), 0), std::nullopt);
}

TEST_P(StorageContract, R38_NotWhenTheAttemptHadEndedBefore) {
  apply(begun_for_checkpoints());
  apply({store(saved(1, 'a')), end(1, AttemptState::released)});
  apply({resume(3, key(1, 0), saved(1, 'a')), end(3, AttemptState::expired)});
  EXPECT_THAT(apply_one(failed(3)).dropped, IsEmpty());
  EXPECT_EQ(newest(storage(), 0), saved(1, 'a'));
}

TEST_P(StorageContract, R37_TheCurveGoesOnWhereTheCheckpointWasSaved) {
  apply(begun_for_checkpoints());
  apply({append(1, {{0, 1.0}, {1, 0.9}, {2, 0.8}, {3, 0.7}}), store(saved(1, 'a', 2)),
         end(1, AttemptState::released), resume(3, key(1, 0), saved(1, 'a', 2), "laptop"),
         append(3, {{3, 0.6}, {4, 0.5}}, "laptop"), store(saved(3, 'b', 3), "laptop"),
         end(3, AttemptState::expired), resume(4, key(1, 0), saved(3, 'b', 3)),
         append(4, {{4, 0.4}})});
  apply_one(complete(4, {0.4}));
  EXPECT_THAT(trial(1, 0).points,
              ElementsAre(protocol::Point{0, 1.0}, protocol::Point{1, 0.9}, protocol::Point{2, 0.8},
                          protocol::Point{3, 0.6}, protocol::Point{4, 0.4}));
  // The curve of an attempt that did not decide the trial can be read too.
  const auto row = storage().attempt(AttemptId{3}).value();
  EXPECT_THAT(storage().curve(row.value()).value(),
              ElementsAre(protocol::Point{0, 1.0}, protocol::Point{1, 0.9}, protocol::Point{2, 0.8},
                          protocol::Point{3, 0.6}, protocol::Point{4, 0.5}));
  const auto page = storage().finished_trials(StudyId{1}, 0, 10).value();
  ASSERT_EQ(page.size(), 1U);
  EXPECT_EQ(storage().curve(page[0].attempt.value()).value(), trial(1, 0).points);
}

TEST_P(StorageContract, R37_ACheckpointFromBeforeTheFirstReportHasNoCurve) {
  apply(begun_for_checkpoints());
  apply({append(1, {{0, 1.0}}), store(saved(1, 'a')), end(1, AttemptState::released),
         resume(3, key(1, 0), saved(1, 'a')), append(3, {{1, 0.5}})});
  apply_one(complete(3, {0.5}));
  EXPECT_THAT(trial(1, 0).points, ElementsAre(protocol::Point{1, 0.5}));
}

// ---- checkpoints and versions of the code (R64)

ReissueTrials mended(char bundle, bool checkpoints = false) {
  ReissueTrials reissue{.study = StudyId{1}};
  reissue.code = protocol::NewCode{.entry = "mended:objective",
                                   .bundle = {sha(bundle), 7},
                                   .provenance_json = "{}",
                                   .checkpoints = checkpoints};
  return reissue;
}

TEST_P(StorageContract, R64_CheckpointsOfTheEarlierCodeAreNotHandedOn) {
  apply(begun_for_checkpoints());
  apply({start(3, key(1, 2)), failed(3), fail(key(1, 2)), store(saved(1, 'a')),
         store(saved(2, 'b'))});
  const Outcome outcome = apply_one(mended('e'));
  EXPECT_THAT(outcome.dropped, ElementsAre(sha('a'), sha('b')));
  EXPECT_EQ(newest(storage(), 0), std::nullopt);
  // The earlier code still runs. A checkpoint that it saves is not stored, and the checkpoint's
  // blob is dropped.
  const Outcome late = apply_one(store(saved(1, 'c')));
  EXPECT_EQ(late.applied, Applied::repeated);
  EXPECT_THAT(late.dropped, ElementsAre(sha('c')));
  EXPECT_EQ(newest(storage(), 0), std::nullopt);
  // Before the new code was stored, an attempt was planned with an old checkpoint. It starts
  // without this checkpoint.
  apply({end(1, AttemptState::released), resume(4, key(1, 0), saved(1, 'a'))});
  EXPECT_EQ(storage().attempt(AttemptId{4}).value()->from, std::nullopt);
  // Later attempts get checkpoints of the new code.
  EXPECT_EQ(applied(store(saved(4, 'd'))), Applied::applied);
  reopen();
  EXPECT_EQ(newest(storage(), 0), saved(4, 'd'));
  EXPECT_EQ(applied(store(saved(2, 'c'))), Applied::repeated);  // also after a restart
}

TEST_P(StorageContract, R64_CheckpointsOfTheEarlierCodeAreHandedOnWhereThatIsWanted) {
  apply(begun_for_checkpoints());
  apply({start(3, key(1, 2)), failed(3), fail(key(1, 2)), store(saved(1, 'a'))});
  apply_one(mended('e', true));
  EXPECT_EQ(applied(store(saved(2, 'b'))), Applied::applied);
  apply({end(1, AttemptState::released), resume(4, key(1, 0), saved(1, 'a'))});
  EXPECT_EQ(storage().attempt(AttemptId{4}).value()->from, saved(1, 'a'));
  EXPECT_EQ(storage().attempt(AttemptId{4}).value()->code, 2);
}

}  // namespace
}  // namespace hyperflock::storage
