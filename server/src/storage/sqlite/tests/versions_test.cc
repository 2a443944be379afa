// Opens databases of each earlier version of the schema, as an upgrade does. Afterwards each must
// obey every rule of the newest version.
//
// versions/vNN.sql are databases that servers of this version wrote.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/testing/scratch_folder.h"
#include "paths.h"
#include "protocol/codec.h"
#include "storage/contract/suite.h"
#include "storage/sqlite/check/check.h"
#include "storage/sqlite/db/db.h"
#include "storage/sqlite/open.h"
#include "storage/sqlite/schema.h"

namespace hyperflock::storage {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;

const std::string& versions_folder() {
  static const std::string folder =
      std::string(kSourceDirectory) + "/server/src/storage/sqlite/tests/versions";
  return folder;
}

class VersionsTest : public testing::Test {
 protected:
  // Opens the file as a server does, and expects that it then has no findings.
  std::unique_ptr<Storage> upgrade() {
    EXPECT_TRUE(open_sqlite_storage(path_, [] { return kNow; }).has_value());
    const auto checked = check_database(path_, DatabaseState::stopped);
    EXPECT_TRUE(checked.has_value() && checked->rows_checked);
    if (checked) {
      for (const Finding& one : checked->findings) ADD_FAILURE() << one.code << ": " << one.text;
    }
    return open_sqlite_storage(path_, [] { return kNow; }).value();
  }

