// Tests of ask-and-tell studies in the storage contract: claims, the owner's trials, suggestions
// and attributes (R42, R44, R47, R49).
#include "storage/contract/suite.h"

namespace hyperflock::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

CreateStudy asked_study(std::int64_t id, const std::string& submit_key = "key",
                        std::size_t directions = 1) {
  CreateStudy create = create_study(id, submit_key, protocol::Direction::minimize);
  create.spec.kind = protocol::StudyKind::asked;
  create.spec.directions.assign(directions, protocol::Direction::minimize);
  create.spec.space.clear();
  create.total = 0;
  return create;
}

ClaimStudy claim(std::int64_t study, const std::string& label = "notebook@host") {
  return {StudyId{study}, label};
}

AskTrials ask(std::int64_t study, std::int64_t generation, std::vector<std::int64_t> numbers) {
  AskTrials out{.study = StudyId{study}, .generation = generation, .trials = {}};
  for (const std::int64_t number : numbers)
    out.trials.push_back({TrialNumber{number}, R"({"x":)" + std::to_string(number) + "}", 7});
  return out;
}

StoreSuggestion suggest(std::int64_t number, const std::string& name, std::int64_t position,
                        std::int64_t generation = 1) {
  return {.trial = key(1, number),
          .generation = generation,
          .position = position,
          .suggestion = {name, R"({"name": "é"})", "0.5"},
          .params = R"({")" + name + R"(":0.5})"};
}

std::vector<Transition> claimed() { return {asked_study(1), claim(1)}; }

TEST_P(StorageContract, R42_EachClaimIsANewGeneration) {
  apply_one(asked_study(1));
  EXPECT_EQ(study(1).generation, 0);
  const Outcome first = apply_one(claim(1));
  EXPECT_EQ(first.applied, Applied::applied);
  EXPECT_EQ(first.id, 1);
  at(kNow + 5);
  EXPECT_EQ(apply_one(claim(1, "sampler")).id, 2);
  reopen();
  EXPECT_EQ(study(1).generation, 2);
  EXPECT_EQ(study(1).sampler, "sampler");
  EXPECT_EQ(study(1).sampler_since, kNow + 5);
  EXPECT_EQ(study(1).spec.kind, protocol::StudyKind::asked);
  EXPECT_EQ(storage().load().value().studies.at(0).study.generation, 2);
}

TEST_P(StorageContract, R42_OnlyAnAskedStudyThatWasNotCancelledIsClaimed) {
  apply({create_study(1), asked_study(2, "b"), end_study(2, StudyState::cancelled)});
  EXPECT_EQ(applied(claim(1)), Applied::conflict);
  EXPECT_EQ(applied(claim(9)), Applied::conflict);
  EXPECT_EQ(applied(claim(2)), Applied::superseded);
}

TEST_P(StorageContract, R42_AFinishedStudyRunsAgainWhereTheQuotaHasRoom) {
  apply(claimed());
  apply({ask(1, 1, {0}), start(1, key(1, 0)), complete(1, {0.5}),
         end_study(1, StudyState::finished), create_study(2, "other")});
  ClaimStudy again = claim(1);
  again.quota = {.studies = 1};
  const Outcome refused = apply_one(again);
  EXPECT_EQ(refused.applied, Applied::superseded);
  EXPECT_EQ(refused.excess, (Excess{Excess::What::studies, 1, 1, 1}));
  EXPECT_EQ(study(1).state, StudyState::finished);

  again.quota = {.studies = 2, .trials = 7};
  EXPECT_EQ(apply_one(again).id, 2);
  EXPECT_EQ(study(1).state, StudyState::running);
  EXPECT_EQ(study(1).finished_at, 0);
}

TEST_P(StorageContract, R44_AskedTrialsHaveRowsInAnyOrderOfTheirNumbers) {
  apply(claimed());
  const Outcome asked = apply_one(ask(1, 1, {4, 2}));
  EXPECT_EQ(asked.applied, Applied::applied);
  EXPECT_THAT(asked.trials, ElementsAre(TrialNumber{4}, TrialNumber{2}));
  const Outcome again = apply_one(ask(1, 1, {2, 3}));
  EXPECT_THAT(again.trials, ElementsAre(TrialNumber{3}));
  reopen();
  EXPECT_EQ(study(1).total, 3);
  EXPECT_EQ(study(1).running, 3);
  const auto open = storage().unfinished_trials(StudyId{1}, 0, 100).value();
  ASSERT_THAT(open, SizeIs(3));
  EXPECT_EQ(open.at(0).trial.key, key(1, 2));
  EXPECT_EQ(open.at(0).trial.params, R"({"x":2})");
  EXPECT_EQ(open.at(0).trial.seed, 7U);
  EXPECT_EQ(open.at(0).trial.attempts, 0);
  EXPECT_FALSE(open.at(0).attempt.has_value());
  EXPECT_THAT(trial(1, 4).attempts_list, IsEmpty());
  const Snapshot snapshot = storage().load().value();
  ASSERT_THAT(snapshot.studies.at(0).unfinished, SizeIs(3));
  EXPECT_EQ(snapshot.studies.at(0).unfinished.at(2).params, R"({"x":4})");
  EXPECT_THAT(snapshot.studies.at(0).unfinished.at(2).attempts, IsEmpty());
}

