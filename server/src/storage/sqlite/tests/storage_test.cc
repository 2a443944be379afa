// Tests guarantees of the SQLite back end alone: files, versions, locks, a full disk, a bounded
// log, and a compact form of series.
#include "storage/sqlite/storage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

#include "base/testing/scratch_folder.h"
#include "paths.h"
#include "protocol/codec.h"
#include "storage/contract/suite.h"
#include "storage/sqlite/db/rows.h"
#include "storage/sqlite/open.h"
#include "storage/sqlite/schema.h"
#include "storage/sqlite/series/packed_series.h"

namespace hyperflock::storage {
namespace {

using testing::HasSubstr;

class SqliteFile : public testing::Test {
 protected:
  Result<std::unique_ptr<SqliteStorage>> open(SqliteSettings settings = {}) {
    return SqliteStorage::open(path_, [] { return kNow; }, settings);
  }
  static std::vector<Outcome> apply(Storage& storage, const std::vector<Transition>& batch) {
    return storage.apply(batch).value();
  }
  static SqliteSettings with_checkpoint_at(std::int64_t pages) {
    SqliteSettings settings;
    settings.checkpoint_pages = pages;
    return settings;
  }
  // Returns transitions that accept the result of attempt `i` and start attempt `i + 1`.
  static std::vector<Transition> cycle(std::int64_t i) {
    return {complete(i, {0.5}), start(i + 1, key(1, i))};
  }

  // Gives the file the schema of version 22.
  static void undo_seen_devices(sqlite::Db& db) {
    db.exec("DROP TABLE device_passphrases");  // of version 30
    db.exec("DROP TABLE contributions");       // of version 29, with the next three
    db.exec("DROP TABLE contribution_fold");
    db.exec("ALTER TABLE attempts DROP COLUMN given_ms");
    db.exec("ALTER TABLE attempts DROP COLUMN moved_best");
    db.exec("ALTER TABLE devices DROP COLUMN code");  // of version 28
    db.exec("DROP TABLE rejections");                 // of version 27, with the next three columns
    db.exec("ALTER TABLE attempts DROP COLUMN rejection");
    db.exec("ALTER TABLE attempts DROP COLUMN inherited");
    db.exec("ALTER TABLE trials DROP COLUMN rejected");
    db.exec("DROP INDEX studies_to_search");
    db.exec("ALTER TABLE study_progress DROP COLUMN search_from");
    db.exec("DROP INDEX failed_trials");
    db.exec("DROP TABLE shares");
    db.exec("DROP TABLE lending");
    db.exec("DROP INDEX devices_by_seen");
    db.exec("ALTER TABLE devices DROP COLUMN seen_at");
    db.exec("ALTER TABLE device_versions DROP COLUMN finished");
    db.exec("PRAGMA user_version = 22");
  }

  // Gives the file the schema of version 20.
  static void undo_device_versions(sqlite::Db& db) {
    undo_seen_devices(db);
    db.exec("ALTER TABLE principals DROP COLUMN reason");  // of version 22
    db.exec("DROP INDEX live_attempts");
    for (const char* column : {"device", "device_class", "engine", "adapter"}) {
      const std::string name = column;
      db.exec("ALTER TABLE attempts ADD COLUMN " + name + " TEXT NOT NULL DEFAULT ''");
      db.exec("UPDATE attempts SET " + name + " = coalesce((SELECT device_versions." + name +
              " FROM device_versions WHERE device_versions.id = device_version), '')");
    }
    db.exec("UPDATE attempts SET device = 'erased' WHERE device = ''");
    db.exec("ALTER TABLE attempts DROP COLUMN device_version");
    db.exec("DROP TABLE device_versions");
    db.exec("PRAGMA user_version = 20");
  }

