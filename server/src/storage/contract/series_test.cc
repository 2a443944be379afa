// Tests how series are stored once, put together, continued, limited and deleted (R59).
#include <cmath>
#include <limits>

#include "storage/contract/suite.h"

namespace hyperflock::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::SizeIs;
using Steps = std::vector<std::int64_t>;
using Values = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

AppendPoints log(std::int64_t attempt, std::int64_t seq, Steps steps,
                 std::vector<protocol::SeriesColumn> columns, const std::string& device = "phone") {
  AppendPoints report = append(attempt, {}, device);
  report.seq = seq;
  report.series = protocol::Series{std::move(steps), std::move(columns)};
  return report;
}

// NaN is not equal to itself, so tests compare texts.
std::string text_of(const std::vector<NamedSeries>& all) {
  std::string out;
  for (const NamedSeries& one : all) {
    out += one.name + ":";
    for (std::size_t i = 0; i < one.steps.size(); ++i)
      out += " " + std::to_string(one.steps[i]) + "=" + testing::PrintToString(one.values.at(i));
    out += "\n";
  }
  return out;
}

std::vector<Transition> begun_for_series() {
  return {create_study(1), start(1, key(1, 0)), start(2, key(1, 1))};
}

std::string series(Storage& storage, std::int64_t attempt, std::optional<std::int64_t> only = {}) {
  const auto row = storage.attempt(AttemptId{attempt}).value();
  return row ? text_of(storage.series(*row, only).value()) : "no attempt";
}
std::vector<SeriesName> names(Storage& storage, std::int64_t study, std::int64_t after = 0,
                              std::int64_t limit = 100) {
  return storage.series_names(StudyId{study}, after, limit).value();
}

std::string text_of(const std::vector<LastValue>& last) {
  std::string out;
  for (const LastValue& one : last) out += one.name + "=" + testing::PrintToString(one.value) + " ";
  return out;
}

TEST_P(StorageContract, R59_RowsAreReadAsTheyWereReported) {
  apply(begun_for_series());
  const auto outcomes = apply({log(1, 1, {0, 5}, {{"loss", {0.1, 2.0}}, {"acc", {{}, 0.25}}}),
                               log(1, 2, {6, 7}, {{"acc", {kNan, -kInfinity}}, {"loss", {1e300}}}),
                               log(2, 1, {3}, {{"loss", {7.0}}})});
  EXPECT_EQ(outcomes.at(0).applied, Applied::applied);
  EXPECT_EQ(outcomes.at(0).trial, key(1, 0));
  const std::string expected = "loss: 0=0.1 5=2 6=1e+300\nacc: 5=0.25 6=nan 7=-inf\n";
  EXPECT_EQ(series(storage(), 1), expected);
  EXPECT_EQ(series(storage(), 2), "loss: 3=7\n");
  reopen();
  EXPECT_EQ(series(storage(), 1), expected);
  EXPECT_EQ(series(storage(), 1, 2), "acc: 5=0.25 6=nan 7=-inf\n");
  EXPECT_EQ(series(storage(), 1, 3), "");
  EXPECT_THAT(names(storage(), 1), ElementsAre(SeriesName{1, "loss"}, SeriesName{2, "acc"}));
  EXPECT_THAT(names(storage(), 1, 1), ElementsAre(SeriesName{2, "acc"}));
  EXPECT_THAT(names(storage(), 1, 0, 1), ElementsAre(SeriesName{1, "loss"}));
  EXPECT_THAT(names(storage(), 9), IsEmpty());
}

TEST_P(StorageContract, R14_TheSameReportAgainIsRepeatedAlsoAfterARestart) {
  apply(begun_for_series());
  apply_one(log(1, 4, {1}, {{"loss", {0.5}}}));
  EXPECT_EQ(applied(log(1, 4, {1}, {{"loss", {0.75}}})), Applied::repeated);
  reopen();
  EXPECT_EQ(applied(log(1, 4, {2}, {{"loss", {0.75}}})), Applied::repeated);
  // A report that the server refused at first may be sent again after a later report.
  EXPECT_EQ(applied(log(1, 3, {0}, {{"loss", {0.25}}})), Applied::applied);
  EXPECT_EQ(series(storage(), 1), "loss: 0=0.25 1=0.5\n");
}

