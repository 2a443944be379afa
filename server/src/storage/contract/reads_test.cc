// Tests the readers: order, counters, pages, restarts, and committed states while a writer works.
#include <atomic>
#include <set>
#include <thread>

#include "storage/contract/suite.h"
#include "storage/page_bytes.h"

namespace hyperflock::storage {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<AttemptId> ids(const std::vector<AttemptRow>& attempts) {
  std::vector<AttemptId> result;
  for (const AttemptRow& attempt : attempts) result.push_back(attempt.id);
  return result;
}

TEST_P(StorageContract, EarlierTransitionsOfABatchAreVisibleToLaterOnes) {
  const auto outcomes = apply({create_study(1), start(1, key(1, 0)), complete(1, {0.5}),
                               complete(1, {0.5}), start(2, key(1, 0)), start(2, key(1, 1)),
                               end_study(1, StudyState::finished), start(3, key(1, 2))});
  std::vector<Applied> applied;
  for (const Outcome& outcome : outcomes) applied.push_back(outcome.applied);
  EXPECT_THAT(applied, ElementsAre(Applied::applied, Applied::applied, Applied::applied,
                                   Applied::repeated, Applied::superseded, Applied::applied,
                                   Applied::applied, Applied::superseded));
}

TEST_P(StorageContract, EmptyBatchIsFine) { EXPECT_THAT(apply({}), IsEmpty()); }

TEST_P(StorageContract, StudyRowsComeBackAsTheyWentIn) {
  apply_one(create_study(1, "first", protocol::Direction::minimize));
  at(kNow + 1);
  apply_one(create_study(2, "second"));

  const auto rows = storage().studies({}).value().studies;
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].id, StudyId{2});
  EXPECT_EQ(rows[0].created_at, kNow + 1);
  EXPECT_EQ(rows[1].id, StudyId{1});
  EXPECT_EQ(rows[1].owner, "ada");
  EXPECT_EQ(rows[1].project, "default");
  EXPECT_EQ(rows[1].spec, spec("first", protocol::Direction::minimize));
  EXPECT_EQ(rows[1].state, StudyState::running);
  EXPECT_EQ(rows[1].total, 6);
  EXPECT_EQ(rows[1].finished_at, 0);
  EXPECT_EQ(rows[1].best_trial, std::nullopt);
  EXPECT_FALSE(storage().study(StudyId{3}).value().has_value());
  EXPECT_FALSE(storage().trial(key(1, 0)).value().has_value());
}

TEST_P(StorageContract, StudiesOfEveryKindComeBackAsTheyWentIn) {
  CreateStudy points = create_study(1, "points");
  points.spec.kind = protocol::StudyKind::points;
  points.spec.space = {{R"("c")", {"4", R"([1,{"x":2.0}])"}}, {R"("d")", {"null", "1.0"}}};
  points.total = 2;
  CreateStudy drawn = create_study(2, "drawn");
  drawn.spec.kind = protocol::StudyKind::random;
  drawn.spec.trials = drawn.total = 1'000'000;
  drawn.spec.space = {
      {R"("x")", {}, protocol::ValueRange{.low = 1e-4, .high = 0.1, .log = true}},
      {R"("y")", {}, protocol::ValueRange{.low = 1, .high = 7, .integer = true, .step = 3}},
      {R"("z")", {"true", "1"}}};
  apply({points, drawn});
  const auto rows = storage().studies({}).value().studies;
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].spec, drawn.spec);
  EXPECT_EQ(rows[0].total, 1'000'000);
  EXPECT_EQ(rows[1].spec, points.spec);
}

TEST_P(StorageContract, BestTrialFollowsTheDirection) {
  apply({create_study(1, "min", protocol::Direction::minimize), create_study(2, "max")});
  std::int64_t attempt = 0;
  for (const double value : {0.5, 0.25, 0.75}) {
    const std::int64_t number = attempt / 2;
    for (const std::int64_t id : {1, 2}) {
      ++attempt;
      apply({start(attempt, key(id, number)), complete(attempt, {value, 100.0})});
    }
  }
  EXPECT_EQ(study(1).best_trial, TrialNumber{1});
  EXPECT_EQ(study(1).best_value, 0.25);
  EXPECT_EQ(study(2).best_trial, TrialNumber{2});
  EXPECT_EQ(study(2).best_value, 0.75);
}

