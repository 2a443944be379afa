// Tests of artifacts in the storage contract: they are stored once, counted, and kept as long as
// they may be needed (R54).
#include "storage/contract/suite.h"

namespace hyperflock::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr std::int64_t kBytes = 10;

StoreArtifact upload(std::int64_t attempt, const std::string& id, char digit,
                     const std::string& device = "phone") {
  StoreArtifact store{device, {}};
  store.artifact.id = id;
  store.artifact.attempt = AttemptId{attempt};
  store.artifact.name = "curve.png";
  store.artifact.type = "image/png";
  store.artifact.store = "here";
  store.artifact.blob = {sha(digit), kBytes};
  return store;
}

StoreCheckpoint save(std::int64_t attempt, char digit) {
  return {"phone",
          {.attempt = AttemptId{attempt},
           .format = protocol::CheckpointFormat::npz,
           .blob = {sha(digit), kBytes},
           .step = {}}};
}

// Returns transitions that start two attempts of trial 0 and one attempt of trial 1.
std::vector<Transition> begun_for_artifacts() {
  return {create_study(1), start(1, key(1, 0)), start(2, key(1, 0)), start(3, key(1, 1))};
}

std::vector<std::string> ids(Storage& storage, std::optional<std::int64_t> trial = {},
                             std::int64_t after = 0, std::int64_t limit = 100) {
  const auto number = trial ? std::optional(TrialNumber{*trial}) : std::nullopt;
  std::vector<std::string> found;
  const auto page = storage.artifacts(StudyId{1}, number, after, limit).value();
  for (const ArtifactRow& row : page) found.push_back(row.id);
  return found;
}

std::vector<std::string> blobs(Storage& storage) { return storage.kept_blobs().value(); }

