// Tests what devices contribute: added up in pieces after the acceptance, taken back by a rejection
// before and after that, erased with the device.
#include <map>
#include <random>

#include "storage/contract/suite.h"

namespace hyperflock::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::SizeIs;

constexpr std::int64_t kToday = kNow / kDayMs;
constexpr PieceLimits kAll{.results = 1'000'000, .rows = 1'000'000};

RejectResults reject(const std::string& device, std::int64_t study = 1) {
  return {.study = StudyId{study},
          .which = {.device = device},
          .last = AttemptId{std::int64_t{1} << 50},
          .by = "ada",
          .reason = "it lies"};
}

StoreResult after(std::int64_t run_ms, StoreResult store) {
  store.result.metrics = {0, run_ms};
  return store;
}

Contribution given(std::int64_t trials, std::int64_t ms, std::int64_t moved,
                   std::int64_t day = kToday, const std::string& project = "default") {
  return {project, day, trials, ms, moved};
}

// Returns what the device has contributed when all results are added up.
std::vector<Contribution> given_by(Storage& storage, const std::string& device,
                                   std::int64_t today = kToday) {
  fold_contributions(storage, today);
  return storage.contributions(device).value();
}

ContributionPiece next_piece(Storage& storage, PieceLimits limits = {}) {
  return storage.next_contributions(kToday, limits).value();
}