  // Gives the file the schema of version 19.
  static void undo_budgets(sqlite::Db& db) {
    undo_device_versions(db);
    db.exec("DROP INDEX artifacts_by_id");
    db.exec("ALTER TABLE artifacts DROP COLUMN uploader");
    db.exec("CREATE UNIQUE INDEX artifacts_by_id ON artifacts (study, id)");
    for (const char* trigger : {"stored_of_an_owner", "stored_without_a_study"})
      db.exec(std::string("DROP TRIGGER ") + trigger);
    db.exec("ALTER TABLE owner_totals DROP COLUMN checkpoint_bytes");
    db.exec("ALTER TABLE owner_totals DROP COLUMN record_bytes");
    db.exec("DROP TABLE device_use");
    db.exec("ALTER TABLE study_progress DROP COLUMN checkpoint_bytes");
    db.exec("ALTER TABLE study_progress DROP COLUMN record_bytes");
    db.exec("PRAGMA user_version = 19");
  }

  ScratchFolder folder_;
  std::string path_ = folder_.file("db");
};

// Debian's SQLite is older than the pinned one. In that version, a reset of the write-ahead log
// could lose a commit.
TEST(SqliteLibrary, IsThePinnedOneAndHasTheRepairedLog) {
  std::ifstream file(std::string(kSourceDirectory) + "/server/sqlite/pin.json");
  EXPECT_EQ(sqlite_version(), nlohmann::json::parse(file).at("version").get<std::string>());
  int major = 0;
  int minor = 0;
  int patch = 0;
  ASSERT_EQ(std::sscanf(sqlite_version().c_str(), "%d.%d.%d", &major, &minor, &patch), 3);
  EXPECT_GE(std::tie(major, minor, patch), std::make_tuple(3, 51, 3));
}

TEST_F(SqliteFile, PragmasReadBackAsPromised) {
  const auto db = sqlite::open_for_writing(path_, 1).value();
  EXPECT_EQ(db->single("PRAGMA journal_mode"), "wal");
  EXPECT_EQ(db->single("PRAGMA synchronous"), "2");
  EXPECT_EQ(db->single("PRAGMA foreign_keys"), "1");
  EXPECT_EQ(db->single("PRAGMA user_version"), std::to_string(sqlite::migrations().size()));
}

TEST_F(SqliteFile, NewerFileIsRefusedUntouched) {
  {
    ASSERT_TRUE(open().has_value());
  }
  {
    sqlite::Db(path_, sqlite::Db::Mode::read_write).exec("PRAGMA user_version = 999");
  }
  const auto refused = open();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, "storage_too_new");
  EXPECT_EQ(sqlite::Db(path_, sqlite::Db::Mode::read_only).single("PRAGMA user_version"), "999");
}

// Before version 12 of the schema, servers knew neither constraints nor the best trials of a study
// with several directions.
TEST_F(SqliteFile, TheBestTrialsOfAnOlderFileAreFound) {
  std::vector<Transition> batch{create_study(1, "grid", protocol::Direction::minimize),
                                start(1, key(1, 0)), start(2, key(1, 1)), complete(1, {1}),
                                complete(2, {2})};
  std::get<StoreResult>(batch[3]).result.attrs = R"({"system":{"constraints:a":1}})";
  CreateStudy several = create_study(2, "several", protocol::Direction::minimize);
  several.spec.kind = protocol::StudyKind::asked;
  several.spec.directions.assign(2, protocol::Direction::minimize);
  several.spec.space.clear();
  batch.insert(
      batch.end(),
      {several, ClaimStudy{StudyId{2}, "owner"},
       AskTrials{.study = StudyId{2},
                 .generation = 1,
                 .trials = {{TrialNumber{0}, "{}", 7}, {TrialNumber{1}, "{}", 7}}},
       start(3, key(2, 0)), start(4, key(2, 1)), complete(3, {1, 2}), complete(4, {2, 2})});
  ASSERT_TRUE(open().value()->apply(batch).has_value());
  {
    sqlite::Db db(path_, sqlite::Db::Mode::read_write);
    undo_budgets(db);
    for (const char* trigger :
         {"totals_of_a_new_study", "totals_of_a_project", "totals_of_an_owner",
          "totals_of_a_larger_study", "totals_without_a_study", "totals_of_a_new_blob",
          "totals_without_a_blob"})
      db.exec(std::string("DROP TRIGGER ") + trigger);
    for (const char* trigger : {"audit_grows", "audit_shrinks"})
      db.exec(std::string("DROP TRIGGER ") + trigger);
    db.exec("DROP INDEX audit_by_actor");
    for (const char* table : {"project_totals", "project_owners", "owner_totals", "kept_time",
                              "audit_totals", "audit_total"})
      db.exec(std::string("DROP TABLE ") + table);
    db.exec("DROP INDEX studies_by_owner");
    db.exec("DROP INDEX running_studies");
    db.exec("DROP INDEX studies_awaiting_approval");
    db.exec("ALTER TABLE study_progress DROP COLUMN approval");
    db.exec("ALTER TABLE study_progress DROP COLUMN refusal");
    db.exec("ALTER TABLE projects DROP COLUMN frozen_at");
    db.exec("ALTER TABLE projects DROP COLUMN frozen_reason");
    for (const char* table : {"barred_blobs", "ceilings"})
      db.exec(std::string("DROP TABLE ") + table);
    db.exec("DROP TABLE earlier_specs");
    db.exec("ALTER TABLE attempts DROP COLUMN code");
    db.exec("ALTER TABLE study_progress DROP COLUMN code");
    db.exec("ALTER TABLE study_progress DROP COLUMN resumable_code");
    db.exec("ALTER TABLE study_progress DROP COLUMN priority");
    for (const char* table : {"webhooks", "webhook_secrets", "deliveries"})
      db.exec(std::string("DROP TABLE ") + table);
    db.exec("DROP TABLE series");
    db.exec("DROP TABLE series_names");
    db.exec("ALTER TABLE checkpoints DROP COLUMN logged");
    db.exec("ALTER TABLE attempts DROP COLUMN resumed_logged");
    db.exec("DROP TABLE best_trials");
    db.exec("ALTER TABLE trials DROP COLUMN constrained");
    db.exec("ALTER TABLE trials DROP COLUMN constraints");
    db.exec("ALTER TABLE study_progress DROP COLUMN stopped_by");
    db.exec("ALTER TABLE study_progress DROP COLUMN forgiven_seq");
    db.exec("UPDATE study_progress SET best_trial = 0, best_value = 1 WHERE study = 1");
    db.exec("PRAGMA user_version = 11");
  }
  const auto storage = open().value();
  EXPECT_EQ(storage->study(StudyId{1}).value()->best_trial, TrialNumber{1});
  EXPECT_EQ(storage->study(StudyId{1}).value()->best_value, 2);
  EXPECT_THAT(storage->study(StudyId{2}).value()->best_trials,
              testing::ElementsAre(TrialNumber{0}));
  EXPECT_FALSE(storage->study(StudyId{2}).value()->best_trial.has_value());
  // Studies of an older file have one version of their code, and the priority 0 (R61, R64).
  EXPECT_EQ(storage->study(StudyId{1}).value()->priority, 0);
  EXPECT_EQ(storage->study(StudyId{1}).value()->code, 1);
  EXPECT_EQ(storage->attempt(AttemptId{1}).value()->code, 1);
  EXPECT_EQ(storage->spec(StudyId{1}, 1).value(), storage->study(StudyId{1}).value()->spec);
}

// The file has the schema from before a person could have several tokens and codes could have
// limits.
TEST_F(SqliteFile, PeopleAndCodesOfAnOlderFileAreKept) {
  {
    sqlite::Db db(path_, sqlite::Db::Mode::read_write);
    std::int64_t version = 0;
    for (const sqlite::Migration& migration : sqlite::migrations()) {
      if (std::string_view(migration.sql).find("CREATE TABLE tokens") != std::string_view::npos)
        break;
      db.exec(migration.sql);
      version = migration.version;
    }
    db.exec("PRAGMA user_version = " + std::to_string(version));
    db.exec("PRAGMA application_id = 1212574827");
    db.exec("INSERT INTO principals VALUES (1, 'ada', 0, 'ha'), (2, 'grace', 1, 'hg')");
    db.exec("INSERT INTO enrolments VALUES ('c2', 'birds', 20), ('c1', 'ants', 10)");
    db.run(
        "INSERT INTO studies (id, owner, project, submit_key, direction, total, created_at, spec)"
        " VALUES (1, 'grace', 'birds', 'k', 0, 6, 5, ?)",
        protocol::serialize_study_spec(spec("k")));
    db.exec("INSERT INTO study_progress VALUES (1, 0, 0, 0, 0, 0, 0, 0, 0, NULL, 0)");
  }
  const auto storage = open().value();
  const Identities all = storage->identities().value();
  ASSERT_EQ(all.principals.size(), 2U);
  EXPECT_EQ(all.principals[0].state, PrincipalState::active);
  EXPECT_THAT(all.principals[0].projects, testing::IsEmpty());
  EXPECT_THAT(all.principals[1].projects, testing::ElementsAre("ants", "birds"));
  ASSERT_EQ(all.tokens.size(), 2U);
  EXPECT_EQ(all.tokens[1].hash, "hg");
  EXPECT_EQ(all.tokens[1].principal, 2);
  EXPECT_EQ(all.tokens[1].expires_at, 0);
  ASSERT_EQ(all.projects.size(), 2U);
  EXPECT_EQ(all.projects[0].name, "birds");  // its date is that of the study, which is older
  ASSERT_EQ(all.enrolments.size(), 2U);
  EXPECT_EQ(all.enrolments[0].code_hash, "c1");
  EXPECT_EQ(all.enrolments[1].created_at, 20);
  EXPECT_EQ(storage->usage("grace").value(), (Usage{1, 6, 1'333}));
  const StudyRow study =
      storage->study(StudyId{1}).value().value();  // from before ask-and-tell studies
  EXPECT_EQ(study.spec.kind, protocol::StudyKind::grid);
  EXPECT_EQ(study.total, 6);
  EXPECT_EQ(study.generation, 0);
  EXPECT_EQ(study.priority, 0);
  EXPECT_EQ(study.code, 1);
  // The file has the schema from before studies could be deleted. Still, the study's blobs are
  // released with the study.
  const auto gone = apply(*storage, {end_study(1, StudyState::cancelled), DeleteStudy{StudyId{1}}});
  EXPECT_THAT(gone.back().disowned, testing::ElementsAre(sha('a'), sha('b')));
  EXPECT_EQ(storage->usage("grace").value(), Usage{});
}

// Returns the lines of SQLite's plan for a query.
std::vector<std::string> plan_of(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  sqlite3_stmt* plan = nullptr;
  EXPECT_EQ(sqlite3_prepare_v2(db, ("EXPLAIN QUERY PLAN " + sql).c_str(), -1, &plan, nullptr),
            SQLITE_OK)
      << sqlite3_errmsg(db);
  std::vector<std::string> lines;
  while (sqlite3_step(plan) == SQLITE_ROW)
    lines.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(plan, 3)));
  sqlite3_finalize(plan);
  sqlite3_close(db);
  return lines;
}

// In an older file, the rows of attempts contain the names and versions of devices.
TEST_F(SqliteFile, AttemptsOfAnOlderFileKeepTheirDevices) {
  StartAttempt one = start(1, key(1, 0), "phone");
  one.device_class = "phone";
  one.engine = "chromium 131";
  one.adapter = "qualcomm adreno-7xx";
  StartAttempt two = start(2, key(1, 1), "laptop");
  two.engine = "firefox 140";
  const auto create = [](const std::string& name) {
    return CreateDevice{Device{name, "default", sha('d'), "phone", "chromium 131"}, ""};
  };
  {
    const auto storage = open().value();
    apply(*storage, {create_study(1), create("phone"), create("laptop"), create("tablet"), one, two,
                     start(3, key(1, 2), "tablet"), complete(1, {0.5}, "phone")});
    apply(*storage, {EraseDevice{"tablet"}});
  }
  {
    sqlite::Db db(path_, sqlite::Db::Mode::read_write);
    undo_device_versions(db);
  }
  const auto storage = open().value();
  const AttemptRow kept = storage->attempt(AttemptId{1}).value().value();
  EXPECT_EQ(kept.device, "phone");
  EXPECT_EQ(kept.device_class, "phone");
  EXPECT_EQ(kept.engine, "chromium 131");
  EXPECT_EQ(kept.adapter, "qualcomm adreno-7xx");
  EXPECT_EQ(kept.state, AttemptState::accepted);
  EXPECT_EQ(kept.started_at, kNow);
  EXPECT_THAT(kept.values, testing::ElementsAre(0.5));
  EXPECT_EQ(storage->attempt(AttemptId{2}).value()->device, "laptop");
  EXPECT_EQ(storage->attempt(AttemptId{2}).value()->engine, "firefox 140");
  EXPECT_EQ(storage->attempt(AttemptId{3}).value()->device, kErasedDevice);
  apply(*storage, {EraseDevice{"laptop"}, start(4, key(1, 3), "phone")});
  EXPECT_EQ(storage->attempt(AttemptId{2}).value()->device, kErasedDevice);
  EXPECT_EQ(storage->attempt(AttemptId{2}).value()->state, AttemptState::revoked);
  EXPECT_EQ(storage->attempt(AttemptId{4}).value()->device, "phone");
}

// Nothing is known of when the devices of an older file were connected, so none is collected at
// once.
TEST_F(SqliteFile, DevicesOfAnOlderFileCountAsSeenAtTheUpgrade) {
  const CreateDevice create{Device{"phone", "default", sha('d'), "phone", "chromium 131"}, ""};
  apply(*open().value(), {create, create_study(1), start(1, key(1, 0), "phone")});
  {
    sqlite::Db db(path_, sqlite::Db::Mode::read_write);
    undo_seen_devices(db);
  }
  const auto storage = open().value();
  const auto devices = storage->devices_seen_before(kNow + kTimeAheadMs + 1, {}, 9).value();
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_GE(devices[0].seen_at, kNow);
  EXPECT_FALSE(devices[0].idle);  // its attempts are not looked through
}

// The cost of an erasure depends only on the device's live attempts: no statement reads all
// attempts.
TEST_F(SqliteFile, WhatADeviceRunsIsFoundByAnIndex) {
  ASSERT_TRUE(open().has_value());
  const auto plan = plan_of(path_, sqlite::kRevokeAttempts.text());
  ASSERT_FALSE(plan.empty());
  EXPECT_THAT(plan, testing::Contains(HasSubstr("live_attempts (device_version=?)")));
  EXPECT_THAT(plan, testing::Each(testing::Not(testing::StartsWith("SCAN"))));
}

// The cost of a page depends only on its rows: no query reads or sorts a whole table.
TEST_F(SqliteFile, PagesAndTotalsAreFoundByIndexes) {
  ASSERT_TRUE(open().has_value());
  for (const sqlite::Sql& sql :
       {sqlite::kSelectStudy, sqlite::kSelectStudies, sqlite::kSelectStudiesOfOwner,
        sqlite::kSelectFinishedTrials, sqlite::kSelectUnfinishedTrials, sqlite::kSelectBestTrials,
        sqlite::kSelectArtifacts, sqlite::kSelectArtifactsOfTrial, sqlite::kSelectRunning,
        sqlite::kSelectProjectTotals, sqlite::kSelectProjectOwners, sqlite::kSelectUsage,
        sqlite::kSelectSeenDevices}) {
    const auto lines = plan_of(path_, sql.text());
    EXPECT_FALSE(lines.empty());
    for (const std::string& line : lines) {
      // Some scans are allowed: that of the index of running studies, because all of them are
      // wanted, and that of a subquery, which has only a page's rows.
      const bool walks = line.starts_with("SCAN") && line.find("running_studies") == line.npos &&
                         line.find("subquery") == line.npos && line != "SCAN front";
      EXPECT_FALSE(walks || line.find("TEMP B-TREE FOR ORDER BY") != line.npos)
          << sql.text() << "\n"
          << line;
    }
  }
}

TEST_F(SqliteFile, WhatOwnersOfAnOlderFileHaveStoredIsCounted) {
  StoreArtifact artifact{"phone", {}};
  artifact.artifact.attempt = AttemptId{2};
  artifact.artifact.blob = {sha('c'), 6 << 20};
  const StoreCheckpoint checkpoint{"phone",
                                   {.attempt = AttemptId{2},
                                    .format = protocol::CheckpointFormat::npz,
                                    .blob = {sha('d'), 1'000},
                                    .step = {}}};
  const std::vector<Transition> batch{create_study(1),
                                      start(1, key(1, 0)),
                                      start(2, key(1, 1)),
                                      complete(1, {1}),
                                      append(1, {{1, 2}}),
                                      append(2, {{1, 2}, {2, 3}}),
                                      artifact,
                                      checkpoint,
                                      create_study(2, "other"),
                                      start(3, key(2, 0)),
                                      failed(3)};
  StoredBytes counted;
  {
    const auto storage = open().value();
    ASSERT_TRUE(storage->apply(batch).has_value());
    counted = storage->stored("ada").value();
    EXPECT_EQ(counted.files(), 1'333 + (6 << 20) + 1'000);
  }
  {
    sqlite::Db db(path_, sqlite::Db::Mode::read_write);
    undo_budgets(db);
  }
  const auto storage = open().value();
  EXPECT_EQ(storage->stored("ada").value(), counted);
  // 4 MiB more would be beyond the phone's share: it has stored 6 MiB, and 12 MiB are free.
  const auto judged =
      storage->judge_bytes(AttemptId{2}, UploadKind::artifact, 4 << 20, 12 << 20).value();
  EXPECT_EQ(judged.refusal, Refusal::device_share);
  apply(*storage, {end_study(1, StudyState::cancelled), DeleteStudy{StudyId{1}},
                   end_study(2, StudyState::cancelled), DeleteStudy{StudyId{2}}});
  EXPECT_EQ(storage->stored("ada").value(), StoredBytes{});
}

TEST_F(SqliteFile, AuditEntriesAreNotRewritten) {
  const auto storage = open().value();
  apply(*storage, {note("a", false)});
  sqlite::Db db(path_, sqlite::Db::Mode::read_write);
  EXPECT_THROW(db.exec("UPDATE audit SET actor = 'nobody'"), sqlite::SqliteError);
  EXPECT_EQ(storage->audit(0, 10).value().at(0).actor, "ada");
}

TEST_F(SqliteFile, AnotherProgramsDatabaseIsRefusedUntouched) {
  {
    sqlite::Db(path_, sqlite::Db::Mode::read_write).exec("CREATE TABLE photos (id INTEGER)");
  }
  const auto refused = open();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, "storage_open");
  EXPECT_THAT(refused.error().message, HasSubstr("another program"));
  EXPECT_EQ(sqlite::Db(path_, sqlite::Db::Mode::read_only).single("PRAGMA journal_mode"), "delete");
}

TEST_F(SqliteFile, FileThatIsNoDatabaseIsRefused) {
  std::ofstream(path_) << std::string(5'000, 'x');
  const auto refused = open();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, "storage_open");
}

TEST_F(SqliteFile, MissingFolderIsRefused) {
  const auto refused = open_sqlite_storage(folder_.file("no/such/db"), [] { return kNow; });
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, "storage_open");
}

TEST_F(SqliteFile, SecondServerOnTheSameFileIsRefused) {
  auto first = open();
  ASSERT_TRUE(first.has_value());
  const auto second = open();
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, "storage_open");
  EXPECT_THAT(second.error().message, HasSubstr("Another hyperflock-server"));
  first.value().reset();
  EXPECT_TRUE(open().has_value());
}

