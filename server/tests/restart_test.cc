// Tests stops and starts: draining, leases that survive, and files with the server's addresses.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>

#include "auth/trusted_clock.h"
#include "base/instant.h"
#include "base/testing/patience.h"
#include "cli/credentials.h"
#include "storage/sqlite/db/db.h"
#include "tests/support/test_program.h"
#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

using protocol::ResultAck;
using protocol::Verdict;

std::string contents(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Returns whether this process listens on a port. A successful connection would not prove this,
// because after the stop any other process may listen there.
bool listens(std::uint16_t port) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int descriptor = std::stoi(entry.path().filename().string());
    int listening = 0;
    socklen_t size = sizeof listening;
    sockaddr_in address{};
    socklen_t address_size = sizeof address;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) == 0 &&
        listening != 0 &&
        ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &address_size) == 0 &&
        ntohs(address.sin_port) == port)
      return true;
  }
  return false;
}

TEST(Restart, R21_R24_ALeaseSurvivesTheServer) {
  TestServer server;
  const std::int64_t study = server.submit(2);
  const TestDevice device = server.join();
  std::optional<TestWorker> worker(std::in_place, server, device);
  const auto lease = worker->ready();
  server.restart();
  EXPECT_EQ(worker->socket().wait_close(), 1012);
  worker.emplace(server, device, std::vector{lease.attempt});
  EXPECT_EQ(worker->welcome()->attempts, std::vector{lease.attempt});
  worker->send(TestWorker::result(lease.attempt, 0.5, 1, true));
  const auto ack = worker->receive<ResultAck>();
  EXPECT_EQ(ack.verdict, Verdict::accepted);
  ASSERT_TRUE(ack.lease);
  EXPECT_EQ(to_int(ack.lease->trial), 1);
  EXPECT_GT(to_int(ack.lease->attempt), to_int(lease.attempt));
  EXPECT_EQ(json_at(server.rest("GET", "/api/studies/" + std::to_string(study)).body, "complete"),
            "1");
}

TEST(Restart, TheFirstStartIsTheOnlyOneThatMakesTokens) {
  TestServer server;
  ASSERT_TRUE(server.server().first_start());
  server.restart();
  EXPECT_FALSE(server.server().first_start());
  EXPECT_EQ(server.rest("GET", "/api/me").status, 200);
}

TEST(Drain, ClosesWithServiceRestartAndLeasesNothingMore) {
  TestServer server;
  server.submit(5);
  TestWorker busy(server, server.join());
  busy.ready();
  net::TestWebSocket unborn(server.compute(), "/ws/worker");
  EXPECT_TRUE(listens(server.compute()));
  server.stop();
  EXPECT_EQ(busy.socket().wait_close(), 1012);
  EXPECT_EQ(unborn.wait_close(), 1012);
  EXPECT_FALSE(listens(server.compute()));
}

