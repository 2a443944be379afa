// Tests of deleted studies in the storage contract: no reader sees them again, and the rows and
// blobs that only they used are removed (R55).
#include "storage/contract/suite.h"

namespace hyperflock::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kArtifactBytes = 10;

DeleteStudy delete_study(std::int64_t id) { return {StudyId{id}}; }

StoreArtifact upload_file(std::int64_t attempt, const std::string& id, char digit) {
  StoreArtifact store{"phone", {}};
  store.artifact.id = id;
  store.artifact.attempt = AttemptId{attempt};
  store.artifact.name = "curve.png";
  store.artifact.type = "image/png";
  store.artifact.blob = {sha(digit), kArtifactBytes};
  return store;
}

CreateStudy asked_study_of(std::int64_t id) {
  CreateStudy create = create_study(id, "asked");
  create.spec.kind = protocol::StudyKind::asked;
  create.spec.directions = {protocol::Direction::maximize};
  create.spec.space.clear();
  create.total = 0;
  return create;
}

// Removes the rows of deleted studies, `rows` at a time. Returns the blobs that were dropped.
std::vector<std::string> sweep(Storage& storage, std::int64_t rows = kSweptRows) {
  std::vector<std::string> dropped;
  for (int piece = 0; piece < 1'000; ++piece) {
    const auto outcomes = storage.apply(std::vector<Transition>{SweepDeleted{rows}}).value();
    const auto& blobs = outcomes.front().dropped;
    dropped.insert(dropped.end(), blobs.begin(), blobs.end());
    if (outcomes.front().applied == Applied::repeated) return dropped;
  }
  ADD_FAILURE() << "there is always more";
  return dropped;
}

// Returns transitions of study 1 with three trials. One has two attempts with curves, one fails.
std::vector<Transition> over() {
  return {create_study(1),
          start(1, key(1, 0)),
          append(1, {{1, 0.5}, {2, 0.5}, {3, 0.5}}),
          end(1, AttemptState::expired),
          start(2, key(1, 0)),
          append(2, {{1, 0.25}, {2, 0.25}}),
          upload_file(2, "a", 'c'),
          complete(2, {0.5}),
          start(3, key(1, 1)),
          upload_file(3, "b", 'd'),
          upload_file(3, "c", 'c'),
          fail(key(1, 1)),
          start(4, key(1, 2)),
          end_study(1, StudyState::cancelled)};
}

