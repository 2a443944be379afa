// Tests /ws/client: a researcher's session and the updates of its watches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/testing/patience.h"
#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

class WatchTest : public ::testing::Test {
 protected:
  static net::TestWebSocket open(const TestServer& server, const std::string& token) {
    net::TestWebSocket socket(server.console(), "/ws/client");
    protocol::Hello hello;
    hello.protocol = 1;
    hello.role = protocol::Role::researcher;
    hello.token = token;
    hello.agent = "test";
    socket.send(protocol::serialize(protocol::ClientMessage(hello)));
    return socket;
  }

  net::TestWebSocket open() const {
    net::TestWebSocket socket = open(server_, server_.secrets().researcher_token);
    EXPECT_EQ(json_at(socket.receive_text(), "type"), "welcome");
    return socket;
  }

  static void watch(net::TestWebSocket& socket, std::int64_t study, std::int64_t after = 0) {
    socket.send(
        protocol::serialize(protocol::ClientMessage(protocol::Watch{StudyId{study}, after})));
  }

  TestServer server_;
};

TEST_F(WatchTest, TellsTheStudyAndEachTrialOnce) {
  const std::int64_t study = server_.submit(3);
  net::TestWebSocket client = open();
  watch(client, study);
  const std::string first = client.receive_text();
  EXPECT_EQ(json_at(first, "study.study"), std::to_string(study));
  EXPECT_EQ(json_at(first, "trials"), "[]");
  EXPECT_EQ(json_at(first, "cursor"), "0");

  TestWorker worker(server_, server_.join());
  auto lease = worker.ready();
  for (int i = 0; i < 3; ++i) {
    worker.send(TestWorker::result(lease.attempt, i, i + 1, true));
    const auto ack = worker.receive<protocol::ResultAck>();
    if (ack.lease) lease = *ack.lease;
  }
  std::vector<std::string> seen;
  std::string state;
  for (int i = 0; i < 20 && state != "finished"; ++i) {
    const std::string update = client.receive_text();
    ASSERT_EQ(json_at(update, "type"), "update");
    state = json_at(update, "study.state");
    for (int k = 0; json_at(update, "trials." + std::to_string(k)).starts_with("{"); ++k) {
      seen.push_back(json_at(update, "trials." + std::to_string(k) + ".trial"));
    }
    EXPECT_EQ(json_at(update, "cursor"), std::to_string(seen.size()));
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_EQ(state, "finished");
}

TEST_F(WatchTest, GoesOnAfterItsCursor) {
  const std::int64_t study = server_.submit(2);
  TestWorker worker(server_, server_.join());
  const auto lease = worker.ready();
  worker.send(TestWorker::result(lease.attempt, 1, 1, true));
  const auto next = worker.receive<protocol::ResultAck>();
  worker.send(TestWorker::result(next.lease->attempt, 2, 2));
  worker.receive<protocol::ResultAck>();
  net::TestWebSocket client = open();
  watch(client, study, 1);
  const std::string update = client.receive_text();
  EXPECT_EQ(json_at(update, "trials.0.trial"), "1");
  EXPECT_EQ(json_at(update, "cursor"), "2");
}

// Reads updates until one has this many complete trials. Returns the space of each update's row.
std::vector<std::string> spaces_until(net::TestWebSocket& client, const std::string& complete) {
  std::vector<std::string> spaces;
  for (int i = 0; i < 20; ++i) {
    const std::string update = client.receive_text();
    spaces.push_back(json_at(update, "study.space"));
    if (json_at(update, "study.complete") == complete) break;
  }
  return spaces;
}

TEST_F(WatchTest, TheSpaceIsSentOnceToAClientThatAsksForIt) {
  const std::string whole = R"([{"name":"x","values":[0,1]}])";
  const std::string names = R"([{"name":"x","values":[]}])";
  const std::int64_t study = server_.submit(2);
  net::TestWebSocket client = open();
  client.send(protocol::serialize(
      protocol::ClientMessage(protocol::Watch{.study = StudyId{study}, .space_once = true})));
  net::TestWebSocket older = open();  // a client that does not know the field
  watch(older, study);
  EXPECT_EQ(json_at(client.receive_text(), "study.space"), whole);
  EXPECT_EQ(json_at(older.receive_text(), "study.space"), whole);

  TestWorker worker(server_, server_.join());
  worker.send(TestWorker::result(worker.ready().attempt, 1));
  worker.receive<protocol::ResultAck>();
  EXPECT_THAT(spaces_until(client, "1"), ::testing::Each(names));
  EXPECT_THAT(spaces_until(older, "1"), ::testing::Each(whole));

  // A larger space is sent, once.
  const std::string path = "/api/studies/" + std::to_string(study);
  const auto larger =
      server_.rest("POST", path + "/extend", R"({"space":[{"name":"x","values":[0,1,2]}]})");
  ASSERT_EQ(larger.status, 200) << larger.body;
  worker.send(TestWorker::result(worker.await_lease().attempt, 1));
  worker.receive<protocol::ResultAck>();
  auto after = spaces_until(client, "2");
  EXPECT_EQ(std::ranges::count(after, R"([{"name":"x","values":[0,1,2]}])"), 1);
  std::erase(after, R"([{"name":"x","values":[0,1,2]}])");
  EXPECT_THAT(after, ::testing::Each(names));

  for (const std::string& target : {path, std::string("/api/studies")}) {
    const auto few = server_.rest("GET", target + "?space=names");
    EXPECT_NE(few.body.find(R"("space":)" + names), std::string::npos) << few.body;
    EXPECT_EQ(status_and_code(server_.rest("GET", target + "?space=all")), "422 bad_field");
  }
}

TEST_F(WatchTest, ManyTrialsComeInSeveralUpdates) {
  const std::int64_t study = server_.submit(1'200);
  TestWorker worker(server_, server_.join());
  auto lease = worker.ready();
  for (int i = 0; i < 1'200; ++i) {
    worker.send(TestWorker::result(lease.attempt, i, i + 1, true));
    const auto ack = worker.receive<protocol::ResultAck>();
    if (ack.lease) lease = *ack.lease;
  }
  net::TestWebSocket client = open();
  watch(client, study);
  int updates = 0;
  std::string cursor;
  while (cursor != "1200" && updates < 10) {
    cursor = json_at(client.receive_text(), "cursor");
    ++updates;
  }
  EXPECT_EQ(cursor, "1200");
  EXPECT_EQ(updates, 3);
}

TEST_F(WatchTest, ASlowWatcherIsClosedAndTheStudyGoesOn) {
  TestServer strict([](ServeConfig& config) {
    config.queue_limit_bytes = 4'096;
    config.slow_peer_ms = 500;
  });
  // The rows are so large that the kernel's buffers cannot hold one update.
  const std::string bundle = "a bundle";
  auto spec =
      nlohmann::json::parse(TestServer::spec(100, "key", strict.upload(bundle), bundle.size()));
  for (int i = 0; i < 60; ++i) {
    spec["space"].push_back(
        {{"name", "padding" + std::to_string(i)}, {"values", {std::string(250, 'p')}}});
  }
  const auto made = strict.rest("POST", "/api/studies", spec.dump());
  ASSERT_EQ(made.status, 201) << made.body;
  const std::int64_t study = std::stoll(json_at(made.body, "study"));

  net::TestWebSocket slow = open(strict, strict.secrets().researcher_token);
  watch(slow, study);
  TestWorker worker(strict, strict.join());
  auto lease = worker.ready();
  for (int i = 0; i < 100; ++i) {
    worker.send(TestWorker::result(lease.attempt, i, i + 1, true));
    const auto ack = worker.receive<protocol::ResultAck>();
    if (ack.lease) lease = *ack.lease;
  }
  EXPECT_TRUE(strict.reaches(study, "finished"));
  EXPECT_TRUE(until([&] { return strict.metric("hyperflock_slow_peers_closed_total") == 1; }));
  // The code is 0 if the server cut the connection before this process had read the close frame.
  EXPECT_THAT(slow.wait_close(), testing::AnyOf(4002, 0));
  EXPECT_TRUE(until([&] { return strict.metric("hyperflock_websocket_queue_bytes") == 0; }));
}

TEST_F(WatchTest, UnknownStudiesAndStrangers) {
  net::TestWebSocket client = open();
  watch(client, 99);
  EXPECT_EQ(json_at(client.receive_text(), "code"), "unknown_study");
  client.send(R"({"type":"ready"})");
  EXPECT_EQ(json_at(client.receive_text(), "code"), "unknown_type");
  // After the refusal, the connection can still be used.
  watch(client, server_.submit(1));
  EXPECT_EQ(json_at(client.receive_text(), "type"), "update");

  net::TestWebSocket stranger = open(server_, "hfr_wrong");
  EXPECT_EQ(json_at(stranger.receive_text(), "code"), "bad_token");
  EXPECT_EQ(stranger.wait_close(), 1008);
}

TEST_F(WatchTest, R7_ADeviceIsInTheWrongPlace) {
  net::TestWebSocket socket(server_.console(), "/ws/client");
  socket.send(protocol::serialize(TestWorker::hello(server_.join())));
  EXPECT_EQ(json_at(socket.receive_text(), "code"), "wrong_role");
}

TEST_F(WatchTest, SeventeenWatchesAreTooMany) {
  net::TestWebSocket client = open();
  for (int i = 0; i < 17; ++i) {
    watch(client, server_.submit(1, "key" + std::to_string(i)));
    EXPECT_EQ(json_at(client.receive_text(), i < 16 ? "type" : "code"),
              i < 16 ? "update" : "too_many");
  }
}

TEST_F(WatchTest, AResearcherSeesNoStudyOfSomebodyElse) {
  const std::string bundle = "b";
  const std::string sha256 = server_.upload(bundle);
  const std::string& admin = server_.secrets().admin_token;
  server_.rest_as(admin, "PUT", "/api/blobs/" + sha256, bundle);
  const auto made = server_.rest_as(admin, "POST", "/api/studies",
                                    TestServer::spec(1, "k", sha256, bundle.size()));
  const std::int64_t study = std::stoll(json_at(made.body, "study"));
  EXPECT_EQ(server_.rest("GET", "/api/studies/" + std::to_string(study)).status, 404);
  EXPECT_EQ(json_at(server_.rest("GET", "/api/studies").body, "studies"), "[]");
  net::TestWebSocket client = open();
  watch(client, study);
  EXPECT_EQ(json_at(client.receive_text(), "code"), "unknown_study");
}

}  // namespace
}  // namespace hyperflock::app