TEST(Drain, KeepAliveConnectionsEnd) {
  TestServer server;
  net::TestSocket socket(server.console());
  EXPECT_EQ(net::http_raw(socket, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").status, 200);
  server.stop();
  std::string rest;
  EXPECT_FALSE(socket.read_some(rest, kTestLimitMs));
  EXPECT_EQ(rest, "");
}

TEST(Drain, ABusyServerStopsWithEveryAcknowledgedResultStored) {
  TestServer server;
  const std::int64_t study = server.submit(10'000);
  // All workers have a lease before the first result is sent, so that no worker connects to a
  // stopped server.
  std::array<TestWorker, 4> workers{
      TestWorker(server, server.join()), TestWorker(server, server.join()),
      TestWorker(server, server.join()), TestWorker(server, server.join())};
  std::array<protocol::Lease, 4> leases;
  std::ranges::transform(workers, leases.begin(), &TestWorker::ready);
  std::atomic<int> acknowledged{0};
  std::vector<std::future<void>> at_work;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    at_work.push_back(std::async(
        std::launch::async, [&acknowledged, &worker = workers[i], lease = leases[i]]() mutable {
          for (int seq = 1;; ++seq) {
            worker.send(TestWorker::result(lease.attempt, seq, seq, true));
            const std::string text = worker.socket().receive_text();
            const auto message = protocol::parse_server_message(text);
            const auto* ack = message ? std::get_if<ResultAck>(&*message) : nullptr;
            if (ack == nullptr) return;
            ++acknowledged;
            if (!ack->lease) return;
            lease = *ack->lease;
          }
        }));
  }
  EXPECT_TRUE(until([&] { return acknowledged >= 50; }));
  server.stop();
  for (std::future<void>& one : at_work) one.get();
  server.restart();
  const auto row = server.rest("GET", "/api/studies/" + std::to_string(study));
  EXPECT_GE(std::stoi(json_at(row.body, "complete")), acknowledged.load());
}

TEST(Files, ReadyAndCredentials) {
  ScratchFolder folder;
  const std::string ready = folder.file("ready.json");
  const std::string credentials = folder.file("credentials.json");
  TestServer server([&](ServeConfig& config) {
    config.ready_file = ready;
    config.credentials_file = credentials;
  });
  EXPECT_EQ(json_at(contents(ready), "compute_port"), std::to_string(server.compute()));
  EXPECT_EQ(json_at(contents(ready), "console_port"), std::to_string(server.console()));
  EXPECT_EQ(json_at(contents(ready), "pid"), std::to_string(::getpid()));
  struct stat status{};
  ASSERT_EQ(::stat(credentials.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  const std::string first = contents(credentials);
  EXPECT_EQ(json_at(first, "researcher_token"), server.secrets().researcher_token);
  EXPECT_EQ(json_at(first, "join_url"),
            server.server().compute_origin() + "/join#" + server.secrets().enrolment_code);

  server.restart();  // on other free ports
  const std::string second = contents(credentials);
  EXPECT_EQ(json_at(second, "admin_token"), server.secrets().admin_token);
  EXPECT_EQ(json_at(second, "compute"), server.server().compute_origin());
  EXPECT_EQ(json_at(second, "console"), server.server().console_origin());
  EXPECT_EQ(json_at(second, "join_url"),
            server.server().compute_origin() + "/join#" + server.secrets().enrolment_code);
}

// The log of a service must not contain its tokens. Otherwise whoever may read the log could become
// the administrator.
TEST(Files, TheFirstTokensAreInAFileForItsOwnerAndNeverPrinted) {
  ScratchFolder folder;
  const std::string printed = folder.file("printed");
  {
    const Program server(folder.file("state"), folder.file("ready.json"), {"--log-level", "debug"},
                         printed);
    ASSERT_NE(server.port(), 0);
  }
  const std::string path = folder.file("state") + "/credentials.json";
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  const std::string kept = contents(path);
  const std::string shown = contents(printed);
  for (const char* name : {"admin_token", "researcher_token"}) {
    const std::string token = json_at(kept, name);
    ASSERT_GT(token.size(), 20U);
    EXPECT_EQ(shown.find(token), std::string::npos) << name;
  }
  EXPECT_NE(shown.find(path), std::string::npos) << shown;
  EXPECT_NE(shown.find(json_at(kept, "join_url")), std::string::npos) << shown;
}

TEST(Files, ARemovedFileOfTokensIsNotWrittenAgain) {
  TestServer server;
  const std::string path = server.config().state_dir + "/credentials.json";
  ASSERT_TRUE(std::filesystem::remove(path));
  server.restart();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Files, NoSecondServerOnTheSameState) {
  TestServer server;
  const auto second = Server::start(server.config());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, "storage_open");
}

TEST(Files, APublicUrlIsWhatVolunteersSee) {
  TestServer server([](ServeConfig& config) { config.public_url = "https://compute.example.org"; });
  const auto made = server.rest("POST", "/api/enrolment");
  EXPECT_TRUE(json_at(made.body, "join_url").starts_with("https://compute.example.org/join#hfe_"))
      << made.body;
}

TEST(Bind, APortInUseIsOneSentence) {
  TestServer server;
  ScratchFolder folder;
  ServeConfig config;
  config.state_dir = folder.file("state");
  config.compute = {"127.0.0.1", server.compute()};
  config.console.port = 0;
  const auto second = Server::start(config);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, "bind_failed");
}

// ---- the machine's clock (auth/trusted_clock.h)

std::int64_t wall_ms() { return auth::TrustedClock::read_clocks().wall; }

// A token that expires in five days.
struct ExpiringToken {
  explicit ExpiringToken(const TestServer& server) {
    const auto& admin = server.secrets().admin_token;
    const auto person = server.rest_as(admin, "POST", "/api/researchers", R"({"name":"grace"})");
    const auto made = server.rest_as(
        admin, "POST", "/api/tokens",
        R"({"expires_s":432000,"researcher":)" + json_at(person.body, "researcher") + "}");
    text = json_at(made.body, "token");
    id = json_at(made.body, "id");
  }
  int status(const TestServer& server) const {
    return server.rest_as(text, "GET", "/api/me").status;
  }
  std::string text;
  std::string id;
};

// Changes the database of a stopped server.
void change(const TestServer& server, const std::string& sql) {
  storage::sqlite::Db db(server.file("state/hyperflock.db"), storage::sqlite::Db::Mode::read_write);
  db.exec(sql);
}

// The kept time in the database is later than the time of the machine's clock.
TEST(Restart, AClockThatWasSetBackRevivesNothing) {
  TestServer server;
  const ExpiringToken token(server);
  EXPECT_EQ(token.status(server), 200);
  const std::int64_t kept = wall_ms() + 10 * kDayMs;
  server.restart([&] { change(server, "UPDATE kept_time SET at = " + std::to_string(kept)); });
  EXPECT_EQ(token.status(server), 401);
  // The server's time continues from the kept time, so new codes expire after it.
  const auto made = server.rest("POST", "/api/enrolment", R"({"expires_s":60})");
  EXPECT_GE(std::stoll(json_at(made.body, "expires_at")), kept + 60'000);
  EXPECT_EQ(net::http_request(
                server.compute(), "POST", "/api/join", {},
                R"({"class":"phone","engine":"e","code":")" + json_at(made.body, "code") + "\"}")
                .status,
            201);
}

// The time of the machine's clock is 200 days later than the kept time in the database.
TEST(Restart, AClockThatIsFarAheadEndsNothingAtOnce) {
  TestServer server;
  const ExpiringToken token(server);
  server.restart([&] {
    change(server, "UPDATE kept_time SET at = " + std::to_string(wall_ms() - 200 * kDayMs));
    change(server, "UPDATE tokens SET expires_at = " + std::to_string(wall_ms() - 100 * kDayMs) +
                       " WHERE id = " + token.id);
  });
  EXPECT_EQ(token.status(server), 200);
  EXPECT_NE(
      json_at(server.rest_as(server.secrets().admin_token, "GET", "/api/audit").body, "entries"),
      "[]");
}

TEST(Restart, TheTimeIsKeptOverARestart) {
  TestServer server;
  server.submit(1);
  std::int64_t before = 0;
  server.restart([&] {
    storage::sqlite::Db db(server.file("state/hyperflock.db"),
                           storage::sqlite::Db::Mode::read_only);
    before = std::stoll(db.single("SELECT at FROM kept_time"));
  });
  EXPECT_GT(before, 0);
  server.submit(1, "second");
  const std::string rows = server.rest("GET", "/api/studies").body;
  EXPECT_GE(json_at(rows, "studies.0.created_at"), json_at(rows, "studies.1.created_at"));
}

}  // namespace
}  // namespace hyperflock::app
