// Tests backups of a state folder: what they have, what is shared, what interrupts them, and that
// a restored folder verifies.
#include "backup/backup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "backup/files.h"
#include "backup/restore.h"
#include "backup/verify.h"
#include "base/testing/scratch_folder.h"
#include "blobs/blob_store.h"
#include "storage/contract/suite.h"
#include "storage/sqlite/db/db.h"
#include "storage/sqlite/open.h"

namespace hyperflock::backup {
namespace {

namespace fs = std::filesystem;
using storage::Transition;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kAt = 1'700'000'000'000;  // 2023-11-14 22:13:20

class BackupTest : public testing::Test {
 protected:
  BackupTest() {
    bundle_ = put("blobs", "the bundle");
    data_ = put("blobs", "the data");
    artifact_ = put("checkpoints", "an artifact");
    put("blobs", "named by nothing");
    fs::create_directories(state_ / "runtimes" / "r1" / "wheels");
    std::ofstream(state_ / "runtimes" / "r1" / "index.json") << "{}";
    std::ofstream(state_ / "runtimes" / "r1" / "wheels" / "numpy.whl") << "numpy";
    std::ofstream(state_ / "credentials.json") << "a token";
    storage::CreateStudy study = storage::create_study(1);
    study.spec.bundle = {bundle_, 10};
    study.spec.data[0].blob = {data_, 8};
    storage::StoreArtifact upload{"phone", {}};
    upload.artifact.id = "a";
    upload.artifact.attempt = AttemptId{1};
    upload.artifact.store = "here";
    upload.artifact.blob = {artifact_, 11};
    apply({storage::create_principal("ada", '1'), storage::create_device("phone"), study,
           storage::start(1, storage::key(1, 0)), upload, storage::complete(1, {0.5}),
           storage::note("study.create")});
  }

  std::string put(const std::string& store, const std::string& text) {
    const auto blobs = blobs::BlobStore::open(state_ / store).value();
    const auto writer = blobs->begin().value();
    EXPECT_TRUE(writer->append(std::as_bytes(std::span(text))).has_value());
    std::string sha256 = blobs::sha256_hex(text);
    EXPECT_TRUE(writer->finish(sha256).has_value());
    return sha256;
  }
  static std::unique_ptr<storage::Storage> open(const fs::path& state) {
    return storage::open_sqlite_storage(storage::database_of(state.string()), [] { return kAt; })
        .value();
  }
  void apply(const std::vector<Transition>& batch) {
    for (const auto& outcome : open(state_)->apply(batch).value())
      EXPECT_EQ(outcome.applied, storage::Applied::applied);
  }
  Result<Made> make(std::int64_t at = kAt, std::int64_t keep = 0) {
    return back_up_stopped(state_.string(), "1.2.3", at, folder_.string(), keep);
  }
  Result<Restored> restore_to(const std::string& state, const std::string& name = {}) {
    return restore(folder_.string(), name, scratch_.file(state), kAt);
  }
  fs::path content(const std::string& sha256) const {
    return folder_ / "blobs" / sha256.substr(0, 2) / sha256.substr(2);
  }
  std::vector<std::string> codes() const {
    std::vector<std::string> found;
    for (const auto& one : verify(folder_.string(), {}).value().findings) found.push_back(one.code);
    return found;
  }
  std::string code_of_make() {
    const auto made = make();
    return made ? "made " + made->name : made.error().code;
  }

