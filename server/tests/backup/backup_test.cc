// Tests the commands of the second day on a whole server: a backup while devices compute, which
// must have each result that was acknowledged before, its restoration, and what the restored server
// does.
#include "backup/backup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "backup/verify.h"
#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

Stop run(const std::vector<std::string>& line) {
  const Command done = parse_command_line(line);
  const auto* stop = std::get_if<Stop>(&done);
  EXPECT_NE(stop, nullptr);
  return stop != nullptr ? *stop : Stop{};
}

Stop back_up(const TestServer& server, const std::string& folder) {
  return run({"backup", folder, "--state", server.config().state_dir, "--json"});
}

// A device that computes without end. Its results count once the server has acknowledged them.
class Load {
 public:
  Load(const TestServer& server, std::atomic<bool>& stopped) : stopped_(stopped) {
    const TestDevice device = server.join();
    thread_ = std::thread([this, &server, device] {
      TestWorker worker(server, device);
      auto lease = worker.ready();
      while (!stopped_) {
        const auto value = static_cast<double>(to_int(lease.attempt));
        worker.send(TestWorker::result(lease.attempt, value, 1));
        worker.receive<protocol::ResultAck>();
        ++acknowledged_;
        lease = worker.await_lease();
      }
    });
  }
  ~Load() { thread_.join(); }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  std::int64_t acknowledged() const { return acknowledged_; }

 private:
  std::atomic<bool>& stopped_;
  std::atomic<std::int64_t> acknowledged_{0};
  std::thread thread_;
};

std::int64_t completed(const TestServer& server, std::int64_t study) {
  const auto row = server.admin("GET", "/api/studies/" + std::to_string(study));
  return std::stoll(json_at(row.body, "complete"));
}

