// Tests one WebSocket channel over a real socket: order, limits, back-pressure, and the end of the
// channel.
#include "net/ws_channel.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "base/testing/patience.h"
#include "net/listener.h"
#include "tests/support/test_client.h"

namespace hyperflock::net {
namespace {

// A site that accepts every upgrade.
class SocketsOnly final : public http::Site {
 public:
  http::Plan plan(http::Request&) override { return {http::Plan::Kind::websocket, {}, 0}; }
  void handle(std::shared_ptr<const http::Request>, http::Reply) override {}
  Result<std::unique_ptr<http::Upload>> open_upload(const http::Request&) override {
    return Error{"not_found", "No."};
  }
};

// Records what the channel reports.
class Recorder final : public ChannelUser {
 public:
  void on_open(const std::shared_ptr<WsChannel>& channel) override {
    note([&] { channel_ = channel; });
  }
  Reading on_text(std::string_view text) override {
    note([&] { texts_.emplace_back(text); });
    if (during_texts_) during_texts_();
    if (const auto open = channel_.lock(); open && gives_credit_) open->credit();
    return pauses_ ? Reading::paused : Reading::goes_on;
  }
  void on_bad_frame(const char* code) override {
    note([&] { texts_.emplace_back(code); });
  }
  void on_closed(How how) override {
    note([&] { how_ = how; });
  }

  template <typename Condition>
  bool wait(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kTestLimit, condition);
  }
  std::shared_ptr<WsChannel> channel() {
    wait([this] { return !channel_.expired(); });
    return channel_.lock();
  }
  bool has_texts(std::size_t count) {
    return wait([this, count] { return texts_.size() >= count; });
  }
  // Call it on the strand, from the action of during_texts().
  void trust() {
    if (const auto open = channel_.lock()) open->trust();
  }
  bool stays_at(std::size_t count) {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, std::chrono::milliseconds(200),
                              [this, count] { return texts_.size() > count; });
  }
  std::vector<std::string> texts() {
    const std::lock_guard lock(mutex_);
    return texts_;
  }
  std::optional<How> how() {
    wait([this] { return how_.has_value(); });
    const std::lock_guard lock(mutex_);
    return how_;
  }
  // Sets an action that runs on the strand while a text is handled. Call it before the first text.
  void during_texts(std::function<void()> action) {
    note([&] { during_texts_ = std::move(action); });
  }
  std::atomic<bool> gives_credit_{true};
  std::atomic<bool> pauses_{false};  // after each text

 private:
  template <typename Change>
  void note(Change change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::weak_ptr<WsChannel> channel_;
  std::vector<std::string> texts_;
  std::optional<How> how_;
  std::function<void()> during_texts_;
};

class WsChannelTest : public ::testing::Test {
 protected:
  WsChannelTest() {
    limits_.queue_bytes = 10'000;
    limits_.frame_bytes = 1'000;
    limits_.unanswered_frames = 4;
    limits_.close_ms = 500;
    context_.upgrade = [this](std::shared_ptr<Upgrade> upgrade) {
      const std::lock_guard lock(recorder_mutex_);
      WsChannel::start(std::move(upgrade), limits_, metrics_, recorder_);
    };
    auto opened = Listener::open(io_, {"127.0.0.1", 0}, nullptr, connections_, context_);
    EXPECT_TRUE(opened);
    listener_ = std::move(*opened);
    listener_->start();
    for (std::thread& thread : threads_) thread = std::thread([this] { io_.run(); });
  }
  ~WsChannelTest() override {
    connections_.shut_all(1012);
    connections_.wait_empty(kTestLimitMs);
    readers_.stop();
    io_.stop();
    for (std::thread& thread : threads_) thread.join();
    connections_.clear();
  }

  TestWebSocket connect() { return TestWebSocket(listener_->port(), "/"); }
  // Makes a recorder for the next connection.
  void new_recorder() {
    const std::lock_guard lock(recorder_mutex_);
    recorder_ = std::make_shared<Recorder>();
  }

