// Tests group commit: groups gather into a batch while another is written, no group is split, and a
// failure also drops the groups that wait.
#include "hub/group_commit.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "base/testing/patience.h"
#include "storage/testing/faulty_storage.h"
#include "storage/testing/scratch_database.h"

namespace hyperflock::hub {
namespace {

using storage::FailBefore;
using storage::Hold;

class GroupCommitTest : public ::testing::Test {
 protected:
  // Returns a group of `size` transitions with ids from `first` on.
  static CommitGroup group(std::uint64_t first, std::size_t size = 1) {
    CommitGroup made;
    for (std::uint64_t i = 0; i < size; ++i) {
      made.push_back({storage::CreateDevice{
                          {"d" + std::to_string(first + i), "default", "hash", "node", "test"}},
                      dispatch::TransitionId{first + i}, nullptr});
    }
    return made;
  }

  void push(CommitGroup one) {
    std::vector<CommitGroup> groups;
    groups.push_back(std::move(one));
    commit_.push(groups);
  }

  // Waits for the next batch. Returns its ids as text, after the word "failed" if it failed.
  std::string next() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(came_.wait_for(lock, kTestLimit, [this] { return !batches_.empty(); }));
    if (batches_.empty()) return "nothing came";
    const CommitDone batch = std::move(batches_.front());
    batches_.erase(batches_.begin());
    std::string text = batch.outcomes ? "" : "failed";
    for (const CommitItem& item : batch.items) {
      if (!text.empty()) text += ' ';
      text += std::to_string(static_cast<std::uint64_t>(item.id));
    }
    if (batch.outcomes) {
      EXPECT_EQ(batch.outcomes->size(), batch.items.size());
    }
    return text;
  }

  storage::ScratchDatabase database_;
  storage::FaultyStorage storage_{database_.open()};
  telemetry::Metrics metrics_;
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<CommitDone> batches_;
  GroupCommit commit_{storage_, metrics_, 4, [this](CommitDone done) {
                        const std::lock_guard lock(mutex_);
                        batches_.push_back(std::move(done));
                        came_.notify_all();
                      }};
};

TEST_F(GroupCommitTest, AnIdleWriterTakesOneAtOnce) {
  push(group(1));
  EXPECT_EQ(next(), "1");
  push(group(2));
  EXPECT_EQ(next(), "2");
}

TEST_F(GroupCommitTest, GathersWhileABatchIsWritten) {
  storage_.script({Hold{}});
  push(group(1));
  ASSERT_TRUE(storage_.wait_until_held());
  push(group(2));
  push(group(3));
  storage_.release();
  EXPECT_EQ(next(), "1");
  EXPECT_EQ(next(), "2 3");
  EXPECT_EQ(storage_.batches(), 2);
}

TEST_F(GroupCommitTest, GroupsAreNeverSplit) {
  storage_.script({Hold{}});
  push(group(1));
  ASSERT_TRUE(storage_.wait_until_held());
  push(group(10, 3));
  push(group(20, 3));  // exceeds the limit of 4
  push(group(30));
  storage_.release();
  EXPECT_EQ(next(), "1");
  EXPECT_EQ(next(), "10 11 12 20 21 22");
  EXPECT_EQ(next(), "30");
}

TEST_F(GroupCommitTest, AFailureTakesWhatWaitsAndHoldsWhatComes) {
  storage_.script({Hold{}, FailBefore{}});
  push(group(1));
  ASSERT_TRUE(storage_.wait_until_held());
  push(group(2, 4));
  push(group(10));
  storage_.release();
  EXPECT_EQ(next(), "1");
  EXPECT_EQ(next(), "failed 2 3 4 5 10");
  push(group(20));
  const std::vector<CommitItem> unwritten = commit_.resume();
  ASSERT_EQ(unwritten.size(), 1U);
  EXPECT_EQ(unwritten[0].id, dispatch::TransitionId{20});
  push(group(30));
  EXPECT_EQ(next(), "30");
}

TEST_F(GroupCommitTest, ResumeWithoutAFailureTakesNothing) {
  storage_.script({Hold{}});
  push(group(1));
  ASSERT_TRUE(storage_.wait_until_held());
  push(group(2));
  EXPECT_TRUE(commit_.resume().empty());
  storage_.release();
  EXPECT_EQ(next(), "1");
  EXPECT_EQ(next(), "2");
}

TEST_F(GroupCommitTest, StopWritesWhatWaits) {
  storage_.script({Hold{}});
  push(group(1));
  ASSERT_TRUE(storage_.wait_until_held());
  push(group(2));
  storage_.release();
  commit_.stop();
  EXPECT_EQ(next(), "1");
  EXPECT_EQ(next(), "2");
}

TEST_F(GroupCommitTest, CountsWhatItWrote) {
  push(group(1, 3));
  EXPECT_EQ(next(), "1 2 3");
  const std::string text = metrics_.text();
  EXPECT_NE(text.find("\nhyperflock_commits_total 1"), std::string::npos) << text;
  EXPECT_NE(text.find("hyperflock_commit_transitions_sum 3"), std::string::npos) << text;
  EXPECT_NE(text.find("\nhyperflock_commit_backlog_transitions 0"), std::string::npos) << text;
  EXPECT_NE(text.find("\nhyperflock_commit_wait_seconds_count 1"), std::string::npos) << text;
}

// ---- a full disk

class FullDiskCommitTest : public GroupCommitTest {
 protected:
  // Returns a group that may use the reserve.
  static CommitGroup sparing(std::uint64_t id) {
    CommitGroup made;
    made.push_back({storage::RevokeDevice{"d1"}, dispatch::TransitionId{id}, nullptr});
    return made;
  }
  void push(GroupCommit& commit, CommitGroup one) {
    std::vector<CommitGroup> groups;
    groups.push_back(std::move(one));
    commit.push(groups);
  }

