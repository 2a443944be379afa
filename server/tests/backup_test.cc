// Tests the commands of the second day on a whole server: a backup while devices compute, which
// must have each result that was acknowledged before, its restoration, and what the restored server
// does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

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
        worker.send(TestWorker::result(lease.attempt, 0.5, 1));
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
