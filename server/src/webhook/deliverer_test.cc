// Tests deliveries from a real outbox, with a clock and a sender that the tests control.
#include "webhook/deliverer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "base/testing/patience.h"
#include "storage/contract/suite.h"
#include "storage/testing/faulty_storage.h"
#include "storage/testing/scratch_database.h"
#include "webhook/payload.h"

namespace hyperflock::webhook {
namespace {

using storage::DeliveryState;
using ::testing::HasSubstr;

constexpr std::int64_t kStart = 1'700'000'000'000;

// How far the machine's clock, whose time is in signatures, is ahead of the server's time.
constexpr std::int64_t kAheadMs = 7'000'000;

// A storage, one thread that writes to it as the hub does, and a Deliverer.
class DelivererTest : public ::testing::Test {
 protected:
  DelivererTest() { open(); }
  ~DelivererTest() override { close(); }

  void open() {
    storage_ =
        std::make_unique<storage::FaultyStorage>(database_.open([this] { return now_.load(); }));
    stopped_ = false;
    writer_ = std::thread([this] { write(); });
    deliverer_ = std::make_unique<Deliverer>(
        *storage_,
        DelivererSettings{
            .console = "https://flock.example",
            .send = [this](const Post& post) { return sent(post); },
            .clock = [this] { return now_.load(); },
            .signing_clock = [this] { return now_.load() + kAheadMs; },
            .note = [this](storage::NoteDelivery note,
                           hub::Committed done) { push({std::move(note)}, std::move(done)); },
        });
  }

  void close() {
    release();
    deliverer_.reset();
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      changed_.notify_all();
    }
    writer_.join();
    storage_.reset();
  }

  // Makes a study of `owner` that finishes at once.
  void finish_study(std::int64_t id, const std::string& owner = "ada") {
    storage::CreateStudy create = storage::create_study(id, "key " + std::to_string(id));
    create.owner = owner;
    create.webhook = protocol::Webhook{"https://hooks.example/" + std::to_string(id)};
    create.webhook_secret = "hfw_" + owner;
    apply({create, storage::end_study(id, storage::StudyState::finished)});
  }

  void apply(std::vector<storage::Transition> batch) {
    std::promise<void> done;
    push(std::move(batch), [&done](const auto& outcome) {
      EXPECT_TRUE(outcome);
      done.set_value();
    });
    done.get_future().wait();
  }

  storage::Delivery last(std::int64_t id) {
    return storage_->study(StudyId{id}).value().value().webhook.value().last.value();
  }

  // Waits until the study's delivery has this many stored attempts.
  storage::Delivery after_attempts(std::int64_t id, std::int64_t attempts) {
    EXPECT_TRUE(until([&] { return last(id).attempts >= attempts; }));
    return last(id);
  }

  void later(std::int64_t ms) {
    now_ += ms;
    deliverer_->wake();
  }

  // Sets the answer to all later posts to this URL. Without it, a post gets the status 204.
  void answers(const std::string& url, Result<int> answer) {
    const std::lock_guard lock(mutex_);
    answers_.insert_or_assign(url, std::move(answer));
  }
  // Posts to this URL do not return until release().
  void hold(const std::string& url) {
    const std::lock_guard lock(mutex_);
    held_ = url;
  }
  void release() {
    const std::lock_guard lock(mutex_);
    held_.clear();
    changed_.notify_all();
  }
  std::vector<Post> posts() {
    const std::lock_guard lock(mutex_);
    return posts_;
  }
  // The number of writes whose writer knows that they are stored.
  int noted() {
    const std::lock_guard lock(mutex_);
    return noted_;
  }
  bool wait_for_posts(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kTestLimit, [&] { return posts_.size() >= count; });
  }

  storage::ScratchDatabase database_;
  std::atomic<std::int64_t> now_{kStart};
  std::unique_ptr<storage::FaultyStorage> storage_;
  std::unique_ptr<Deliverer> deliverer_;

 private:
  struct Write {
    std::vector<storage::Transition> batch;
    hub::Committed done;
  };

  void push(std::vector<storage::Transition> batch, hub::Committed done) {
    const std::lock_guard lock(mutex_);
    writes_.push_back({std::move(batch), std::move(done)});
    changed_.notify_all();
  }