TEST(Backup, OfABusyServerHasEachAcknowledgedResult) {
  TestServer server;
  const std::string folder = server.file("backups");
  const std::int64_t study = server.submit(2'000);
  const std::string sha256 = server.upload("more data");
  std::int64_t before = 0;
  std::int64_t after = 0;
  {
    std::atomic<bool> stopped{false};
    const Load load(server, stopped);
    EXPECT_TRUE(until([&] { return load.acknowledged() > 20; }));
    before = load.acknowledged();
    const Stop made = back_up(server, folder);
    EXPECT_EQ(made.status, 0) << made.text;
    EXPECT_TRUE(until([&, now = load.acknowledged()] { return load.acknowledged() > now; }));
    stopped = true;
    after = load.acknowledged();
  }
  const Stop verified = run({"verify", folder});
  EXPECT_EQ(verified.status, 0) << verified.text;
  const std::string state = server.file("restored");
  const Stop restored = run({"restore", folder, "--state", state});
  EXPECT_EQ(restored.status, 0) << restored.text;
  EXPECT_EQ(run({"verify", state}).status, 0);
  server.stop();
  server.restart_with([&](ServeConfig& config) { config.state_dir = state; });
  const std::int64_t has = completed(server, study);
  EXPECT_GE(has, before);
  EXPECT_LE(has, after + 1);  // one may have been committed and not acknowledged
  // Tokens of before open the restored server, and it goes on.
  TestWorker worker(server, server.join());
  worker.send(TestWorker::result(worker.await_lease().attempt, 0.5));
  EXPECT_EQ(worker.receive<protocol::ResultAck>().verdict, protocol::Verdict::accepted);
  EXPECT_EQ(completed(server, study), has + 1);
}

TEST(Backup, ErrorsOfTheServerReachTheCommand) {
  TestServer server;
  const Stop inside = back_up(server, server.config().state_dir + "/backups");
  EXPECT_EQ(inside.status, 1);
  EXPECT_THAT(inside.text, HasSubstr("(backup_inside_state)"));
  const std::string other = server.file("other");
  fs::create_directories(other);
  std::ofstream(other + "/file") << "x";
  EXPECT_THAT(back_up(server, other).text, HasSubstr("(not_a_backup_folder)"));
  EXPECT_THAT(run({"verify", server.config().state_dir}).text, HasSubstr("(storage_open)"));
  const std::string folder = server.file("backups");
  EXPECT_EQ(back_up(server, folder).status, 0);
  EXPECT_THAT(run({"restore", folder, "--state", server.config().state_dir}).text,
              HasSubstr("(not_empty)"));
  EXPECT_THAT(run({"restore", folder, "--state", server.file("x"), "--backup", "y"}).text,
              HasSubstr("(unknown_backup)"));
}

TEST(Backup, TwoAtOnceAreOne) {
  TestServer server;
  std::ofstream(server.config().state_dir + "/backup-request").close();
  // The empty request is nobody's; the server removes it. Until then, others are refused.
  EXPECT_TRUE(until([&] { return back_up(server, server.file("backups")).status == 0; }));
  EXPECT_EQ(run({"verify", server.file("backups")}).status, 0);
}

// ---- the server's own backups

std::size_t backups_in(const std::string& folder) {
  const auto verified = backup::verify(folder, {});
  return verified ? verified->names.size() : 0;
}

std::string warnings(const TestServer& server) {
  return net::http_request(server.console(), "GET", "/readyz").body;
}

TEST(OwnBackups, TheFirstOneComesSoonAfterTheStart) {
  TestServer server([](ServeConfig& config) { config.backup_to = config.state_dir + "-backups"; });
  EXPECT_TRUE(until([&] { return server.metric("hyperflock_backups_total") == 1; }));
  const Stop verified = run({"verify", server.config().backup_to});
  EXPECT_EQ(verified.status, 0) << verified.text;
  EXPECT_GT(server.metric("hyperflock_backup_last_success_timestamp_seconds"), 0);
  EXPECT_EQ(server.metric("hyperflock_backup_interval_seconds"), 6 * 3'600);
  EXPECT_EQ(warnings(server), R"({"status":"ready"})");
}

// The command's backup is made after the server has looked at the newest one.
TEST(OwnBackups, OnesOfTheIntervalAreEnough) {
  TestServer server;
  const std::string folder = server.file("backups");
  EXPECT_EQ(back_up(server, folder).status, 0);
  server.restart_with([&](ServeConfig& config) { config.backup_to = folder; });
  EXPECT_TRUE(
      until([&] { return server.metric("hyperflock_backup_last_success_timestamp_seconds") > 0; }));
  EXPECT_EQ(back_up(server, folder).status, 0);
  EXPECT_EQ(backups_in(folder), 2U);
}

TEST(OwnBackups, AnOldOneIsFollowedByTheNextAndRemoved) {
  TestServer server;
  const std::string folder = server.file("backups");
  server.restart([&] {
    for (const std::int64_t at : {1'000, 2'000}) {
      const auto made = backup::back_up_stopped(server.config().state_dir, "1", at, folder, 0);
      EXPECT_TRUE(made.has_value());
    }
  });
  server.restart_with([&](ServeConfig& config) {
    config.backup_to = folder;
    config.backup_keep = 2;
  });
  EXPECT_TRUE(until([&] { return server.metric("hyperflock_backups_total") == 1; }));
  EXPECT_EQ(backup::verify(folder, {})->names.front(), "19700101T000002Z");
  EXPECT_EQ(backups_in(folder), 2U);
}

TEST(OwnBackups, AFolderThatCannotBeWrittenHarmsNothing) {
  for (const auto& [folder, cause] : {std::pair("/proc/hyperflock", "backup_failed"),
                                      std::pair("/proc", "not_a_backup_folder")}) {
    TestServer server([&](ServeConfig& config) { config.backup_to = folder; });
    const std::string failures =
        std::string("hyperflock_backup_failures_total{cause=\"") + cause + "\"}";
    EXPECT_TRUE(until([&] { return server.metric(failures) == 1; })) << folder;
    EXPECT_TRUE(until(
        [&] { return warnings(server) == R"({"status":"ready","warnings":["backup_failed"]})"; }));
    server.submit(1);
    TestWorker worker(server, server.join());
    worker.send(TestWorker::result(worker.await_lease().attempt, 0.5));
    EXPECT_EQ(worker.receive<protocol::ResultAck>().verdict, protocol::Verdict::accepted);
    // Volunteers and strangers are not told.
    EXPECT_EQ(net::http_request(server.compute(), "GET", "/readyz").body, R"({"status":"ready"})");
  }
}

TEST(OwnBackups, NeverGoIntoTheStateFolder) {
  const ScratchFolder folder;
  ServeConfig config;
  config.state_dir = folder.file("state");
  for (const std::string& wrong : {config.state_dir, config.state_dir + "/backups",
                                   folder.path().string(), config.state_dir + "/../state/x"}) {
    config.backup_to = wrong;
    const auto refused = Server::start(config);
    ASSERT_FALSE(refused.has_value()) << wrong;
    EXPECT_EQ(refused.error().code, "backup_inside_state") << wrong;
  }
  EXPECT_FALSE(fs::exists(config.state_dir));
}

TEST(Backup, OfAStoppedServerNeedsNone) {
  TestServer server;
  server.submit(3);
  const std::string folder = server.file("backups");
  server.restart([&] {
    const Stop made = run({"backup", folder, "--state", server.config().state_dir, "--keep", "1"});
    EXPECT_EQ(made.status, 0) << made.text;
    EXPECT_THAT(made.text, HasSubstr("Backup 20"));
  });
  EXPECT_EQ(run({"verify", folder}).status, 0);
}

// ---- compaction

TEST(Compaction, ShrinksTheDatabaseOfAStoppedServerAndKeepsAllElse) {
  TestServer server;
  const std::int64_t kept = server.submit(3, "kept");
  {
    TestWorker worker(server, server.join());
    worker.send(TestWorker::result(worker.await_lease().attempt, 0.5));
    EXPECT_EQ(worker.receive<protocol::ResultAck>().verdict, protocol::Verdict::accepted);
  }
  std::vector<std::string> gone;  // their specs are long enough to leave free pages
  for (int i = 0; i < 40; ++i) {
    const std::int64_t study = server.submit(2'000, "gone " + std::to_string(i));
    gone.push_back("/api/studies/" + std::to_string(study));
  }
  for (const std::string& path : gone) {
    EXPECT_EQ(server.rest("POST", path + "/cancel").status, 200);
    EXPECT_EQ(server.rest("DELETE", path).status, 200);
  }
  EXPECT_TRUE(until([&] { return server.metric("hyperflock_database_reusable_bytes") > 100'000; }));
  const std::string& state = server.config().state_dir;
  EXPECT_THAT(run({"compact", "--state", state}).text, HasSubstr("(storage_open)"));
  server.restart([&] {
    const auto before = fs::file_size(state + "/hyperflock.db");
    const Stop done = run({"compact", "--state", state, "--json"});
    EXPECT_EQ(done.status, 0) << done.text;
    const auto after = fs::file_size(state + "/hyperflock.db");
    EXPECT_LT(after + 100'000, before);
    EXPECT_EQ(json_at(done.text, "after_bytes"), std::to_string(after));
    EXPECT_EQ(fs::status(state + "/hyperflock.db").permissions(),
              fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_FALSE(fs::exists(state + "/hyperflock.db.compact"));
    const Stop verified = run({"verify", state});
    EXPECT_EQ(verified.status, 0) << verified.text;
  });
  EXPECT_EQ(completed(server, kept), 1);
  TestWorker worker(server, server.join());
  worker.send(TestWorker::result(worker.await_lease().attempt, 0.5));
  EXPECT_EQ(worker.receive<protocol::ResultAck>().verdict, protocol::Verdict::accepted);
}

TEST(Compaction, WhatAnInterruptedTryLeftIsNoHindrance) {
  TestServer server;
  const std::string& state = server.config().state_dir;
  server.restart([&] {
    std::ofstream(state + "/hyperflock.db.compact") << "half a file";
    EXPECT_EQ(run({"compact", "--state", state}).status, 0);
    fs::create_directories(state + "/hyperflock.db.compact/x");
    const Stop failed = run({"compact", "--state", state});
    EXPECT_EQ(failed.status, 1);
    EXPECT_THAT(failed.text, HasSubstr("(compact_failed)"));
    fs::remove_all(state + "/hyperflock.db.compact");
    EXPECT_EQ(run({"verify", state}).status, 0);
  });
  EXPECT_EQ(server.rest("GET", "/api/me").status, 200);
}

TEST(Compaction, OfNoDatabaseIsRefused) {
  const ScratchFolder folder;
  EXPECT_THAT(run({"compact", "--state", folder.path().string()}).text, HasSubstr("(bad_state)"));
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(Backup, NoServerStartsOnAHalfRestoredFolder) {
  const ScratchFolder folder;
  std::ofstream(folder.file("restoration-unfinished")) << "x";
  ServeConfig config;
  config.state_dir = folder.path().string();
  const auto refused = Server::start(config);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, "bad_state");
  EXPECT_FALSE(fs::exists(folder.file("hyperflock.db")));
}

}  // namespace
}  // namespace hyperflock::app
