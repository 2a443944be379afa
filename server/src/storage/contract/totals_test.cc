// Tests that the stored totals are the same as totals that are counted from all rows, and that long
// lists are read in pages.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "storage/contract/suite.h"

namespace hyperflock::storage {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t kHuge = 8'000'000'000'000'000;  // below kManyTrials

// Returns all studies by pages of two.
std::vector<StudyRow> all_studies(Storage& storage, std::optional<std::string> owner = {}) {
  std::vector<StudyRow> all;
  StudyQuery query{.owner = std::move(owner), .limit = 2};
  for (;;) {
    StudyPage page = storage.studies(query).value();
    EXPECT_LE(page.studies.size(), 2U);
    for (StudyRow& row : page.studies) all.push_back(std::move(row));
    if (!page.more) return all;
    query.before = to_int(all.back().id);
  }
}

// Counts from all rows what project_totals() should return, except the owners.
ProjectTotals counted(const std::vector<StudyRow>& studies, const std::string& project) {
  ProjectTotals totals;
  for (const StudyRow& study : studies) {
    if (study.project != project) continue;
    ++totals.studies;
    totals.done += study.complete + study.pruned + study.failed;
    totals.trials = std::min(kManyTrials, totals.trials + study.total);
  }
  return totals;
}

CreateStudy study_of(std::int64_t id, const std::string& owner, const std::string& project,
                     std::int64_t total) {
  CreateStudy create = create_study(id, "k" + std::to_string(id));
  create.owner = owner;
  create.project = project;
  create.total = total;
  create.spec.bundle = {sha(static_cast<char>('0' + id % 6)), 100};
  return create;
}

// Returns the given study, changed to an ask-and-tell study.
CreateStudy asked_study(CreateStudy create, std::size_t directions = 1) {
  create.spec.kind = protocol::StudyKind::asked;
  create.spec.directions.assign(directions, protocol::Direction::minimize);
  create.spec.direction = protocol::Direction::minimize;
  create.spec.space.clear();
  create.total = 0;
  return create;
}

TEST_P(StorageContract, OpenSpecsAreThoseWhoseTrialsMayBeLeased) {
  apply({study_of(1, "ada", "birds", 6), study_of(2, "grace", "birds", 4),
         study_of(3, "ada", "ants", 9), study_of(4, "ada", "birds", 2),
         study_of(5, "ada", "birds", 2)});
  const auto bundles = [this](std::int64_t limit) {
    std::vector<std::string> found;
    const auto specs = storage().open_specs("birds", limit).value();
    for (const protocol::StudySpec& spec : specs) found.push_back(spec.bundle.sha256);
    return found;
  };
  EXPECT_THAT(bundles(8), ElementsAre(sha('5'), sha('4'), sha('2'), sha('1')));
  EXPECT_THAT(bundles(2), ElementsAre(sha('5'), sha('4')));
  apply({end_study(2, StudyState::cancelled), PauseStudy{StudyId{4}, true}});
  EXPECT_THAT(bundles(8), ElementsAre(sha('5'), sha('1')));
  EXPECT_THAT(storage().open_specs("bees", 8).value(), IsEmpty());
}

TEST_P(StorageContract, ProjectTotalsFollowItsStudies) {
  EXPECT_EQ(storage().project_totals("birds").value(), ProjectTotals{});
  apply({study_of(1, "ada", "birds", 6), study_of(2, "grace", "birds", 4),
         study_of(3, "ada", "ants", 9)});
  EXPECT_EQ(storage().project_totals("birds").value(), (ProjectTotals{2, 0, 10, {"grace", "ada"}}));
  EXPECT_EQ(storage().project_totals("ants").value(), (ProjectTotals{1, 0, 9, {"ada"}}));
  apply({start(1, key(1, 0)), complete(1, {0.5}), start(2, key(1, 1)), pruned(2),
         start(3, key(2, 0)), fail(key(2, 0))});
  EXPECT_EQ(storage().project_totals("birds").value(), (ProjectTotals{2, 3, 10, {"grace", "ada"}}));
  apply({end_study(2, StudyState::cancelled)});
  EXPECT_EQ(storage().project_totals("birds").value().done, 3);
  apply({DeleteStudy{StudyId{2}}, study_of(4, "kay", "birds", 1)});
  EXPECT_EQ(storage().project_totals("birds").value(), (ProjectTotals{2, 2, 7, {"kay", "ada"}}));
}

TEST_P(StorageContract, ProjectTotalsNameThreeOwners) {
  for (std::int64_t id = 1; id <= 5; ++id)
    apply_one(study_of(id, "r" + std::to_string(id), "birds", 1));
  apply_one(study_of(6, "r2", "birds", 1));
  EXPECT_THAT(storage().project_totals("birds").value().owners, ElementsAre("r2", "r5", "r4"));
}

// A sum of very many trials is returned as kManyTrials, because clients can read only numbers below
// 2^53 exactly.
TEST_P(StorageContract, TotalsOfHugeStudiesDoNotOverflow) {
  std::vector<Transition> all;  // together more than 64 bits can hold
  for (std::int64_t id = 1; id <= 1'200; ++id)
    all.emplace_back(study_of(id, "ada", "birds", kHuge));
  apply(all);
  EXPECT_EQ(storage().project_totals("birds").value().trials, kManyTrials);
  EXPECT_EQ(storage().usage("ada").value().trials, kManyTrials);
  all.clear();
  for (std::int64_t id = 2; id <= 1'200; ++id) {
    all.emplace_back(end_study(id, StudyState::cancelled));
    all.emplace_back(DeleteStudy{StudyId{id}});
  }
  apply(all);
  EXPECT_EQ(storage().project_totals("birds").value().trials, kHuge);
  EXPECT_EQ(storage().usage("ada").value().trials, kHuge);
}

TEST_P(StorageContract, TotalsFollowAnExtension) {
  apply({study_of(1, "ada", "birds", 6)});
  StudyRow row = study(1);
  row.spec.space[0].values_json.push_back("32");
  protocol::Extension more;
  more.space = row.spec.space;
  ASSERT_EQ(applied(ExtendStudy{StudyId{1}, more, {}}), Applied::applied);
  EXPECT_EQ(storage().project_totals("birds").value().trials, 9);
  EXPECT_EQ(storage().usage("ada").value().trials, 9);
  apply({end_study(1, StudyState::finished)});
  EXPECT_EQ(storage().usage("ada").value().trials, 0);
  more.space[0].values_json.push_back("64");
  ASSERT_EQ(applied(ExtendStudy{StudyId{1}, more, {}}), Applied::applied);
  EXPECT_EQ(storage().project_totals("birds").value().trials, 12);
  EXPECT_EQ(storage().usage("ada").value(), (Usage{1, 12, storage().usage("ada").value().bytes}));
}

// Applies batches of random transitions, also deletions, and restarts the storage. The stored
// totals are always the same as totals that are counted from all rows.
TEST_P(StorageContract, KeptTotalsAreCountedOnes) {
  std::mt19937 random(20'261'127);
  const auto pick = [&random](std::int64_t below) {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(below));
  };
  const std::vector<std::string> owners{"ada", "grace", "kay"};
  const std::vector<std::string> projects{"birds", "ants"};
  std::map<std::int64_t, std::string> owner_of;
  std::map<std::string, std::map<std::string, std::int64_t>> blobs_of;  // what each owner brought
  std::int64_t next_study = 1;
  std::int64_t next_attempt = 1;
  std::int64_t generation = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<Transition> batch;
    for (std::int64_t left = 1 + pick(6); left > 0; --left) {
      const std::int64_t id = next_study <= 1 ? 0 : 1 + pick(next_study - 1);
      const std::int64_t attempt = next_attempt <= 1 ? 1 : 1 + pick(next_attempt - 1);
      switch (pick(13)) {
        case 0: {
          CreateStudy create = study_of(next_study, owners[static_cast<std::size_t>(pick(3))],
                                        projects[static_cast<std::size_t>(pick(2))],
                                        pick(8) == 0 ? kHuge : 1 + pick(9));
          if (pick(3) == 0) {
            create = asked_study(create);
          }
          owner_of[next_study++] = create.owner;
          batch.emplace_back(create);
          break;
        }
        case 1:
        case 2:
        case 3:
          batch.emplace_back(start(next_attempt++, key(id, pick(5))));
          break;
        case 4:
          batch.emplace_back(complete(attempt, {0.5}));
          break;
        case 5:
          batch.emplace_back(pick(2) == 0 ? pruned(attempt) : failed(attempt));
          break;
        case 6:
          batch.emplace_back(fail(key(id, pick(5))));
          break;
        case 7:
          batch.emplace_back(
              end_study(id, pick(2) == 0 ? StudyState::finished : StudyState::cancelled));
          break;
        case 8:
          batch.emplace_back(ReissueTrials{StudyId{id}, {}});
          break;
        case 9: {
          batch.emplace_back(ClaimStudy{StudyId{id}, "x", {}});
          AskTrials ask{.study = StudyId{id}, .generation = ++generation % 3 + 1, .trials = {}};
          ask.trials.push_back({.number = TrialNumber{pick(9)}, .params = "{}"});
          batch.emplace_back(ask);
          break;
        }
        case 10: {
          StoreArtifact store;
          store.device = "phone";
          store.artifact.id = "a" + std::to_string(pick(50));
          store.artifact.attempt = AttemptId{attempt};
          store.artifact.blob = {sha('c'), 1 + pick(1'000)};
          batch.emplace_back(store);
          break;
        }
        case 11: {
          OwnBlob own{owners[static_cast<std::size_t>(pick(3))],
                      sha(static_cast<char>('a' + pick(6))),
                      10 + pick(90),
                      {}};
          batch.emplace_back(own);
          break;
        }
        default:
          if (pick(2) == 0) {
            batch.emplace_back(DeleteStudy{StudyId{id}});
          } else {
            batch.emplace_back(SweepDeleted{1 + pick(40)});
          }
          break;
      }
    }
    apply(batch);
    if (round % 50 == 49) reopen();

    const std::vector<StudyRow> rows = all_studies(storage());
    for (const std::string& project : projects) {
      ProjectTotals kept = storage().project_totals(project).value();
      std::set<std::string> named;
      for (const StudyRow& row : rows) {
        if (row.project == project) named.insert(row.owner);
      }
      EXPECT_EQ(std::set<std::string>(kept.owners.begin(), kept.owners.end()), named);
      kept.owners.clear();
      ASSERT_EQ(kept, counted(rows, project)) << "round " << round;
    }
    for (const std::string& owner : owners) {
      Usage expected;
      for (const StudyRow& row : all_studies(storage(), owner)) {
        EXPECT_EQ(row.owner, owner);
        expected.bytes += row.artifact_bytes;
        if (row.state != StudyState::running) continue;
        ++expected.studies;
        expected.trials = std::min(kManyTrials, expected.trials + row.total);
      }
      const Usage used = storage().usage(owner).value();
      ASSERT_EQ(used.studies, expected.studies) << "round " << round;
      ASSERT_EQ(used.trials, expected.trials) << "round " << round;
      // The owner's bundles and data count too, and `expected` lacks them.
      ASSERT_GE(used.bytes, expected.bytes) << "round " << round;
    }
  }
  // When all studies are deleted, all totals are 0, but uploaded blobs still count as bytes.
  for (const auto& [id, owner] : owner_of)
    apply({end_study(id, StudyState::cancelled), DeleteStudy{StudyId{id}}});
  while (applied(SweepDeleted{}) == Applied::applied) {
  }
  for (const std::string& project : projects)
    EXPECT_EQ(storage().project_totals(project).value(), ProjectTotals{});
  for (const std::string& owner : owners) {
    EXPECT_EQ(storage().usage(owner).value().studies, 0);
    EXPECT_EQ(storage().usage(owner).value().trials, 0);
  }
}

// ---- pages

TEST_P(StorageContract, PagesOfStudiesStayStableWhileStudiesComeAndGo) {
  for (std::int64_t id = 1; id <= 7; ++id)
    apply_one(study_of(id, id % 2 == 0 ? "grace" : "ada", "birds", 1));
  const auto ids = [](const StudyPage& page) {
    std::vector<std::int64_t> out;
    for (const StudyRow& row : page.studies) out.push_back(to_int(row.id));
    return out;
  };
  const StudyPage first = storage().studies({.limit = 3}).value();
  EXPECT_THAT(ids(first), ElementsAre(7, 6, 5));
  EXPECT_TRUE(first.more);
  // A study is added, and two are deleted: the one at the cursor and an older one. The next page
  // has all other older studies.
  apply({study_of(8, "ada", "birds", 1), end_study(5, StudyState::cancelled),
         DeleteStudy{StudyId{5}}, end_study(3, StudyState::cancelled), DeleteStudy{StudyId{3}}});
  const StudyPage second = storage().studies({.before = 5, .limit = 3}).value();
  EXPECT_THAT(ids(second), ElementsAre(4, 2, 1));
  EXPECT_FALSE(second.more);
  EXPECT_THAT(ids(storage().studies({.owner = "grace", .limit = 2}).value()), ElementsAre(6, 4));
  EXPECT_TRUE(storage().studies({.owner = "grace", .limit = 2}).value().more);
  EXPECT_THAT(ids(storage().studies({.owner = "grace", .before = 4}).value()), ElementsAre(2));
  EXPECT_THAT(ids(storage().studies({.owner = ""}).value()), IsEmpty());
  EXPECT_THAT(ids(storage().studies({.limit = 0}).value()), IsEmpty());
}

TEST_P(StorageContract, APageOfLongSpecsIsShort) {
  std::vector<Transition> all;
  for (std::int64_t id = 1; id <= 50; ++id) {
    CreateStudy create = study_of(id, "ada", "birds", 1);
    create.spec.provenance_json = "{\"note\":\"" + std::string(60'000, 'x') + "\"}";
    all.emplace_back(create);
  }
  apply(all);
  const StudyPage page = storage().studies({.limit = 50}).value();
  EXPECT_EQ(page.studies.size(), kPageSpecBytes / 60'000 + 1);
  EXPECT_TRUE(page.more);
  const StudyPage rest =
      storage().studies({.before = to_int(page.studies.back().id), .limit = 50}).value();
  EXPECT_THAT(rest.studies, SizeIs(50 - page.studies.size()));
  EXPECT_FALSE(rest.more);
}

TEST_P(StorageContract, UnfinishedTrialsComeInPages) {
  apply_one(create_study(1));
  for (std::int64_t number = 0; number < 6; ++number) {
    apply_one(start(number + 1, key(1, number)));
  }
  apply_one(complete(3, {0.5}));
  const auto numbers = [this](std::int64_t from, std::int64_t limit) {
    std::vector<std::int64_t> out;
    for (const TrialDetail& one : storage().unfinished_trials(StudyId{1}, from, limit).value())
      out.push_back(to_int(one.trial.key.number));
    return out;
  };
  EXPECT_THAT(numbers(0, 3), ElementsAre(0, 1, 3));
  EXPECT_THAT(numbers(4, 3), ElementsAre(4, 5));
  EXPECT_THAT(numbers(6, 3), IsEmpty());
}

TEST_P(StorageContract, BestTrialsComeInPages) {
  apply({asked_study(create_study(1), 2), ClaimStudy{StudyId{1}, "owner", {}}});
  for (std::int64_t number = 0; number < 9; ++number) {
    AskTrials ask{.study = StudyId{1}, .generation = 1, .trials = {}};
    ask.trials.push_back({.number = TrialNumber{number}, .params = "{}"});
    apply({ask, start(number + 1, key(1, number)),
           complete(number + 1, {static_cast<double>(number), static_cast<double>(-number)})});
  }
  const auto numbers = [this](std::int64_t from, std::int64_t limit) {
    std::vector<std::int64_t> out;
    for (const TrialDetail& one : storage().best_trials(StudyId{1}, from, limit).value())
      out.push_back(to_int(one.trial.key.number));
    return out;
  };
  EXPECT_THAT(numbers(0, 4), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(numbers(4, 4), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(numbers(8, 4), ElementsAre(8));
}

TEST_P(StorageContract, RunningStudiesNameTheirRuntimes) {
  const std::string one(64, '1');
  const std::string two(64, '2');
  for (std::int64_t id = 1; id <= 4; ++id) {
    CreateStudy create = study_of(id, "ada", "birds", 1);
    create.spec.runtime_index = id == 4 ? two : one;
    apply_one(create);
  }
  EXPECT_THAT(storage().running_runtimes().value(), ElementsAre(one, two));
  apply({end_study(4, StudyState::finished)});
  EXPECT_THAT(storage().running_runtimes().value(), ElementsAre(one));
}

}  // namespace
}  // namespace hyperflock::storage