  SocketsOnly site_;
  telemetry::Metrics metrics_;
  ChannelLimits limits_;
  Connections connections_{100, 100, metrics_};
  std::mutex recorder_mutex_;
  std::shared_ptr<Recorder> recorder_ = std::make_shared<Recorder>();
  boost::asio::io_context io_{2};
  hub::ReaderPool readers_{{}};
  AnswerLog answers_{metrics_, nullptr};
  HttpContext context_{&site_, readers_, answers_, {}, {}};
  std::unique_ptr<Listener> listener_;
  std::array<std::thread, 2> threads_;  // two, so that events can happen at the same time
};

TEST_F(WsChannelTest, FramesArriveInOrderBothWays) {
  TestWebSocket client = connect();
  for (int i = 0; i < 20; ++i) client.send("up" + std::to_string(i));
  ASSERT_TRUE(recorder_->has_texts(20));
  EXPECT_EQ(recorder_->texts()[19], "up19");
  const auto channel = recorder_->channel();
  for (int i = 0; i < 20; ++i) channel->send("down" + std::to_string(i));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(client.receive_text(), "down" + std::to_string(i));
}

TEST_F(WsChannelTest, FragmentsAreOneText) {
  TestWebSocket client = connect();
  client.send_frame(Opcode::text, "one ", false);
  client.send_frame(Opcode::ping, "");
  client.send_frame(Opcode::continuation, "text");
  ASSERT_TRUE(recorder_->has_texts(1));
  EXPECT_EQ(recorder_->texts()[0], "one text");
}

TEST_F(WsChannelTest, WithoutCreditNothingMoreIsRead) {
  recorder_->gives_credit_ = false;
  TestWebSocket client = connect();
  for (int i = 0; i < 10; ++i) client.send("x");
  ASSERT_TRUE(recorder_->has_texts(4));
  EXPECT_TRUE(recorder_->stays_at(4));
  recorder_->channel()->credit();
  ASSERT_TRUE(recorder_->has_texts(5));
  EXPECT_TRUE(recorder_->stays_at(5));
}

// Two frames arrive together. While the first one is handled, the connection is reset. A failed
// write then ends the channel before the second frame, which has been received, is handled.
TEST_F(WsChannelTest, AFrameBehindAFailedWriteDoesNoHarm) {
  limits_.queue_bytes = std::size_t{128} << 20;  // so it reads on although the queue is long
  for (int round = 0; round < 3; ++round) {
    new_recorder();
    TestWebSocket client = connect();
    const auto channel = recorder_->channel();
    ASSERT_NE(channel, nullptr);
    channel->send(std::string(std::size_t{32} << 20, 'x'));  // more than the socket's buffers hold
    recorder_->during_texts([&] {
      client.socket().cut();  // data is unread, so this is a reset
      // The other thread of the context notices the reset.
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    });
    std::string both;
    append_frame(both, Opcode::text, "first");
    append_frame(both, Opcode::text, "second");
    client.socket().write(both);
    // The second frame is handled or dropped, depending on when the reset is noticed.
    EXPECT_EQ(recorder_->how(), ChannelUser::How::lost);
  }
}

TEST_F(WsChannelTest, AQueueOverItsLimitClosesTheSlowPeer) {
  TestWebSocket client = connect();
  client.socket().shrink_receive_buffer(4'096);
  const auto channel = recorder_->channel();
  // For a peer that does not read, the kernel buffers some megabytes; then the queue fills.
  const std::string frame(9'000, 'x');
  const auto closed = [this] {
    return metrics_.text().find("\nhyperflock_slow_peers_closed_total 1") != std::string::npos;
  };
  for (int i = 0; i < 20'000 && !closed(); ++i) {
    channel->send(frame);
    ASSERT_LE(channel->queued_bytes(), 10'000U + frame.size());
  }
  EXPECT_TRUE(closed());
  EXPECT_EQ(recorder_->how(), ChannelUser::How::lost);
  EXPECT_EQ(channel->queued_bytes(), 0U);
}

TEST_F(WsChannelTest, OneFrameAlwaysFitsAnEmptyQueue) {
  TestWebSocket client = connect();
  recorder_->channel()->send(std::string(50'000, 'y'));
  EXPECT_EQ(client.receive_text(), std::string(50'000, 'y'));
}

TEST_F(WsChannelTest, WhatWasSentBeforeACloseArrives) {
  TestWebSocket client = connect();
  const auto channel = recorder_->channel();
  channel->send("last words");
  channel->close(4001, "replaced");
  channel->send("never");
  EXPECT_EQ(client.receive_text(), "last words");
  const auto frame = client.receive();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->close_code(), 4001);
  EXPECT_EQ(frame->payload.substr(2), "replaced");
  client.close(4001);
  EXPECT_EQ(recorder_->how(), ChannelUser::How::lost);
}

TEST_F(WsChannelTest, ALongReasonIsCut) {
  TestWebSocket client = connect();
  recorder_->channel()->close(1008, std::string(500, 'r'));
  const auto frame = client.receive();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->close_code(), 1008);
  EXPECT_LE(frame->payload.size(), 125U);
}

TEST_F(WsChannelTest, CleanAndLostEndsDiffer) {
  for (const auto& [code, how] :
       std::vector<std::pair<int, ChannelUser::How>>{{1000, ChannelUser::How::clean},
                                                     {1001, ChannelUser::How::lost},
                                                     {4321, ChannelUser::How::lost}}) {
    new_recorder();
    TestWebSocket client = connect();
    recorder_->channel();
    client.close(code);
    EXPECT_EQ(recorder_->how(), how) << code;
  }
  new_recorder();
  TestWebSocket client = connect();
  recorder_->channel();
  client.socket().cut();
  EXPECT_EQ(recorder_->how(), ChannelUser::How::lost);
}

TEST_F(WsChannelTest, APeerThatIgnoresTheCloseIsCut) {
  TestWebSocket client = connect();
  recorder_->channel()->close(1012, "");
  EXPECT_EQ(recorder_->how(), ChannelUser::How::lost);  // after close_ms
  EXPECT_TRUE(connections_.wait_empty(kTestLimitMs));
}

TEST_F(WsChannelTest, AServerThatEndsDuringTheUpgradeSaysSo) {
  // The peer gets its 101 before the server's own code continues. Events in between must do no
  // harm.
  for (int i = 0; i < 50; ++i) {
    TestWebSocket client = connect();
    connections_.shut_present(1012);
    EXPECT_EQ(client.wait_close(), 1012);
  }
}

TEST_F(WsChannelTest, TooLargeFramesAreNamed) {
  TestWebSocket client = connect();
  recorder_->channel();
  client.send(std::string(1'001, 'x'));
  EXPECT_EQ(client.wait_close(), 1009);
  EXPECT_EQ(recorder_->texts(), std::vector<std::string>{"frame_too_large"});
}

TEST_F(WsChannelTest, AfterAPauseTheNextTextFollows) {
  recorder_->pauses_ = true;
  TestWebSocket client = connect();
  const auto channel = recorder_->channel();
  client.send("first");
  client.send("second");
  ASSERT_TRUE(recorder_->has_texts(1));
  channel->send("an answer meanwhile");
  EXPECT_EQ(client.receive_text(), "an answer meanwhile");
  EXPECT_TRUE(recorder_->stays_at(1));
  channel->post([channel] { channel->resume(); });
  ASSERT_TRUE(recorder_->has_texts(2));
  EXPECT_EQ(recorder_->texts(), (std::vector<std::string>{"first", "second"}));
  // It can close although the last text is not handled yet.
  channel->close(1012, "");
  EXPECT_EQ(client.wait_close(), 1012);
}

TEST_F(WsChannelTest, BeforeThePeerIsTrustedItsMessagesAreSmall) {
  limits_.greeting_bytes = 100;
  TestWebSocket stranger = connect();
  recorder_->channel();
  stranger.send_frame(Opcode::text, std::string(60, 'x'), false);
  stranger.send_frame(Opcode::continuation, std::string(41, 'x'));
  EXPECT_EQ(stranger.wait_close(), 1009);
  EXPECT_EQ(recorder_->texts(), std::vector<std::string>{"frame_too_large"});

  new_recorder();
  TestWebSocket client = connect();
  recorder_->channel();
  recorder_->during_texts([this] { recorder_->trust(); });
  client.send(std::string(100, 'x'));
  client.send(std::string(1'000, 'y'));
  ASSERT_TRUE(recorder_->has_texts(2));
  EXPECT_EQ(recorder_->texts()[1], std::string(1'000, 'y'));
}

TEST_F(WsChannelTest, AMessageThatNeverEndsIsRefused) {
  limits_.pace = {.grace_ms = 50, .bytes_per_s = 1'000'000};
  const auto look = [this] {
    connections_.check_progress(Instant{std::chrono::duration_cast<std::chrono::milliseconds>(
                                            std::chrono::steady_clock::now().time_since_epoch())
                                            .count()});
    return !recorder_->texts().empty();
  };
  // Two messages that never end: a frame of 100 bytes of which one arrives, and a message whose
  // last fragment never comes.
  for (const std::string& half : {std::string("\x81\xe4\0\0\0\0x", 7), std::string()}) {
    new_recorder();
    TestWebSocket client = connect();
    recorder_->channel();
    if (half.empty())
      client.send_frame(Opcode::text, "x", false);
    else
      client.socket().write(half);
    EXPECT_TRUE(until(look));
    EXPECT_EQ(client.wait_close(), 4002);
    EXPECT_EQ(recorder_->texts(), std::vector<std::string>{"message_too_slow"});
  }
}

TEST_F(WsChannelTest, AMessageWithinItsPaceIsNotCut) {
  TestWebSocket client = connect();
  recorder_->channel();
  client.send_frame(Opcode::text, "one ", false);
  const Instant soon{std::chrono::duration_cast<std::chrono::milliseconds>(
                         std::chrono::steady_clock::now().time_since_epoch())
                         .count()};
  connections_.check_progress(soon);
  client.send_frame(Opcode::continuation, "message");
  ASSERT_TRUE(recorder_->has_texts(1));
  // While no message has begun, no time limit runs.
  connections_.check_progress(soon + 3'600'000);
  client.send("next");
  ASSERT_TRUE(recorder_->has_texts(2));
  EXPECT_EQ(recorder_->texts(), (std::vector<std::string>{"one message", "next"}));
}

TEST_F(WsChannelTest, SendersOnManyThreads) {
  TestWebSocket client = connect();
  const auto channel = recorder_->channel();
  std::vector<std::thread> senders;
  for (int t = 0; t < 4; ++t) {
    senders.emplace_back([&channel] {
      for (int i = 0; i < 50; ++i) channel->send("0123456789");
    });
  }
  for (int i = 0; i < 200; ++i) EXPECT_EQ(client.receive_text(), "0123456789");
  for (std::thread& sender : senders) sender.join();
  // The last frame leaves the queue shortly after the peer has it.
  EXPECT_TRUE(until([&] { return channel->queued_bytes() == 0; }));
}

}  // namespace
}  // namespace hyperflock::net
