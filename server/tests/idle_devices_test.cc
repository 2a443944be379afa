// Tests what becomes of devices that joined and computed nothing: they are collected after a while,
// and join again if they come back.
#include <gtest/gtest.h>

#include <chrono>

#include "base/testing/patience.h"
#include "storage/sqlite/open.h"
#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;

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

}  // namespace
}  // namespace hyperflock::app