TEST_P(StorageContract, R44_WhatATrialIsAskedWithIsKept) {
  apply(claimed());
  AskTrials some = ask(1, 1, {0, 1});
  some.trials.at(1).attrs = R"({"user": {"name": "é"}})";
  apply_one(some);
  reopen();
  const Snapshot snapshot = storage().load().value();
  ASSERT_THAT(snapshot.studies.at(0).unfinished, SizeIs(2));
  EXPECT_EQ(snapshot.studies.at(0).unfinished.at(0).attrs, "");
  EXPECT_EQ(snapshot.studies.at(0).unfinished.at(1).attrs, R"({"user": {"name": "é"}})");
  EXPECT_EQ(trial(1, 0).trial.asked_attrs, "");
  EXPECT_EQ(trial(1, 1).trial.asked_attrs, R"({"user": {"name": "é"}})");
}

TEST_P(StorageContract, R44_AskedTrialsRunLikeOthers) {
  apply(claimed());
  apply({ask(1, 1, {0, 1}), start(1, key(1, 0)), start(2, key(1, 0), "tablet"),
         end(2, AttemptState::expired), complete(1, {0.25})});
  EXPECT_EQ(trial(1, 0).trial.attempts, 2);
  EXPECT_THAT(trial(1, 0).attempts_list, SizeIs(2));
  EXPECT_EQ(study(1).total, 2);
  EXPECT_EQ(study(1).complete, 1);
  EXPECT_EQ(study(1).running, 1);
  EXPECT_EQ(study(1).best_trial, TrialNumber{0});
  EXPECT_EQ(study(1).best_params, R"({"x":0})");
  EXPECT_THAT(storage().unfinished_trials(StudyId{1}, 0, 100).value(), SizeIs(1));
  apply_one(end_study(1, StudyState::cancelled));
  ASSERT_THAT(finished(1), SizeIs(2));
  EXPECT_EQ(finished(1).at(1).trial.state, TrialState::cancelled);
  EXPECT_FALSE(finished(1).at(1).attempt.has_value());
}

TEST_P(StorageContract, R44_TrialsCountForTheQuotaWhenTheyAreAsked) {
  apply(claimed());
  AskTrials some = ask(1, 1, {0, 1});
  some.quota = {.trials = 3};
  EXPECT_EQ(applied(some), Applied::applied);
  some = ask(1, 1, {2, 3});
  some.quota = {.trials = 3};
  const auto both = apply({ask(1, 1, {9}), some});
  EXPECT_EQ(both.at(1).applied, Applied::superseded);
  EXPECT_EQ(both.at(1).excess, (Excess{Excess::What::trials, 3, 2, 3}));
  EXPECT_THAT(both.at(1).trials, IsEmpty());
  EXPECT_EQ(storage().usage("ada").value().trials, 3);
}

TEST_P(StorageContract, R51_WhatAnEarlierGenerationSaysIsSuperseded) {
  apply(claimed());
  apply({ask(1, 1, {0}), claim(1, "another")});
  EXPECT_EQ(applied(ask(1, 1, {1})), Applied::superseded);
  EXPECT_EQ(applied(suggest(0, "x", 0)), Applied::superseded);
  EXPECT_THAT(trial(1, 0).trial.suggested, IsEmpty());
  EXPECT_EQ(applied(suggest(0, "x", 0, 2)), Applied::applied);
}

TEST_P(StorageContract, R47_ANameIsGivenOneValueForGood) {
  apply(claimed());
  apply_one(ask(1, 1, {0, 1}));
  EXPECT_EQ(applied(suggest(0, "rate", 0)), Applied::applied);
  EXPECT_EQ(applied(suggest(0, "layers", 1)), Applied::applied);
  StoreSuggestion other = suggest(0, "rate", 2);
  other.suggestion.value = "0.75";
  EXPECT_EQ(applied(other), Applied::repeated);
  EXPECT_EQ(applied(suggest(9, "rate", 0)), Applied::conflict);
  reopen();
  const std::vector<Suggestion> log{{"rate", R"({"name": "é"})", "0.5"},
                                    {"layers", R"({"name": "é"})", "0.5"}};
  EXPECT_EQ(trial(1, 0).trial.suggested, log);
  EXPECT_EQ(trial(1, 0).trial.params, R"({"layers":0.5})");
  EXPECT_EQ(storage().load().value().studies.at(0).unfinished.at(0).suggested, log);
  EXPECT_THAT(storage().load().value().studies.at(0).unfinished.at(1).suggested, IsEmpty());

  apply({start(1, key(1, 0)), complete(1, {0.5})});
  EXPECT_EQ(applied(suggest(0, "late", 2)), Applied::superseded);
  EXPECT_EQ(finished(1).at(0).trial.suggested, log);
}

TEST_P(StorageContract, R49_AttributesComeWithTheResult) {
  apply(claimed());
  StoreResult result = complete(1, {0.5});
  result.result.attrs = R"({"user":{"é":1}})";
  apply({ask(1, 1, {0, 1}), start(1, key(1, 0)), result, start(2, key(1, 1))});
  reopen();
  EXPECT_EQ(finished(1).at(0).attempt->attrs, result.result.attrs);
  EXPECT_EQ(trial(1, 1).attempt->attrs, "");
}

TEST_P(StorageContract, R49_OfSeveralDirectionsNoneIsBest) {
  apply({asked_study(1, "key", 2), claim(1), ask(1, 1, {0}), start(1, key(1, 0)),
         complete(1, {0.5, 3.0})});
  EXPECT_EQ(study(1).complete, 1);
  EXPECT_FALSE(study(1).best_trial.has_value());
}

TEST_P(StorageContract, R50_WantedIsKeptWhereItIsGiven) {
  apply(claimed());
  AskTrials told = ask(1, 1, {});
  told.wanted = 40;
  apply_one(told);
  apply_one(ask(1, 1, {0}));
  reopen();
  EXPECT_EQ(study(1).wanted, 40);
}

}  // namespace
}  // namespace hyperflock::storage