  ScratchFolder scratch_;
  const fs::path state_ = scratch_.path() / "state";
  const fs::path folder_ = scratch_.path() / "backups";
  std::string bundle_;
  std::string data_;
  std::string artifact_;
};

TEST_F(BackupTest, HasWhatTheServerNeedsAndNothingElse) {
  const Made made = make().value();
  EXPECT_EQ(made.name, "20231114T221320Z");
  EXPECT_THAT(made.findings, IsEmpty());
  EXPECT_EQ(made.files, 5);
  const Verified verified = verify(folder_.string(), {}).value();
  EXPECT_THAT(verified.findings, IsEmpty());
  EXPECT_THAT(verified.names, ElementsAre(made.name));
  const Restored restored = restore_to("again").value();
  EXPECT_EQ(restored.name, made.name);
  EXPECT_THAT(restored.findings, IsEmpty());
  const fs::path again = scratch_.path() / "again";
  EXPECT_EQ(read_file(again / "runtimes" / "r1" / "wheels" / "numpy.whl").value(), "numpy");
  EXPECT_FALSE(fs::exists(again / "credentials.json"));
  EXPECT_FALSE(fs::exists(again / kUnfinished));
  EXPECT_EQ(blobs::BlobStore::open(again / "blobs").value()->names().size(), 2U);
  EXPECT_EQ(blobs::BlobStore::open(again / "checkpoints").value()->names().size(), 1U);
  EXPECT_THAT(verify(again.string(), {}).value().findings, IsEmpty());
  // Only its owner may read a backup.
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
    struct stat status{};
    ASSERT_EQ(::lstat(entry.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0077, 0U) << entry.path();
  }
}

TEST_F(BackupTest, ARestoredServerGivesNoNumberAgain) {
  ASSERT_TRUE(make().has_value());
  // After the backup, the server gives numbers that devices and clients then know.
  apply({storage::start(2, storage::key(1, 1)), storage::complete(2, {0.75})});
  const auto lost = open(state_)->load().value();
  const auto cursor = open(state_)->study(StudyId{1}).value()->cursor;
  ASSERT_TRUE(restore_to("again").has_value());
  const auto storage = open(scratch_.path() / "again");
  const auto found = storage->load().value();
  EXPECT_GT(found.next_attempt_id, lost.next_attempt_id);
  EXPECT_GT(found.next_study_id, lost.next_study_id);
  const std::int64_t next = found.next_attempt_id;
  const auto outcomes =
      storage
          ->apply(std::vector<Transition>{storage::start(next, storage::key(1, 1)),
                                          storage::complete(next, {0.25})})
          .value();
  EXPECT_EQ(outcomes[1].verdict, protocol::Verdict::accepted);
  EXPECT_GT(storage->study(StudyId{1}).value()->cursor, cursor);
  const auto log = storage->audit(0, 10).value();
  EXPECT_EQ(log.back().action, "backup.restore");
  EXPECT_EQ(log.back().object, "20231114T221320Z");
  EXPECT_GT(log.back().id, log.front().id + 1'000);
}

TEST_F(BackupTest, BackupsShareTheirFiles) {
  EXPECT_EQ(make(kAt).value().new_files, 5);
  EXPECT_EQ(make(kAt).value().new_files, 0);
  EXPECT_EQ(make(kAt + 86'400'000).value().new_files, 0);
  EXPECT_THAT(verify(folder_.string(), {}).value().names,
              ElementsAre("20231114T221320Z", "20231114T221320Z-2", "20231115T221320Z"));
  EXPECT_EQ(verify(folder_.string(), {}).value().files, 5);
}

TEST_F(BackupTest, TheOldestOnesGoAndWithThemWhatOnlyTheyHave) {
  ASSERT_TRUE(make(kAt).has_value());
  apply({storage::end_study(1, storage::StudyState::finished), storage::DeleteStudy{StudyId{1}},
         storage::SweepDeleted{1'000}});
  EXPECT_EQ(make(kAt + 1'000, 2).value().removed, 0);
  EXPECT_TRUE(fs::exists(content(bundle_)));
  EXPECT_EQ(make(kAt + 2'000, 2).value().removed, 1);
  EXPECT_FALSE(fs::exists(content(bundle_)));
  EXPECT_FALSE(fs::exists(content(artifact_)));
  EXPECT_THAT(verify(folder_.string(), {}).value().names,
              ElementsAre("20231114T221321Z", "20231114T221322Z"));
  EXPECT_THAT(codes(), IsEmpty());
}

TEST_F(BackupTest, WhatIsMissingInTheStateFolderIsFoundAndTheRestIsBackedUp) {
  fs::remove(state_ / "blobs" / data_.substr(0, 2) / data_.substr(2));
  std::ofstream(state_ / "checkpoints" / artifact_.substr(0, 2) / artifact_.substr(2)) << "other";
  const Made made = make().value();
  ASSERT_EQ(made.findings.size(), 2U);
  EXPECT_EQ(made.findings[0].code, "blob_missing");
  EXPECT_EQ(made.findings[1].code, "blob_damaged");
  EXPECT_THAT(codes(), ElementsAre("blob_missing", "blob_missing"));
  EXPECT_EQ(restore_to("again").value().files, 3);
}

TEST_F(BackupTest, DamageIsFound) {
  const Made made = make().value();
  const fs::path shared = content(bundle_);
  fs::remove(shared);
  std::ofstream(shared) << "the bundlE";
  EXPECT_THAT(codes(), ElementsAre("blob_damaged"));
  EXPECT_EQ(restore_to("damaged").value().findings.front().code, "blob_damaged");
  fs::remove(shared);
  EXPECT_THAT(codes(), ElementsAre("blob_missing"));
  // The next backup has it again.
  EXPECT_EQ(make().value().new_files, 1);
  EXPECT_THAT(codes(), IsEmpty());
  {
    storage::sqlite::Db db((folder_ / made.name / "hyperflock.db").string(),
                           storage::sqlite::Db::Mode::read_write);
    db.exec("UPDATE study_progress SET complete = 7");
  }
  EXPECT_THAT(codes(), Contains("database_damaged"));
  EXPECT_THAT(codes(), Contains("trial_counts"));
  std::ofstream(folder_ / made.name / "files", std::ios::app) << bundle_ << " 1 ../../outside\n";
  EXPECT_EQ(restore_to("again", made.name).error().code, "backup_damaged");
}

TEST_F(BackupTest, TruncatedFilesAreFound) {
  const Made made = make().value();
  fs::remove(content(artifact_));
  std::ofstream(content(artifact_)) << "an a";
  EXPECT_THAT(codes(), ElementsAre("blob_damaged"));
  EXPECT_EQ(make(kAt + 1'000).value().new_files, 1);  // the next backup mends it
  EXPECT_THAT(codes(), IsEmpty());
  const fs::path database = folder_ / made.name / "hyperflock.db";
  fs::resize_file(database, fs::file_size(database) / 2);
  EXPECT_THAT(codes(), ElementsAre("database_damaged", "integrity"));
  EXPECT_EQ(restore_to("again", made.name).error().code, "backup_damaged");
  EXPECT_FALSE(fs::exists(scratch_.path() / "again"));
}

// A list with a right hash still must not name a file outside of the restored folder.
TEST_F(BackupTest, NoPathLeadsOutOfTheRestoredFolder) {
  const Made made = make().value();
  const auto repository = Repository::open(folder_, Repository::Use::read).value();
  for (const char* path : {"../outside", "/tmp/outside", "blobs/../../outside", ""}) {
    Manifest manifest = repository->manifest(made.name).value();
    const std::string list = to_text({{bundle_, 10, path}});
    manifest.files_sha256 = blobs::sha256_hex(list);
    ASSERT_TRUE(write_file(folder_ / made.name / "files", list).has_value());
    ASSERT_TRUE(write_file(folder_ / made.name / "backup.json", to_text(manifest)).has_value());
    EXPECT_EQ(restore_to("again").error().code, "backup_damaged") << path;
  }
}

TEST_F(BackupTest, RefusesFoldersThatAreNotForIt) {
  EXPECT_EQ(
      back_up_stopped(state_.string(), "1", kAt, (state_ / "backups").string(), 0).error().code,
      "backup_inside_state");
  EXPECT_EQ(back_up_stopped(state_.string(), "1", kAt, scratch_.path().string(), 0).error().code,
            "backup_inside_state");
  fs::create_directory_symlink(state_, scratch_.path() / "link");
  EXPECT_EQ(back_up_stopped(state_.string(), "1", kAt, scratch_.file("link/x"), 0).error().code,
            "backup_inside_state");
  fs::create_directories(folder_);
  std::ofstream(folder_ / "holiday.jpg") << "x";
  EXPECT_EQ(code_of_make(), "not_a_backup_folder");
  EXPECT_EQ(verify(folder_.string(), {}).error().code, "not_a_backup_folder");
  EXPECT_EQ(restore_to("again").error().code, "not_a_backup_folder");
  EXPECT_EQ(back_up_stopped(scratch_.file("none"), "1", kAt, scratch_.file("b"), 0).error().code,
            "bad_state");
}

// A full disk or SIGKILL may end the first backup before the folder says what it is.
TEST_F(BackupTest, GoesOnWithAFolderThatWasBegun) {
  fs::create_directories(folder_ / "blobs");
  std::ofstream(folder_ / "hyperflock-backups.part") << "A folder";
  EXPECT_TRUE(make().has_value());
  fs::remove(folder_ / "hyperflock-backups");
  EXPECT_EQ(code_of_make(), "not_a_backup_folder");  // there are blobs of somebody
}

TEST_F(BackupTest, OneCommandAtATimeChangesTheFolder) {
  ASSERT_TRUE(make().has_value());
  {
    const auto other = Repository::open(folder_, Repository::Use::change).value();
    EXPECT_EQ(code_of_make(), "backup_running");
    EXPECT_EQ(restore_to("again").error().code, "backup_running");
  }
  {
    const auto reader = Repository::open(folder_, Repository::Use::read).value();
    EXPECT_EQ(code_of_make(), "backup_running");
    EXPECT_TRUE(restore_to("again").has_value());
  }
  EXPECT_EQ(code_of_make(), "made 20231114T221320Z-2");
  const auto server = open(state_);
  EXPECT_EQ(code_of_make(), "storage_open");  // a server runs
}

TEST_F(BackupTest, RestoresOnlyToAnEmptyFolder) {
  ASSERT_TRUE(make().has_value());
  const fs::path target = scratch_.path() / "again";
  fs::create_directories(target / "lost+found");
  EXPECT_TRUE(restore_to("again").has_value());
  EXPECT_EQ(restore_to("again").error().code, "not_empty");
  EXPECT_EQ(restore_to("other", "20200101T000000Z").error().code, "unknown_backup");
  EXPECT_EQ(restore_to("other", "../x").error().code, "unknown_backup");
  EXPECT_EQ(restore_to("other", "part").error().code, "unknown_backup");
  EXPECT_FALSE(fs::exists(scratch_.path() / "other"));
}

TEST_F(BackupTest, AnInterruptedRestorationIsDoneAgain) {
  ASSERT_TRUE(make().has_value());
  const fs::path target = scratch_.path() / "again";
  fs::create_directories(target / "blobs");
  std::ofstream(target / kUnfinished) << "x";
  std::ofstream(target / "hyperflock.db") << "a part";
  EXPECT_TRUE(restore_to("again").has_value());
  EXPECT_THAT(verify(target.string(), {}).value().findings, IsEmpty());
}

TEST_F(BackupTest, ABackupOfANewerVersionIsRefused) {
  const Made made = make().value();
  storage::sqlite::Db((folder_ / made.name / "hyperflock.db").string(),
                      storage::sqlite::Db::Mode::read_write)
      .exec("PRAGMA user_version = 999");
  const auto refused = restore_to("again");
  EXPECT_EQ(refused.error().code, "storage_too_new");
  EXPECT_FALSE(fs::exists(scratch_.path() / "again"));
}

TEST_F(BackupTest, AFullDiskLeavesTheEarlierBackupsWhole) {
  ASSERT_TRUE(make().has_value());
  put("blobs", "more");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4'096, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string code = code_of_make();
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  EXPECT_EQ(code, "backup_no_room");
  EXPECT_FALSE(fs::exists(folder_ / "part"));
  EXPECT_THAT(verify(folder_.string(), {}).value().names, ElementsAre("20231114T221320Z"));
  EXPECT_THAT(codes(), IsEmpty());
}

// Wherever a backup is killed, the folder has only complete ones, and the next backup goes on.
TEST_F(BackupTest, AKilledBackupIsNoBackup) {
  ASSERT_TRUE(make().has_value());
  for (int step = 0; step < 2; ++step) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Source source;
      source.state_dir = state_.string();
      source.now = kAt + 5'000;
      source.copy_database = [&](const std::string& target,
                                 const std::function<void()>&) -> Status {
        if (step == 0) ::kill(::getpid(), SIGKILL);
        std::error_code error;
        fs::copy_file(storage::database_of(state_.string()), target, error);
        ::kill(::getpid(), SIGKILL);
        return {};
      };
      (void)make_backup(source, folder_.string(), 0);
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_TRUE(fs::exists(folder_ / "part"));
    EXPECT_THAT(verify(folder_.string(), {}).value().names, ElementsAre("20231114T221320Z"));
  }
  EXPECT_EQ(make(kAt + 5'000).value().name, "20231114T221325Z");
  EXPECT_FALSE(fs::exists(folder_ / "part"));
  EXPECT_THAT(codes(), IsEmpty());
}

}  // namespace
}  // namespace hyperflock::backup