TEST_P(StorageContract, AnAcceptedResultCountsForItsDevice) {
  apply({create_study(1), start(1, key(1, 0)), start(2, key(1, 1)), start(3, key(1, 2))});
  at(kNow + 10'000);
  apply({after(6'000, complete(1, {0.5})), after(5'000, pruned(2)), failed(3)});
  EXPECT_THAT(given_by(storage(), "phone"), ElementsAre(given(2, 11'000, 0)));
  EXPECT_THAT(given_by(storage(), "tablet"), IsEmpty());
  EXPECT_EQ(apply_one(complete(1, {0.5})).applied, Applied::repeated);
  reopen();
  EXPECT_THAT(given_by(storage(), "phone"), ElementsAre(given(2, 11'000, 0)));
}

TEST_P(StorageContract, OnlyTheAcceptedOneOfTwoResultsCounts) {
  apply({create_study(1), start(1, key(1, 0)), start(2, key(1, 0), "tablet")});
  at(kNow + 10'000);
  apply({after(4'000, complete(2, {0.5}, "tablet")), after(4'000, complete(1, {0.5}))});
  EXPECT_THAT(given_by(storage(), "tablet"), ElementsAre(given(1, 4'000, 0)));
  EXPECT_THAT(given_by(storage(), "phone"), IsEmpty());
}

// A device cannot count more time than the server saw, however much it reports and however late its
// result comes.
TEST_P(StorageContract, ADeviceCountsAtMostItsLease) {
  apply({create_study(1), start(1, key(1, 0)), start(2, key(1, 1)), start(3, key(1, 2)),
         start(4, key(1, 3))});
  at(kNow + 10'000);
  apply({after(3'600'000, complete(1, {0.5})), after(0, complete(2, {0.5})),
         end(3, AttemptState::expired)});
  EXPECT_THAT(given_by(storage(), "phone"), ElementsAre(given(2, 20'000, 0)));
  at(kNow + 20'000);
  reopen();  // so that PostgreSQL reads the end of the lease
  apply({after(3'600'000, complete(3, {0.5})), after(2'000, complete(4, {0.5}))});
  EXPECT_THAT(given_by(storage(), "phone"), ElementsAre(given(4, 32'000, 0)));
}

TEST_P(StorageContract, AResultThatIsBetterThanAllBeforeItMovesTheBest) {
  apply({create_study(1), start(1, key(1, 0)), start(2, key(1, 1)), start(3, key(1, 2)),
         start(4, key(1, 3)), start(5, key(1, 4))});
  // The first one is better than nothing, the second and the last are not better.
  for (const auto& [attempt, value] : std::vector<std::pair<std::int64_t, double>>{
           {2, 0.5}, {1, 0.5}, {3, 0.75}, {4, 0.8}, {5, 0.6}})
    apply({after(1, complete(attempt, {value}))});
  EXPECT_THAT(given_by(storage(), "phone"), ElementsAre(given(5, 0, 2)));
}

TEST_P(StorageContract, AResultMovesTheFrontOfSeveralDirections) {
  CreateStudy create = create_study(1);
  create.spec.kind = protocol::StudyKind::asked;
  create.spec.directions = {protocol::Direction::maximize, protocol::Direction::minimize};
  create.spec.space.clear();
  create.total = 0;
  AskTrials ask{.study = StudyId{1}, .generation = 1, .trials = {}};
  for (std::int64_t i = 0; i < 4; ++i) ask.trials.push_back({TrialNumber{i}, "{}", 7});
  apply({create, ClaimStudy{StudyId{1}, "owner"}, ask, start(1, key(1, 0)), start(2, key(1, 1)),
         start(3, key(1, 2)), start(4, key(1, 3))});
  // The second has the values of the first, the third is better in one of them, the last in none.
  apply(
      {complete(1, {0.5, 7}), complete(2, {0.5, 7}), complete(3, {0.4, 6}), complete(4, {0.4, 8})});
  EXPECT_THAT(given_by(storage(), "phone"), ElementsAre(given(4, 0, 1)));
}

TEST_P(StorageContract, R71_ARejectionTakesTheContributionBack) {
  apply({create_study(1), start(1, key(1, 0)), start(2, key(1, 1), "liar"),
         start(3, key(1, 2), "liar")});
  at(kNow + 10'000);
  apply({after(4'000, complete(1, {0.5})), after(5'000, complete(2, {0.9}, "liar")), reject("liar"),
         after(6'000, complete(3, {0.9}, "liar"))});
  EXPECT_THAT(given_by(storage(), "liar"), IsEmpty());
  EXPECT_THAT(given_by(storage(), "phone"), ElementsAre(given(1, 4'000, 0)));
  reopen();
  EXPECT_EQ(applied(reject("phone")), Applied::applied);
  EXPECT_THAT(given_by(storage(), "phone"), ElementsAre(given(0, 0, 0)));
  // The trial runs again and counts for the device that computes it then.
  apply({start(4, key(1, 0), "tablet")});
  at(kNow + 20'000);
  apply({after(7'000, complete(4, {0.6}, "tablet"))});
  EXPECT_THAT(given_by(storage(), "tablet"), ElementsAre(given(1, 7'000, 0)));
}

TEST_P(StorageContract, DaysBeforeTheLastSevenAreAddedUp) {
  CreateStudy create = create_study(1);
  create.total = 100;
  apply({create});
  for (std::int64_t day = 0; day < 20; ++day) {
    at(kNow + day * kDayMs);
    apply({start(day + 1, key(1, day))});
    at(kNow + day * kDayMs + 1'000);
    apply({after(1'000, complete(day + 1, {0.5 + static_cast<double>(day)}))});
    if (day == 10) reopen();
    // The results of some days are added up later.
    if (day % 3 == 0) fold_contributions(storage(), kToday + day);
  }
  const auto rows = given_by(storage(), "phone", kToday + 19);
  ASSERT_THAT(rows, SizeIs(kContributionDays + 1));
  EXPECT_EQ(rows[0], given(13, 13'000, 12, kEarlierDays));
  EXPECT_EQ(rows[1], given(1, 1'000, 1, kToday + 13));
  EXPECT_EQ(rows[7], given(1, 1'000, 1, kToday + 19));
  // A rejection takes back from the row in which the result counts.
  apply({reject("phone")});
  for (const Contribution& row : given_by(storage(), "phone", kToday + 19))
    EXPECT_EQ(row, given(0, 0, 0, row.day));
}

TEST_P(StorageContract, AContributionNamesTheProjectOfTheStudy) {
  CreateStudy lent = create_study(2, "other");
  lent.project = "borrower";
  apply({create_study(1), lent, start(1, key(1, 0)), start(2, key(2, 0))});
  apply({complete(1, {0.5}), complete(2, {0.5})});
  EXPECT_THAT(given_by(storage(), "phone"),
              ElementsAre(given(1, 0, 0, kToday, "borrower"), given(1, 0, 0)));
}

TEST_P(StorageContract, AContributionStaysWhenItsStudyIsDeleted) {
  apply({create_study(1), start(1, key(1, 0)), complete(1, {0.5}),
         end_study(1, StudyState::finished), DeleteStudy{StudyId{1}}});
  while (applied(SweepDeleted{}) == Applied::applied) {
  }
  EXPECT_THAT(given_by(storage(), "phone"), ElementsAre(given(1, 0, 0)));
}

TEST_P(StorageContract, AnErasedDeviceHasNoContribution) {
  apply({create_device("phone"), create_device("tablet"), create_study(1), start(1, key(1, 0)),
         start(2, key(1, 1), "tablet"), complete(2, {0.5}, "tablet")});
  // In one batch with a result, too.
  apply({complete(1, {0.5}), EraseDevice{"phone"}});
  EXPECT_THAT(given_by(storage(), "phone"), IsEmpty());
  EXPECT_THAT(given_by(storage(), "tablet"), SizeIs(1));
  // What the erased device has computed is rejected later.
  EXPECT_EQ(applied(reject(kErasedDevice)), Applied::applied);
  EXPECT_THAT(given_by(storage(), "phone"), IsEmpty());
}

TEST_P(StorageContract, ConstraintsDecideWhetherAResultMovesTheBest) {
  CreateStudy create = create_study(1);
  create.spec.kind = protocol::StudyKind::asked;
  create.spec.directions = {create.spec.direction};
  create.spec.space.clear();
  create.total = 0;
  apply({create});
  const std::int64_t generation = apply_one(ClaimStudy{StudyId{1}, "owner", {}}).id;
  AskTrials ask{.study = StudyId{1}, .generation = generation, .trials = {}};
  for (std::int64_t number = 0; number < 4; ++number) {
    ask.trials.push_back(
        {.number = TrialNumber{number}, .params = "{}", .constrained = number > 1});
  }
  apply({ask});
  for (std::int64_t number = 0; number < 4; ++number)
    apply({start(number + 1, key(1, number)), complete(number + 1, {static_cast<double>(number)})});
  // Trials 2 and 3 wait for their constraints; trial 1 is better than trial 0.
  const ContributionPiece piece = next_piece(storage());
  ASSERT_THAT(piece.more, SizeIs(1));
  EXPECT_EQ(piece.more[0].more, given(4, 0, 1));
  apply({StoreConstraints{key(1, 2), generation, {-1}},
         StoreConstraints{key(1, 3), generation, {1}}});
  EXPECT_EQ(applied(FoldContributions{piece}), Applied::superseded);
  EXPECT_THAT(given_by(storage(), "phone"), ElementsAre(given(4, 0, 2)));
  // Nobody expected constraints of trial 1, and it does not meet them.
  apply({StoreConstraints{key(1, 1), generation, {1}}});
  EXPECT_THAT(given_by(storage(), "phone"), ElementsAre(given(4, 0, 1)));
  apply({reject("phone")});
  EXPECT_THAT(given_by(storage(), "phone"), ElementsAre(given(0, 0, 0)));
}

TEST_P(StorageContract, ResultsAreAddedUpInPiecesOfALimitedSize) {
  apply({create_study(1), create_study(2, "other")});
  for (std::int64_t i = 0; i < 6; ++i) {
    apply({start(i + 1, key(1 + i % 2, i / 2), i < 4 ? "phone" : "tablet")});
    apply({complete(i + 1, {0.5}, i < 4 ? "phone" : "tablet")});
  }
  EXPECT_THAT(storage().contributions("phone").value(), IsEmpty());
  int pieces = 0;
  for (bool more = true; more; ++pieces) {
    const ContributionPiece piece = next_piece(storage(), {.results = 2, .rows = 1});
    EXPECT_THAT(piece.more.size(), Le(1U));
    more = !piece.last;
    EXPECT_EQ(applied(FoldContributions{piece}), Applied::applied);
    if (pieces == 1) reopen();
  }
  EXPECT_EQ(pieces, 3);
  EXPECT_TRUE(next_piece(storage()).empty());
  EXPECT_THAT(storage().contributions("phone").value(), ElementsAre(given(4, 0, 0)));
  EXPECT_THAT(storage().contributions("tablet").value(), ElementsAre(given(2, 0, 0)));
}

TEST_P(StorageContract, APieceIsAddedOnce) {
  apply({create_study(1), start(1, key(1, 0)), complete(1, {0.5})});
  const ContributionPiece piece = next_piece(storage());
  EXPECT_EQ(apply({FoldContributions{piece}, FoldContributions{piece}}).at(1).applied,
            Applied::superseded);
  reopen();
  EXPECT_EQ(applied(FoldContributions{piece}), Applied::superseded);
  // A result that comes after a piece was read is in the next one.
  apply({start(2, key(1, 1)), start(3, key(1, 2)), complete(2, {0.5})});
  const ContributionPiece second = next_piece(storage());
  apply({complete(3, {0.5}), FoldContributions{second}});
  EXPECT_THAT(storage().contributions("phone").value(), ElementsAre(given(2, 0, 0)));
  EXPECT_THAT(given_by(storage(), "phone"), ElementsAre(given(3, 0, 0)));
}

TEST_P(StorageContract, R71_ARejectionThatComesBeforeItsPieceIsAddedMakesThePieceOld) {
  apply({create_study(1), start(1, key(1, 0)), start(2, key(1, 1), "liar"), complete(1, {0.5}),
         complete(2, {0.5}, "liar")});
  const ContributionPiece piece = next_piece(storage());
  apply({reject("liar")});
  EXPECT_EQ(applied(FoldContributions{piece}), Applied::superseded);
  EXPECT_THAT(given_by(storage(), "liar"), IsEmpty());
  EXPECT_THAT(storage().contributions("phone").value(), ElementsAre(given(1, 0, 0)));
  // The other way round, with the rejection of a result that is in the sums.
  apply({start(3, key(1, 1)), complete(3, {0.75})});
  const ContributionPiece next = next_piece(storage());
  apply({RejectResults{
      .study = StudyId{1}, .which = {.trial = TrialNumber{0}}, .last = AttemptId{2}, .by = "ada"}});
  EXPECT_EQ(applied(FoldContributions{next}), Applied::applied);
  EXPECT_THAT(storage().contributions("phone").value(), ElementsAre(given(1, 0, 1)));
}

TEST_P(StorageContract, APieceIsOldWhenADeviceInItIsErased) {
  apply({create_device("phone"), create_device("idle"), create_study(1), start(1, key(1, 0)),
         complete(1, {0.5})});
  const ContributionPiece piece = next_piece(storage());
  apply({EraseDevice{"phone"}});
  EXPECT_EQ(applied(FoldContributions{piece}), Applied::superseded);
  EXPECT_THAT(given_by(storage(), "phone"), IsEmpty());
  // A device without results is in no piece, so joining and erasing does not hold the others up.
  apply({start(2, key(1, 1), "tablet"), complete(2, {0.5}, "tablet")});
  const ContributionPiece next = next_piece(storage());
  apply({EraseDevice{"idle"}});
  EXPECT_EQ(applied(FoldContributions{next}), Applied::applied);
}

TEST_P(StorageContract, ADeletedStudyKeepsItsRowsUntilTheyAreAddedUp) {
  CreateStudy large = create_study(1);
  large.total = 3'000;
  apply({large, create_study(2, "other"), start(5'000, key(2, 0)), complete(5'000, {0.5})});
  constexpr std::int64_t kResults = 1'500;  // more than are added at once before a deletion
  for (std::int64_t first = 0; first < kResults; first += 100) {
    std::vector<Transition> batch;
    for (std::int64_t i = first; i < first + 100; ++i) {
      batch.emplace_back(start(i + 1, key(1, i)));
      batch.emplace_back(complete(i + 1, {0.5}));
    }
    apply(std::move(batch));
  }
  const ContributionPiece piece = next_piece(storage());
  apply({end_study(1, StudyState::cancelled), DeleteStudy{StudyId{1}}, SweepDeleted{1}});
  EXPECT_EQ(applied(FoldContributions{piece}), Applied::superseded);
  while (applied(SweepDeleted{}) == Applied::applied) {
  }
  EXPECT_THAT(given_by(storage(), "phone"), ElementsAre(given(kResults + 1, 0, 0)));
}

// Counts what devices contribute while random things happen.
class ContributionWalk {
 public:
  ContributionWalk(Storage& storage, std::uint32_t seed) : storage_(&storage), random_(seed) {
    begin_study();
    for (int i = 0; i < 3; ++i) join();
  }
  void set_storage(Storage& storage) { storage_ = &storage; }

  // Returns the time that has passed.
  std::int64_t step(std::int64_t now) {
    switch (pick(16)) {
      case 0:
        apply(reject(any_device(), study_));
        std::erase_if(accepted_, [&](const auto& one) {
          if (one.second.study != study_ || one.second.device != rejected_) return false;
          --counted_[one.second.device];
          return true;
        });
        return 0;
      case 1:
        if (pick(3) == 0) erase(any_device());
        return 0;
      case 2:
        if (pick(3) == 0) {
          apply(end_study(study_, StudyState::cancelled));
          apply(DeleteStudy{StudyId{study_}});
          begin_study();
        }
        return 0;
      case 3:
        apply(SweepDeleted{1 + pick(8)});
        return 0;
      case 4:
        return pick(2) == 0 ? kDayMs : 0;
      case 5:  // a piece that was read earlier, and may be old
        apply(FoldContributions{piece_});
        return 0;
      case 6:
      case 7:
        piece_ = storage_->next_contributions(now / kDayMs, {1 + pick(6), 1 + pick(3)}).value();
        if (pick(2) == 0) apply(FoldContributions{piece_});
        return 0;
      default:
        run(any_device());
        return 0;
    }
  }

  const std::map<std::string, std::int64_t>& counted() const { return counted_; }

 private:
  struct Accepted {
    std::string device;
    std::int64_t study = 0;
  };

  std::int64_t pick(std::int64_t most) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint32_t>(most));
  }
  Outcome apply(Transition one) {
    return storage_->apply(std::vector<Transition>{std::move(one)}).value().front();
  }
  void begin_study() {
    ++study_;
    CreateStudy create = create_study(study_, std::to_string(study_));
    create.total = 1'000;
    apply(create);
    trials_ = 0;
  }
  void join() {
    const std::string device = "device" + std::to_string(++joined_);
    apply(create_device(device));
    counted_[device] = 0;
  }
  const std::string& any_device() {
    rejected_ = std::next(counted_.begin(), pick(std::ssize(counted_)))->first;
    return rejected_;
  }
  // Runs a new trial, or one that may have lost its result.
  void run(const std::string& device) {
    const std::int64_t number = pick(4) == 0 ? pick(trials_ + 1) : trials_++;
    const std::int64_t attempt = ++attempt_;
    if (apply(start(attempt, key(study_, number), device)).applied != Applied::applied) return;
    if (apply(complete(attempt, {static_cast<double>(pick(9))}, device)).verdict !=
        protocol::Verdict::accepted)
      return;
    accepted_[attempt] = {device, study_};
    ++counted_[device];
  }
  void erase(const std::string& device) {
    const std::string gone = device;
    apply(EraseDevice{gone});
    std::erase_if(accepted_, [&](const auto& one) { return one.second.device == gone; });
    counted_.erase(gone);
    join();
  }

  Storage* storage_;
  std::mt19937 random_;
  std::int64_t study_ = 0;
  std::int64_t trials_ = 0;
  std::int64_t attempt_ = 0;
  int joined_ = 0;
  std::string rejected_;
  ContributionPiece piece_;
  std::map<std::int64_t, Accepted> accepted_;    // by attempt; results that count
  std::map<std::string, std::int64_t> counted_;  // results by device
};

TEST_P(StorageContract, WhatIsAddedUpAndWhatIsNotAreTogetherTheAcceptedResults) {
  ContributionWalk walk(storage(), 24);
  std::int64_t now = kNow;
  for (int step = 0; step < 400; ++step) {
    at(now += walk.step(now));
    if (step % 100 == 50) {
      reopen();
      walk.set_storage(storage());
    }
    std::map<std::string, std::int64_t> found;
    for (const auto& [device, trials] : walk.counted()) {
      found[device] = 0;
      for (const Contribution& row : storage().contributions(device).value()) {
        EXPECT_GE(row.trials, 0);
        found[device] += row.trials;
      }
    }
    for (const auto& one : storage().next_contributions(now / kDayMs, kAll).value().more)
      found[one.device] += one.more.trials;
    ASSERT_EQ(found, walk.counted()) << "after step " << step;
  }
}

}  // namespace
}  // namespace hyperflock::storage
