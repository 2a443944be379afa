// Tests the standby of a database: that it has the state after some commit, whatever happens, and
// how much of the acknowledged work it misses at most.
#include "storage/sqlite/standby/standby.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <map>

#include "base/testing/patience.h"
#include "base/testing/scratch_folder.h"
#include "storage/contract/suite.h"
#include "storage/sqlite/check/check.h"
#include "storage/sqlite/db/db.h"
#include "storage/sqlite/open.h"
#include "storage/sqlite/storage.h"

namespace hyperflock::storage {
namespace {

namespace fs = std::filesystem;
using sqlite::Db;
using testing::IsEmpty;

std::int64_t wall_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

class StandbyTest : public testing::Test {
 protected:
  StandbyTarget target() {
    StandbyTarget to;
    to.database = standby_;
    to.is_complete = [this] { return is_complete_.load(); };
    to.complete = [this]() -> Status {
      is_complete_ = true;
      return {};
    };
    to.prepare = [this]() -> Status {
      if (!fails_) return {};
      return Error{"backup_failed", "There is no disk."};
    };
    to.behind = [this](const Error& error) {
      ++behind_;
      if (!fails_) ADD_FAILURE() << error.message;
    };
    to.caught_up = [this] { ++caught_up_; };
    to.retry = std::chrono::milliseconds(1);
    status_ = to.status;
    return to;
  }
  std::unique_ptr<Storage> open(std::int64_t checkpoint_pages = 1'000) {
    SqliteSettings settings;
    settings.checkpoint_pages = checkpoint_pages;
    settings.standby = target();
    return SqliteStorage::open(path_, [] { return kNow; }, settings).value();
  }
  // Starts and completes `count` trials, each in a commit.
  void work(Storage& storage, std::int64_t count) {
    if (next_ == 1) {
      CreateStudy study = create_study(1);
      study.total = kMaxWireInteger;
      apply(storage, {study});
    }
    for (const std::int64_t end = next_ + count; next_ < end; ++next_)
      apply(storage, {start(next_, key(1, next_)), complete(next_, {0.5})});
  }
  static void apply(Storage& storage, const std::vector<Transition>& batch) {
    const auto outcomes = storage.apply(batch);
    ASSERT_TRUE(outcomes.has_value()) << outcomes.error().message;
    for (const Outcome& one : *outcomes) EXPECT_EQ(one.applied, Applied::applied);
  }
  bool is_current() {
    return until([this] { return status_->current() && status_->lag().count() == 0; });
  }
  // Returns the content of all pages.
  static std::vector<std::string> pages(const std::string& path) {
    Db db(path, Db::Mode::read_write);
    std::vector<std::string> all;
    sqlite::Query page = db.query("SELECT data FROM sqlite_dbpage ORDER BY pgno");
    while (page.next()) all.emplace_back(page.text(0));
    // SQLite counts changes of the file here, by whatever connection.
    for (const std::size_t at : {24U, 92U}) all.front().replace(at, 4, 4, '\0');
    return all;
  }
  void expect_equal() {
    EXPECT_EQ(pages(standby_), pages(path_));
    const auto checked = check_database(standby_, DatabaseState::resting).value();
    EXPECT_THAT(checked.findings, IsEmpty());
    EXPECT_EQ(checked.finished_trials, next_ - 1);
  }

