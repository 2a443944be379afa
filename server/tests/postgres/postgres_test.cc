// Tests a whole server whose database is PostgreSQL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <variant>
#include <vector>

#include "app/config.h"
#include "cli/admin.h"
#include "storage/postgres/open.h"
#include "storage/postgres/testing/test_postgres.h"
#include "storage/sqlite/open.h"
#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

using protocol::ResultAck;
using storage::TestPostgres;

std::int64_t wall_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::int64_t complete(const TestServer& server, std::int64_t study) {
  return std::stoll(
      json_at(server.rest("GET", "/api/studies/" + std::to_string(study)).body, "complete"));
}

TEST(Postgres, AServerKeepsEverythingThere) {
  TestPostgres& database = TestPostgres::instance();
  const std::string url = database.new_schema();
  TestServer server([&](ServeConfig& config) { config.database = url; });
  const std::int64_t study = server.submit(3);
  const TestDevice device = server.join();
  {
    TestWorker worker(server, device);
    const auto lease = worker.ready();
    worker.send(TestWorker::result(lease.attempt, 0.5, 1, true));
    EXPECT_EQ(worker.receive<ResultAck>().verdict, protocol::Verdict::accepted);
  }
  EXPECT_EQ(complete(server, study), 1);
  EXPECT_EQ(server.metric("hyperflock_storage_synchronous"), 2);
  EXPECT_EQ(database.sql("SELECT complete FROM study_progress", url), "1");
  server.restart();
  EXPECT_EQ(server.rest("GET", "/api/me").status, 200);
  EXPECT_EQ(complete(server, study), 1);
  EXPECT_FALSE(std::ifstream(server.config().state_dir + "/hyperflock.db").is_open());
}

TEST(Postgres, APasswordComesFromAFile) {
  const TestServer server([&](ServeConfig& config) {
    config.database = TestPostgres::instance().url_with_password();
    config.database_password_file = config.state_dir + "-password";
    std::ofstream(config.database_password_file) << "right:word\n";
  });
  EXPECT_EQ(server.rest("GET", "/api/me").status, 200);
}