TEST_P(StorageContract, LowestNumberWinsATieForBest) {
  apply({create_study(1), start(1, key(1, 3)), start(2, key(1, 1)), start(3, key(1, 2))});
  apply({complete(1, {0.5}), complete(2, {0.5}), complete(3, {0.5})});
  EXPECT_EQ(study(1).best_trial, TrialNumber{1});
}

TEST_P(StorageContract, SeqIsTheOrderOfFinishingOverAllStudies) {
  apply({create_study(1, "a"), create_study(2, "b")});
  apply({start(1, key(1, 0)), start(2, key(2, 0)), start(3, key(1, 1)), start(4, key(2, 1))});
  EXPECT_EQ(apply_one(complete(3, {0.1})).seq, 1);
  EXPECT_EQ(apply_one(complete(2, {0.1})).seq, 2);
  EXPECT_EQ(apply_one(fail(key(2, 1))).seq, 3);
  EXPECT_EQ(apply_one(complete(1, {0.1})).seq, 4);

  const auto rows = finished(1);
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].trial.key, key(1, 1));
  EXPECT_EQ(rows[1].trial.key, key(1, 0));
  EXPECT_EQ(study(1).cursor, 4);
  EXPECT_EQ(study(2).cursor, 3);
  EXPECT_THAT(finished(1, 1), SizeIs(1));
  EXPECT_THAT(finished(1, 4), IsEmpty());
  EXPECT_THAT(finished(1, 0, 0), IsEmpty());
  EXPECT_THAT(finished(9), IsEmpty());
}

TEST_P(StorageContract, FinishedTrialsCarryTheDecidingAttempt) {
  apply({create_study(1), start(1, key(1, 0)), start(2, key(1, 0), "tablet"), start(3, key(1, 1)),
         start(4, key(1, 1), "tablet")});
  apply({complete(1, {0.5}), fail(key(1, 1))});
  const auto rows = finished(1);
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].attempt->id, AttemptId{1});
  EXPECT_THAT(rows[0].trial.values, ElementsAre(0.5));
  EXPECT_EQ(rows[1].attempt->id, AttemptId{4});
  EXPECT_THAT(rows[1].trial.values, IsEmpty());
  EXPECT_EQ(rows[1].trial.failure, a_failure("poison"));
  EXPECT_THAT(rows[0].points, IsEmpty());
  EXPECT_THAT(rows[0].attempts_list, IsEmpty());
}

TEST_P(StorageContract, AttemptsOfATrialAreListedOldestFirst) {
  apply({create_study(1), start(1, key(1, 0)), start(2, key(1, 1)), start(3, key(1, 0)),
         start(4, key(1, 0))});
  EXPECT_THAT(ids(trial(1, 0).attempts_list),
              ElementsAre(AttemptId{1}, AttemptId{3}, AttemptId{4}));
  EXPECT_EQ(trial(1, 0).attempt->id, AttemptId{4});
}

TEST_P(StorageContract, ProjectReferencesBundleAndDataOfItsStudies) {
  apply_one(create_study(1));
  EXPECT_TRUE(storage().project_references("default", sha('a')).value());
  EXPECT_TRUE(storage().project_references("default", sha('b')).value());
  EXPECT_FALSE(storage().project_references("default", sha('c')).value());
  EXPECT_FALSE(storage().project_references("other", sha('a')).value());
}

TEST_P(StorageContract, LoadGivesRunningStudiesWithTheirUnfinishedTrials) {
  EXPECT_EQ(storage().load().value().next_study_id, 1);
  EXPECT_EQ(storage().load().value().next_attempt_id, 1);
  apply({create_study(1, "a"), create_study(2, "b"), create_study(5, "c"),
         end_study(5, StudyState::cancelled)});
  apply({start(1, key(1, 0)), start(2, key(1, 1)), start(3, key(1, 3)), start(7, key(1, 1)),
         complete(1, {0.5}), end(2, AttemptState::expired)});

  const Snapshot snapshot = storage().load().value();
  EXPECT_EQ(snapshot.next_study_id, 6);
  EXPECT_EQ(snapshot.next_attempt_id, 8);
  ASSERT_THAT(snapshot.studies, SizeIs(2));
  const RunningStudy& first = snapshot.studies[0];
  EXPECT_EQ(first.study.id, StudyId{1});
  EXPECT_EQ(first.study.complete, 1);
  EXPECT_EQ(first.study.running, 2);
  EXPECT_EQ(first.next_number, 4);
  ASSERT_THAT(first.unfinished, SizeIs(2));
  EXPECT_EQ(first.unfinished[0].key, key(1, 1));
  EXPECT_THAT(ids(first.unfinished[0].attempts), ElementsAre(AttemptId{2}, AttemptId{7}));
  EXPECT_EQ(first.unfinished[0].attempts[0].state, AttemptState::expired);
  EXPECT_EQ(first.unfinished[1].key, key(1, 3));
  EXPECT_EQ(snapshot.studies[1].study.id, StudyId{2});
  EXPECT_EQ(snapshot.studies[1].next_number, 0);
  EXPECT_THAT(snapshot.studies[1].unfinished, IsEmpty());
}

