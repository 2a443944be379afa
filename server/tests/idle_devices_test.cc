// Tests devices that joined and computed nothing: they are collected after a while, and join again
// if they come back. Also tests shares of the devices, and idle devices that are lent (R70).
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "base/instant.h"
#include "base/testing/patience.h"
#include "blobs/sha256.h"
#include "storage/sqlite/open.h"
#include "tests/support/test_server.h"
#include "tests/support/test_uploads.h"

namespace hyperflock::app {
namespace {

std::int64_t days_ago(std::int64_t days) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count() - days * kDayMs;
}

class IdleDevicesTest : public ::testing::Test {
 protected:
  // Restarts the server with a database in which these devices were last connected so long ago.
  void age(const std::vector<std::string>& devices, std::int64_t days) {
    server_.restart([&] {
      const auto storage =
          storage::open_sqlite_storage(storage::database_of(server_.file("state")), [days] {
            return days_ago(days);
          }).value();
      std::vector<storage::Transition> seen;
      for (const std::string& device : devices) seen.push_back(storage::SeeDevice{device});
      ASSERT_TRUE(storage->apply(seen).has_value());
    });
  }
  bool is_known(const TestDevice& device) const {
    TestWorker worker(server_);
    worker.send(TestWorker::hello(device));
    return json_at(worker.socket().receive_text(), "type") == "welcome";
  }
  // Returns whether the server knows the device, by a request that changes nothing.
  bool has(const TestDevice& device) const {
    const auto answer = net::http_request(
        server_.compute(), "POST", "/api/leave",
        {{"Authorization", "Device " + device.id + ":" + device.secret}}, R"({"session":1})");
    return answer.status != 401;
  }

  TestServer server_;
};

TEST_F(IdleDevicesTest, ThoseThatNeverComputedAreCollected) {
  const TestDevice idle = server_.join();
  const TestDevice recent = server_.join();
  const TestDevice worker = server_.join();
  const std::int64_t study = server_.submit(2);
  {
    TestWorker computing(server_, worker);
    computing.send(TestWorker::result(computing.ready().attempt, 0.5));
    computing.receive<protocol::ResultAck>();
  }
  age({idle.id, worker.id}, 31);
  EXPECT_TRUE(until([&] { return !has(idle); }));
  EXPECT_TRUE(is_known(recent));
  EXPECT_TRUE(is_known(worker));
  {
    TestWorker gone(server_);
    gone.send(TestWorker::hello(idle));
    EXPECT_EQ(gone.receive<protocol::Refused>().code, "bad_token");
  }
  TestWorker again(server_, server_.join());  // as a page does after bad_token
  again.send(TestWorker::result(again.ready().attempt, 0.25));
  again.receive<protocol::ResultAck>();
  EXPECT_TRUE(server_.reaches(study, "finished"));
}

// A device that connected meanwhile stays.
TEST_F(IdleDevicesTest, WhoIsConnectedIsSeen) {
  const TestDevice waiting = server_.join();
  const TestDevice idle = server_.join();
  age({waiting.id, idle.id}, 29);
  {
    TestWorker connected(server_, waiting);
    connected.send(protocol::Ready{});
    connected.receive<protocol::Wait>();
  }
  server_.restart_with([](ServeConfig& config) { config.idle_device_days = 2; });
  EXPECT_TRUE(until([&] { return !has(idle); }));
  EXPECT_TRUE(is_known(waiting));
}

TEST_F(IdleDevicesTest, WithFewPlacesLeftADayIsEnough) {
  const TestDevice idle = server_.join();
  const TestDevice recent = server_.join();
  age({idle.id}, 2);
  EXPECT_TRUE(has(idle));
  server_.restart_with([](ServeConfig& config) { config.max_devices = 3; });
  EXPECT_TRUE(until([&] { return !has(idle); }));
  EXPECT_TRUE(has(recent));
}

TEST_F(IdleDevicesTest, OneProjectsLinkLeavesPlacesForOthers) {
  server_.restart_with([](ServeConfig& config) { config.max_devices = 150; });
  for (int i = 0; i < 100; ++i) server_.join();
  const auto refused =
      net::http_request(server_.compute(), "POST", "/api/join", {}, join_body(server_));
  EXPECT_EQ(status_and_code(refused), "503 too_many_devices");
  EXPECT_EQ(server_.admin("POST", "/api/projects", R"({"project":"Birds"})").status, 201);
  const auto link = server_.admin("POST", "/api/enrolment", R"({"project":"Birds"})");
  const auto joined = net::http_request(
      server_.compute(), "POST", "/api/join", {},
      R"({"code":")" + json_at(link.body, "code") + R"(","class":"phone","engine":"x"})");
  EXPECT_EQ(joined.status, 201) << joined.body;
}

// ---- shares, and idle devices that are lent (R70)

class Shares : public ::testing::Test {
 protected:
  Shares() { server_.admin("POST", "/api/projects", R"({"project":"Birds"})"); }

