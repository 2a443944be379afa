// Tests what counts against the quota of a study's owner, and what one device may keep (quota.h).
#include "storage/contract/suite.h"

namespace hyperflock::storage {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kBlobs = 1'333;  // of the study's code and data

StoreCheckpoint checkpoint(std::int64_t attempt, char digit, std::int64_t bytes,
                           const std::string& device = "phone") {
  return {device,
          {.attempt = AttemptId{attempt},
           .format = protocol::CheckpointFormat::npz,
           .blob = {sha(digit), bytes},
           .step = {}}};
}

StoreArtifact artifact(std::int64_t attempt, const std::string& id, std::int64_t bytes,
                       const std::string& device = "phone") {
  StoreArtifact store{device, {}};
  store.artifact.id = id;
  store.artifact.attempt = AttemptId{attempt};
  store.artifact.name = "f";
  store.artifact.type = "t";
  store.artifact.blob = {sha('c'), bytes};
  return store;
}

CreatePrincipal ada(std::int64_t quota_bytes) {
  CreatePrincipal create = create_principal("ada", '1');
  create.principal.quota.bytes = quota_bytes;
  return create;
}

// Returns transitions that start attempts 1 and 2 on a phone and attempt 3 on a laptop.
std::vector<Transition> begun_on_two_devices() {
  return {create_study(1), start(1, key(1, 0)), start(2, key(1, 1)), start(3, key(1, 2), "laptop")};
}

StoredBytes stored(Storage& storage) { return storage.stored("ada").value(); }

std::optional<Refusal> judged(Storage& storage, std::int64_t attempt, UploadKind kind,
                              std::int64_t bytes, std::int64_t room = kAmpleRoom) {
  const Outcome outcome = storage.judge_bytes(AttemptId{attempt}, kind, bytes, room).value();
  EXPECT_EQ(outcome.applied == Applied::applied, !outcome.refusal && !outcome.excess);
  return outcome.excess ? Refusal::quota : outcome.refusal;
}

TEST_P(StorageContract, EachKindOfBytesIsKeptUntilItGoes) {
  apply(begun_on_two_devices());
  const std::int64_t records = stored(storage()).records;
  EXPECT_GT(records, kStudyRecord + 3 * kAttemptRecord);
  apply({artifact(1, "a", 100), artifact(2, "b", 10), checkpoint(1, 'd', 7), checkpoint(1, 'e', 8),
         checkpoint(1, 'f', 9), append(1, {{1, 0.5}, {2, 0.5}}), append(1, {{2, 0.5}})});
  const StoredBytes all{kBlobs, 110, 17, records + 2 * kArtifactRecord + 2 * kPointRecord};
  EXPECT_EQ(stored(storage()), all);
  reopen();
  EXPECT_EQ(stored(storage()), all);
  EXPECT_EQ(storage().usage("ada").value().bytes, kBlobs + 110 + 17);

  apply_one(complete(1, {0.5}));
  EXPECT_EQ(stored(storage()).checkpoints, 0);
  EXPECT_EQ(stored(storage()).artifacts, 110);  // an accepted one stays
  apply_one(end_study(1, StudyState::cancelled));
  EXPECT_EQ(stored(storage()).artifacts, 100);
  EXPECT_GT(stored(storage()).records, records);  // curves and results stay
  const Outcome gone = apply_one(DeleteStudy{StudyId{1}});
  EXPECT_EQ(gone.freed->bytes, kBlobs + 100);
  EXPECT_EQ(stored(storage()), StoredBytes{});
  apply_one(SweepDeleted{});
  reopen();
  EXPECT_EQ(stored(storage()), StoredBytes{});
}

TEST_P(StorageContract, R37_ACheckpointCountsForTheOwnerAndWhatItReplacesIsFree) {
  apply_one(ada(kBlobs + 200));
  apply(begun_on_two_devices());
  EXPECT_EQ(applied(checkpoint(1, 'c', 100)), Applied::applied);
  EXPECT_EQ(applied(checkpoint(1, 'd', 100)), Applied::applied);
  EXPECT_EQ(judged(storage(), 1, UploadKind::checkpoint, 100), std::nullopt);
  EXPECT_EQ(applied(checkpoint(1, 'e', 100)), Applied::applied);
  EXPECT_EQ(stored(storage()).checkpoints, 200);
  EXPECT_EQ(judged(storage(), 2, UploadKind::checkpoint, 100), Refusal::quota);
  const Outcome refused = apply_one(checkpoint(2, 'f', 100));
  EXPECT_EQ(refused.applied, Applied::superseded);
  EXPECT_EQ(refused.excess, (Excess{Excess::What::bytes, kBlobs + 200, 100, kBlobs + 200}));
  apply_one(complete(1, {0.5}));
  EXPECT_EQ(applied(checkpoint(2, 'f', 100)), Applied::applied);
}

TEST_P(StorageContract, OneDeviceCannotUseUpTheQuota) {
  apply_one(ada(kBlobs + 16 * kMiB));
  apply(begun_on_two_devices());
  EXPECT_EQ(applied(artifact(1, "a", 6 * kMiB)), Applied::applied);
  EXPECT_EQ(judged(storage(), 1, UploadKind::artifact, 3 * kMiB), Refusal::device_share);
  const Outcome refused = apply_one(artifact(1, "b", 3 * kMiB));
  EXPECT_EQ(refused.applied, Applied::superseded);
  EXPECT_EQ(refused.refusal, Refusal::device_share);
  // All attempts, trials and kinds of files of a device use the same share.
  EXPECT_EQ(apply_one(checkpoint(2, 'd', 3 * kMiB)).refusal, Refusal::device_share);
  EXPECT_EQ(applied(checkpoint(2, 'd', 2 * kMiB)), Applied::applied);
  // The laptop gets half of the 8 MiB that are left.
  EXPECT_EQ(apply_one(artifact(3, "c", 5 * kMiB, "laptop")).refusal, Refusal::device_share);
  EXPECT_EQ(applied(artifact(3, "c", 4 * kMiB, "laptop")), Applied::applied);
  reopen();
  EXPECT_EQ(judged(storage(), 1, UploadKind::artifact, kMiB), Refusal::device_share);
  EXPECT_EQ(judged(storage(), 3, UploadKind::artifact, kMiB / 2), Refusal::device_share);
  apply_one(complete(2, {0.5}));  // drops the checkpoint
  EXPECT_EQ(judged(storage(), 3, UploadKind::artifact, kMiB), std::nullopt);
}

TEST_P(StorageContract, WithoutAQuotaADeviceSharesTheServersRoom) {
  apply(begun_on_two_devices());
  StoreArtifact large = artifact(1, "a", 6 * kMiB);
  large.room = 10 * kMiB;
  EXPECT_EQ(apply_one(large).refusal, Refusal::device_share);
  EXPECT_EQ(judged(storage(), 1, UploadKind::artifact, 6 * kMiB, 10 * kMiB), Refusal::device_share);
  large.room = 12 * kMiB;
  EXPECT_EQ(applied(large), Applied::applied);
}

TEST_P(StorageContract, ADeviceThatWasErasedKeepsNothing) {
  apply(begun_on_two_devices());
  apply({create_device("phone"), artifact(1, "a", 6 * kMiB)});
  EXPECT_EQ(judged(storage(), 2, UploadKind::artifact, 5 * kMiB, 8 * kMiB), Refusal::device_share);
  apply({EraseDevice{"phone"}, start(4, key(1, 3))});
  EXPECT_EQ(judged(storage(), 4, UploadKind::artifact, 4 * kMiB, 8 * kMiB), std::nullopt);
  apply_one(end_study(1, StudyState::cancelled));  // drops what nobody keeps any more
  EXPECT_EQ(stored(storage()).artifacts, 0);
}

TEST_P(StorageContract, AnAttemptThatDoesNotExistHasNoBudget) {
  const Outcome outcome =
      storage().judge_bytes(AttemptId{9}, UploadKind::artifact, 1, kAmpleRoom).value();
  EXPECT_EQ(outcome.applied, Applied::conflict);
}

TEST_P(StorageContract, WithoutRoomForRecordsResultsCountAndPointsDoNot) {
  apply_one(ada(100 * kMiB));
  apply(begun_on_two_devices());
  StoreResult large = complete(1, {0.5});
  large.result.attrs = std::string(static_cast<std::size_t>(most_records(100 * kMiB)), 'x');
  EXPECT_EQ(apply_one(large).verdict, protocol::Verdict::accepted);
  const Outcome refused = apply_one(append(2, {{1, 0.5}}));
  EXPECT_EQ(refused.applied, Applied::superseded);
  EXPECT_EQ(refused.refusal, Refusal::quota);
  EXPECT_TRUE(storage().curve(storage().attempt(AttemptId{2}).value().value()).value().empty());
  EXPECT_EQ(applied(append(2, {})), Applied::repeated);
  EXPECT_EQ(apply_one(complete(2, {0.5})).verdict, protocol::Verdict::accepted);
  CreateStudy more = create_study(2, "more");
  more.quota.bytes = 100 * kMiB;
  const Outcome unwanted = apply_one(more);
  EXPECT_EQ(unwanted.applied, Applied::superseded);
  ASSERT_TRUE(unwanted.excess.has_value());
  EXPECT_EQ(unwanted.excess->what, Excess::What::records);

  apply({end_study(1, StudyState::cancelled), DeleteStudy{StudyId{1}}});
  EXPECT_EQ(applied(more), Applied::applied);
}

// Leaves room for `left` more bytes of records of a study whose trial 1 has failed.
std::vector<Transition> almost_full(Storage& storage, std::int64_t left) {
  StoreResult large = complete(1, {0.5});
  const std::int64_t used = storage.stored("ada").value().records;
  large.result.attrs =
      std::string(static_cast<std::size_t>(most_records(100 * kMiB) - used - left), 'x');
  return {large, fail(key(1, 1))};
}

constexpr Quota kFilled{.studies = 0, .trials = 0, .bytes = 100 * kMiB};

TEST_P(StorageContract, R64_NewCodeOfARunningStudyNeedsRoomForItsSpec) {
  apply_one(ada(100 * kMiB));
  apply(begun_on_two_devices());
  apply(almost_full(storage(), 100));
  const std::int64_t before = stored(storage()).records;
  ReissueTrials mended{.study = StudyId{1}, .quota = kFilled};
  mended.code = protocol::NewCode{
      .entry = "digits:objective", .bundle = {sha('e'), 5}, .provenance_json = "{}"};
  const Outcome refused = apply_one(mended);
  EXPECT_EQ(refused.applied, Applied::superseded);
  ASSERT_TRUE(refused.excess.has_value());
  EXPECT_EQ(refused.excess->what, Excess::What::records);
  EXPECT_GT(refused.excess->asked, 100);
  EXPECT_EQ(stored(storage()).records, before);
  EXPECT_EQ(storage().study(StudyId{1}).value()->spec.bundle.sha256, sha('a'));
  EXPECT_EQ(storage().study(StudyId{1}).value()->failed, 1);

  mended.code.reset();  // the same trials with the same code need none
  EXPECT_EQ(applied(mended), Applied::applied);
}

TEST_P(StorageContract, R64_WhatNewCodeIsChargedWasAskedFor) {
  apply_one(ada(100 * kMiB));
  apply(begun_on_two_devices());
  apply(almost_full(storage(), 100));
  ReissueTrials mended{.study = StudyId{1}, .quota = kFilled};
  mended.code = protocol::NewCode{
      .entry = "digits:objective", .bundle = {sha('e'), 5}, .provenance_json = "{}"};
  const std::int64_t asked = apply_one(mended).excess.value().asked;
  const std::int64_t before = stored(storage()).records;
  mended.quota = {};
  EXPECT_EQ(applied(mended), Applied::applied);
  EXPECT_EQ(stored(storage()).records, before + asked);
}

TEST_P(StorageContract, R65_ALongerSpaceNeedsRoomForItsValues) {
  apply_one(ada(100 * kMiB));
  apply(begun_on_two_devices());
  apply(almost_full(storage(), 1'000));
  const StudyRow row = storage().study(StudyId{1}).value().value();
  ExtendStudy longer{StudyId{1}, {row.spec.space}, kFilled};
  longer.more.space[1].values_json.push_back('"' + std::string(2'000, 'v') + '"');
  const Outcome refused = apply_one(longer);
  EXPECT_EQ(refused.applied, Applied::superseded);
  ASSERT_TRUE(refused.excess.has_value());
  EXPECT_EQ(refused.excess->what, Excess::What::records);
  EXPECT_GT(refused.excess->asked, 2'000);
  EXPECT_EQ(storage().study(StudyId{1}).value()->total, row.total);

  longer.more.space[1].values_json.back() = R"("v")";
  EXPECT_EQ(applied(longer), Applied::applied);
}

// A changed quota applies at once.
TEST_P(StorageContract, ANewQuotaIsReadAgain) {
  apply_one(ada(100 * kMiB));
  apply(begun_on_two_devices());
  StoreResult large = complete(1, {0.5});
  large.result.attrs = std::string(static_cast<std::size_t>(most_records(100 * kMiB)), 'x');
  apply_one(large);
  EXPECT_EQ(apply_one(append(2, {{1, 0.5}})).refusal, Refusal::quota);
  apply_one(UpdatePrincipal{1, {}, Quota{0, 0, 1'000 * kMiB}, {}});
  EXPECT_EQ(applied(append(2, {{1, 0.5}})), Applied::applied);
}

}  // namespace
}  // namespace hyperflock::storage