TEST_P(StorageContract, R16_OfAnotherDeviceIsAConflict) {
  apply(begun_for_series());
  EXPECT_EQ(applied(log(1, 1, {1}, {{"loss", {0.5}}}, "laptop")), Applied::conflict);
  EXPECT_EQ(applied(log(9, 1, {1}, {{"loss", {0.5}}})), Applied::conflict);
  EXPECT_THAT(names(storage(), 1), IsEmpty());
}

TEST_P(StorageContract, R59_PointsAndSeriesOfOneReportAreBothStored) {
  apply(begun_for_series());
  AppendPoints both = log(1, 1, {1}, {{"loss", {0.5}}});
  both.points = {{1, 2.0}};
  EXPECT_EQ(applied(both), Applied::applied);
  EXPECT_EQ(applied(both), Applied::repeated);
  EXPECT_THAT(trial(1, 0).points, ElementsAre(protocol::Point{1, 2.0}));
  EXPECT_EQ(series(storage(), 1), "loss: 1=0.5\n");
}

TEST_P(StorageContract, R59_AfterTheResultTheyReadTheSameAndTheRowsSayTheirEnds) {
  apply(begun_for_series());
  apply({log(1, 1, {1, 2}, {{"loss", {1.5, 1.25}}, {"acc", {0.1}}}),
         log(1, 2, {3}, {{"loss", {1.0}}})});
  EXPECT_EQ(text_of(trial(1, 0).last), "loss=1 acc=0.1 ");  // while it runs
  apply_one(complete(1, {0.5}));
  const std::string expected = "loss: 1=1.5 2=1.25 3=1\nacc: 1=0.1\n";
  EXPECT_EQ(series(storage(), 1), expected);
  reopen();
  EXPECT_EQ(series(storage(), 1), expected);
  EXPECT_EQ(text_of(finished(1).at(0).last), "loss=1 acc=0.1 ");
  // After the result, a report whose acknowledgement was lost comes again and changes nothing. A
  // report with a new row is still stored.
  apply({log(1, 2, {3}, {{"loss", {1.0}}}), log(1, 3, {9}, {{"loss", {0.5}}})});
  EXPECT_EQ(series(storage(), 1), "loss: 1=1.5 2=1.25 3=1 9=0.5\nacc: 1=0.1\n");
  EXPECT_EQ(text_of(finished(1).at(0).last), "loss=0.5 acc=0.1 ");
}

TEST_P(StorageContract, R37_AContinuedAttemptBeginsWithTheRowsBeforeTheCheckpoint) {
  apply(begun_for_series());
  apply({log(1, 1, {1, 2, 3}, {{"loss", {1.0, 2.0, 3.0}}, {"once", {42.0}}})});
  protocol::Checkpoint saved{.attempt = AttemptId{1},
                             .format = protocol::CheckpointFormat::tree,
                             .blob = {sha('a'), 10},
                             .step = 7,  // of the curve, which counts other steps
                             .logged = 2};
  apply_one(StoreCheckpoint{"phone", saved});
  StartAttempt resumed = start(3, key(1, 0));
  resumed.from = saved;
  apply({end(1, AttemptState::expired), resumed, log(3, 1, {2, 3}, {{"loss", {20.0, 30.0}}})});
  reopen();
  EXPECT_EQ(storage().attempt(AttemptId{3}).value()->from, saved);
  EXPECT_EQ(series(storage(), 3), "loss: 1=1 2=20 3=30\nonce: 1=42\n");
  EXPECT_EQ(series(storage(), 1), "loss: 1=1 2=2 3=3\nonce: 1=42\n");
  apply_one(complete(3, {0.5}));
  EXPECT_EQ(series(storage(), 3), "loss: 1=1 2=20 3=30\nonce: 1=42\n");
  EXPECT_EQ(text_of(finished(1).at(0).last), "loss=30 once=42 ");
}