TEST_P(StorageContract, ReopenedStorageGoesOnWhereItStopped) {
  apply({create_study(1), start(1, key(1, 0)), start(2, key(1, 1)), start(3, key(1, 2)),
         complete(1, {0.5}), create_device("d1")});
  reopen();

  EXPECT_EQ(study(1).complete, 1);
  EXPECT_EQ(study(1).running, 2);
  EXPECT_THAT(storage().identities().value().devices, SizeIs(1));
  EXPECT_EQ(apply_one(complete(1, {0.9})).applied, Applied::repeated);
  EXPECT_EQ(apply_one(complete(2, {0.4})).seq, 2);
  EXPECT_EQ(apply_one(fail(key(1, 2))).seq, 3);
  EXPECT_EQ(study(1).complete, 2);
  EXPECT_EQ(study(1).failed, 1);
  EXPECT_EQ(study(1).best_trial, TrialNumber{0});
  EXPECT_EQ(study(1).best_value, 0.5);
  EXPECT_EQ(applied(create_study(2)), Applied::repeated);
}

TEST_P(StorageContract, TenThousandTrialsArePagedByCursor) {
  constexpr std::int64_t kTrials = 10'000;
  CreateStudy big = create_study(1);
  big.total = kTrials;
  apply_one(big);
  for (std::int64_t number = 0; number < kTrials; number += 500) {
    std::vector<Transition> batch;
    for (std::int64_t i = number; i < number + 500; ++i) batch.push_back(start(i + 1, key(1, i)));
    // In each batch the trial with the highest number finishes first, so the trials do not finish
    // in the order of their numbers.
    for (std::int64_t i = number + 499; i >= number; --i) {
      batch.push_back(complete(i + 1, {static_cast<double>(i)}));
    }
    apply(std::move(batch));
  }
  std::int64_t cursor = 0;
  std::set<TrialNumber> seen;
  int pages = 0;
  for (auto page = finished(1, 0, 300); !page.empty(); page = finished(1, cursor, 300)) {
    ++pages;
    for (const TrialDetail& row : page) {
      ASSERT_GT(row.trial.seq, cursor);
      cursor = row.trial.seq;
      ASSERT_TRUE(seen.insert(row.trial.key.number).second);
      ASSERT_THAT(row.trial.values, ElementsAre(static_cast<double>(to_int(row.trial.key.number))));
    }
  }
  EXPECT_EQ(pages, 34);
  EXPECT_THAT(seen, SizeIs(kTrials));
  EXPECT_EQ(cursor, study(1).cursor);
  EXPECT_EQ(study(1).complete, kTrials);
  EXPECT_EQ(study(1).best_trial, TrialNumber{kTrials - 1});
}

// A batch accepts one trial and starts the next, so every committed state has exactly one running
// trial.
TEST_P(StorageContract, ReadersSeeCommittedStatesWhileTheWriterWorks) {
  constexpr std::int64_t kBatches = 300;
  CreateStudy big = create_study(1);
  big.total = kBatches + 1;
  apply({big, start(1, key(1, 0))});

  std::atomic<bool> writing = true;
  std::atomic<int> looks = 0;
  std::vector<std::string> wrong(6);
  std::vector<std::thread> readers;
  for (std::string& complaint : wrong) {
    readers.emplace_back([&, this] {
      std::int64_t last = 0;
      do {
        const Snapshot snapshot = storage().load().value();
        const RunningStudy& running = snapshot.studies.at(0);
        const std::int64_t complete = running.study.complete;
        if (running.study.running != 1) complaint = "counters of half a batch";
        if (running.unfinished.size() != 1) complaint = "trials of half a batch";
        if (running.next_number != complete + 1) complaint = "counters and trials of two states";
        if (complete < last) complaint = "time went back";
        last = complete;
        const auto page = storage().finished_trials(StudyId{1}, complete / 2, 50).value();
        for (const TrialDetail& row : page) {
          if (!row.attempt || row.attempt->state != AttemptState::accepted) complaint = "torn page";
        }
        ++looks;
      } while (writing);
    });
  }
  for (std::int64_t i = 1; i <= kBatches; ++i) apply({complete(i, {0.5}), start(i + 1, key(1, i))});
  writing = false;
  for (std::thread& reader : readers) reader.join();
  for (const std::string& complaint : wrong) EXPECT_EQ(complaint, "");
  EXPECT_GE(looks.load(), 6);
  EXPECT_EQ(study(1).complete, kBatches);
}

