// Tests checkpoints and printed lines with a whole server: uploaded, resumed, refused with their
// codes, read by researchers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "blobs/sha256.h"
#include "tests/support/test_uploads.h"

namespace hyperflock::app {
namespace {

using net::HttpAnswer;

const std::string kZip("PK\x03\x04 the rest of an archive", 28);

HttpAnswer save(const TestServer& server, const TestDevice& device, const protocol::Lease& lease,
                const std::string& bytes, const std::string& query = "?format=tree&step=4") {
  return ask(server, device, "PUT",
             path_of(lease) + "/checkpoints/" + blobs::sha256_hex(bytes) + query, bytes);
}

class CheckpointTest : public ::testing::Test {
 protected:
  CheckpointTest() : first_(server_.join()), worker_(server_, first_) {
    study_ = server_.submit(1);
    lease_ = worker_.ready();
  }

  TestServer server_;
  TestDevice first_;
  TestWorker worker_;
  std::int64_t study_ = 0;
  protocol::Lease lease_;
};

TEST_F(CheckpointTest, R37_ADeviceThatReplacesAnotherGoesOnFromItsCheckpoint) {
  EXPECT_EQ(save(server_, first_, lease_, kZip).status, 201);
  EXPECT_EQ(save(server_, first_, lease_, kZip).status, 200);
  worker_.send(protocol::Release{lease_.attempt, 1, protocol::ReleaseReason::page_hidden});
  worker_.receive<protocol::Ack>();

  const TestDevice second = server_.join();
  TestWorker other(server_, second);
  const protocol::Lease next = other.ready();
  ASSERT_TRUE(next.checkpoint.has_value());
  EXPECT_EQ(next.checkpoint->attempt, lease_.attempt);
  EXPECT_EQ(next.checkpoint->step, 4);
  EXPECT_EQ(next.checkpoint->blob.bytes, static_cast<std::int64_t>(kZip.size()));
  EXPECT_EQ(ask(server_, second, "GET", path_of(next) + "/checkpoint").body, kZip);
  // Only this attempt may read the checkpoint.
  EXPECT_EQ(ask(server_, first_, "GET", path_of(next) + "/checkpoint").status, 404);
  EXPECT_EQ(ask(server_, first_, "GET", path_of(lease_) + "/checkpoint").status, 404);

  const auto row = server_.rest("GET", "/api/studies/" + std::to_string(study_) + "/trials/0").body;
  EXPECT_EQ(json_at(row, "attempts_list.1.resumed_from"), std::to_string(to_int(lease_.attempt)));
  EXPECT_EQ(json_at(row, "attempts_list.1.resumed_step"), "4");

  EXPECT_EQ(files_in(server_), 1U);
  other.send(TestWorker::result(next.attempt, 0.5));
  other.receive<protocol::ResultAck>();
  EXPECT_TRUE(files_become(server_, 0));
}

TEST_F(CheckpointTest, R37_ARestartKeepsIt) {
  save(server_, first_, lease_, kZip);
  worker_.socket().close(1000);
  server_.restart();
  EXPECT_EQ(files_in(server_), 1U);
  const TestDevice second = server_.join();
  TestWorker other(server_, first_);  // holds no attempt, so its old one is released
  const protocol::Lease next = other.ready();
  ASSERT_TRUE(next.checkpoint.has_value());
  EXPECT_EQ(ask(server_, first_, "GET", path_of(next) + "/checkpoint").body, kZip);
}

TEST_F(CheckpointTest, R37_TheTwoNewestStayOnTheDisk) {
  for (const char* more : {"1", "2", "3", "4"})
    EXPECT_EQ(save(server_, first_, lease_, kZip + more).status, 201);
  EXPECT_TRUE(files_become(server_, 2));
}

TEST_F(CheckpointTest, R37_WhatIsNoCheckpointIsRefusedAndLeavesNothing) {
  EXPECT_EQ(code_of(save(server_, first_, lease_, "\x80\x04 a pickle")), "checkpoint_malformed");
  EXPECT_EQ(code_of(save(server_, first_, lease_, "PK")), "checkpoint_malformed");
  EXPECT_EQ(code_of(save(server_, first_, lease_, kZip, "?format=pickle")), "bad_field");
  EXPECT_EQ(code_of(save(server_, first_, lease_, kZip, "?format=npz&step=-1")), "bad_number");
  EXPECT_EQ(
      code_of(ask(server_, first_, "PUT",
                  path_of(lease_) + "/checkpoints/" + std::string(64, '0') + "?format=npz", kZip)),
      "hash_mismatch");
  EXPECT_EQ(code_of(save(server_, server_.join(), lease_, kZip)), "unknown_attempt");
  worker_.send(protocol::Release{lease_.attempt, 1, protocol::ReleaseReason::stopped});
  worker_.receive<protocol::Ack>();
  EXPECT_EQ(code_of(save(server_, first_, lease_, kZip)), "unknown_attempt");
  EXPECT_EQ(files_in(server_), 0U);
}

TEST_F(CheckpointTest, R37_AnAttemptThatSavesWithoutEndIsSlowedDown) {
  std::string code;
  for (int i = 0; i < 10'000 && code != "checkpoint_quota"; ++i)
    code = code_of(save(server_, first_, lease_, kZip + std::to_string(i)));
  EXPECT_EQ(code, "checkpoint_quota");
  EXPECT_LE(files_in(server_), 3U);
}

TEST_F(CheckpointTest, R39_LinesAreReadByCursorAndWatched) {
  const std::string log = "/api/studies/" + std::to_string(study_) + "/trials/0/log";
  EXPECT_EQ(json_at(server_.rest("GET", log).body, "lines"), "[]");
  net::TestWebSocket watcher(server_.console(), "/ws/client");
  protocol::Hello hello;
  hello.protocol = protocol::kProtocolVersion;
  hello.role = protocol::Role::researcher;
  hello.token = server_.secrets().researcher_token;
  watcher.send(protocol::serialize(protocol::ClientMessage(hello)));
  watcher.receive_text();
  watcher.send(R"({"type":"watch","study":)" + std::to_string(study_) + R"(,"after":0,"trial":0})");

  worker_.send(protocol::Output{lease_.attempt, {"epoch 1", "epoch 2"}, 0});
  std::string seen;
  for (int i = 0; i < 10 && json_at(seen, "type") != "log"; ++i) seen = watcher.receive_text();
  EXPECT_EQ(json_at(seen, "lines.1.text"), "epoch 2");
  EXPECT_EQ(json_at(seen, "cursor"), "2");

  const std::string page = server_.rest("GET", log + "?after=1").body;
  EXPECT_EQ(json_at(page, "lines.0.text"), "epoch 2");
  EXPECT_EQ(json_at(page, "lines.0.attempt"), std::to_string(to_int(lease_.attempt)));
  EXPECT_EQ(json_at(page, "cursor"), "2");
  EXPECT_EQ(code_of(server_.rest("GET", log + "?after=x")), "bad_number");
}

TEST_F(CheckpointTest, R39_LinesOfAnothersAttemptAreNotTaken) {
  TestWorker other(server_, server_.join());
  other.send(protocol::Output{lease_.attempt, {"forged"}, 0});
  other.send(protocol::Heartbeat{});
  other.receive<protocol::Ack>();
  const std::string log = "/api/studies/" + std::to_string(study_) + "/trials/0/log";
  EXPECT_EQ(json_at(server_.rest("GET", log).body, "lines"), "[]");
}

}  // namespace
}  // namespace hyperflock::app