TEST_P(StorageContract, R55_ADeletedStudyIsGoneForEveryReader) {
  apply(over());
  const AttemptRow row = storage().attempt(AttemptId{2}).value().value();
  const Outcome gone = apply_one(delete_study(1));
  EXPECT_EQ(gone.applied, Applied::applied);
  EXPECT_EQ(gone.study, StudyId{1});
  EXPECT_EQ(gone.freed, (Freed{2, 3, 3 * kArtifactBytes + 1'333}));
  for (int life = 0; life < 2; ++life, reopen()) {
    EXPECT_THAT(storage().studies({}).value().studies, IsEmpty());
    EXPECT_FALSE(storage().study(StudyId{1}).value().has_value());
    EXPECT_THAT(finished(1), IsEmpty());
    EXPECT_THAT(storage().unfinished_trials(StudyId{1}, 0, 100).value(), IsEmpty());
    EXPECT_FALSE(storage().trial(key(1, 0)).value().has_value());
    EXPECT_FALSE(storage().attempt(AttemptId{2}).value().has_value());
    EXPECT_FALSE(storage().attempt(AttemptId{4}).value().has_value());
    EXPECT_THAT(storage().artifacts(StudyId{1}, {}, 0, 100).value(), IsEmpty());
    EXPECT_FALSE(storage().artifact(StudyId{1}, "a", std::nullopt).value().has_value());
    EXPECT_EQ(storage().usage("ada").value(), Usage{});
    EXPECT_FALSE(storage().project_references("default", sha('a')).value());
    EXPECT_THAT(storage().load().value().studies, IsEmpty());
  }
  sweep(storage());
  EXPECT_THAT(storage().curve(row).value(), IsEmpty());
  EXPECT_THAT(storage().kept_blobs().value(), IsEmpty());
  EXPECT_THAT(storage().owned_blobs().value(), IsEmpty());
}

TEST_P(StorageContract, R55_AStudyThatIsNotOverStays) {
  apply({create_study(1), start(1, key(1, 0)), complete(1, {0.5}), pause_study(1)});
  EXPECT_EQ(applied(delete_study(1)), Applied::superseded);
  EXPECT_EQ(applied(pause_study(1, false)), Applied::applied);
  EXPECT_EQ(applied(delete_study(1)), Applied::superseded);
  EXPECT_EQ(study(1).complete, 1);
  EXPECT_EQ(applied(delete_study(2)), Applied::conflict);
  apply_one(end_study(1, StudyState::finished));
  EXPECT_EQ(applied(delete_study(1)), Applied::applied);
  EXPECT_EQ(applied(delete_study(1)), Applied::conflict);
}

TEST_P(StorageContract, R55_WhatComesLateIsUnknown) {
  apply(over());
  const std::vector<Transition> late{start(9, key(1, 5)),
                                     complete(4, {0.5}),
                                     complete(2, {0.5}),
                                     end(4, AttemptState::revoked),
                                     end(2, AttemptState::expired),
                                     append(4, {{1, 0.5}}),
                                     upload_file(4, "z", 'e'),
                                     StoreCheckpoint{"phone",
                                                     {.attempt = AttemptId{4},
                                                      .format = protocol::CheckpointFormat::npz,
                                                      .blob = {sha('e'), kArtifactBytes},
                                                      .step = {}}},
                                     fail(key(1, 2)),
                                     end_study(1, StudyState::finished),
                                     pause_study(1),
                                     ReissueTrials{StudyId{1}},
                                     ClaimStudy{StudyId{1}, "nb"},
                                     delete_study(1)};
  std::vector<Transition> batch{delete_study(1)};
  batch.insert(batch.end(), late.begin(), late.end());
  for (int life = 0; life < 2; ++life) {
    const auto outcomes = apply(batch);
    EXPECT_EQ(outcomes[0].applied, life == 0 ? Applied::applied : Applied::conflict);
    for (std::size_t i = 1; i < outcomes.size(); ++i)
      EXPECT_EQ(outcomes[i].applied, Applied::conflict) << "transition " << i;
    sweep(storage());
  }
  EXPECT_THAT(storage().kept_blobs().value(), IsEmpty());
}

TEST_P(StorageContract, R55_AnAskedStudyGoesWithItsSuggestions) {
  apply({asked_study_of(1), ClaimStudy{StudyId{1}, "nb"},
         AskTrials{StudyId{1}, 1, {{TrialNumber{0}, "{}", 1, {}}, {TrialNumber{1}, "{}", 1, {}}}},
         start(1, key(1, 0)), StoreSuggestion{key(1, 0), 1, 0, {"x", "d", "1"}, R"({"x": 1})"},
         complete(1, {0.5}), end_study(1, StudyState::finished)});
  const StoreSuggestion late{key(1, 1), 1, 0, {"x", "d", "1"}, R"({"x": 1})"};
  const auto outcomes =
      apply({delete_study(1), late, AskTrials{StudyId{1}, 1, {{TrialNumber{2}, "{}", 1, {}}}},
             ClaimStudy{StudyId{1}, "nb"}});
  EXPECT_EQ(outcomes[0].freed->trials, 1);
  for (std::size_t i = 1; i < outcomes.size(); ++i)
    EXPECT_EQ(outcomes[i].applied, Applied::conflict) << "transition " << i;
  sweep(storage());
  EXPECT_EQ(applied(late), Applied::conflict);
}

TEST_P(StorageContract, R55_NumbersAreNotGivenAgainAndTheSubmitKeyMayBe) {
  apply(over());
  apply({create_study(2, "other"), start(7, key(2, 0)), complete(7, {0.5})});
  const std::int64_t seq = study(2).cursor;
  apply({end_study(2, StudyState::finished), delete_study(1), delete_study(2)});
  EXPECT_EQ(storage().load().value().next_study_id, 3);
  sweep(storage());
  reopen();
  const Snapshot after = storage().load().value();
  EXPECT_EQ(after.next_study_id, 3);
  EXPECT_EQ(after.next_attempt_id, 8);
  EXPECT_EQ(applied(create_study(2, "other")), Applied::conflict);
  const Outcome again = apply_one(create_study(3));
  EXPECT_EQ(again.applied, Applied::applied);
  EXPECT_EQ(again.study, StudyId{3});
  apply({start(8, key(3, 0)), complete(8, {0.5})});
  EXPECT_GT(study(3).cursor, seq);
  EXPECT_EQ(storage().usage("ada").value(), (Usage{1, 6, 1'333}));
}

// Study 2, which has the largest numbers, is deleted first. So no row has them any more when study
// 1 is deleted.
TEST_P(StorageContract, R55_NumbersAreNotGivenAgainInWhateverOrderTheyGo) {
  apply(over());
  apply({create_study(2, "other"), start(7, key(2, 0)), complete(7, {0.5}),
         end_study(2, StudyState::finished)});
  for (const std::int64_t id : {2, 1}) {
    EXPECT_EQ(applied(delete_study(id)), Applied::applied);
    sweep(storage());
  }
  reopen();
  EXPECT_EQ(storage().load().value().next_study_id, 3);
  EXPECT_EQ(storage().load().value().next_attempt_id, 8);
  EXPECT_EQ(applied(create_study(2, "other")), Applied::conflict);
  EXPECT_EQ(applied(create_study(3)), Applied::applied);
}

TEST_P(StorageContract, R55_BlobsStayWhereAnotherStudyOrOwnerNamesThem) {
  CreateStudy hers = create_study(2, "other");
  hers.spec.bundle = {sha('e'), 50};  // its data is that of study 1
  CreateStudy his = create_study(3);
  his.owner = "grace";
  his.project = "birds";
  apply(over());
  apply({hers, his});
  const Outcome first = apply_one(delete_study(1));
  EXPECT_EQ(first.freed, (Freed{2, 3, 3 * kArtifactBytes + 1'234}));
  EXPECT_THAT(first.disowned, IsEmpty());  // grace's study has the same bundle
  EXPECT_FALSE(storage().project_references("default", sha('a')).value());
  EXPECT_TRUE(storage().project_references("birds", sha('a')).value());
  EXPECT_TRUE(storage().project_references("default", sha('b')).value());
  EXPECT_EQ(storage().usage("ada").value().bytes, 149);

  apply({end_study(2, StudyState::finished), end_study(3, StudyState::cancelled)});
  EXPECT_THAT(apply_one(delete_study(2)).disowned, ElementsAre(sha('e')));
  EXPECT_THAT(storage().owned_blobs().value(), ElementsAre(sha('a'), sha('b')));
  EXPECT_THAT(apply_one(delete_study(3)).disowned, ElementsAre(sha('a'), sha('b')));
  EXPECT_EQ(storage().usage("grace").value(), Usage{});
}

TEST_P(StorageContract, R55_ABlobThatTheOwnerOnlyBroughtStays) {
  apply(over());
  apply_one(OwnBlob{"ada", sha('f'), 7, {}});
  apply_one(OwnBlob{"grace", sha('a'), 1'234, {}});
  EXPECT_THAT(apply_one(delete_study(1)).disowned, ElementsAre(sha('b')));
  EXPECT_THAT(storage().owned_blobs().value(), ElementsAre(sha('a'), sha('f')));
  EXPECT_EQ(storage().usage("ada").value().bytes, 7);
}

TEST_P(StorageContract, R55_FilesOfTrialsGoWithTheLastRowThatNamesThem) {
  apply(over());
  apply({create_study(2, "other"), start(7, key(2, 0)), upload_file(7, "a", 'd')});
  std::vector<std::string> dropped = apply_one(delete_study(1)).dropped;
  for (std::string& blob : sweep(storage(), 1)) dropped.push_back(std::move(blob));
  EXPECT_THAT(dropped, ElementsAre(sha('c')));
  EXPECT_THAT(storage().kept_blobs().value(), ElementsAre(sha('d')));
  EXPECT_EQ(storage().usage("ada").value().bytes, 1'333 + kArtifactBytes);
}

// Rows can be removed in pieces of any size, with restarts between the pieces. The result is the
// same.
TEST_P(StorageContract, R55_PiecesGoOnAfterARestart) {
  for (const std::int64_t rows : {1, 2, 3, 5, 100}) {
    const std::int64_t id = storage().load().value().next_study_id;
    const std::int64_t attempt = storage().load().value().next_attempt_id;
    std::vector<Transition> batch{create_study(id)};
    for (std::int64_t i = 0; i < 3; ++i) {
      batch.emplace_back(start(attempt + 2 * i, key(id, i)));
      batch.emplace_back(append(attempt + 2 * i, {{1, 0.5}, {2, 0.5}, {3, 0.5}}));
      batch.emplace_back(start(attempt + 2 * i + 1, key(id, i)));
      batch.emplace_back(upload_file(attempt + 2 * i + 1, std::to_string(i), 'c'));
      batch.emplace_back(complete(attempt + 2 * i + 1, {0.5}));
    }
    batch.emplace_back(end_study(id, StudyState::finished));
    batch.emplace_back(delete_study(id));
    std::vector<std::string> dropped = apply(batch).back().dropped;
    int pieces = 0;
    for (; pieces < 100; ++pieces) {
      const Outcome piece = apply_one(SweepDeleted{rows});
      dropped.insert(dropped.end(), piece.dropped.begin(), piece.dropped.end());
      if (piece.applied == Applied::repeated) break;
      reopen();
    }
    EXPECT_LT(pieces, 100);
    EXPECT_FALSE(storage().load().value().unswept);
    EXPECT_THAT(dropped, ElementsAre(sha('c')));
    EXPECT_THAT(storage().kept_blobs().value(), IsEmpty());
  }
}

TEST_P(StorageContract, R55_TheNoteOfADeletionIsWrittenWithIt) {
  apply(over());
  apply({delete_study(1), note("study.delete"), delete_study(1), note("study.delete")});
  EXPECT_EQ(storage().audit(0, 100).value().size(), 1U);
}

}  // namespace
}  // namespace hyperflock::storage
