// Kills a server at a random moment. Everything that it had acknowledged must be stored, and a
// deletion that it had begun must continue. The child process is the writer. The parent reads
// acknowledgements from a pipe and kills the child.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <random>
#include <vector>

#include "base/testing/patience.h"
#include "base/testing/scratch_folder.h"
#include "storage/contract/suite.h"
#include "storage/sqlite/db/db.h"
#include "storage/sqlite/open.h"

namespace hyperflock::storage {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kRounds = 20;
constexpr std::int64_t kGroup = 8;

// Runs until killed: each batch accepts a group of results and starts the next group. Writes the
// ids of the accepted attempts to the pipe.
[[noreturn]] void be_the_server(const std::string& path, int acknowledgements) {
  auto opened = open_sqlite_storage(path, [] { return kNow; });
  if (!opened) ::_exit(3);
  Storage& storage = *opened.value();
  std::int64_t attempt = storage.load().value().next_attempt_id;
  // The attempts that the last child left running get no result. Each child starts new
  // trials.
  const auto starts = [](std::int64_t first) {
    std::vector<Transition> batch;
    for (std::int64_t i = first; i < first + kGroup; ++i) batch.push_back(start(i, key(1, i)));
    return batch;
  };
  if (!storage.apply(starts(attempt)).has_value()) ::_exit(4);
  for (;; attempt += kGroup) {
    std::vector<Transition> batch;
    for (std::int64_t i = attempt; i < attempt + kGroup; ++i) {
      batch.push_back(complete(i, {static_cast<double>(i)}));
    }
    for (Transition& next : starts(attempt + kGroup)) batch.push_back(std::move(next));
    const auto outcomes = storage.apply(batch);
    if (!outcomes) ::_exit(5);
    std::array<std::int64_t, kGroup> accepted{};
    for (std::int64_t i = 0; i < kGroup; ++i) {
      accepted[static_cast<std::size_t>(i)] = attempt + i;
    }
    if (::write(acknowledgements, accepted.data(), sizeof(accepted)) != sizeof(accepted))
      ::_exit(6);
  }
}

// The event at which the time until the kill begins. A busy machine may start a child so slowly
// that the time would end before the child has acknowledged anything.
enum class Since { birth, first_acknowledgement };

// Reads the child's acknowledgements for `life`, kills the child, and then reads the rest.
std::vector<std::int64_t> kill_after(milliseconds life, Since since, pid_t child, int pipe) {
  if (since == Since::first_acknowledgement) {
    pollfd waiting{pipe, POLLIN, 0};
    EXPECT_EQ(::poll(&waiting, 1, kTestLimitMs), 1);
  }
  const auto deadline = steady_clock::now() + life;
  std::vector<std::int64_t> acknowledged;
  bool alive = true;
  for (;;) {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
    if (alive && left.count() <= 0) {
      ::kill(child, SIGKILL);
      alive = false;
    }
    pollfd waiting{pipe, POLLIN, 0};
    if (::poll(&waiting, 1, alive ? static_cast<int>(left.count()) : 10'000) == 0) continue;
    std::array<std::int64_t, kGroup> ids{};
    if (::read(pipe, ids.data(), sizeof(ids)) != sizeof(ids)) break;
    acknowledged.insert(acknowledged.end(), ids.begin(), ids.end());
  }
  return acknowledged;
}

TEST(SqliteCrash, AcknowledgedSurvivesKill) {
  const ScratchFolder folder;
  const std::string path = folder.file("db");
  {
    auto storage = open_sqlite_storage(path, [] { return kNow; }).value();
    CreateStudy study = create_study(1);
    study.total = kMaxWireInteger;
    ASSERT_TRUE(storage->apply(std::vector<Transition>{study}).has_value());
  }
  std::mt19937 random(20'261);  // the moments of the kills differ anyway
  std::vector<std::int64_t> acknowledged;
  for (int round = 0; round < kRounds; ++round) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::close(ends[0]);
      be_the_server(path, ends[1]);
    }
    ::close(ends[1]);
    const milliseconds life{std::uniform_int_distribution<int>(20, 250)(random)};
    const Since since = round % 2 == 0 ? Since::birth : Since::first_acknowledgement;
    const auto of_round = kill_after(life, since, child, ends[0]);
    ::close(ends[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child left by itself with " << WEXITSTATUS(status);
    acknowledged.insert(acknowledged.end(), of_round.begin(), of_round.end());

    auto storage = open_sqlite_storage(path, [] { return kNow; }).value();
    for (const std::int64_t id : of_round) {
      const auto trial = storage->trial(key(1, id)).value();
      ASSERT_TRUE(trial.has_value()) << "trial of acknowledged attempt " << id << " is lost";
      ASSERT_EQ(trial->trial.accepted_attempt, AttemptId{id});
      ASSERT_EQ(trial->trial.values, std::vector<double>{static_cast<double>(id)});
    }
  }
  auto storage = open_sqlite_storage(path, [] { return kNow; }).value();
  const StudyRow study = storage->study(StudyId{1}).value().value();
  // Each child can have committed at most one batch without an acknowledgement.
  EXPECT_GE(study.complete, static_cast<std::int64_t>(acknowledged.size()));
  EXPECT_LE(study.complete, static_cast<std::int64_t>(acknowledged.size()) + kRounds * kGroup);
  EXPECT_GT(acknowledged.size(), 0U);
  RecordProperty("acknowledged", static_cast<int>(acknowledged.size()));
}

// Returns a study with `trials` trials, each of which has two attempts and an artifact.
std::vector<Transition> whole_study(std::int64_t study, std::int64_t attempt, std::int64_t trials) {
  std::vector<Transition> batch{create_study(study, "key " + std::to_string(study))};
  for (std::int64_t number = 0; number < trials; ++number) {
    for (int i = 0; i < 2; ++i, ++attempt) {
      batch.emplace_back(start(attempt, key(study, number)));
      batch.emplace_back(append(attempt, {{1, 0.5}, {2, 0.25}, {3, 0.125}}));
    }
    StoreArtifact file{"phone", {}};
    file.artifact.id = std::to_string(number);
    file.artifact.attempt = AttemptId{attempt - 1};
    file.artifact.blob = {sha('c'), 10};
    batch.emplace_back(std::move(file));
    batch.emplace_back(complete(attempt - 1, {0.5}));
  }
  batch.emplace_back(end_study(study, StudyState::finished));
  return batch;
}

// Removes the rows of deleted studies in small pieces. Writes a byte to the pipe after each piece
// and at the end.
[[noreturn]] void be_the_sweeper(const std::string& path, int pieces) {
  auto opened = open_sqlite_storage(path, [] { return kNow; });
  if (!opened) ::_exit(3);
  for (char more = 1; more != 0;) {
    const auto outcomes = opened.value()->apply(std::vector<Transition>{SweepDeleted{7}});
    if (!outcomes) ::_exit(5);
    more = outcomes.value().front().applied == Applied::applied ? 1 : 0;
    if (::write(pieces, &more, 1) != 1) ::_exit(6);
  }
  for (;;) ::pause();
}

TEST(SqliteCrash, R55_ADeletionGoesOnAfterAKill) {
  constexpr std::int64_t kTrials = 300;
  const ScratchFolder folder;
  const std::string path = folder.file("db");
  const auto open = [&] { return open_sqlite_storage(path, [] { return kNow; }).value(); };
  {
    const auto storage = open();
    ASSERT_TRUE(storage->apply(whole_study(1, 1, 3)).has_value());
    ASSERT_TRUE(storage->apply(whole_study(2, 100, kTrials)).has_value());
    ASSERT_TRUE(storage->apply(std::vector<Transition>{DeleteStudy{StudyId{2}}}).has_value());
  }
  std::mt19937 random(20'262);
  for (bool unswept = true; unswept;) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::close(ends[0]);
      be_the_sweeper(path, ends[1]);
    }
    ::close(ends[1]);
    // Each child is killed only after it has removed some pieces, so it leaves fewer rows than it
    // found.
    char more = 1;
    for (int pieces = std::uniform_int_distribution<int>(1, 60)(random); pieces > 0 && more != 0;
         --pieces) {
      if (::read(ends[0], &more, 1) != 1) break;
    }
    ::kill(child, SIGKILL);
    ::close(ends[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child left by itself with " << WEXITSTATUS(status);
    const auto storage = open();
    ASSERT_FALSE(storage->study(StudyId{2}).value().has_value());
    ASSERT_FALSE(storage->trial(key(2, kTrials - 1)).value().has_value());
    const Snapshot snapshot = storage->load().value();
    ASSERT_EQ(snapshot.next_attempt_id, 100 + 2 * kTrials);
    unswept = snapshot.unswept;
  }
  const auto storage = open();
  EXPECT_EQ(storage->study(StudyId{1}).value()->complete, 3);
  EXPECT_EQ(storage->trial(key(1, 0)).value()->points.size(), 3U);
  EXPECT_EQ(storage->kept_blobs().value(), std::vector<std::string>{sha('c')});
  sqlite::Db db(path, sqlite::Db::Mode::read_only);
  for (const char* table : {"trials", "attempts", "artifacts", "points"}) {
    const std::string left = std::string("SELECT count(*) FROM ") + table;
    EXPECT_LE(std::stoll(db.single(left)), 6 * 3) << table;
  }
}

}  // namespace
}  // namespace hyperflock::storage