std::int64_t used(Storage& storage) { return storage.usage("ada").value().bytes - 1'333; }

TEST_P(StorageContract, R54_AnArtifactIsKeptAsItCame) {
  apply(begun_for_artifacts());
  at(kNow + 5);
  const Outcome stored = apply_one(upload(3, "f0", 'c'));
  EXPECT_EQ(stored.applied, Applied::applied);
  EXPECT_EQ(stored.trial, key(1, 1));
  reopen();
  const ArtifactRow row = storage().artifact(StudyId{1}, "f0", std::nullopt).value().value();
  EXPECT_EQ(row.trial, key(1, 1));
  EXPECT_EQ(row.attempt, AttemptId{3});
  EXPECT_EQ(row.name, "curve.png");
  EXPECT_EQ(row.type, "image/png");
  EXPECT_EQ(row.store, "here");
  EXPECT_EQ(row.blob, (protocol::BlobRef{sha('c'), kBytes}));
  EXPECT_EQ(row.created_at, kNow + 5);
  EXPECT_FALSE(storage().artifact(StudyId{1}, "f1", std::nullopt).value().has_value());
  EXPECT_FALSE(storage().artifact(StudyId{2}, "f0", std::nullopt).value().has_value());
}

TEST_P(StorageContract, R54_TheyAreReadInTheOrderOfTheirArrivalByPages) {
  apply(begun_for_artifacts());
  apply({upload(3, "z", 'c'), upload(1, "y", 'd'), upload(2, "x", 'c'), upload(3, "w", 'e')});
  EXPECT_THAT(ids(storage()), ElementsAre("z", "y", "x", "w"));
  EXPECT_THAT(ids(storage(), {}, 0, 3), ElementsAre("z", "y", "x"));
  const auto cursor = storage().artifact(StudyId{1}, "x", std::nullopt).value()->arrived;
  EXPECT_THAT(ids(storage(), {}, cursor), ElementsAre("w"));
  EXPECT_THAT(ids(storage(), 1), ElementsAre("z", "w"));
  EXPECT_THAT(ids(storage(), 1, cursor), ElementsAre("w"));
  EXPECT_THAT(ids(storage(), 0, 0, 1), ElementsAre("y"));
  EXPECT_THAT(ids(storage(), 2), IsEmpty());
  EXPECT_THAT(ids(storage(), {}, 0, 0), IsEmpty());
}

TEST_P(StorageContract, R54_APlaceIsNotGivenAgain) {
  apply(begun_for_artifacts());
  apply({upload(1, "y", 'c'), upload(2, "x", 'd')});
  const auto last = storage().artifact(StudyId{1}, "x", std::nullopt).value()->arrived;
  apply_one(complete(1, {0.5}));  // removes x
  reopen();
  apply_one(upload(3, "w", 'e'));
  EXPECT_THAT(ids(storage(), {}, last), ElementsAre("w"));
}

TEST_P(StorageContract, R14_TheSameArtifactAgainIsRepeated) {
  apply(begun_for_artifacts());
  apply_one(upload(1, "f0", 'c'));
  EXPECT_EQ(applied(upload(1, "f0", 'c')), Applied::repeated);
  EXPECT_EQ(used(storage()), kBytes);
  const Outcome refused = apply_one(upload(1, "f0", 'd'));
  EXPECT_EQ(refused.applied, Applied::superseded);
  EXPECT_EQ(refused.refusal, Refusal::artifact_exists);
  apply({create_study(2, "other"), start(4, key(2, 0))});
  EXPECT_EQ(applied(upload(4, "f0", 'd')), Applied::applied);  // ids of another study are separate
}

TEST_P(StorageContract, R54_NoDeviceCanTakeTheIdsOfAnotherAttempt) {
  apply(begun_for_artifacts());
  // Attempt 3 (of trial 1) uses the artifact id that the attempts of trial 0 use later.
  apply_one(upload(3, "f0", 'c'));
  EXPECT_EQ(applied(upload(1, "f0", 'd')), Applied::applied);
  EXPECT_EQ(applied(upload(2, "f0", 'e')), Applied::applied);
  const auto sha_of = [this](std::optional<TrialNumber> trial) {
    return storage().artifact(StudyId{1}, "f0", trial).value().value().blob.sha256;
  };
  EXPECT_EQ(sha_of(TrialNumber{0}), sha('d'));
  EXPECT_EQ(sha_of(TrialNumber{1}), sha('c'));
  EXPECT_EQ(sha_of({}), sha('c'));  // that which came first
  apply_one(complete(2, {0.5}));
  EXPECT_EQ(sha_of(TrialNumber{0}), sha('e'));
  EXPECT_EQ(sha_of({}), sha('e'));  // that of an accepted attempt
  EXPECT_FALSE(storage().artifact(StudyId{1}, "f0", TrialNumber{2}).value().has_value());
}

TEST_P(StorageContract, R54_AnInheritedArtifactGivesWayToANewerOneWithItsId) {
  apply(begun_for_artifacts());
  apply({upload(1, "f0", 'c'), upload(1, "f1", 'd'), save(1, 'e'), end(1, AttemptState::released)});
  StartAttempt resumed = start(4, key(1, 0));
  resumed.from = save(1, 'e').checkpoint;
  apply({resumed, upload(4, "f0", 'f')});
  const Outcome accepted = apply_one(complete(4, {0.5}));
  EXPECT_THAT(accepted.dropped, UnorderedElementsAre(sha('c'), sha('e')));
  EXPECT_THAT(ids(storage(), 0), ElementsAre("f1", "f0"));
  EXPECT_EQ(used(storage()), 2 * kBytes);
}

TEST_P(StorageContract, R54_GuardsAreThoseOfACheckpoint) {
  apply(begun_for_artifacts());
  EXPECT_EQ(applied(upload(1, "f0", 'c', "laptop")), Applied::conflict);
  EXPECT_EQ(applied(upload(9, "f0", 'c')), Applied::conflict);
  apply_one(end(1, AttemptState::expired));
  const Outcome ended = apply_one(upload(1, "f0", 'c'));
  EXPECT_EQ(ended.applied, Applied::superseded);
  EXPECT_EQ(ended.refusal, std::nullopt);
  apply_one(complete(2, {0.5}));
  apply_one(end_study(1, StudyState::cancelled));
  EXPECT_EQ(applied(upload(3, "f0", 'c')), Applied::superseded);
  EXPECT_THAT(ids(storage()), IsEmpty());
  EXPECT_THAT(blobs(storage()), IsEmpty());
}

TEST_P(StorageContract, R54_AnAttemptHasAtMostSoMany) {
  apply(begun_for_artifacts());
  std::vector<Transition> many;
  for (std::int64_t i = 0; i < kMostArtifacts; ++i)
    many.emplace_back(upload(1, "f" + std::to_string(i), 'c'));
  for (const Outcome& one : apply(many)) EXPECT_EQ(one.applied, Applied::applied);
  const Outcome refused = apply_one(upload(1, "more", 'c'));
  EXPECT_EQ(refused.applied, Applied::superseded);
  EXPECT_EQ(refused.refusal, Refusal::artifact_count);
  EXPECT_EQ(applied(upload(1, "f0", 'c')), Applied::repeated);
  EXPECT_EQ(applied(upload(2, "more", 'c')), Applied::applied);
  EXPECT_EQ(used(storage()), (kMostArtifacts + 1) * kBytes);
}

TEST_P(StorageContract, R54_AnAttemptHasAtMostSoManyBytes) {
  apply(begun_for_artifacts());
  StoreArtifact large = upload(1, "large", 'c');
  large.artifact.blob.bytes = kMostArtifactBytes - kBytes;
  EXPECT_EQ(applied(large), Applied::applied);
  EXPECT_EQ(applied(upload(1, "last", 'd')), Applied::applied);
  StoreArtifact more = upload(1, "more", 'e');
  more.artifact.blob.bytes = 1;
  EXPECT_EQ(apply_one(more).refusal, Refusal::artifact_count);
  EXPECT_EQ(applied(upload(2, "of_another", 'e')), Applied::applied);
}

TEST_P(StorageContract, R54_EachCountsForTheOwnerOfTheStudyAsLongAsItStays) {
  CreatePrincipal ada = create_principal("ada", '1');
  ada.principal.quota.bytes = 1'333 + 2 * kBytes;
  apply_one(ada);
  apply(begun_for_artifacts());
  // The three uploads are in one batch. Two of them have the same bytes.
  const auto outcomes = apply({upload(1, "a", 'c'), upload(2, "b", 'c'), upload(3, "c", 'c')});
  EXPECT_EQ(outcomes[1].applied, Applied::applied);
  EXPECT_EQ(outcomes[2].applied, Applied::superseded);
  EXPECT_EQ(outcomes[2].excess, (Excess{Excess::What::bytes, 1'353, kBytes, 1'353}));
  EXPECT_EQ(storage().usage("grace").value().bytes, 0);
  StoreArtifact empty = upload(3, "none", 'e');
  empty.artifact.blob.bytes = 0;
  EXPECT_EQ(applied(empty), Applied::applied);
  // The artifacts have reduced the quota that the owner has left for bundles.
  EXPECT_TRUE(apply_one(OwnBlob{"ada", sha('f'), 1, ada.principal.quota}).excess.has_value());
  reopen();
  EXPECT_EQ(used(storage()), 2 * kBytes);

  const auto freed = apply({complete(1, {0.5}), upload(3, "c", 'c')});  // removes b
  EXPECT_EQ(freed[1].applied, Applied::applied);
  EXPECT_EQ(used(storage()), 2 * kBytes);
  EXPECT_EQ(applied(UpdatePrincipal{1, {}, Quota{0, 0, 0}, {}}), Applied::applied);
  EXPECT_EQ(applied(upload(3, "d", 'd')), Applied::applied);
}

TEST_P(StorageContract, R54_AnAdministratorsStudyHasNoLimit) {
  CreatePrincipal ada = create_principal("ada", '1', PrincipalRole::admin);
  ada.principal.quota.bytes = 1;
  apply_one(ada);
  apply(begun_for_artifacts());
  EXPECT_EQ(applied(upload(1, "a", 'c')), Applied::applied);
}

TEST_P(StorageContract, R54_AnAcceptedResultTakesThoseOfOtherAttemptsAlong) {
  apply(begun_for_artifacts());
  apply({upload(1, "a", 'c'), upload(2, "b", 'd'), upload(2, "c", 'e'), upload(3, "d", 'e'),
         end(1, AttemptState::expired)});
  EXPECT_THAT(ids(storage()), ElementsAre("a", "b", "c", "d"));  // a late result may still count
  EXPECT_THAT(apply_one(complete(1, {0.5})).dropped, ElementsAre(sha('d')));
  EXPECT_THAT(ids(storage()), ElementsAre("a", "d"));
  EXPECT_THAT(blobs(storage()), ElementsAre(sha('c'), sha('e')));
  EXPECT_EQ(used(storage()), 2 * kBytes);
  EXPECT_EQ(applied(upload(2, "b", 'd')), Applied::superseded);
}

// Returns attempt `id` of trial 0, which resumes a checkpoint that attempt `from` saved.
StartAttempt going_on(std::int64_t id, std::int64_t from, char digit) {
  StartAttempt attempt = start(id, key(1, 0));
  attempt.from = save(from, digit).checkpoint;
  return attempt;
}

TEST_P(StorageContract, R54_WhoGoesOnInheritsWhatCameBeforeTheCheckpoint) {
  apply({create_study(1), start(1, key(1, 0)), start(2, key(1, 1)), upload(1, "before", 'a'),
         save(1, '7'), upload(1, "between", 'b'), save(1, '8'), upload(1, "after", 'c')});
  apply({upload(2, "another trial's", 'd'), end(1, AttemptState::expired), going_on(3, 1, '8'),
         upload(3, "own", 'e'), save(3, '9'), upload(3, "too late", 'f'),
         end(3, AttemptState::expired)});
  reopen();
  apply({going_on(4, 3, '9'), upload(4, "last", '0')});
  const Outcome accepted = apply_one(complete(4, {0.5}));
  EXPECT_EQ(accepted.verdict, protocol::Verdict::accepted);
  EXPECT_THAT(accepted.dropped, UnorderedElementsAre(sha('9'), sha('8'), sha('c'), sha('f')));
  EXPECT_THAT(ids(storage()), ElementsAre("before", "between", "another trial's", "own", "last"));
  EXPECT_EQ(used(storage()), 5 * kBytes);
  reopen();
  for (const char* id : {"before", "between", "own", "last"})
    EXPECT_EQ(storage().artifact(StudyId{1}, id, std::nullopt).value()->attempt, AttemptId{4})
        << id;
  EXPECT_EQ(storage().artifact(StudyId{1}, "another trial's", std::nullopt).value()->attempt,
            AttemptId{2});
}

TEST_P(StorageContract, R54_WhatWasInheritedStaysWhenTheFirstDeviceComesBack) {
  apply({create_study(1), start(1, key(1, 0)), upload(1, "before", 'a'), save(1, '7')});
  apply({going_on(2, 1, '7'), upload(1, "after", 'b')});  // both attempts run
  apply({complete(2, {0.5})});
  EXPECT_EQ(apply_one(complete(1, {0.5})).verdict, protocol::Verdict::evidence);
  EXPECT_THAT(ids(storage()), ElementsAre("before"));
}

TEST_P(StorageContract, R54_WhoBeganAnewInheritsNothing) {
  apply({create_study(1), start(1, key(1, 0)), upload(1, "before", 'a'), save(1, '7'),
         end(1, AttemptState::expired), start(2, key(1, 0)), complete(2, {0.5})});
  EXPECT_THAT(ids(storage()), IsEmpty());
}

TEST_P(StorageContract, R54_ATrialThatFailedKeepsThemUntilAResultCounts) {
  apply(begun_for_artifacts());
  apply({upload(1, "a", 'c'), failed(1), upload(2, "b", 'd'), end(2, AttemptState::expired)});
  EXPECT_THAT(apply_one(fail(key(1, 0))).dropped, IsEmpty());
  EXPECT_THAT(ids(storage()), ElementsAre("a", "b"));
  EXPECT_THAT(apply_one(ReissueTrials{StudyId{1}}).dropped, IsEmpty());
  apply({start(4, key(1, 0)), upload(4, "c", 'e')});
  EXPECT_THAT(ids(storage()), ElementsAre("a", "b", "c"));
  EXPECT_THAT(apply_one(pruned(2)).dropped, ElementsAre(sha('c'), sha('e')));  // a late result
  EXPECT_THAT(ids(storage()), ElementsAre("b"));
}

TEST_P(StorageContract, R54_AResultThatIsEvidenceTakesItsAttemptsAlong) {
  apply({create_study(1), start(1, key(1, 0)), upload(1, "a", 'c'), end(1, AttemptState::expired),
         start(2, key(1, 0)), upload(2, "b", 'd'), fail(key(1, 0)),
         end_study(1, StudyState::finished)});
  EXPECT_THAT(ids(storage()), ElementsAre("a", "b"));
  const Outcome late = apply_one(complete(1, {0.5}));
  EXPECT_EQ(late.verdict, protocol::Verdict::evidence);
  EXPECT_THAT(late.dropped, ElementsAre(sha('c')));
  EXPECT_THAT(ids(storage()), ElementsAre("b"));
  EXPECT_EQ(used(storage()), kBytes);
}

TEST_P(StorageContract, R54_AStudyThatIsCancelledKeepsThoseOfItsFinishedTrials) {
  apply(begun_for_artifacts());
  apply({upload(1, "a", 'c'), upload(3, "b", 'd'), start(4, key(1, 2)), upload(4, "c", 'e'),
         complete(1, {0.5}), fail(key(1, 2))});
  EXPECT_THAT(apply_one(end_study(1, StudyState::cancelled)).dropped, ElementsAre(sha('d')));
  EXPECT_THAT(ids(storage()), ElementsAre("a", "c"));
  EXPECT_EQ(used(storage()), 2 * kBytes);
}

TEST_P(StorageContract, R54_ABlobStaysWhileACheckpointOrAnArtifactNamesIt) {
  apply(begun_for_artifacts());
  apply({save(1, 'c'), upload(2, "a", 'c'), upload(3, "b", 'd'), save(3, 'd')});
  EXPECT_THAT(blobs(storage()), ElementsAre(sha('c'), sha('d')));
  EXPECT_THAT(apply_one(complete(3, {0.5})).dropped, IsEmpty());  // removes only its checkpoint
  EXPECT_THAT(blobs(storage()), ElementsAre(sha('c'), sha('d')));
  // The checkpoint and the other attempt's artifact are removed. They have the same blob, which is
  // dropped once.
  EXPECT_THAT(apply_one(complete(1, {0.5})).dropped, ElementsAre(sha('c')));
  EXPECT_THAT(blobs(storage()), ElementsAre(sha('d')));
}

TEST_P(StorageContract, R54_AnErasedDeviceLeavesItsArtifacts) {
  apply(begun_for_artifacts());
  apply({create_device("phone"), upload(1, "a", 'c'), end(1, AttemptState::revoked)});
  EXPECT_EQ(applied(EraseDevice{"phone"}), Applied::applied);
  EXPECT_THAT(ids(storage()), ElementsAre("a"));
}

}  // namespace
}  // namespace hyperflock::storage
