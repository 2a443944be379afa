#include "tests/support/test_server.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/testing/patience.h"
#include "blobs/sha256.h"
#include "storage/testing/empty_database.h"

namespace hyperflock::app {

TestServer::TestServer(const std::function<void(ServeConfig&)>& adjust,
                       std::unique_ptr<storage::Storage> storage) {
  config_.state_dir = folder_.file("state");
  config_.compute.port = 0;
  config_.console.port = 0;
  config_.io_threads = 2;  // so that strands have an effect
  // Clients on a busy machine may be slow, so these limits are long. A test of such a limit sets
  // its own value.
  config_.hello_ms = config_.slow_peer_ms = config_.slow_message_ms = kTestLimitMs;
  config_.min_free_bytes = 0;  // the disk of a test may be small
  config_.reserve_bytes = std::uint64_t{1} << 20;
  if (adjust) adjust(config_);
  if (!storage && config_.database.empty())
    storage::place_empty_database(storage::database_of(config_.state_dir));
  auto started = Server::start(config_, std::move(storage));
  if (!started) throw std::runtime_error(started.error().message);
  server_ = std::move(*started);
  if (server_->first_start()) secrets_ = *server_->first_start();
}

void TestServer::restart(const std::function<void()>& meanwhile) {
  server_.reset();
  if (meanwhile) meanwhile();
  auto started = Server::start(config_);
  if (!started) throw std::runtime_error(started.error().message);
  server_ = std::move(*started);
}

void TestServer::restart_with(const std::function<void(ServeConfig&)>& adjust) {
  restart([&] { adjust(config_); });
}

net::HttpAnswer TestServer::rest_as(const std::string& token, std::string_view method,
                                    std::string_view target, std::string_view body) const {
  return net::http_request(console(), method, target, {{"Authorization", "Bearer " + token}}, body);
}

net::HttpAnswer TestServer::rest(std::string_view method, std::string_view target,
                                 std::string_view body) const {
  return rest_as(secrets_.researcher_token, method, target, body);
}

net::HttpAnswer TestServer::admin(std::string_view method, std::string_view target,
                                  std::string_view body) const {
  return rest_as(secrets_.admin_token, method, target, body);
}

TestDevice TestServer::join() const {
  const nlohmann::json query{
      {"code", secrets_.enrolment_code}, {"class", "desktop"}, {"engine", "test 1"}};
  const auto answer = net::http_request(compute(), "POST", "/api/join", {}, query.dump());
  EXPECT_EQ(answer.status, 201) << answer.body;
  const auto joined = nlohmann::json::parse(answer.body);
  return {joined.at("device"), joined.at("secret")};
}

std::string TestServer::upload(const std::string& bytes) const {
  const std::string sha256 = blobs::sha256_hex(bytes);
  const auto answer = rest("PUT", "/api/blobs/" + sha256, bytes);
  EXPECT_TRUE(answer.status == 200 || answer.status == 201) << answer.status << answer.body;
  return sha256;
}

std::string TestServer::spec(int trials, const std::string& key, const std::string& bundle_sha256,
                             std::size_t bundle_bytes) {
  nlohmann::json values = nlohmann::json::array();
  for (int i = 0; i < trials; ++i) values.push_back(i);
  return nlohmann::json{{"name", "grid"},
                        {"submit_key", key},
                        {"direction", "maximize"},
                        {"entry", "module:function"},
                        {"bundle", {{"sha256", bundle_sha256}, {"bytes", bundle_bytes}}},
                        {"space", {{{"name", "x"}, {"values", values}}}},
                        {"data", nlohmann::json::array()},
                        {"seed", 7},
                        {"runtime", {{"chainer", "7.8.1"}}},
                        {"limits", {{"time_limit_ms", 60'000}, {"stall_ms", 0}}},
                        {"provenance", nlohmann::json::object()}}
      .dump();
}

std::int64_t TestServer::submit(int trials, const std::string& key) const {
  const std::string bundle = "a bundle";
  const std::string sha256 = upload(bundle);
  const auto answer = rest("POST", "/api/studies", spec(trials, key, sha256, bundle.size()));
  EXPECT_EQ(answer.status, 201) << answer.body;
  return nlohmann::json::parse(answer.body).at("study");
}

std::int64_t TestServer::submit_asked(const std::string& key, int directions) const {
  const std::string bundle = "a bundle";
  nlohmann::json asked = nlohmann::json::parse(spec(1, key, upload(bundle), bundle.size()));
  asked.erase("space");
  asked["kind"] = "asked";
  asked["directions"] = std::vector<std::string>(static_cast<std::size_t>(directions), "maximize");
  const auto answer = rest("POST", "/api/studies", asked.dump());
  EXPECT_EQ(answer.status, 201) << answer.body;
  return nlohmann::json::parse(answer.body).at("study");
}

double TestServer::metric(const std::string& name) const {
  const std::string text = net::http_request(console(), "GET", "/metrics").body;
  const std::size_t line = text.find("\n" + name + " ");
  if (line == std::string::npos) throw std::runtime_error("there is no metric " + name);
  return std::stod(text.substr(line + name.size() + 2));
}

bool TestServer::reaches(std::int64_t study, const std::string& state) const {
  return until([&] {
    const auto row = rest_as(secrets_.admin_token, "GET", "/api/studies/" + std::to_string(study));
    return json_at(row.body, "state") == state;
  });
}

TestWorker::TestWorker(const TestServer& server, const TestDevice& device,
                       std::vector<AttemptId> held)
    : TestWorker(server) {
  send(hello(device, std::move(held)));
  welcome_ = receive<protocol::Welcome>();
}

protocol::ClientMessage TestWorker::hello(const TestDevice& device, std::vector<AttemptId> held) {
  protocol::Hello hello;
  hello.protocol = protocol::kProtocolVersion;
  hello.role = protocol::Role::device;
  hello.device = device.id;
  hello.secret = device.secret;
  hello.agent = "test";
  hello.capabilities = {{"cpu"}, 1024, 2, "test 1", "desktop"};
  hello.attempts = std::move(held);
  return hello;
}

protocol::Lease TestWorker::ready() {
  send(protocol::Ready{});
  return receive<protocol::LeaseOffer>().lease;
}

protocol::Lease TestWorker::await_lease() {
  send(protocol::Ready{});
  std::string text;
  do {
    text = socket_.receive_text();
  } while (json_at(text, "type") == "wait");
  return take<protocol::LeaseOffer>(text).lease;
}

protocol::TrialResult TestWorker::result(AttemptId attempt, double value, std::int64_t seq,
                                         bool next) {
  protocol::TrialResult result;
  result.attempt = attempt;
  result.seq = seq;
  result.values = {value};
  result.points = {{0, value / 2}};
  result.metrics = {3, 4};
  result.backend = "cpu";
  result.software = "worker/1";
  result.next = next;
  return result;
}

protocol::TrialResult TestWorker::failure(AttemptId attempt) {
  protocol::TrialResult failed = result(attempt, 0);
  failed.outcome = protocol::Outcome::failed;
  failed.failure = protocol::Failure{protocol::Cause::user_error, "ValueError", "no", "trace"};
  return failed;
}

std::optional<protocol::ServerMessage> TestWorker::parse(const std::string& text) {
  auto parsed = protocol::parse_server_message(text);
  if (!parsed) return std::nullopt;
  return std::move(*parsed);
}

void TestWorker::unexpected(const std::string& text) {
  ADD_FAILURE() << "unexpected: " << (text.empty() ? "nothing" : text);
}

TestOwner::TestOwner(const TestServer& server, std::int64_t study, bool standby)
    : TestOwner(server, server.secrets().researcher_token, study, standby) {}

TestOwner::TestOwner(const TestServer& server, const std::string& token, std::int64_t study,
                     bool standby)
    : socket_(server.console(), "/ws/client"), study_{study} {
  protocol::Hello hello;
  hello.protocol = protocol::kProtocolVersion;
  hello.role = protocol::Role::researcher;
  hello.token = token;
  hello.agent = "test";
  send(hello);
  EXPECT_EQ(json_at(socket_.receive_text(), "type"), "welcome");
  send(protocol::Watch{.study = study_, .own = protocol::OwnerClaim{"test", standby}});
}

protocol::OwnerCall TestOwner::receive() {
  const std::string text = socket_.receive_text();
  const auto parsed = protocol::parse_server_message(text);
  const auto* call = parsed ? std::get_if<protocol::OwnerCall>(&*parsed) : nullptr;
  EXPECT_NE(call, nullptr) << "unexpected: " << text;
  if (call == nullptr) return {};
  taken_ = call->batch;
  return *call;
}

void TestOwner::says(protocol::OwnerReply reply) {
  reply.study = study_;
  reply.taken = taken_;
  room_ = reply.room;
  send(std::move(reply));
}

void TestOwner::asks(const std::vector<std::int64_t>& numbers, std::int64_t room) {
  protocol::OwnerReply reply{.room = room};
  for (const std::int64_t number : numbers) reply.asked.push_back({TrialNumber{number}, "{}"});
  says(std::move(reply));
}

void TestOwner::answers(std::int64_t id, const std::string& value) {
  says({.room = room_, .answers = {{id, value, "", ""}}});
}

std::string without_request_id(std::string body) {
  constexpr std::string_view kField = R"(,"request_id":")";
  const std::size_t at = body.find(kField);
  if (at == std::string::npos) return body;
  return body.erase(at, body.find('"', at + kField.size()) + 1 - at);
}

std::string json_at(const std::string& text, const std::string& path) {
  nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
  std::size_t from = 0;
  while (from <= path.size() && !path.empty()) {
    const std::size_t dot = path.find('.', from);
    const std::string key = path.substr(from, dot - from);
    if (value.is_array() && std::stoul(key) < value.size()) {
      value = nlohmann::json(value[std::stoul(key)]);
    } else if (value.is_object() && value.contains(key)) {
      value = nlohmann::json(value[key]);
    } else {
      return std::string("nothing at ").append(path).append(" of ").append(text);
    }
    if (dot == std::string::npos) break;
    from = dot + 1;
  }
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace hyperflock::app
