// Tests that checking a database finds each kind of damage, and finds none in a whole one. That
// consistent databases are found so is also part of contract_test.cc.
#include "storage/sqlite/check/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing/scratch_folder.h"
#include "storage/contract/suite.h"
#include "storage/sqlite/check/rules.h"
#include "storage/sqlite/db/db.h"
#include "storage/sqlite/open.h"

namespace hyperflock::storage {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

StoreArtifact upload(std::int64_t attempt, const std::string& id, char digit) {
  StoreArtifact store{"phone", {}};
  store.artifact.id = id;
  store.artifact.attempt = AttemptId{attempt};
  store.artifact.name = "curve.png";
  store.artifact.type = "image/png";
  store.artifact.store = "here";
  store.artifact.blob = {sha(digit), 10};
  return store;
}

// A database with a running study, an ended one, one with several directions, a deleted one, files,
// people and an audit log.
class CheckTest : public testing::Test {
 protected:
  CheckTest() {
    const auto storage = open_sqlite_storage(path_, [] { return kNow; }).value();
    CreateStudy several = create_study(3, "several", protocol::Direction::minimize);
    several.spec.kind = protocol::StudyKind::asked;
    several.spec.directions.assign(2, protocol::Direction::minimize);
    several.spec.space.clear();
    several.total = 0;
    StoreCheckpoint saved{"phone",
                          {.attempt = AttemptId{2},
                           .format = protocol::CheckpointFormat::npz,
                           .blob = {sha('e'), 10},
                           .step = {}}};
    const std::vector<Transition> batch{
        create_principal("root", '1', PrincipalRole::admin),
        create_principal("ada", '2'),
        create_device("phone"),
        create_study(1, "one"),
        start(1, key(1, 0)),
        upload(1, "curve", 'c'),
        append(1, {{1, 0.5}}),
        complete(1, {0.5}),
        start(2, key(1, 1)),
        saved,
        create_study(2, "two"),
        start(3, key(2, 0)),
        complete(3, {1}),
        end_study(2, StudyState::finished),
        several,
        ClaimStudy{StudyId{3}, "owner"},
        AskTrials{.study = StudyId{3}, .generation = 1, .trials = {{TrialNumber{0}, "{}", 7}}},
        start(4, key(3, 0)),
        complete(4, {1, 2}),
        create_study(4, "gone"),
        start(5, key(4, 0)),
        failed(5),
        fail(key(4, 0)),
        end_study(4, StudyState::cancelled),
        DeleteStudy{StudyId{4}},
        note("study.delete")};
    const auto outcomes = storage->apply(batch).value();
    for (std::size_t i = 0; i < outcomes.size(); ++i)
      EXPECT_EQ(outcomes[i].applied, Applied::applied) << i;
    const std::vector<Transition> reads{SweepDeleted{1}};  // a part of the deleted study is left
    EXPECT_TRUE(storage->apply(reads).has_value());
    fold_contributions(*storage, kNow / kDayMs);
  }

  void change(const std::string& sql) {
    sqlite::Db db(path_, sqlite::Db::Mode::read_write);
    db.exec("PRAGMA foreign_keys = OFF");
    db.exec(sql);
  }
  std::vector<std::string> codes() {
    std::vector<std::string> found;
    for (const Finding& one : check_database(path_, DatabaseState::stopped).value().findings)
      found.push_back(one.code);
    return found;
  }
  // Returns what is found after the change, which is undone.
  std::vector<std::string> codes_after(const std::string& sql) {
    const std::string kept = folder_.file("kept");
    std::filesystem::copy_file(path_, kept, std::filesystem::copy_options::overwrite_existing);
    change(sql);
    auto found = codes();
    std::filesystem::copy_file(kept, path_, std::filesystem::copy_options::overwrite_existing);
    return found;
  }

