// Starts a whole server in this process for tests, with real sockets on free ports and a real
// database in a scratch folder. Also contains the clients that connect to it.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/server.h"
#include "base/testing/patience.h"
#include "base/testing/scratch_folder.h"
#include "protocol/codec.h"
#include "tests/support/test_client.h"

namespace hyperflock::app {

struct TestDevice {
  std::string id;
  std::string secret;
};

class TestServer {
 public:
  // `adjust` changes the configuration before the start.
  explicit TestServer(const std::function<void(ServeConfig&)>& adjust = {},
                      std::unique_ptr<storage::Storage> storage = nullptr);

  Server& server() { return *server_; }
  const ServeConfig& config() const { return config_; }
  std::string file(const std::string& name) const { return folder_.file(name); }
  std::uint16_t compute() const { return server_->compute_port(); }
  std::uint16_t console() const { return server_->console_port(); }
  const FirstStart& secrets() const { return secrets_; }

  void stop() { server_->stop(); }
  // Stops the server and starts it again on the same state. `meanwhile` runs while it is stopped.
  void restart(const std::function<void()>& meanwhile = {});
  // Stops the server and starts it again with a changed configuration.
  void restart_with(const std::function<void(ServeConfig&)>& adjust);

  // Sends a REST request with the researcher's token.
  net::HttpAnswer rest(std::string_view method, std::string_view target,
                       std::string_view body = {}) const;
  net::HttpAnswer rest_as(const std::string& token, std::string_view method,
                          std::string_view target, std::string_view body = {}) const;
  // Sends a REST request with the administrator's token.
  net::HttpAnswer admin(std::string_view method, std::string_view target,
                        std::string_view body = {}) const;

  TestDevice join() const;
  // Uploads bytes. Returns their SHA-256.
  std::string upload(const std::string& bytes) const;
  // Submits a grid {"x": [0..trials)}. Returns the study's id.
  std::int64_t submit(int trials, const std::string& key = "key") const;
  // Submits an ask-and-tell study. Returns its id.
  std::int64_t submit_asked(const std::string& key = "key", int directions = 1) const;
  // Returns a counter or gauge without labels from /metrics.
  double metric(const std::string& name) const;
  // Waits until the study's row has this state; returns false if that takes too long. Tests need
  // this because the end of a study is a separate commit after the last result. The row is read
  // with the administrator's token.
  bool reaches(std::int64_t study, const std::string& state) const;
  // Returns the body of the submission that submit() sends.
  static std::string spec(int trials, const std::string& key, const std::string& bundle_sha256,
                          std::size_t bundle_bytes);

 private:
  ScratchFolder folder_;
  ServeConfig config_;
  std::unique_ptr<Server> server_;
  FirstStart secrets_;
};

// A device with a real WebSocket.
class TestWorker {
 public:
  explicit TestWorker(const TestServer& server) : socket_(server.compute(), "/ws/worker") {}
  // Connects, sends hello and waits for the welcome.
  TestWorker(const TestServer& server, const TestDevice& device, std::vector<AttemptId> held = {});

  void send(const protocol::ClientMessage& message) { socket_.send(protocol::serialize(message)); }
  // Returns the next message, which must have the type T. Otherwise the test fails.
  template <typename T>
  T receive(int limit_ms = kTestLimitMs) {
    return take<T>(socket_.receive_text(limit_ms));
  }

  protocol::Lease ready();  // sends ready and waits for the lease
  // Does the same as ready(), but skips each `wait` that comes before the lease.
  protocol::Lease await_lease();
  static protocol::ClientMessage hello(const TestDevice& device, std::vector<AttemptId> held = {});
  static protocol::TrialResult result(AttemptId attempt, double value, std::int64_t seq = 1,
                                      bool next = false);
  // Returns a result of an objective that raised ValueError("no") with the traceback "trace".
  static protocol::TrialResult failure(AttemptId attempt);

  net::TestWebSocket& socket() { return socket_; }
  const std::optional<protocol::Welcome>& welcome() const { return welcome_; }

 private:
  template <typename T>
  T take(const std::string& text) {
    auto message = parse(text);
    T* wanted = message ? std::get_if<T>(&*message) : nullptr;
    if (wanted == nullptr) unexpected(text);
    return wanted != nullptr ? std::move(*wanted) : T{};
  }
  static std::optional<protocol::ServerMessage> parse(const std::string& text);
  static void unexpected(const std::string& text);

  net::TestWebSocket socket_;
  std::optional<protocol::Welcome> welcome_;
};

// The owner of an ask-and-tell study with a real WebSocket.
class TestOwner {
 public:
  // Connects, sends hello and claims the study.
  TestOwner(const TestServer& server, std::int64_t study, bool standby = false);
  TestOwner(const TestServer& server, const std::string& token, std::int64_t study, bool standby);

  void send(const protocol::ClientMessage& message) { socket_.send(protocol::serialize(message)); }
  // Returns the next batch of items. The owner's next reply confirms it. Fails the test if another
  // message comes.
  protocol::OwnerCall receive();
  // Returns the next item of the batches, which must have the type T.
  template <typename T>
  T item() {
    while (items_.empty()) {
      const protocol::OwnerCall call = receive();
      if (call.study == StudyId{}) return {};
      items_.insert(items_.end(), call.calls.begin(), call.calls.end());
      if (items_.empty()) continue;
      says({.room = room_});
    }
    T* wanted = std::get_if<T>(&items_.front());
    EXPECT_NE(wanted, nullptr) << "another item, of kind " << items_.front().index();
    T out = wanted != nullptr ? std::move(*wanted) : T{};
    items_.erase(items_.begin());
    return out;
  }
  void says(protocol::OwnerReply reply);
  void asks(const std::vector<std::int64_t>& numbers, std::int64_t room = 0);
  void answers(std::int64_t id, const std::string& value);

  net::TestWebSocket& socket() { return socket_; }

 private:
  net::TestWebSocket socket_;
  StudyId study_{};
  std::int64_t taken_ = 0;
  std::int64_t room_ = 0;
  std::vector<protocol::OwnerCallItem> items_;
};

// Returns the body of an error without the id of its request, which no other answer has.
std::string without_request_id(std::string body);

// Returns a value from JSON text. The path has keys and indices, for example "trials.0.state".
std::string json_at(const std::string& text, const std::string& path);

// Returns the body of a request to join as a phone with the server's first code.
inline std::string join_body(const TestServer& server) {
  return R"({"code":")" + server.secrets().enrolment_code + R"(","class":"phone","engine":"x"})";
}

// code_of() returns the code of an error's answer, such as "bad_field". status_and_code() returns
// it after the status: "422 bad_field".
inline std::string code_of(const net::HttpAnswer& answer) {
  return json_at(answer.body, "error.code");
}
inline std::string status_and_code(const net::HttpAnswer& answer) {
  return std::to_string(answer.status) + " " + code_of(answer);
}

}  // namespace hyperflock::app