TEST_P(StorageContract, APageOfTrialsWithLongTextsEndsEarly) {
  constexpr std::int64_t kTrials = 10;
  const std::string params = R"({"x":")" + std::string(kPageTextBytes / 4, 'a') + "\"}";
  apply_one(create_study(1));
  for (std::int64_t i = 0; i < kTrials; ++i) {
    StartAttempt begun = start(i + 1, key(1, i));
    begun.params = params;
    apply({begun});
  }
  const auto first = storage().unfinished_trials(StudyId{1}, 0, 100).value();
  EXPECT_THAT(first, SizeIs(4));
  EXPECT_TRUE(is_full(first));
  for (std::int64_t i = 0; i < kTrials; ++i) apply({complete(i + 1, {0.5})});
  std::vector<TrialNumber> numbers;
  std::int64_t after = 0;
  for (auto page = finished(1); !page.empty(); page = finished(1, after)) {
    EXPECT_LE(page.size(), 4U);
    EXPECT_EQ(is_full(page), page.size() == 4);
    for (const TrialDetail& one : page) numbers.push_back(one.trial.key.number);
    after = page.back().trial.seq;
  }
  EXPECT_THAT(numbers, SizeIs(kTrials));
  EXPECT_EQ(std::set<TrialNumber>(numbers.begin(), numbers.end()).size(), numbers.size());
}

TEST_P(StorageContract, ATrialShowsItsNewestAttempts) {
  constexpr auto kAttempts = static_cast<std::int64_t>(kShownAttempts) + 2;
  std::vector<Transition> batch{create_study(1)};
  for (std::int64_t id = 1; id <= kAttempts; ++id) {
    batch.emplace_back(start(id, key(1, 0)));
    batch.emplace_back(end(id, AttemptState::released));
  }
  apply(std::move(batch));
  const TrialDetail found = trial(1, 0);
  EXPECT_EQ(found.trial.attempts, kAttempts);
  ASSERT_THAT(found.attempts_list, SizeIs(kShownAttempts));
  EXPECT_EQ(found.attempts_list.front().id, AttemptId{3});
  EXPECT_EQ(found.attempts_list.back().id, AttemptId{kAttempts});
  EXPECT_THAT(storage().load()->studies.at(0).unfinished.at(0).attempts, SizeIs(kAttempts));
}

TEST_P(StorageContract, R74_LoadCountsTheNewestResultsWithPoints) {
  apply({create_study(1), start(1, key(1, 0), "a"), append(1, {{1, 0.5}}, "a"),
         complete(1, {1}, "a"), start(2, key(1, 1), "b"), complete(2, {1}, "b")});
  const auto points = [&] { return storage().load().value().studies.at(0).points; };
  const ReportedPoints one{.results = 1, .devices = {"a"}};
  EXPECT_EQ(points(), one);
  StoreResult doubt = failed(3, "a");
  doubt.result.failure->code = kNoPoints;
  apply({start(3, key(1, 2), "a"), doubt, start(4, key(1, 2), "a"), complete(4, {1}, "a")});
  EXPECT_EQ(points(), one);  // the same device says it twice
  doubt.result.attempt = AttemptId{5};
  apply({start(5, key(1, 3), "a"), doubt, start(6, key(1, 3), "b"), complete(6, {1}, "b")});
  EXPECT_TRUE(points().are_optional);
  EXPECT_EQ(points().results, 1);
}

TEST_P(StorageContract, R74_LoadLeavesOutAttemptsThatBeganWithACheckpoint) {
  StartAttempt resumed = start(2, key(1, 1));
  resumed.from =
      protocol::Checkpoint{AttemptId{1}, protocol::CheckpointFormat::tree, {sha('c'), 10}};
  apply({create_study(1), start(1, key(1, 0)), resumed, append(2, {{1, 0.5}}), complete(2, {1})});
  EXPECT_EQ(storage().load().value().studies.at(0).points, ReportedPoints{});
}

}  // namespace
}  // namespace hyperflock::storage