  ScratchFolder folder_{ScratchFolder::Where::memory};
  std::string path_ = folder_.file("db");
};

TEST_F(CheckTest, AConsistentDatabaseHasNoFindings) {
  const CheckedDatabase checked = check_database(path_, DatabaseState::stopped).value();
  EXPECT_THAT(checked.findings, IsEmpty());
  EXPECT_TRUE(checked.rows_checked);
  EXPECT_EQ(checked.studies, 3);
  EXPECT_EQ(checked.finished_trials, 3);
  EXPECT_THAT(checked.owned, ElementsAre(sha('a'), sha('b')));
  EXPECT_THAT(checked.kept, ElementsAre(sha('c'), sha('e')));
}

struct Damage {
  const char* code;
  const char* sql;
};

// Each rule of the rows has at least one damage here that it finds, and no other rule finds the
// damage instead.
TEST_F(CheckTest, EachDamageIsFound) {
  const std::vector<Damage> all{
      {"trial_counts",
       "UPDATE study_progress SET pruned = pruned + 1, failed = failed - 1 WHERE study = 1"},
      {"trial_counts", "UPDATE study_progress SET asked = asked + 1 WHERE study = 3"},
      {"attempt_counts", "UPDATE study_progress SET attempts = attempts + 1 WHERE study = 1"},
      {"trial_attempts", "UPDATE trials SET attempts = 9 WHERE study = 1 AND number = 0"},
      {"trial_attempts", "UPDATE trials SET newest_attempt = 9 WHERE study = 1 AND number = 0"},
      {"attempt_chain", "UPDATE attempts SET previous = 3 WHERE id = 2"},
      {"attempt_of_no_trial", "UPDATE attempts SET number = 77 WHERE id = 2"},
      {"one_accepted_attempt", "UPDATE attempts SET state = 2 WHERE id = 1"},
      {"one_accepted_attempt", "UPDATE attempts SET state = 1, verdict = 0 WHERE id = 2"},
      {"one_accepted_attempt", "UPDATE trials SET accepted_attempt = NULL WHERE study = 2"},
      {"rejected_attempts", "UPDATE attempts SET rejection = 1 WHERE id = 2"},
      {"rejected_attempts", "UPDATE trials SET rejected = 1 WHERE study = 1 AND number = 0"},
      {"finishing_order", "UPDATE trials SET seq = 1 WHERE study = 2 AND number = 0"},
      {"finishing_order", "UPDATE trials SET seq = 0 WHERE study = 2 AND number = 0"},
      {"ended_study", "UPDATE study_progress SET state = 1 WHERE study = 1"},
      {"points_of_no_attempt", "INSERT INTO points VALUES (99, 1, 1)"},
      {"rows_of_no_trial", "UPDATE checkpoints SET number = 99"},
      {"rows_of_no_study", "INSERT INTO series_names VALUES (99, 1, 'loss')"},
      {"rows_of_no_study", "UPDATE checkpoints SET study = 99"},
      {"deleted_studies", "UPDATE studies SET owner = 'ada' WHERE id = 4"},
      {"code_versions", "UPDATE study_progress SET code = 2 WHERE study = 1"},
      {"blobs_of_studies", "DELETE FROM study_blobs WHERE study = 1"},
      {"blobs_of_owners", "DELETE FROM owner_blobs WHERE sha256 LIKE 'a%'"},
      {"blobs_of_projects", "DELETE FROM project_blobs WHERE sha256 LIKE 'a%'"},
      {"blobs_of_projects", "INSERT INTO project_blobs VALUES ('default', 'x')"},
      {"bytes_of_studies", "UPDATE artifacts SET bytes = bytes + 1"},
      {"bytes_of_studies", "UPDATE study_progress SET checkpoint_bytes = 0 WHERE study = 1"},
      {"bytes_of_devices", "DELETE FROM device_use"},
      {"bytes_of_devices", "INSERT INTO device_use VALUES ('other', 1, 5)"},
      {"project_totals", "UPDATE project_totals SET done = done + 1"},
      {"project_owners", "DELETE FROM project_owners"},
      {"owner_totals", "UPDATE owner_totals SET blob_bytes = 0"},
      {"owner_totals",
       "INSERT INTO owner_totals (owner, running, trials_high, trials_low,"
       " artifact_bytes, blob_bytes) VALUES ('eve', 1, 0, 0, 0, 0)"},
      {"contributions", "UPDATE contributions SET trials = trials - 1"},
      {"contributions", "DELETE FROM contributions"},
      {"contributions", "UPDATE attempts SET given_ms = 1000000 WHERE id = 1"},
      {"contributions", "INSERT INTO contributions VALUES ('other', 0, 'default', 1, -1, 0)"},
      {"contributions", "UPDATE contribution_fold SET seq = seq + 1"},
      {"passphrases", "INSERT INTO device_passphrases VALUES ('nobody', 'x')"},
      {"audit_totals", "UPDATE audit_totals SET entries = 7"},
      {"audit_totals", "UPDATE audit_total SET bytes = 7"},
      {"single_rows", "DELETE FROM kept_time"},
      {"single_rows", "DELETE FROM contribution_fold"},
      {"best_trials", "UPDATE study_progress SET best_value = 0.25 WHERE study = 1"},
      {"best_trials", "DELETE FROM best_trials WHERE study = 3"},
      {"specs", "UPDATE studies SET spec = replace(spec, 'digits_grid', '') WHERE id = 1"},
      {"foreign_keys", "UPDATE tokens SET principal = 77 WHERE id = 1"},
      {"schema", "DROP TRIGGER audit_is_not_rewritten"},
      {"schema", "DROP INDEX trials_by_seq"},
      {"schema", "CREATE TABLE notes (id INTEGER)"},
  };
  std::set<std::string> tried;
  for (const Damage& damage : all) {
    EXPECT_THAT(codes_after(damage.sql), Contains(damage.code)) << damage.sql;
    tried.insert(damage.code);
  }
  for (const sqlite::RowRule& rule : sqlite::row_rules())
    EXPECT_TRUE(tried.contains(rule.code)) << "no damage for " << rule.code;
  EXPECT_THAT(codes(), IsEmpty());
}

TEST_F(CheckTest, AFindingNamesTheFirstRows) {
  change("UPDATE study_progress SET attempts = 99");
  const auto findings = check_database(path_, DatabaseState::stopped).value().findings;
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].text,
            "the attempts of a study are not as many as its row says: study 1, study 2, study 3.");
}

