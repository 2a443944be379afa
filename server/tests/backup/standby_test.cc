// The drill of a standby on a whole server: it is killed while a device computes, a state folder is
// made from the standby, and a new server goes on with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "app/config.h"
#include "blobs/sha256.h"
#include "storage/sqlite/db/db.h"
#include "storage/sqlite/open.h"
#include "tests/support/test_program.h"
#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

Stop run_program(const std::vector<std::string>& line) {
  const Command done = parse_command_line(line);
  const auto* stop = std::get_if<Stop>(&done);
  EXPECT_NE(stop, nullptr);
  return stop != nullptr ? *stop : Stop{};
}

json read_json(const std::string& path) {
  std::ifstream file(path);
  return json::parse(file, nullptr, false);
}

// Returns when each attempt finished, by the time that its commit stored.
std::map<std::int64_t, std::int64_t> finished(const std::string& state) {
  storage::sqlite::Db db(storage::database_of(state), storage::sqlite::Db::Mode::read_write);
  std::map<std::int64_t, std::int64_t> found;
  storage::sqlite::Query row =
      db.query("SELECT id, finished_at FROM attempts WHERE finished_at > 0");
  while (row.next()) found.emplace(row.integer(0), row.integer(1));
  return found;
}

class StandbyDrill : public testing::Test {
 protected:
  // Serves with a standby, and waits until it is current.
  void start() {
    fs::remove(ready_);
    program_ = std::make_unique<Program>(
        state_, ready_,
        std::vector<std::string>{"--standby", standby_, "--min-free-bytes", "0", "--reserve-bytes",
                                 "1 MiB"});
    ASSERT_NE(program_->port(), 0);
    console_ = read_json(ready_).at("console_port").get<std::uint16_t>();
    secrets_ = read_json(state_ + "/credentials.json");
    ASSERT_TRUE(until([&] {
      return net::http_request(console_, "GET", "/readyz").body == R"({"status":"ready"})";
    }));
  }
  net::HttpAnswer rest(std::string_view method, const std::string& target,
                       const std::string& body) const {
    const std::string token = secrets_.at("researcher_token").get<std::string>();
    return net::http_request(console_, method, target, {{"Authorization", "Bearer " + token}},
                             body);
  }

  const ScratchFolder folder_;
  const std::string state_ = folder_.file("state");
  const std::string standby_ = folder_.file("standby");
  const std::string ready_ = folder_.file("ready.json");
  std::unique_ptr<Program> program_;
  std::uint16_t console_ = 0;
  json secrets_;
};