  ScratchFolder folder_{ScratchFolder::Where::memory};
  std::string path_ = folder_.file("db");
};

// Rows that a server of the first version wrote: an accepted trial, a failed one and a running one.
void fill_first_version(sqlite::Db& db) {
  db.exec("INSERT INTO principals VALUES (1, 'root', 0, 'h1'), (2, 'ada', 1, 'h2')");
  db.exec("INSERT INTO enrolments VALUES ('c1', 'default', 10)");
  db.exec("INSERT INTO devices VALUES ('phone', 'default', 's', 'phone', 'chromium', 11, NULL)");
  db.run(
      "INSERT INTO studies (id, owner, project, submit_key, direction, total, created_at, spec)"
      " VALUES (1, 'ada', 'default', 'k', 1, 6, 12, ?)",
      protocol::serialize_study_spec(spec("k")));
  db.exec("INSERT INTO study_progress VALUES (1, 0, 1, 0, 1, 1, 4, 2, 0, 0, 0.5)");
  db.run("INSERT INTO project_blobs VALUES ('default', ?), ('default', ?)", sha('a'), sha('b'));
  db.exec(
      "INSERT INTO trials (study, number, state, seq, attempts, accepted_attempt, newest_attempt,"
      " seed, started_at, finished_at, params, failure_cause, failure_code) VALUES"
      " (1, 0, 1, 1, 2, 1, 2, 7, 13, 14, '{}', NULL, NULL),"
      " (1, 1, 3, 2, 1, NULL, 3, 7, 13, 15, '{}', 0, 'poison'),"
      " (1, 2, 0, 0, 1, NULL, 4, 7, 13, 0, '{}', NULL, NULL)");
  db.exec(
      "INSERT INTO attempts (id, study, number, previous, kind, state, verdict, result_seq,"
      " load_ms, run_ms, started_at, finished_at, device, device_class, engine, backend,"
      " result_values) VALUES"
      " (1, 1, 0, NULL, 0, 1, 0, 1, 1, 1, 13, 14, 'phone', 'phone', 'chromium', 'cpu',"
      " x'000000000000e03f'),"
      " (2, 1, 0, 1, 1, 6, NULL, 0, 0, 0, 13, 14, 'other', 'phone', 'chromium', '', x''),"
      " (3, 1, 1, NULL, 0, 3, 2, 1, 1, 1, 13, 15, 'phone', 'phone', 'chromium', 'cpu', x''),"
      " (4, 1, 2, NULL, 0, 0, NULL, 0, 0, 0, 13, 0, 'phone', 'phone', 'chromium', '', x'')");
  db.exec("INSERT INTO points VALUES (1, 1, 0.25), (1, 2, 0.5)");
}

TEST_F(VersionsTest, DatabasesOfEachVersionAreUpgraded) {
  const std::int64_t newest = sqlite::migrations().back().version;
  for (std::int64_t version = 1; version <= newest; ++version) {
    SCOPED_TRACE(version);
    for (const char* end : {"", "-wal", "-shm", ".lock"}) fs::remove(path_ + end);
    {
      sqlite::Db db(path_, sqlite::Db::Mode::read_write);
      for (const sqlite::Migration& migration : sqlite::migrations()) {
        if (migration.version > version) break;
        db.exec(migration.sql);
        if (migration.version == 1) fill_first_version(db);
      }
      db.exec("PRAGMA user_version = " + std::to_string(version));
      db.exec("PRAGMA application_id = 1212574827");
    }
    const auto storage = upgrade();
    const StudyRow study = storage->study(StudyId{1}).value().value();
    EXPECT_EQ(study.best_trial, TrialNumber{0});
    EXPECT_EQ(study.complete + study.failed, 2);
    fold_contributions(*storage, kNow / kDayMs);
    const auto given = storage->contributions("phone").value();
    EXPECT_EQ(given, (std::vector<Contribution>{{"default", 0, 1, 1, 0}}));
    // The upgraded file is used: the running trial gets its result.
    const auto outcomes = storage->apply(std::vector<Transition>{complete(4, {0.75})}).value();
    EXPECT_EQ(outcomes[0].verdict, protocol::Verdict::accepted);
    EXPECT_EQ(storage->study(StudyId{1}).value()->best_trial, TrialNumber{2});
  }
}

// Which of them improved their study is not known of results from before the upgrade.
TEST_F(VersionsTest, ResultsFromBeforeAnUpgradeAreCountedInPieces) {
  {
    const auto storage = open_sqlite_storage(path_, [] { return kNow; }).value();
    std::vector<Transition> batch{create_study(1)};
    for (std::int64_t i = 0; i < 5; ++i) {
      batch.emplace_back(start(i + 1, key(1, i)));
      batch.emplace_back(complete(i + 1, {static_cast<double>(i)}));
    }
    ASSERT_TRUE(storage->apply(batch).has_value());
  }
  {
    sqlite::Db db(path_, sqlite::Db::Mode::read_write);
    db.exec(
        "UPDATE attempts SET started_at = started_at - 3000;"
        "DROP TABLE device_passphrases; DROP TABLE contributions; DROP TABLE contribution_fold;"
        " ALTER TABLE attempts DROP COLUMN given_ms; ALTER TABLE attempts DROP COLUMN moved_best;"
        " PRAGMA user_version = 28");
  }
  const auto storage = upgrade();
  fold_contributions(*storage, kNow / kDayMs, {.results = 2, .rows = 1});
  EXPECT_EQ(storage->contributions("phone").value(),
            (std::vector<Contribution>{{"default", kNow / kDayMs, 5, 15'000, 0}}));
  storage->apply(std::vector<Transition>{start(6, key(1, 5)), complete(6, {9})}).value();
  fold_contributions(*storage, kNow / kDayMs);
  EXPECT_EQ(storage->contributions("phone").value(),
            (std::vector<Contribution>{{"default", kNow / kDayMs, 6, 15'000, 1}}));
}

// Makes the file one of an earlier version.
void make_old(const std::string& path, std::int64_t version) {
  sqlite::Db db(path, sqlite::Db::Mode::read_write);
  for (const sqlite::Migration& migration :
       sqlite::migrations().first(static_cast<std::size_t>(version)))
    db.exec(migration.sql);
  db.exec("PRAGMA user_version = " + std::to_string(version));
  db.exec("PRAGMA application_id = 1212574827");
}

TEST_F(VersionsTest, TheFileIsCopiedBeforeItIsUpgraded) {
  make_old(path_, 3);
  std::ofstream(path_ + ".v2") << "the copy of the upgrade before";
  ASSERT_TRUE(open_sqlite_storage(path_, [] { return kNow; }).has_value());
  EXPECT_EQ(check_database(path_ + ".v3", DatabaseState::resting).value().version, 3);
  EXPECT_FALSE(fs::exists(path_ + ".v2"));
  // The copy can take the file's place again.
  fs::remove(path_ + "-wal");
  fs::copy_file(path_ + ".v3", path_, fs::copy_options::overwrite_existing);
  upgrade();
}

TEST_F(VersionsTest, AFileOfTheCopysNameUpgradesWithoutOne) {
  make_old(path_, 3);
  std::ofstream(path_ + ".v3").close();
  ASSERT_TRUE(open_sqlite_storage(path_, [] { return kNow; }).has_value());
  EXPECT_EQ(fs::file_size(path_ + ".v3"), 0U);
}

TEST_F(VersionsTest, WithoutRoomForTheCopyNothingIsUpgraded) {
  make_old(path_, 3);
  fs::create_directories(path_ + ".v3.part/x");  // the copy cannot be made
  const auto refused = open_sqlite_storage(path_, [] { return kNow; });
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, "storage_open");
  EXPECT_THAT(refused.error().message, testing::HasSubstr("make an empty file"));
  EXPECT_EQ(sqlite::Db(path_, sqlite::Db::Mode::read_only).single("PRAGMA user_version"), "3");
}

// Makes the file a stored database, as a server of this version leaves it after its upgrade.
// Returns the version in which the database was stored.
std::int64_t load_stored(const std::string& path, const fs::path& stored, std::int64_t version) {
  for (const char* end : {"", "-wal", "-shm", ".lock"}) fs::remove(path + end);
  std::ifstream in(stored);
  sqlite::Db db(path, sqlite::Db::Mode::read_write);
  db.exec(std::string(std::istreambuf_iterator<char>(in), {}));
  const std::int64_t first = std::stoll(db.single("PRAGMA user_version"));
  for (const sqlite::Migration& migration : sqlite::migrations()) {
    if (migration.version <= first || migration.version > version) continue;
    db.exec(migration.sql);
    db.exec("PRAGMA user_version = " + std::to_string(migration.version));
  }
  return first;
}

// Also from each version between the stored one and the newest.
TEST_F(VersionsTest, DatabasesThatServersWroteAreUpgraded) {
  std::int64_t last = 0;
  std::vector<std::pair<fs::path, std::int64_t>> all;
  for (const auto& entry : fs::directory_iterator(versions_folder())) {
    const std::int64_t first = load_stored(path_, entry.path(), 0);
    last = std::max(last, first);
    for (std::int64_t version = first; version <= sqlite::migrations().back().version; ++version)
      all.emplace_back(entry.path(), version);
  }
  for (const auto& [stored, version] : all) {
    SCOPED_TRACE(stored.filename().string() + " in version " + std::to_string(version));
    load_stored(path_, stored, version);
    const auto storage = upgrade();
    EXPECT_EQ(storage->study(StudyId{1}).value()->complete, 1);
    EXPECT_EQ(storage->studies({}).value().studies.size(), 3U);
    EXPECT_EQ(storage->kept_blobs().value().size(), 2U);
    EXPECT_EQ(storage->identities().value().principals.size(), 2U);
    EXPECT_EQ(storage->audit_size().value().entries, 1);
    const auto outcomes = storage->apply(std::vector<Transition>{complete(2, {0.75})}).value();
    EXPECT_EQ(outcomes[0].verdict, protocol::Verdict::accepted);
  }
  EXPECT_GE(last, 20);
}

}  // namespace
}  // namespace hyperflock::storage