  void write() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return stopped_ || !writes_.empty(); });
      if (writes_.empty()) return;
      const Write next = std::move(writes_.front());
      writes_.pop_front();
      lock.unlock();
      const auto outcomes = storage_->apply(next.batch);
      next.done(outcomes ? Result<storage::Outcome>(outcomes->front()) : outcomes.error());
      lock.lock();
      ++noted_;
    }
  }

  Result<int> sent(const Post& post) {
    std::unique_lock lock(mutex_);
    posts_.push_back(post);
    changed_.notify_all();
    changed_.wait(lock, [&] { return held_ != post.url; });
    const auto found = answers_.find(post.url);
    return found == answers_.end() ? Result<int>(204) : found->second;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  int noted_ = 0;
  std::deque<Write> writes_;
  std::vector<Post> posts_;
  std::map<std::string, Result<int>> answers_;
  std::string held_;
  std::thread writer_;
};

TEST_F(DelivererTest, R62_SendsAnEventWithItsSignature) {
  finish_study(1);
  deliverer_->start();
  const storage::Delivery after = after_attempts(1, 1);
  EXPECT_EQ(after.state, DeliveryState::delivered);
  EXPECT_EQ(after.status, 204);
  const Post post = posts().at(0);
  EXPECT_EQ(post.url, "https://hooks.example/1");
  EXPECT_THAT(post.body, HasSubstr(R"("event":"finished")"));
  EXPECT_THAT(post.body, HasSubstr(R"("page":"https://flock.example/research#/studies/1")"));
  const std::map<std::string, std::string> headers(post.headers.begin(), post.headers.end());
  EXPECT_EQ(headers.at("Hyperflock-Delivery"), after.key);
  EXPECT_EQ(headers.at("Hyperflock-Signature"),
            signature_of("hfw_ada", (kStart + kAheadMs) / 1'000, post.body));
}

TEST_F(DelivererTest, R62_AnEventAfterTheStartIsSentWhenItIsWoken) {
  deliverer_->start();
  finish_study(1);
  deliverer_->wake();
  EXPECT_EQ(after_attempts(1, 1).state, DeliveryState::delivered);
}

TEST_F(DelivererTest, R62_TriesAgainLaterWithTheSameBodyUntilItGivesUp) {
  answers("https://hooks.example/1", 503);
  finish_study(1);
  deliverer_->start();
  for (std::int64_t attempt = 1; attempt < kMostAttempts; ++attempt) {
    const storage::Delivery after = after_attempts(1, attempt);
    EXPECT_EQ(after.state, DeliveryState::waiting);
    EXPECT_EQ(after.code, "webhook_status");
    EXPECT_EQ(after.status, 503);
    EXPECT_EQ(after.next_at, now_ + *back_off_ms(attempt));
    later(*back_off_ms(attempt) - 1);
    EXPECT_EQ(posts().size(), static_cast<std::size_t>(attempt));
    later(1);
  }
  EXPECT_EQ(after_attempts(1, kMostAttempts).state, DeliveryState::failed);
  later(24 * 3'600'000);
  const std::vector<Post> all = posts();
  EXPECT_EQ(all.size(), static_cast<std::size_t>(kMostAttempts));
  EXPECT_EQ(all.front().body, all.back().body);
  EXPECT_NE(all.front().headers, all.back().headers) << "the signature has the time of the attempt";
}

TEST_F(DelivererTest, R62_ASuccessAfterFailuresIsStored) {
  answers("https://hooks.example/1", Error{"webhook_timeout", "Too slow."});
  finish_study(1);
  deliverer_->start();
  EXPECT_EQ(after_attempts(1, 1).code, "webhook_timeout");
  answers("https://hooks.example/1", 200);
  later(5'000);
  const storage::Delivery after = after_attempts(1, 2);
  EXPECT_EQ(after.state, DeliveryState::delivered);
  EXPECT_EQ(after.code, "");
  EXPECT_EQ(after.message, "");
}

TEST_F(DelivererTest, R62_ARefusalAndAGoneReceiverAreFinal) {
  answers("https://hooks.example/1", Error{"webhook_refused", "Not public."});
  answers("https://hooks.example/2", 410);
  answers("https://hooks.example/3", 302);
  for (const std::int64_t id : {1, 2, 3}) finish_study(id);
  deliverer_->start();
  EXPECT_EQ(after_attempts(1, 1).state, DeliveryState::failed);
  EXPECT_EQ(last(1).code, "webhook_refused");
  EXPECT_EQ(after_attempts(2, 1).state, DeliveryState::failed);
  EXPECT_EQ(after_attempts(3, 1).state, DeliveryState::waiting);
  EXPECT_THAT(last(3).message, HasSubstr("follows no redirect"));
}

TEST_F(DelivererTest, R62_WhatWaitsIsSentAfterARestart) {
  answers("https://hooks.example/1", 503);
  finish_study(1);
  deliverer_->start();
  after_attempts(1, 1);
  close();
  answers("https://hooks.example/1", 204);
  now_ += 5'000;
  open();
  deliverer_->start();
  EXPECT_EQ(after_attempts(1, 2).state, DeliveryState::delivered);
}

// The server was killed between the answer and the commit.
TEST_F(DelivererTest, R62_AnAttemptWhoseOutcomeIsLostIsRepeatedWithTheSameKey) {
  finish_study(1);
  storage_->script({storage::FailBefore{}});
  deliverer_->start();
  ASSERT_TRUE(wait_for_posts(1));
  EXPECT_TRUE(until([&] {
    later(10'000);
    return last(1).attempts > 0;
  }));
  EXPECT_EQ(last(1).state, DeliveryState::delivered);
  const std::vector<Post> all = posts();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].headers[0], all[1].headers[0]);
}

TEST_F(DelivererTest, R62_ASlowReceiverDelaysNoOther) {
  hold("https://hooks.example/1");
  finish_study(1, "slow");
  deliverer_->start();
  ASSERT_TRUE(wait_for_posts(1));
  finish_study(2, "quick");
  deliverer_->wake();
  EXPECT_EQ(after_attempts(2, 1).state, DeliveryState::delivered);
  EXPECT_EQ(last(1).attempts, 0);
  release();
  EXPECT_EQ(after_attempts(1, 1).state, DeliveryState::delivered);
}

TEST_F(DelivererTest, R62_AnOutcomeThatIsStoredWhileTheOutboxIsReadIsNotSentAgain) {
  hold("https://hooks.example/1");
  finish_study(1);
  deliverer_->start();
  ASSERT_TRUE(wait_for_posts(1));
  const int before = noted();
  storage_->after_next_outbox([&] {
    release();
    EXPECT_TRUE(until([&] { return noted() > before; }));
  });
  deliverer_->wake();
  EXPECT_EQ(after_attempts(1, 1).state, DeliveryState::delivered);
  finish_study(2);
  deliverer_->wake();
  EXPECT_EQ(after_attempts(2, 1).state, DeliveryState::delivered);
  EXPECT_EQ(posts().size(), 2U);
}

TEST_F(DelivererTest, R62_AnOwnerHasTwoDeliveriesAtOnce) {
  for (std::int64_t id = 1; id <= 5; ++id) {
    answers("https://hooks.example/" + std::to_string(id), 204);
    finish_study(id);
  }
  hold("https://hooks.example/1");
  deliverer_->start();
  EXPECT_EQ(after_attempts(2, 1).state, DeliveryState::delivered);
  EXPECT_EQ(last(1).attempts, 0);
  release();
  for (std::int64_t id = 1; id <= 5; ++id)
    EXPECT_EQ(after_attempts(id, 1).state, DeliveryState::delivered);
}

TEST_F(DelivererTest, R62_StopWaitsForNoHost) {
  hold("https://hooks.example/1");
  finish_study(1);
  deliverer_->start();
  ASSERT_TRUE(wait_for_posts(1));
  const auto began = std::chrono::steady_clock::now();
  deliverer_->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - began, kTestLimit);
  release();
  EXPECT_EQ(last(1).attempts, 0) << "it is sent again after the next start";
}

}  // namespace
}  // namespace hyperflock::webhook