TEST_P(StorageContract, R37_ACheckpointBeforeTheFirstRowContinuesNoSeries) {
  apply(begun_for_series());
  apply_one(log(1, 1, {1}, {{"loss", {1.0}}}));
  StartAttempt resumed = start(3, key(1, 0));
  resumed.from = protocol::Checkpoint{.attempt = AttemptId{1}, .blob = {sha('a'), 10}, .step = 7};
  apply({end(1, AttemptState::expired), resumed});
  EXPECT_EQ(series(storage(), 3), "");
}

TEST_P(StorageContract, R59_MoreSeriesThanTheLimitAreRefusedAndThePointsKept) {
  apply(begun_for_series());
  std::vector<protocol::SeriesColumn> columns;
  for (int i = 0; i < kMostSeries; ++i) columns.push_back({"s" + std::to_string(i), {1.0}});
  EXPECT_EQ(applied(log(1, 1, {1}, columns)), Applied::applied);
  EXPECT_EQ(applied(log(1, 2, {2}, columns)), Applied::applied);
  AppendPoints one_more = log(1, 3, {3}, {{"s0", {1.0}}, {"another", {1.0}}});
  one_more.points = {{3, 0.5}};
  const Outcome refused = apply_one(one_more);
  EXPECT_EQ(refused.applied, Applied::superseded);
  EXPECT_THAT(refused.refusal, Optional(Refusal::series_count));
  EXPECT_THAT(names(storage(), 1, 0, 1'000), SizeIs(kMostSeries));
  EXPECT_THAT(trial(1, 0).points, SizeIs(1));
  // The limit applies to each attempt by itself, so another attempt may have this series.
  EXPECT_EQ(applied(log(2, 1, {1}, {{"another", {1.0}}})), Applied::applied);
}

TEST_P(StorageContract, R59_MoreValuesThanTheLimitAreRefusedAlsoAfterARestart) {
  apply(begun_for_series());
  constexpr std::int64_t kRows = 100'000;
  Steps steps(kRows);
  for (std::int64_t i = 0; i < kRows; ++i) steps[static_cast<std::size_t>(i)] = i;
  const std::vector<std::optional<double>> values(kRows, 1.0);
  for (std::int64_t seq = 1; seq * kRows <= kMostSeriesValues; ++seq)
    EXPECT_EQ(applied(log(1, seq, steps, {{"s" + std::to_string(seq), values}})), Applied::applied);
  reopen();
  const Outcome refused = apply_one(log(1, 99, {kRows}, {{"s1", {1.0}}}));
  EXPECT_EQ(refused.applied, Applied::superseded);
  EXPECT_THAT(refused.refusal, Optional(Refusal::series_size));
  // A repeated report adds no values.
  EXPECT_EQ(applied(log(1, 1, steps, {{"s1", values}})), Applied::repeated);
}

TEST_P(StorageContract, R55_AreDeletedWithTheStudy) {
  apply({create_study(1), start(1, key(1, 0)), create_study(2, "other"), start(2, key(2, 0)),
         log(1, 1, {1, 2}, {{"loss", {1.0, 2.0}}, {"acc", {0.5}}}),
         log(1, 2, {3}, {{"loss", {1.0}}}), log(2, 1, {1}, {{"loss", {3.0}}}),
         end_study(1, StudyState::cancelled)});
  const AttemptRow attempt = storage().attempt(AttemptId{1}).value().value();
  apply_one(DeleteStudy{StudyId{1}});
  EXPECT_THAT(storage().series(attempt, {}).value(), IsEmpty());
  EXPECT_THAT(names(storage(), 1), IsEmpty());
  EXPECT_EQ(applied(log(1, 3, {4}, {{"loss", {1.0}}})), Applied::conflict);
  while (applied(SweepDeleted{.rows = 1}) == Applied::applied) {
  }
  EXPECT_FALSE(storage().load().value().unswept);
  EXPECT_EQ(series(storage(), 2), "loss: 1=3\n");
}

}  // namespace
}  // namespace hyperflock::storage