  int releases_ = 0;  // changed on the writer's thread, before the batch is reported
  GroupCommit full_{storage_,
                    metrics_,
                    4,
                    [this](CommitDone done) {
                      const std::lock_guard lock(mutex_);
                      is_full_ = done.full;
                      batches_.push_back(std::move(done));
                      came_.notify_all();
                    },
                    {.starts_full = false, .release = [this] { ++releases_; }}};
  bool is_full_ = false;
};

TEST_F(FullDiskCommitTest, WhatMayUseTheReserveIsWrittenInItsPlace) {
  storage_.script({storage::FullDisk{}});
  push(full_, sparing(1));
  EXPECT_EQ(next(), "1");
  EXPECT_TRUE(is_full_);
  EXPECT_EQ(releases_, 1);
  push(full_, sparing(2));
  EXPECT_EQ(next(), "2");
  EXPECT_EQ(releases_, 1);
}

TEST_F(FullDiskCommitTest, WhatGrowsIsNotTriedUntilThereIsRoom) {
  storage_.script({storage::FullDisk{}});
  push(full_, group(1));
  EXPECT_EQ(next(), "failed 1");
  EXPECT_TRUE(is_full_);
  EXPECT_EQ(releases_, 1);
  full_.resume();
  const int tried = storage_.batches();
  push(full_, group(2));
  EXPECT_EQ(next(), "failed 2");
  full_.resume();
  EXPECT_EQ(storage_.batches(), tried);
  push(full_, sparing(3));
  EXPECT_EQ(next(), "3");

  full_.leave_full();
  push(full_, group(4));
  EXPECT_EQ(next(), "4");
  EXPECT_FALSE(is_full_);
}

TEST_F(FullDiskCommitTest, AServerMayStartOnAFullDisk) {
  GroupCommit starting(storage_, metrics_, 4,
                       [this](CommitDone done) {
                         const std::lock_guard lock(mutex_);
                         batches_.push_back(std::move(done));
                         came_.notify_all();
                       },
                       {.starts_full = true});
  push(starting, group(1));
  EXPECT_EQ(next(), "failed 1");
  starting.resume();
  push(starting, sparing(2));
  EXPECT_EQ(next(), "2");
}

}  // namespace
}  // namespace hyperflock::hub
