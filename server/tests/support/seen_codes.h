// Functions that return the error codes of a running server, or of one that cannot start, to tests.
// All of them block.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/config.h"
#include "auth/blob_links.h"
#include "blobs/sha256.h"
#include "storage/sqlite/open.h"
#include "storage/testing/faulty_storage.h"
#include "storage/testing/scratch_database.h"
#include "tests/support/test_server.h"
#include "tests/support/test_uploads.h"

namespace hyperflock::app {

using net::http_raw;
using net::http_request;
using net::HttpAnswer;
using net::TestSocket;
using storage::FaultyStorage;

inline std::string code_received(TestWorker& worker) {
  return json_at(worker.socket().receive_text(), "code");
}

// Returns the code of the server's answer to one frame of a device that has a session.
inline std::string told(const std::string& frame) {
  const TestServer server;
  TestWorker worker(server, server.join());
  worker.socket().send(frame);
  return code_received(worker);
}

// Returns the code of the server's answer to what `send` sends for a device with an attempt.
inline std::string logged(const std::function<void(TestWorker&, AttemptId)>& send) {
  const TestServer server;
  server.submit(1);
  TestWorker worker(server, server.join());
  send(worker, worker.ready().attempt);
  return code_received(worker);
}

// Returns the code of the answer when the last of so many devices gets the passphrase of the
// others.
inline std::string with_passphrase(std::int64_t devices, bool last_is_new) {
  const TestServer server;
  std::string body;
  for (std::int64_t i = 1; i <= devices; ++i) {
    const TestDevice device = server.join();
    const bool is_new = i == devices ? last_is_new : i == 1;
    body = http_request(
               server.compute(), "POST", "/api/device/passphrase",
               {{"Authorization", "Device " + device.id + ":" + device.secret}},
               R"({"key":")" + std::string(64, '7') + R"(","new":)" + (is_new ? "true}" : "false}"))
               .body;
  }
  return json_at(body, "error.code");
}

// Adds the codes about passphrases.
inline std::map<std::string, std::string (*)()> with_passphrases(
    std::map<std::string, std::string (*)()> table) {
  table.insert({
      {"unknown_passphrase", [] { return with_passphrase(1, false); }},
      {"passphrase_taken", [] { return with_passphrase(2, true); }},
      {"passphrase_full", [] { return with_passphrase(storage::kMostTogether + 1, false); }},
  });
  return table;
}

// Returns the code of the answer to the first message of a session.
inline std::string refused(const protocol::ClientMessage& first) {
  const TestServer server;
  TestWorker worker(server);
  worker.send(first);
  return code_received(worker);
}

inline protocol::ClientMessage hello_of_version(int protocol) {
  auto hello = std::get<protocol::Hello>(TestWorker::hello({"d", "hfd_wrong"}));
  hello.protocol = protocol;
  return hello;
}

inline std::string answered(std::string_view method, std::string_view target,
                            std::string_view body = {}) {
  return code_of(TestServer().rest(method, target, body));
}

inline std::string at_compute(const TestServer& server, const std::string& path) {
  return code_of(http_request(server.compute(), "GET", path));
}

inline std::string forged_link() { return at_compute(TestServer(), "/blobs/1/2/3/4"); }

inline std::string expired_link() {
  const TestServer server;
  const auto links =
      auth::BlobLinks::open(std::filesystem::path(server.config().state_dir) / "blobs");
  return at_compute(server, links->sign(1, "4", 0).path);
}

inline std::string sent_raw(const std::function<std::string(const TestServer&)>& bytes) {
  const TestServer server;
  TestSocket socket(server.console());
  return code_of(http_raw(socket, bytes(server)));
}

inline std::string large_head() {
  return sent_raw([](const TestServer&) {
    return "GET / HTTP/1.1\r\nA: " + std::string(20'000, 'a') + "\r\n\r\n";
  });
}

inline std::string bearer(const TestServer& server) {
  return "\r\nAuthorization: Bearer " + server.secrets().researcher_token + "\r\n";
}

// Returns the code with which a server refuses to start.
inline std::string not_started(
    const std::function<void(ServeConfig&, const ScratchFolder&)>& adjust) {
  const ScratchFolder folder;
  ServeConfig config;
  config.state_dir = folder.file("state");
  config.compute.port = config.console.port = 0;
  adjust(config, folder);
  const auto started = Server::start(config);
  return started ? "it started" : started.error().code;
}

inline std::string study_in(const std::string& space) {
  const TestServer server;
  std::string spec = TestServer::spec(1, "k", server.upload("b"), 1);
  const std::string was = R"("space":[{"name":"x","values":[0]}])";
  spec.replace(spec.find(was), was.size(), R"("space":)" + space);
  return code_of(server.rest("POST", "/api/studies", spec));
}

// Returns the code of the answer to a submission.
inline std::string submitted_to(const TestServer& server) {
  const std::string bundle = "a bundle";
  return code_of(server.rest("POST", "/api/studies",
                             TestServer::spec(1, "k", server.upload(bundle), bundle.size())));
}

// Returns the code of the answer to a study with this webhook.
inline std::string hooked(const std::string& url,
                          const std::function<void(ServeConfig&)>& adjust = {}) {
  const TestServer server(adjust);
  std::string spec = TestServer::spec(1, "k", server.upload("b"), 1);
  spec.insert(1, R"("webhook":{"url":")" + url + R"("},)");
  return code_of(server.rest("POST", "/api/studies", spec));
}

// A server whose storage fails when the test demands it.
struct Troubled {
  explicit Troubled(const std::function<void(ServeConfig&)>& adjust = {}) {
    auto faulty = std::make_unique<FaultyStorage>(database.open());
    storage = faulty.get();
    server = std::make_unique<TestServer>(adjust, std::move(faulty));
  }
  HttpAnswer join() const {
    return http_request(server->compute(), "POST", "/api/join", {}, join_body(*server));
  }
  storage::ScratchDatabase database;
  FaultyStorage* storage = nullptr;
  std::unique_ptr<TestServer> server;
};

// Returns the code of /readyz while a commit does not end.
inline std::string while_a_commit_hangs() {
  const Troubled trouble([](ServeConfig& config) { config.hung_writer_ms = 0; });
  trouble.storage->script({storage::Hold{}});
  const auto joining = std::async(std::launch::async, [&trouble] { return trouble.join(); });
  trouble.storage->wait_until_held();
  const auto ready = http_request(trouble.server->console(), "GET", "/readyz");
  trouble.storage->release();
  joining.wait();
  return code_of(ready);
}

// Returns the code that a researcher gets after an administrator has made `change` to the account.
inline std::string told_after(const std::string& change, std::string_view method = "GET",
                              std::string_view target = "/api/me") {
  const TestServer server;
  const std::string& admin = server.secrets().admin_token;
  const auto made = server.rest_as(admin, "POST", "/api/researchers", R"({"name":"grace"})");
  server.rest_as(admin, "POST", "/api/researchers/" + json_at(made.body, "researcher"), change);
  return code_of(server.rest_as(json_at(made.body, "token"), method, target, "eleven bytes"));
}

inline std::string registered(const TestServer& server, const std::string& name,
                              std::string* token) {
  const auto answer = http_request(server.console(), "POST", "/api/register", net::kJson,
                                   R"({"name":")" + name + "\"}");
  if (token != nullptr) *token = json_at(answer.body, "token");
  return code_of(answer);
}

inline std::string by_admin(std::string_view method, std::string_view target,
                            std::string_view body) {
  return code_of(TestServer().admin(method, target, body));
}

inline std::string saved(const std::string& bytes) { return Saving().save(bytes); }

// An ask-and-tell study with one trial, which a device runs, and its connected owner.
struct Asking {
  explicit Asking(Millis call_ms = 60'000)
      : server([call_ms](ServeConfig& config) { config.call_ms = call_ms; }),
        owner(server, server.submit_asked()),
        worker(server, server.join()) {
    owner.receive();
    owner.asks({0});
    attempt = worker.await_lease().attempt;
    owner.item<protocol::StartedCall>();
  }
  void suggest(const std::string& distribution) {
    worker.send(protocol::Call{.id = 1,
                               .attempt = attempt,
                               .method = "suggest",
                               .step = {},
                               .name = "x",
                               .distribution = distribution,
                               .points = {}});
  }
  TestServer server;
  TestOwner owner;
  TestWorker worker;
  AttemptId attempt{};
};

// Returns the code that the owner of a study gets after `does` has run.
inline std::string owner_told(const std::function<void(TestOwner&)>& does) {
  const TestServer server;
  TestOwner owner(server, server.submit_asked());
  owner.receive();
  does(owner);
  return json_at(owner.socket().receive_text(), "code");
}

}  // namespace hyperflock::app