TEST_F(SqliteFile, FullDiskChangesNothingAndRecovers) {
  const auto storage = open().value();
  apply(*storage, {create_study(1), start(1, key(1, 0))});
  storage->limit_pages(1);  // SQLite takes this as "no more pages than now"

  std::vector<Transition> batch = {complete(1, {0.5})};
  for (std::int64_t i = 2; i < 2'000; ++i) batch.push_back(start(i, key(1, i)));
  const auto refused = storage->apply(batch);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, kStorageFull);
  EXPECT_THAT(refused.error().message, HasSubstr("free disk space"));
  EXPECT_EQ(storage->study(StudyId{1}).value()->complete, 0);
  EXPECT_EQ(storage->study(StudyId{1}).value()->attempts, 1);
  EXPECT_EQ(storage->trial(key(1, 0)).value()->trial.state, TrialState::running);
  EXPECT_FALSE(storage->trial(key(1, 2)).value().has_value());
  EXPECT_EQ(storage->load().value().next_attempt_id, 2);

  storage->limit_pages(1'000'000);
  const auto outcomes = apply(*storage, batch);
  EXPECT_EQ(outcomes.front().seq, 1);
  EXPECT_EQ(storage->study(StudyId{1}).value()->complete, 1);
  EXPECT_EQ(storage->study(StudyId{1}).value()->attempts, 1'999);
}

TEST_F(SqliteFile, FailedBatchLeavesTheNextOneRight) {
  const auto storage = open().value();
  apply(*storage, {create_study(1), start(1, key(1, 0)), complete(1, {0.5})});
  storage->limit_pages(1);
  for (int i = 0; i < 3; ++i) {
    std::vector<Transition> batch = {start(2, key(1, 1)), complete(2, {0.9})};
    StoreResult with_points = complete(2, {0.9});
    for (std::int64_t step = 0; step < 20'000; ++step) {
      with_points.result.points.push_back({step, 0.1});
    }
    batch[1] = with_points;
    EXPECT_FALSE(storage->apply(batch).has_value());
  }
  storage->limit_pages(1'000'000);
  const auto outcomes = apply(*storage, {start(2, key(1, 1)), complete(2, {0.9})});
  EXPECT_EQ(outcomes[1].seq, 2);
  EXPECT_EQ(storage->study(StudyId{1}).value()->complete, 2);
  EXPECT_EQ(storage->study(StudyId{1}).value()->best_value, 0.9);
}

TEST_F(SqliteFile, LockOfAnotherProgramFailsABatchAndNoRead) {
  SqliteSettings impatient;
  impatient.busy_timeout_ms = 20;
  const auto storage = open(impatient).value();
  apply(*storage, {create_study(1)});
  sqlite::Db other(path_, sqlite::Db::Mode::read_write);
  other.exec("BEGIN IMMEDIATE");
  const auto refused = storage->apply(std::vector<Transition>{start(1, key(1, 0))});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, "storage_unavailable");
  EXPECT_THAT(refused.error().message, HasSubstr("other program"));
  EXPECT_TRUE(storage->study(StudyId{1}).value().has_value());
  other.exec("ROLLBACK");
  EXPECT_EQ(apply(*storage, {start(1, key(1, 0))})[0].applied, Applied::applied);
}