TEST_F(CheckTest, ADamagedFileIsFound) {
  const auto pages = std::filesystem::file_size(path_) / 4'096;
  ASSERT_GT(pages, 8U);
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    for (std::uintmax_t page = 4; page < pages; ++page) {
      file.seekp(static_cast<std::streamoff>(page * 4'096));
      file << std::string(100, 'x');
    }
  }
  EXPECT_THAT(codes(), Contains("integrity"));
  std::filesystem::resize_file(path_, 5'000);
  EXPECT_THAT(codes(), ElementsAre("integrity"));
}

TEST_F(CheckTest, OtherFilesAreRefused) {
  EXPECT_EQ(check_database(folder_.file("none"), DatabaseState::resting).error().code,
            "storage_open");
  {
    sqlite::Db other(folder_.file("other"), sqlite::Db::Mode::read_write);
    other.exec("CREATE TABLE t (a)");
  }
  EXPECT_EQ(check_database(folder_.file("other"), DatabaseState::resting).error().code,
            "storage_open");
  change("PRAGMA user_version = 999");
  EXPECT_EQ(check_database(path_, DatabaseState::stopped).error().code, "storage_too_new");
}

TEST_F(CheckTest, ADatabaseInUseIsRefused) {
  const auto storage = open_sqlite_storage(path_, [] { return kNow; }).value();
  const auto refused = check_database(path_, DatabaseState::stopped);
  EXPECT_EQ(refused.error().code, "storage_open");
  EXPECT_THAT(refused.error().message, HasSubstr("stop it first"));
}

TEST_F(CheckTest, OfAnOlderSchemaTheStructureIsChecked) {
  change("PRAGMA user_version = 1");
  const CheckedDatabase checked = check_database(path_, DatabaseState::stopped).value();
  EXPECT_EQ(checked.version, 1);
  EXPECT_FALSE(checked.rows_checked);
  EXPECT_THAT(checked.findings, IsEmpty());
}

// A path may contain what has a meaning in a URI, and nothing may appear next to the file.
TEST_F(CheckTest, ARestingFileIsReadWithoutATrace) {
  const std::string folder = folder_.file("a?b#c%20d");
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(path_, folder + "/db");
  change("PRAGMA journal_mode = DELETE");
  std::filesystem::copy_file(path_, folder + "/db",
                             std::filesystem::copy_options::overwrite_existing);
  const auto checked = check_database(folder + "/db", DatabaseState::resting);
  ASSERT_TRUE(checked.has_value()) << checked.error().message;
  EXPECT_THAT(checked->findings, IsEmpty());
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  EXPECT_THAT(names, ElementsAre("db"));
}

}  // namespace
}  // namespace hyperflock::storage
