// Servers that share one PostgreSQL database, each a process of its own, for tests that stop,
// continue and kill them.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/scratch_folder.h"
#include "blobs/sha256.h"
#include "cli/credentials.h"
#include "storage/postgres/testing/test_postgres.h"
#include "tests/support/test_program.h"
#include "tests/support/test_server.h"

namespace hyperflock::app {

using protocol::Verdict;
using storage::TestPostgres;

// A device's WebSocket to a port.
class Phone {
 public:
  Phone(std::uint16_t port, const TestDevice& device, std::vector<AttemptId> held = {})
      : socket_(port, "/ws/worker") {
    send(TestWorker::hello(device, std::move(held)));
    (void)receive<protocol::Welcome>();
  }
  void send(const protocol::ClientMessage& message) { socket_.send(protocol::serialize(message)); }
  template <typename T>
  T receive() {
    const std::string text = socket_.receive_text();
    auto message = protocol::parse_server_message(text);
    T* wanted = message ? std::get_if<T>(&*message) : nullptr;
    EXPECT_NE(wanted, nullptr) << "unexpected: " << text;
    return wanted != nullptr ? std::move(*wanted) : T{};
  }
  protocol::Lease ready() {
    send(protocol::Ready{});
    return receive<protocol::LeaseOffer>().lease;
  }
  Verdict result(AttemptId attempt) {
    send(TestWorker::result(attempt, 0.5, to_int(attempt)));
    return receive<protocol::ResultAck>().verdict;
  }
  net::TestWebSocket& socket() { return socket_; }

 private:
  net::TestWebSocket socket_;
};

class ServersOfOneDatabase : public testing::Test {
 protected:
  struct Node {
    std::unique_ptr<Program> program;
    std::uint16_t compute = 0;
    std::uint16_t console = 0;
  };

  // `more` are further flags.
  Node start(const std::string& name, const std::vector<std::string>& more = {}) {
    Node node;
    std::vector<std::string> flags{"--database",
                                   url_,
                                   "--wait-for-shard",
                                   "--shared-files",
                                   folder_.file("files"),
                                   "--credentials-file",
                                   folder_.file("credentials.json"),
                                   "--min-free-bytes",
                                   "0",
                                   "--reserve-bytes",
                                   "1048576"};
    flags.insert(flags.end(), more.begin(), more.end());
    const std::string ready = folder_.file(name + ".ready");
    std::error_code none;
    std::filesystem::remove(ready, none);
    node.program =
        std::make_unique<Program>(folder_.file(name), ready, flags, folder_.file(name + ".log"));
    node.compute = node.program->port();
    std::ifstream file(ready);
    node.console =
        nlohmann::json::parse(file, nullptr, false).value("console_port", std::uint16_t{0});
    EXPECT_NE(node.console, 0) << log_of(name);
    return node;
  }
  std::string log_of(const std::string& name) const {
    std::ifstream file(folder_.file(name + ".log"));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // Returns the status 0 while nobody listens, as in the moment of a takeover.
  static net::HttpAnswer get(std::uint16_t port, const std::string& path) {
    try {
      return net::http_request(port, "GET", path);
    } catch (const std::runtime_error&) {
      return {};
    }
  }
  static bool is_ready(const Node& node) { return get(node.console, "/readyz").status == 200; }
  static bool serves(const Node& node) {
    return until([&] { return is_ready(node); });
  }
  static bool waits(const Node& node) {
    return until(
        [&] { return status_and_code(get(node.console, "/readyz")) == "503 shard_waiting"; });
  }

  net::HttpAnswer rest(const Node& node, std::string_view method, const std::string& path,
                       const std::string& body = {}) const {
    return net::http_request(node.console, method, path,
                             {{"Authorization", "Bearer " + secrets().researcher_token}}, body);
  }
  cli::Credentials secrets() const {
    return cli::read_credentials(folder_.file("credentials.json")).value();
  }
  std::int64_t submit(const Node& node, int trials) const {
    const std::string sha256 = blobs::sha256_hex("a bundle");
    EXPECT_EQ(rest(node, "PUT", "/api/blobs/" + sha256, "a bundle").status, 201);
    const auto answer =
        rest(node, "POST", "/api/studies", TestServer::spec(trials, "key", sha256, 8));
    EXPECT_EQ(answer.status, 201) << answer.body;
    return std::stoll(json_at(answer.body, "study"));
  }
  TestDevice join(const Node& node) const {
    const auto answer = net::http_request(
        node.compute, "POST", "/api/join", {},
        R"({"code":")" + secrets().enrolment_code + R"(","class":"desktop","engine":"test 1"})");
    EXPECT_EQ(answer.status, 201) << answer.body;
    return {json_at(answer.body, "device"), json_at(answer.body, "secret")};
  }
  std::string complete(const Node& node, std::int64_t study) const {
    return json_at(rest(node, "GET", "/api/studies/" + std::to_string(study)).body, "complete");
  }
  std::string sql(const std::string& text) { return database_.sql(text, url_); }

  const ScratchFolder folder_;
  TestPostgres& database_ = TestPostgres::instance();
  const std::string url_ = database_.new_schema();
};

}  // namespace hyperflock::app