// Readers that overlap without a gap must not keep the log from starting again.
TEST_F(SqliteFile, LogStaysBoundedUnderReaders) {
  SqliteSettings settings = with_checkpoint_at(40);
  settings.reader_patience_ms = 60'000;  // a reader on a busy machine may be slow
  const auto storage = open(settings).value();
  apply(*storage, {create_study(1), start(1, key(1, 0))});
  std::atomic<bool> writing = true;
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] {
      while (writing) storage->finished_trials(StudyId{1}, 0, 200).value();
    });
  }
  std::uintmax_t largest = 0;
  for (std::int64_t i = 1; i <= 150; ++i) {
    apply(*storage, cycle(i));
    largest = std::max(largest, std::filesystem::file_size(path_ + "-wal"));
  }
  writing = false;
  for (std::thread& reader : readers) reader.join();
  // The limit is eight times the length at which the log is copied. Some commits may come before
  // the log starts again.
  EXPECT_LT(largest, 400U * (4'096U + 24U));
}

TEST_F(SqliteFile, LogStaysBounded) {
  const auto storage = open(with_checkpoint_at(200)).value();
  apply(*storage, {create_study(1), start(1, key(1, 0))});
  std::uintmax_t largest = 0;
  for (std::int64_t i = 1; i <= 600; ++i) {
    apply(*storage, cycle(i));
    largest = std::max(largest, std::filesystem::file_size(path_ + "-wal"));
  }
  // The limit is 200 pages, some more for one commit, and the header of each page.
  EXPECT_LT(largest, 240U * (4'096U + 24U));
  EXPECT_GT(std::filesystem::file_size(path_), 100'000U);
}

TEST_F(SqliteFile, IdleCopiesTheLogToTheDatabase) {
  const auto storage = open(with_checkpoint_at(1'000'000)).value();
  apply(*storage, {create_study(1), start(1, key(1, 0))});
  for (std::int64_t i = 1; i <= 100; ++i) apply(*storage, cycle(i));
  const auto before = std::filesystem::file_size(path_);
  const auto log = std::filesystem::file_size(path_ + "-wal");
  storage->idle();
  EXPECT_GT(std::filesystem::file_size(path_), before);
  // The log starts again from its beginning, so it does not become longer.
  for (std::int64_t i = 101; i <= 110; ++i) apply(*storage, cycle(i));
  EXPECT_EQ(std::filesystem::file_size(path_ + "-wal"), log);
}

TEST_F(SqliteFile, FinishedStudiesNeverOutgrowTheCounterCache) {
  const auto storage = open().value();
  std::vector<Transition> batch;
  for (std::int64_t id = 1; id <= 5'000; ++id) {
    batch.push_back(create_study(id, std::to_string(id)));
    batch.push_back(start(id, key(id, 0)));
  }
  apply(*storage, batch);
  const auto outcomes = apply(*storage, {complete(1, {0.25}), complete(5'000, {0.75})});
  EXPECT_EQ(outcomes[1].seq, 2);
  EXPECT_EQ(storage->study(StudyId{1}).value()->complete, 1);
  EXPECT_EQ(storage->study(StudyId{1}).value()->attempts, 1);
  EXPECT_EQ(storage->study(StudyId{5'000}).value()->best_value, 0.75);
}

TEST(PackedSeries, KeepEachStepAndEachValueBitByBit) {
  constexpr std::int64_t kLastStep = (std::int64_t{1} << 53) - 1;
  const std::vector<double> values{0.1,   -0.0,         1e-320,
                                   1e300, std::nan(""), -std::numeric_limits<double>::infinity()};
  const std::vector<std::int64_t> steps{0, 1, 127, 128, 1'000'000, kLastStep};
  sqlite::Packer packer;
  packer.add(300, steps, values);
  packer.add(1, steps, {1, 2, 3, 4, 5, 6.5});
  packer.add(2, {7}, {0.1F});
  sqlite::Unpacker all(packer.bytes());
  ASSERT_TRUE(all.next());
  EXPECT_EQ(all.id(), 300);
  EXPECT_EQ(all.steps(), steps);
  ASSERT_EQ(all.values().size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) {
      EXPECT_TRUE(std::isnan(all.values()[i]));
    } else {
      EXPECT_EQ(all.values()[i], values[i]);
      EXPECT_EQ(std::signbit(all.values()[i]), std::signbit(values[i]));
    }
  }
  ASSERT_TRUE(all.next());
  EXPECT_EQ(all.id(), 1);
  EXPECT_EQ(all.steps(), steps);
  EXPECT_THAT(all.values(), testing::ElementsAre(1, 2, 3, 4, 5, 6.5));
  EXPECT_EQ(all.last_value(), 6.5);
  ASSERT_TRUE(all.next());
  EXPECT_THAT(all.steps(), testing::ElementsAre(7));
  EXPECT_EQ(all.last_value(), static_cast<double>(0.1F));
  EXPECT_FALSE(all.next());
}

TEST(PackedSeries, TenSeriesOfTheSameStepsCostTheirValuesAndLittleMore) {
  std::vector<std::int64_t> steps;
  std::vector<double> doubles;
  std::vector<double> floats;
  for (int i = 0; i < 100; ++i) {
    steps.push_back(i);
    doubles.push_back(1.0 / (i + 3));
    floats.push_back(1.0F / static_cast<float>(i + 3));
  }
  sqlite::Packer packer;
  for (int id = 1; id <= 10; ++id) packer.add(id, steps, id % 2 == 0 ? doubles : floats);
  EXPECT_LE(packer.bytes().size(), 10 * 100 * (8 + 4) / 2 + 100 + 10 * 3);
}

TEST(PackedSeries, OtherBytesAreCorruptAndNeverReadBeyondTheirEnd) {
  sqlite::Packer packer;
  packer.add(1, {1, 2, 3}, {1, 2, 3.5});
  packer.add(2, {1, 2, 3}, {0.1, 2, 3.5});
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = packer.bytes().substr(0, random() % (packer.bytes().size() + 1));
    if (!bytes.empty()) bytes[random() % bytes.size()] = static_cast<char>(random());
    try {
      for (sqlite::Unpacker all(bytes); all.next();)
        EXPECT_EQ(all.values().size(), all.steps().size());
    } catch (const sqlite::SqliteError&) {
    }
  }
}

}  // namespace
}  // namespace hyperflock::storage