  net::HttpAnswer set(const std::string& body) {
    return server_.admin("POST", "/api/shares", body);
  }
  // Submits a study of the administrator in the project Birds.
  void submit_in_birds() {
    const std::string bytes = "code of birds";
    server_.admin("PUT", "/api/blobs/" + sha_, bytes);
    auto spec = nlohmann::json::parse(TestServer::spec(3, "birds", sha_, bytes.size()));
    spec["project"] = "Birds";
    const auto answer = server_.admin("POST", "/api/studies", spec.dump());
    EXPECT_EQ(answer.status, 201) << answer.body;
  }
  int fetch(const TestDevice& device) {
    return ask(server_, device, "GET", "/api/blobs/" + sha_).status;
  }

  TestServer server_;
  std::string sha_ = blobs::sha256_hex("code of birds");
};

TEST_F(Shares, ALentDeviceComputesAndReadsFilesOnlyWhileItsProjectLends) {
  submit_in_birds();
  const TestDevice device = server_.join();
  EXPECT_EQ(fetch(device), 404);
  TestWorker worker(server_, device);
  worker.send(protocol::Ready{});
  worker.receive<protocol::Wait>();
  EXPECT_EQ(set(R"({"scope":"project","name":"First project","lends":["Birds"]})").status, 200);
  const auto lease = worker.receive<protocol::LeaseOffer>().lease;
  EXPECT_EQ(lease.bundle.sha256, sha_);
  EXPECT_EQ(fetch(device), 200);
  // The device returns to its own project after this trial.
  const std::int64_t own = server_.submit(2);
  worker.send(TestWorker::result(lease.attempt, 0.5, 1, true));
  const auto next = worker.receive<protocol::ResultAck>();
  ASSERT_TRUE(next.lease);
  EXPECT_EQ(to_int(next.lease->study), own);
  EXPECT_EQ(set(R"({"scope":"project","name":"First project","lends":[]})").status, 200);
  EXPECT_EQ(fetch(device), 404);
}

TEST_F(Shares, SharesStayOverARestart) {
  set(R"({"scope":"project","name":"First project","lends":["*"],"weight":7})");
  set(R"({"scope":"project","name":"Birds","guaranteed":2})");
  server_.restart();
  const auto shares = nlohmann::json::parse(server_.admin("GET", "/api/shares").body).at("shares");
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_EQ(shares[0], nlohmann::json::parse(
                           R"({"scope":"project","name":"Birds","guaranteed":2,"lends":[]})"));
  EXPECT_EQ(shares[1].at("weight"), 7);
  EXPECT_EQ(shares[1].at("lends"), nlohmann::json::parse(R"(["*"])"));
}

TEST_F(Shares, WrongSharesAreRefused) {
  for (const char* body :
       {R"({"scope":"server","name":"","weight":1})",
        R"({"scope":"project","name":"Birds","weight":0})",
        R"({"scope":"project","name":"Birds","weight":1001})",
        R"({"scope":"project","name":"Birds","guaranteed":-1})",
        R"({"scope":"project","name":"Birds","lends":"*"})",
        R"({"scope":"project","name":"Birds","lends":["Moon"]})",
        R"({"scope":"project","name":"Moon","weight":1})",
        R"({"scope":"researcher","name":"nobody","weight":1})",
        R"({"scope":"researcher","name":"admin","lends":["Birds"]})", R"({"scope":"project"})"}) {
    const auto answer = set(body);
    EXPECT_EQ(answer.status, 422) << body << answer.body;
  }
  EXPECT_EQ(nlohmann::json::parse(server_.admin("GET", "/api/shares").body).at("shares").size(),
            0U);
}

}  // namespace
}  // namespace hyperflock::app