TEST_F(StandbyDrill, AKilledServerGoesOnFromItsStandby) {
  ASSERT_NO_FATAL_FAILURE(start());
  const std::string bundle = "a bundle";
  const std::string sha256 = blobs::sha256_hex(bundle);
  EXPECT_EQ(rest("PUT", "/api/blobs/" + sha256, bundle).status, 201);
  EXPECT_EQ(
      rest("POST", "/api/studies", TestServer::spec(1'000, "key", sha256, bundle.size())).status,
      201);
  EXPECT_TRUE(until([&] {
    return fs::exists(standby_ + "/blobs/" + sha256.substr(0, 2) + "/" + sha256.substr(2));
  }));
  const json join{{"code", secrets_.at("enrolment_code")}, {"class", "desktop"}, {"engine", "x"}};
  const auto joined =
      json::parse(net::http_request(program_->port(), "POST", "/api/join", {}, join.dump()).body);
  std::vector<std::int64_t> acknowledged;
  {
    net::TestWebSocket device(program_->port(), "/ws/worker");
    const auto send = [&](const protocol::ClientMessage& message) {
      device.send(protocol::serialize(message));
    };
    const auto await = [&](const std::string& type) {
      for (;;) {
        const json message = json::parse(device.receive_text(kTestLimitMs), nullptr, false);
        if (message.is_discarded() || message.at("type") == type) return message;
      }
    };
    send(TestWorker::hello({joined.at("device"), joined.at("secret")}));
    send(protocol::Ready{});
    json lease = await("lease");
    for (int i = 1; i <= 60; ++i) {
      const auto attempt = lease.at("lease").at("attempt").get<std::int64_t>();
      send(TestWorker::result(AttemptId{attempt}, 0.5, i));
      await("result_ack");
      acknowledged.push_back(attempt);
      send(protocol::Ready{});
      lease = await("lease");
    }
    program_->end(SIGKILL);
  }
  const std::string again = folder_.file("again");
  const Stop restored = run_program({"restore", standby_, "--standby", "--state", again});
  EXPECT_EQ(restored.status, 0) << restored.text;
  const Stop verified = run_program({"verify", again});
  EXPECT_EQ(verified.status, 0) << verified.text;

  // By the times in the data, what the standby misses is at most a second old.
  const auto had = finished(state_);
  const auto has = finished(again);
  std::int64_t newest = 0;
  std::int64_t first_lost = 0;
  for (const std::int64_t attempt : acknowledged) {
    const std::int64_t at = had.at(attempt);
    newest = std::max(newest, at);
    if (!has.contains(attempt) && first_lost == 0) first_lost = at;
  }
  if (first_lost != 0) {
    EXPECT_LE(newest - first_lost, 1'000);
  }

  // A new server goes on, with the tokens and devices of before.
  TestServer server([&](ServeConfig& config) { config.state_dir = again; });
  const std::string token = secrets_.at("admin_token").get<std::string>();
  const auto study = server.rest_as(token, "GET", "/api/studies/1");
  EXPECT_EQ(json_at(study.body, "complete"), std::to_string(has.size()));
  TestWorker worker(server, {joined.at("device"), joined.at("secret")});
  worker.send(TestWorker::result(worker.await_lease().attempt, 0.5));
  EXPECT_EQ(worker.receive<protocol::ResultAck>().verdict, protocol::Verdict::accepted);
}

TEST_F(StandbyDrill, BadInputHasItsCode) {
  ASSERT_NO_FATAL_FAILURE(start());
  const std::string again = folder_.file("again");
  const auto promote = [&](const std::string& folder, const std::string& state) {
    const Stop stop = run_program({"restore", folder, "--standby", "--state", state});
    EXPECT_EQ(stop.status, 1);
    return stop.text;
  };
  EXPECT_THAT(promote(standby_, again), HasSubstr("(standby_in_use)"));
  EXPECT_THAT(promote(state_, again), HasSubstr("(not_a_standby_folder)"));
  EXPECT_THAT(promote(folder_.file("none"), again), HasSubstr("(not_a_standby_folder)"));
  EXPECT_FALSE(fs::exists(again));
  program_->end();
  EXPECT_THAT(promote(standby_, state_), HasSubstr("(not_empty)"));
  fs::remove(standby_ + "/complete");
  EXPECT_THAT(promote(standby_, again), HasSubstr("(standby_incomplete)"));
  EXPECT_EQ(
      run_program({"restore", standby_, "--standby", "--backup", "x", "--state", again}).status, 2);
  std::ofstream(standby_ + "/complete").close();
  std::ofstream(standby_ + "/standby.db") << "no database at all";
  EXPECT_THAT(promote(standby_, again), HasSubstr("(backup_damaged)"));
  // The next start makes the standby whole again.
  fs::remove_all(standby_);
  ASSERT_NO_FATAL_FAILURE(start());
}

TEST(Standby, ThatCannotBeMadeHarmsNothing) {
  TestServer server([&](ServeConfig& config) { config.standby = "/proc/hyperflock"; });
  EXPECT_TRUE(until([&] {
    return server.metric(R"(hyperflock_standby_failures_total{cause="backup_failed"})") >= 1;
  }));
  EXPECT_EQ(server.metric("hyperflock_standby_current"), 0);
  EXPECT_EQ(net::http_request(server.console(), "GET", "/readyz").body,
            R"({"status":"ready","warnings":["standby_behind"]})");
  server.submit(1);
  TestWorker worker(server, server.join());
  worker.send(TestWorker::result(worker.await_lease().attempt, 0.5));
  EXPECT_EQ(worker.receive<protocol::ResultAck>().verdict, protocol::Verdict::accepted);
}

TEST(Standby, NeverGoesIntoTheStateFolder) {
  const ScratchFolder folder;
  ServeConfig config;
  config.state_dir = folder.file("state");
  config.standby = config.state_dir + "/standby";
  EXPECT_EQ(Server::start(config).error().code, "backup_inside_state");
  config.standby = config.backup_to = folder.file("both");
  EXPECT_EQ(Server::start(config).error().code, "backup_inside_state");
}

}  // namespace
}  // namespace hyperflock::app