// The database crashes again and again while devices send results. Each acknowledged result is
// stored, and each trial counts once.
TEST(Postgres, NoResultIsLostOrCountedTwiceWhenTheDatabaseCrashes) {
  constexpr int kCrashes = 3;
  TestPostgres& database = TestPostgres::instance();
  const std::string url = database.new_schema();
  // So patient that a slow machine is no failure.
  auto storage = storage::open_postgres_storage(
      {.url = url, .server = "one", .patience_ms = 600'000}, wall_now);
  ASSERT_TRUE(storage.has_value()) << storage.error().message;
  TestServer server({}, std::move(storage).value());
  const std::int64_t study = server.submit(10'000);
  std::array<TestWorker, 2> workers{TestWorker(server, server.join()),
                                    TestWorker(server, server.join())};
  std::atomic<std::int64_t> acknowledged{0};
  std::atomic<bool> stop{false};
  std::vector<std::future<std::string>> at_work;
  for (TestWorker& worker : workers) {
    at_work.push_back(std::async(std::launch::async,
                                 [&acknowledged, &stop, &worker, lease = worker.ready()]() mutable {
                                   for (int seq = 1; !stop; ++seq) {
                                     worker.send(TestWorker::result(lease.attempt, seq, seq, true));
                                     const auto ack = worker.receive<ResultAck>();
                                     if (ack.verdict != protocol::Verdict::accepted)
                                       return std::string("not accepted");
                                     if (!ack.lease) return std::string("no lease");
                                     ++acknowledged;
                                     lease = *ack.lease;
                                   }
                                   return std::string();
                                 }));
  }
  for (int i = 0; i < kCrashes; ++i) {
    const std::int64_t before = acknowledged;
    EXPECT_TRUE(until([&] { return acknowledged > before + 4; }));
    database.restart();
  }
  const std::int64_t before = acknowledged;
  EXPECT_TRUE(until([&] { return acknowledged > before + 4; }));
  stop = true;
  for (auto& one : at_work) EXPECT_EQ(one.get(), "");
  EXPECT_EQ(complete(server, study), acknowledged);
  EXPECT_EQ(database.sql("SELECT count(*) FROM trials WHERE state = 1", url),
            std::to_string(acknowledged));
}

// ---- commands

Stop run(const std::vector<std::string>& line) {
  const Command done = parse_command_line(line);
  const auto* stop = std::get_if<Stop>(&done);
  EXPECT_NE(stop, nullptr);
  return stop != nullptr ? *stop : Stop{};
}

// Has a device finish as many trials as are asked for.
void compute(const TestServer& server, int trials) {
  TestWorker worker(server, server.join());
  auto lease = worker.ready();
  for (int seq = 1; seq <= trials; ++seq) {
    // With the last one it asks for no more, so that no trial stays leased.
    worker.send(TestWorker::result(lease.attempt, 0.5 * seq, seq, seq < trials));
    const auto ack = worker.receive<ResultAck>();
    EXPECT_EQ(ack.verdict, protocol::Verdict::accepted);
    if (ack.lease) lease = *ack.lease;
  }
}

// A study begins with SQLite, goes on with PostgreSQL, and ends with SQLite again, after a backup
// of the running server was restored. Nobody loses a result, and tokens stay.
TEST(Postgres, AStudyGoesThereAndBack) {
  const std::string url = TestPostgres::instance().new_schema();
  TestServer server;
  const std::string state = server.config().state_dir;
  const std::string backups = server.file("backups");
  const std::int64_t study = server.submit(6);
  compute(server, 2);
  EXPECT_THAT(run({"migrate", "--state", state, "--to", url}).text,
              testing::HasSubstr("(storage_open)"));  // it runs
  server.restart_with([&](ServeConfig& config) {
    const Stop moved = run({"migrate", "--state", state, "--to", url});
    EXPECT_EQ(moved.status, 0) << moved.text;
    EXPECT_THAT(moved.text, testing::HasSubstr("serve --state " + state + " --database " + url));
    // The file that stayed is old. Nobody uses it by mistake.
    EXPECT_THAT(run({"backup", backups, "--state", state}).text,
                testing::HasSubstr("(state_moved)"));
    EXPECT_EQ(Server::start(config).error().code, "state_moved");
    config.database = url;
  });
  EXPECT_EQ(server.rest("GET", "/api/me").status, 200);
  EXPECT_EQ(complete(server, study), 2);
  compute(server, 2);
  const Stop made = run({"backup", backups, "--state", state});
  EXPECT_EQ(made.status, 0) << made.text;
  const std::string restored = server.file("restored");
  server.restart_with([&](ServeConfig& config) {
    const Stop stopped =
        run({"backup", backups, "--state", state, "--database", url, "--keep", "1"});
    EXPECT_EQ(stopped.status, 0) << stopped.text;
    const Stop verified = run({"verify", backups});
    EXPECT_EQ(verified.status, 0) << verified.text;
    EXPECT_EQ(run({"restore", backups, "--state", restored}).status, 0);
    EXPECT_EQ(run({"verify", restored}).status, 0);
    config.state_dir = restored;
    config.database.clear();
  });
  EXPECT_EQ(complete(server, study), 4);
  compute(server, 2);
  EXPECT_TRUE(server.reaches(study, "finished"));
}

TEST(Postgres, TheServersOwnBackups) {
  const std::string url = TestPostgres::instance().new_schema();
  std::string backups;
  TestServer server([&](ServeConfig& config) {
    config.database = url;
    backups = config.state_dir + "-backups";
    config.backup_to = backups;
  });
  EXPECT_TRUE(until([&] { return server.metric("hyperflock_backups_total") == 1; }));
  EXPECT_EQ(run({"verify", backups}).status, 0);
}

TEST(Postgres, ATokenIsRecovered) {
  const std::string url = TestPostgres::instance().new_schema();
  TestServer server([&](ServeConfig& config) { config.database = url; });
  const std::string state = server.config().state_dir;
  const auto recover = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"token", "recover", "--state", state, "--json"});
    return cli::run_admin(std::get<cli::AdminCommand>(parse_command_line(more)));
  };
  EXPECT_THAT(recover({"--database", url}).error, testing::HasSubstr("(storage_open)"));
  std::string token;
  server.restart_with([&](ServeConfig& config) {
    EXPECT_THAT(recover({}).error, testing::HasSubstr("(database_needed)"));
    // Without the setting that names PostgreSQL, the server makes no empty database of its own.
    config.database.clear();
    EXPECT_EQ(Server::start(config).error().code, "database_needed");
    EXPECT_FALSE(std::filesystem::exists(storage::database_of(state)));
    config.database = url;
    const auto made = recover({"--database", url});
    EXPECT_EQ(made.error, "");
    token = json_at(made.output, "token");
  });
  EXPECT_EQ(json_at(server.rest_as(token, "GET", "/api/me").body, "role"), "admin");
}

}  // namespace
}  // namespace hyperflock::app