  ScratchFolder folder_;
  const std::string path_ = folder_.file("db");
  const std::string standby_ = folder_.file("standby.db");
  std::atomic<bool> is_complete_{false};
  std::atomic<bool> fails_{false};
  std::atomic<int> behind_{0};
  std::atomic<int> caught_up_{0};
  std::shared_ptr<StandbyStatus> status_;
  std::int64_t next_ = 1;
};

TEST_F(StandbyTest, HasEachCommitAfterACleanEnd) {
  {
    const auto storage = open();
    work(*storage, 50);
    EXPECT_TRUE(is_current());
    work(*storage, 50);
  }
  expect_equal();
  EXPECT_EQ(behind_, 0);
  EXPECT_EQ(caught_up_, 1);
}

// The log starts again and again from its beginning.
TEST_F(StandbyTest, FollowsALogThatStartsAgain) {
  {
    const auto storage = open(20);
    EXPECT_TRUE(is_current());
    work(*storage, 100);
    storage->idle();
    work(*storage, 3);
  }
  expect_equal();
}

TEST_F(StandbyTest, GetsWhatItMissedAfterARestart) {
  {
    const auto storage = open();
    work(*storage, 10);
    EXPECT_TRUE(is_current());
  }
  {
    const auto alone = open_sqlite_storage(path_, [] { return kNow; }).value();
    work(*alone, 30);
  }
  {
    const auto storage = open();
    EXPECT_TRUE(is_current());
  }
  expect_equal();
}

TEST_F(StandbyTest, FollowsADatabaseThatShrinks) {
  {
    const auto storage = open();
    work(*storage, 100);
    EXPECT_TRUE(is_current());
    apply(*storage, {end_study(1, StudyState::finished), DeleteStudy{StudyId{1}}});
    apply(*storage, {SweepDeleted{1'000'000}});
  }
  Db(path_, Db::Mode::read_write).exec("VACUUM");
  const auto small = fs::file_size(path_);
  EXPECT_LT(small, fs::file_size(standby_));
  {
    const auto storage = open();
    EXPECT_TRUE(is_current());
  }
  EXPECT_EQ(pages(standby_), pages(path_));
  EXPECT_EQ(fs::file_size(standby_), small);
}

TEST_F(StandbyTest, ThatCannotBeWrittenHarmsNothingAndIsSaidOnce) {
  fails_ = true;
  {
    const auto storage = open();
    EXPECT_TRUE(until([this] { return behind_ == 1; }));
    work(*storage, 20);
    EXPECT_FALSE(status_->current());
    EXPECT_GT(status_->lag().count(), 0);
    EXPECT_FALSE(fs::exists(standby_));
    fails_ = false;
    // The next commits are those from which it goes on.
    EXPECT_TRUE(until([&] {
      work(*storage, 1);
      return status_->current();
    }));
    work(*storage, 20);
  }
  expect_equal();
  EXPECT_EQ(behind_, 1);
  EXPECT_EQ(caught_up_, 1);
}

// What a loss of power leaves of the last shipment.
TEST_F(StandbyTest, ATornEndIsAnEarlierCommit) {
  {
    const auto storage = open();
    work(*storage, 10);
    EXPECT_TRUE(is_current());
    work(*storage, 1);
    EXPECT_TRUE(is_current());
    const std::string torn = folder_.file("torn.db");
    fs::copy_file(standby_, torn);
    fs::copy_file(standby_ + "-wal", torn + "-wal");
    fs::resize_file(torn + "-wal", fs::file_size(torn + "-wal") - 5'000);
    Db(torn, Db::Mode::read_write).exec("PRAGMA wal_checkpoint(TRUNCATE)");
    const auto checked = check_database(torn, DatabaseState::resting).value();
    EXPECT_THAT(checked.findings, IsEmpty());
    EXPECT_LT(checked.finished_trials, next_ - 1);
    EXPECT_GT(checked.finished_trials, 0);
  }
}

// ---- the drill

// Runs until killed: completes trials, and writes the number of each to the pipe once its commit is
// acknowledged.
[[noreturn]] void be_the_server(const std::string& path, const std::string& standby,
                                int acknowledgements) {
  SqliteSettings settings;
  settings.standby.emplace();
  settings.standby->database = standby;
  const auto status = settings.standby->status;
  auto opened = SqliteStorage::open(path, wall_now, settings);
  if (!opened) ::_exit(3);
  Storage& storage = **opened;
  if (!until([&] { return status->current(); })) ::_exit(4);
  CreateStudy study = create_study(1);
  study.total = kMaxWireInteger;
  if (!storage.apply(std::vector<Transition>{study}).has_value()) ::_exit(5);
  for (std::int64_t i = 1;; ++i) {
    const std::vector<Transition> batch{start(i, key(1, i)), complete(i, {0.5})};
    if (!storage.apply(batch).has_value()) ::_exit(6);
    if (!status->current()) ::_exit(7);
    if (::write(acknowledgements, &i, sizeof i) != sizeof i) ::_exit(8);
  }
}

// Returns when each trial finished, by the time that its commit stored.
std::map<std::int64_t, std::int64_t> finished(const std::string& path) {
  Db db(path, Db::Mode::read_write);
  std::map<std::int64_t, std::int64_t> found;
  sqlite::Query row = db.query("SELECT id, finished_at FROM attempts WHERE finished_at > 0");
  while (row.next()) found.emplace(row.integer(0), row.integer(1));
  return found;
}

TEST(StandbyDrill, MissesAtMostASecondOfAcknowledgedWork) {
  for (const int acknowledged_before : {1, 200, 700}) {
    const ScratchFolder folder;
    const std::string path = folder.file("db");
    const std::string standby = folder.file("standby.db");
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::close(ends[0]);
      be_the_server(path, standby, ends[1]);
    }
    ::close(ends[1]);
    std::int64_t last = 0;
    std::int64_t number = 0;
    while (::read(ends[0], &number, sizeof number) == sizeof number) {
      last = number;
      if (last == acknowledged_before) ::kill(child, SIGKILL);
    }
    ::close(ends[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child left by itself with " << WEXITSTATUS(status);

    const auto of_server = finished(path);
    const auto of_standby = finished(standby);
    const auto checked = check_database(standby, DatabaseState::resting).value();
    EXPECT_THAT(checked.findings, IsEmpty());
    ASSERT_TRUE(of_server.contains(last));
    std::int64_t first_lost = of_server.at(last);
    for (std::int64_t one = 1; one <= last; ++one) {
      if (!of_standby.contains(one)) first_lost = std::min(first_lost, of_server.at(one));
    }
    EXPECT_LE(of_server.at(last) - first_lost, 1'000);
    for (const auto& [one, at] : of_standby) EXPECT_EQ(of_server.at(one), at);
  }
}

}  // namespace
}  // namespace hyperflock::storage
