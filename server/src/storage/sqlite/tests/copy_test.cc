// Tests copies of a database that a server writes to.
#include "storage/sqlite/copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "base/testing/scratch_folder.h"
#include "storage/contract/suite.h"
#include "storage/sqlite/check/check.h"
#include "storage/sqlite/storage.h"

namespace hyperflock::storage {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

class CopyTest : public testing::Test {
 protected:
  CopyTest() {
    // A copy is a reader that a commit must never wait for: this wait would be longer than a test.
    SqliteSettings settings;
    settings.checkpoint_pages = 8;
    settings.reader_patience_ms = 3'600'000;
    storage_ = SqliteStorage::open(folder_.file("db"), [] { return kNow; }, settings).value();
    apply({create_principal("ada", '1'), create_study(1), start(1, key(1, 0))});
    for (int i = 0; i < 60; ++i) cycle(4'000);
  }

  void apply(const std::vector<Transition>& batch) {
    EXPECT_TRUE(storage_->apply(batch).has_value());
  }
  // Accepts the result of the newest attempt, with this many points, and starts the next trial.
  void cycle(std::int64_t points) {
    StoreResult result = complete(attempt_, {0.5});
    for (std::int64_t step = 1; step <= points; ++step) result.result.points.push_back({step, 0.5});
    ++attempt_;
    apply({std::move(result), start(attempt_, key(1, attempt_ - 1))});
  }
  Status copy(const CopyControl& control = [](const CopyProgress&) { return Status(); }) {
    return sqlite::copy_database(folder_.file("db"), target_, sqlite::Pace::shared, control);
  }
  CheckedDatabase checked() const {
    auto found = check_database(target_, DatabaseState::resting);
    EXPECT_TRUE(found.has_value()) << found.error().message;
    return found ? *std::move(found) : CheckedDatabase{};
  }

  ScratchFolder folder_{ScratchFolder::Where::memory};
  const std::string target_ = folder_.file("copy");
  std::unique_ptr<SqliteStorage> storage_;
  std::int64_t attempt_ = 1;
};

TEST_F(CopyTest, HasTheStateOfItsBeginningHoweverManyCommitsFollow) {
  const std::int64_t finished = attempt_ - 1;
  int pieces = 0;
  std::int64_t last = 0;
  std::int64_t log = 0;
  const Status copied = copy([&](const CopyProgress& progress) {
    ++pieces;
    EXPECT_GT(progress.copied_bytes, last);
    EXPECT_LE(progress.copied_bytes, progress.total_bytes);
    last = progress.copied_bytes;
    log = progress.log_bytes;
    for (int i = 0; i < 20; ++i) cycle(100);
    return Status();
  });
  ASSERT_TRUE(copied.has_value()) << copied.error().message;
  EXPECT_GE(pieces, 2);
  EXPECT_GT(log, 0);
  const CheckedDatabase found = checked();
  EXPECT_THAT(found.findings, IsEmpty());
  EXPECT_EQ(found.finished_trials, finished);
  EXPECT_GE(attempt_, finished + 40);
  // The copy is one file that only its owner may read.
  EXPECT_FALSE(fs::exists(target_ + "-wal"));
  EXPECT_EQ(fs::status(target_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  // Afterwards the log starts again from its beginning: it does not grow with each commit.
  for (int i = 0; i < 20; ++i) cycle(100);
  const auto length = fs::file_size(folder_.file("db-wal"));
  for (int i = 0; i < 200; ++i) cycle(100);
  EXPECT_LE(fs::file_size(folder_.file("db-wal")), length + kMiB);
}

TEST_F(CopyTest, IsEndedByItsControl) {
  const Status ended =
      copy([](const CopyProgress&) -> Status { return Error{"enough", "The log is long."}; });
  EXPECT_EQ(ended.error().code, "enough");
  EXPECT_FALSE(fs::exists(target_));
}

TEST_F(CopyTest, OverwritesNothing) {
  std::ofstream(target_) << "mine";
  EXPECT_EQ(copy().error().code, "backup_failed");
  EXPECT_EQ(fs::file_size(target_), 4U);
}

TEST_F(CopyTest, AFullDiskIsNamedAndNothingIsLeft) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{static_cast<rlim_t>(kMiB), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status refused = copy();
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, "backup_no_room");
  EXPECT_FALSE(fs::exists(target_));
  EXPECT_TRUE(copy().has_value());
}

}  // namespace
}  // namespace hyperflock::storage
