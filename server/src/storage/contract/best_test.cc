// Tests which trials are the best of a study: constraints, several directions, ties (R57).
#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>

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

// Looks for best trials until they are known, `trials` at a time. Returns the number of pieces.
int search(Storage& storage, std::int64_t trials) {
  for (int pieces = 0;; ++pieces) {
    const auto outcomes = storage.apply(std::vector<Transition>{SearchBest{trials}}).value();
    if (outcomes.at(0).applied != Applied::applied) return pieces;
  }
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
  EXPECT_FALSE(storage().load()->unswept);
  const Outcome taken = apply_one(constraints(1, {0.5}));
  EXPECT_EQ(taken.applied, Applied::applied);
  EXPECT_TRUE(taken.searches);
  EXPECT_FALSE(study(1).best_trial.has_value());
  EXPECT_EQ(study(1).search_from, TrialNumber{0});
  reopen();
  EXPECT_TRUE(storage().load()->unswept);
  EXPECT_EQ(search(storage(), 1), 4);  // three trials, and the end
  EXPECT_FALSE(storage().load()->unswept);
  EXPECT_EQ(study(1).search_from, std::nullopt);
  EXPECT_EQ(study(1).best_trial, TrialNumber{2});
  // A trial that is not the best changes nothing.
  const auto both = apply({constraints(0, {1}), constraints(2, {1})});
  EXPECT_FALSE(both[0].searches);
  EXPECT_TRUE(both[1].searches);
  EXPECT_EQ(search(storage(), 100), 1);
  EXPECT_FALSE(study(1).best_trial.has_value());
}

TEST_P(StorageContract, R57_ResultsAndFurtherTakeBacksCountWhileTheBestIsLookedFor) {
  apply(asked({Direction::minimize}, 6));
  apply({complete(1, {1}), complete(2, {5}), complete(3, {2}), complete(4, {3})});
  apply_one(constraints(0, {1}));
  apply_one(SearchBest{2});
  EXPECT_EQ(study(1).best_trial, TrialNumber{1});  // of those that were looked at
  EXPECT_EQ(study(1).search_from, TrialNumber{2});
  apply_one(complete(6, {4}));
  EXPECT_EQ(study(1).best_trial, TrialNumber{5});
  EXPECT_FALSE(apply_one(constraints(2, {1})).searches);  // it was not looked at yet
  EXPECT_TRUE(apply_one(constraints(5, {1})).searches);
  EXPECT_EQ(study(1).search_from, TrialNumber{0});
  search(storage(), 2);
  EXPECT_EQ(study(1).best_trial, TrialNumber{3});
  EXPECT_EQ(study(1).best_value, 3);
}

TEST_P(StorageContract, R57_LongAttributesEndAPieceOfTheSearch) {
  apply(asked({Direction::minimize}, 3));
  for (std::int64_t i = 0; i < 3; ++i) {
    StoreResult store = complete(i + 1, {static_cast<double>(i)});
    store.result.attrs = R"({"user":{"text":")" + std::string(std::size_t{1} << 20, 'a') + "\"}}";
    apply({store});
  }
  apply_one(constraints(0, {1}));
  EXPECT_EQ(search(storage(), 100), 4);
  EXPECT_EQ(study(1).best_trial, TrialNumber{1});
}

// Returns the trials that no other one beats, if all directions are `minimize`.
std::vector<TrialNumber> front_of(const std::map<std::int64_t, std::vector<double>>& values) {
  const auto beats = [](const std::vector<double>& one, const std::vector<double>& other) {
    return one != other && one.front() <= other.front() && one.back() <= other.back();
  };
  std::vector<TrialNumber> front;
  for (const auto& [number, mine] : values) {
    const bool beaten =
        std::ranges::any_of(values, [&](const auto& other) { return beats(other.second, mine); });
    if (!beaten) front.emplace_back(TrialNumber{number});
  }
  return front;
}

// Makes random results, constraints and pieces of searches. `apply` applies a transition. Returns
// the values of the complete trials that were not taken back.
std::map<std::int64_t, std::vector<double>> walk(std::size_t directions, std::int64_t trials,
                                                 const std::function<void(Transition)>& apply) {
  std::mt19937 random(57);
  const auto pick = [&random](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(most));
  };
  std::map<std::int64_t, std::vector<double>> values;
  std::set<std::int64_t> rejected;
  for (int step = 0; step < 500; ++step) {
    const std::int64_t number = pick(trials);
    const std::int64_t what = pick(3);
    if (what == 0 && !values.contains(number) && !rejected.contains(number)) {
      std::vector<double>& mine = values[number];
      for (std::size_t i = 0; i < directions; ++i) mine.push_back(static_cast<double>(pick(20)));
      apply(complete(number + 1, mine));
    } else if (what == 1 && values.erase(number) > 0) {
      apply(constraints(number, {1}));
      rejected.insert(number);
    } else {
      apply(SearchBest{1 + pick(5)});
    }
  }
  return values;
}

TEST_P(StorageContract, R57_ASearchInPiecesFindsTheBestTrial) {
  constexpr std::int64_t kTrials = 100;
  apply(asked({Direction::minimize}, kTrials));
  const auto left = walk(1, kTrials, [this](Transition one) { apply_one(std::move(one)); });
  search(storage(), 3);
  const auto front = front_of(left);
  ASSERT_FALSE(front.empty());
  EXPECT_EQ(study(1).best_trial, front.front());
}

TEST_P(StorageContract, R57_ASearchInPiecesFindsAllTrialsThatNoOtherOneBeats) {
  constexpr std::int64_t kTrials = 100;
  apply(asked({Direction::minimize, Direction::minimize}, kTrials));
  const auto left = walk(2, kTrials, [this](Transition one) { apply_one(std::move(one)); });
  search(storage(), 3);
  EXPECT_EQ(study(1).best_trials, front_of(left));
}

TEST_P(StorageContract, R57_TheyTakeATrialBackFromTheFrontToo) {
  apply(asked({Direction::minimize, Direction::minimize}, 3));
  apply({complete(1, {3, 1}), complete(2, {1, 1}), complete(3, {2, 2})});
  EXPECT_THAT(study(1).best_trials, ElementsAre(TrialNumber{1}));
  apply_one(constraints(1, {0.5}));
  EXPECT_THAT(study(1).best_trials, IsEmpty());
  apply_one(SearchBest{1});
  EXPECT_THAT(study(1).best_trials, ElementsAre(TrialNumber{0}));
  EXPECT_EQ(search(storage(), 1), 3);
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
