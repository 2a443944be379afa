// Tests which trials are the best of a study: constraints, several directions, ties (R57).
#include "storage/contract/suite.h"

namespace hyperflock::storage {
namespace {

using protocol::Direction;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

StoreResult with_constraint(StoreResult store, const std::string& value) {
  store.result.attrs = R"({"user":{},"system":{"constraints:room":)" + value + "}}";
  return store;
}

// Returns the transitions for an ask-and-tell study with started trials. With `constrained`, the
// owner computes the constraints of each trial from its result.
std::vector<Transition> asked(std::vector<Direction> directions, std::int64_t trials,
                              bool constrained = false) {
  CreateStudy create = create_study(1, "key", directions.front());
  create.spec.kind = protocol::StudyKind::asked;
  create.spec.directions = std::move(directions);
  create.spec.space.clear();
  create.total = 0;
  AskTrials ask{.study = StudyId{1}, .generation = 1, .trials = {}};
  for (std::int64_t i = 0; i < trials; ++i)
    ask.trials.push_back({TrialNumber{i}, "{}", 7, "", constrained});
  std::vector<Transition> batch{create, ClaimStudy{StudyId{1}, "owner"}, ask};
  for (std::int64_t i = 0; i < trials; ++i) batch.emplace_back(start(i + 1, key(1, i)));
  return batch;
}

StoreConstraints constraints(std::int64_t number, std::vector<double> values,
                             std::int64_t generation = 1) {
  return {key(1, number), generation, std::move(values)};
}

std::vector<std::int64_t> numbers_of(const std::vector<TrialDetail>& trials) {
  std::vector<std::int64_t> numbers;
  for (const TrialDetail& one : trials) numbers.push_back(to_int(one.trial.key.number));
  return numbers;
}

TEST_P(StorageContract, R57_ATrialThatDoesNotMeetItsConstraintsIsNotTheBest) {
  apply({create_study(1, "key", Direction::minimize), start(1, key(1, 0)), start(2, key(1, 1)),
         start(3, key(1, 2)), with_constraint(complete(1, {5}), "-1"),
         with_constraint(complete(2, {1}), "0.5")});
  EXPECT_EQ(study(1).best_trial, TrialNumber{0});
  apply_one(with_constraint(complete(3, {4}), "0"));
  reopen();
  EXPECT_EQ(study(1).best_trial, TrialNumber{2});
  EXPECT_EQ(study(1).best_value, 4);
  EXPECT_THAT(numbers_of(storage().best_trials(StudyId{1}, 0, 100).value()), ElementsAre(2));
}

TEST_P(StorageContract, R57_WithoutATrialThatMeetsItsConstraintsThereIsNoBest) {
  apply({create_study(1), start(1, key(1, 0)), with_constraint(complete(1, {5}), "Infinity")});
  EXPECT_FALSE(study(1).best_trial.has_value());
  EXPECT_EQ(study(1).complete, 1);
  EXPECT_THAT(storage().best_trials(StudyId{1}, 0, 100).value(), IsEmpty());
}

TEST_P(StorageContract, R57_TheLowestNumberWinsATieWhateverFinishedFirst) {
  apply({create_study(1), start(1, key(1, 0)), start(2, key(1, 1)), complete(2, {5}),
         complete(1, {5})});
  EXPECT_EQ(study(1).best_trial, TrialNumber{0});
}

TEST_P(StorageContract, R57_OfSeveralDirectionsThoseThatNoOtherOneBeats) {
  apply(asked({Direction::minimize, Direction::maximize}, 5));
  apply({complete(1, {2, 5}), complete(2, {3, 5}), complete(4, {0.5, 4})});
  EXPECT_THAT(study(1).best_trials, ElementsAre(TrialNumber{0}, TrialNumber{3}));
  reopen();  // the front is read again
  apply({complete(3, {1, 6}), complete(5, {1, 6})});
  EXPECT_THAT(study(1).best_trials, ElementsAre(TrialNumber{2}, TrialNumber{3}, TrialNumber{4}));
  EXPECT_THAT(numbers_of(storage().best_trials(StudyId{1}, 0, 100).value()), ElementsAre(2, 3, 4));
  EXPECT_FALSE(study(1).best_trial.has_value());
  EXPECT_THAT(storage().studies({}).value().studies.at(0).best_trials, SizeIs(3));
}

TEST_P(StorageContract, R57_OfSeveralDirectionsConstraintsCountToo) {
  apply(asked({Direction::minimize, Direction::minimize}, 3));
  apply({with_constraint(complete(1, {1, 1}), "3"), with_constraint(complete(2, {2, 3}), "-1"),
         complete(3, {3, 2})});
  EXPECT_THAT(study(1).best_trials, ElementsAre(TrialNumber{1}, TrialNumber{2}));
}

TEST_P(StorageContract, R57_ATrialWaitsForTheConstraintsOfItsOwner) {
  apply(asked({Direction::minimize}, 3, true));
  EXPECT_EQ(applied(constraints(0, {-1})), Applied::repeated);  // it has no result
  apply({complete(1, {5}), complete(2, {1}), complete(3, {4})});
  EXPECT_FALSE(study(1).best_trial.has_value());
  EXPECT_EQ(applied(constraints(0, {-1, 0})), Applied::applied);
  EXPECT_EQ(study(1).best_trial, TrialNumber{0});
  EXPECT_EQ(applied(constraints(1, {-1, 2})), Applied::applied);
  EXPECT_EQ(study(1).best_trial, TrialNumber{0});
  reopen();
  EXPECT_EQ(applied(constraints(2, {})), Applied::applied);
  EXPECT_EQ(study(1).best_trial, TrialNumber{2});
  EXPECT_EQ(applied(constraints(1, {-1})), Applied::repeated);  // the first ones stay
  EXPECT_EQ(trial(1, 1).trial.constraints, (std::vector<double>{-1, 2}));
  EXPECT_EQ(trial(1, 2).trial.constraints, std::vector<double>{});
  EXPECT_EQ(finished(1).at(0).trial.constraints, (std::vector<double>{-1, 0}));
}

TEST_P(StorageContract, R57_OnlyTheOwnerOfTheNewestGenerationSendsConstraints) {
  apply(asked({Direction::minimize}, 1, true));
  apply({complete(1, {5}), ClaimStudy{StudyId{1}, "next"}});
  EXPECT_EQ(applied(constraints(0, {-1})), Applied::superseded);
  EXPECT_EQ(applied(constraints(7, {-1}, 2)), Applied::conflict);
  EXPECT_EQ(applied(constraints(0, {-1}, 2)), Applied::applied);
  EXPECT_EQ(applied(StoreConstraints{key(9, 0), 1, {}}), Applied::conflict);
}

TEST_P(StorageContract, R57_BothTheObjectivesAndTheOwnersConstraintsCount) {
  apply(asked({Direction::minimize}, 2, true));
  apply({with_constraint(complete(1, {1}), "1"), with_constraint(complete(2, {2}), "-1"),
         constraints(0, {-1}), constraints(1, {-1})});
  EXPECT_EQ(study(1).best_trial, TrialNumber{1});
}

TEST_P(StorageContract, R57_ConstraintsThatWereNotAnnouncedTakeATrialBack) {
  apply(asked({Direction::minimize}, 3));
  apply({complete(1, {5}), complete(2, {1}), complete(3, {4})});
  EXPECT_EQ(study(1).best_trial, TrialNumber{1});
  EXPECT_EQ(applied(constraints(1, {0.5})), Applied::applied);
  EXPECT_EQ(study(1).best_trial, TrialNumber{2});
  apply({constraints(0, {1}), constraints(2, {1})});
  EXPECT_FALSE(study(1).best_trial.has_value());
}

TEST_P(StorageContract, R57_TheyTakeATrialBackFromTheFrontToo) {
  apply(asked({Direction::minimize, Direction::minimize}, 3));
  apply({complete(1, {3, 1}), complete(2, {1, 1}), complete(3, {2, 2})});
  EXPECT_THAT(study(1).best_trials, ElementsAre(TrialNumber{1}));
  apply_one(constraints(1, {0.5}));
  EXPECT_THAT(study(1).best_trials, ElementsAre(TrialNumber{0}, TrialNumber{2}));
  apply_one(constraints(0, {-1}));
  EXPECT_THAT(study(1).best_trials, ElementsAre(TrialNumber{0}, TrialNumber{2}));
}

TEST_P(StorageContract, R57_APrunedTrialIsNeverTheBest) {
  apply(asked({Direction::minimize}, 1, true));
  apply({pruned(1), constraints(0, {-1})});
  EXPECT_FALSE(study(1).best_trial.has_value());
}

TEST_P(StorageContract, R57_ADeletedStudyLeavesNoBestTrials) {
  apply(asked({Direction::minimize, Direction::minimize}, 1));
  apply({complete(1, {1, 1}), end_study(1, StudyState::finished), DeleteStudy{StudyId{1}}});
  EXPECT_THAT(storage().best_trials(StudyId{1}, 0, 100).value(), IsEmpty());
  EXPECT_EQ(applied(constraints(0, {1})), Applied::conflict);
}

}  // namespace
}  // namespace hyperflock::storage
