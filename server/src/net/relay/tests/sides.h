// Both ends of links for tests, in this process: a server that takes connections of spares, and a
// spare that passes connections on. Sockets are real, on loopback.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/steady_clock.h"
#include "blobs/sha256.h"
#include "http/core/site.h"
#include "hub/reader_pool.h"
#include "net/answer_log.h"
#include "net/connections.h"
#include "net/listener.h"
#include "net/proxy/trusted_proxies.h"
#include "net/relay/peer_listener.h"
#include "net/relay/relay.h"
#include "net/tls.h"
#include "telemetry/metrics.h"
#include "tests/support/test_client.h"

namespace hyperflock::net {

// Says which server and which client: `holder compute 192.0.2.7 secure`. GET /big sends many bytes,
// and PUT /sink answers with the SHA-256 of what it got.
class WhoSite final : public http::Site {
 public:
  static constexpr std::size_t kBigBytes = std::size_t{24} << 20;

  explicit WhoSite(std::string name) : name_(std::move(name)) {}

  static std::string big() {
    std::string bytes(kBigBytes, '\0');
    std::uint32_t state = 1;
    for (char& byte : bytes)
      byte = static_cast<char>((state = state * 1'664'525U + 1'013'904'223U) >> 24);
    return bytes;
  }

  http::Plan plan(http::Request& request) override {
    http::Plan plan;
    if (request.method == http::Method::put) {
      plan.kind = http::Plan::Kind::handle;
      plan.body_limit = 2 * kBigBytes;
    } else if (request.path == "/big") {
      static const auto bytes = std::make_shared<const std::string>(big());
      plan.response.body = bytes;
    } else {
      plan.response.body = name_ + ' ' + request.address + (request.secure ? " secure" : "") +
                           (request.local ? " local" : "");
    }
    return plan;
  }
  void handle(std::shared_ptr<const http::Request> request, http::Reply reply) override {
    http::Response response;
    response.body = blobs::sha256_hex(request->body);
    reply(std::move(response));
  }
  Result<std::unique_ptr<http::Upload>> open_upload(const http::Request&) override {
    return Error{"internal", "There are no uploads."};
  }

 private:
  const std::string name_;
};

// What both ends have.
class TestSide {
 public:
  explicit TestSide(const std::vector<std::string>& proxies, std::size_t per_client)
      : proxies_(TrustedProxies::make(proxies).value()),
        compute_(per_client, 1'000, metrics_, "compute"),
        console_(per_client, 1'000, metrics_, "console"),
        readers_({}) {}
  TestSide(const TestSide&) = delete;
  TestSide& operator=(const TestSide&) = delete;

  // Returns a metric's value, such as of `name` or `name{reason="silent"}`.
  double metric(const std::string& name) {
    const std::string text = metrics_.text();
    const std::size_t at = text.find("\n" + name + " ");
    return at == std::string::npos ? -1 : std::stod(text.substr(at + name.size() + 2));
  }
  // As the server's sweep does.
  void check_progress() {
    for (Connections* open : {&compute_, &console_}) open->check_progress(steady_now());
  }

 protected:
  ~TestSide() = default;
  void run() {
    thread_ = std::thread([this] { io_.run(); });
  }
  void end() {
    constexpr Millis kEndMs = 2'000;
    for (Connections* open : {&compute_, &console_}) open->shut_all(1012);
    for (Connections* open : {&compute_, &console_}) (void)open->wait_empty(kEndMs);
    readers_.stop();
    io_.stop();
    if (thread_.joinable()) thread_.join();
    for (Connections* open : {&compute_, &console_}) open->clear();
  }

  telemetry::Metrics metrics_;
  const TrustedProxies proxies_;
  Connections compute_;
  Connections console_;
  hub::ReaderPool readers_;
  AnswerLog answers_{metrics_, nullptr};
  boost::asio::io_context io_{1};
  std::thread thread_;
};

struct HolderSettings {
  PeerKey key{.epoch = 7, .secret = "the key of epoch 7"};
  PeerLimits limits{};
  std::vector<std::string> proxies{};
  std::size_t per_client = 1'000;
};

class TestHolder final : public TestSide {
 public:
  explicit TestHolder(const HolderSettings& settings = {})
      : TestSide(settings.proxies, settings.per_client),
        compute_http_{&compute_site_, readers_, answers_, {}, {}, &proxies_, nullptr},
        console_http_{&console_site_, readers_, answers_, {}, {}, &proxies_, nullptr} {
    auto address = BoundAddress::bind("127.0.0.1", 0).value();
    target_ = {settings.key, "127.0.0.1:" + std::to_string(address.port())};
    port_ = address.port();
    peers_ = PeerListener::open(io_, std::move(address), settings.key, {compute_, compute_http_},
                                {console_, console_http_}, metrics_, settings.limits)
                 .value();
    peers_->start();
    run();
  }
  ~TestHolder() { stop(); }

  const PeerTarget& target() const { return target_; }
  std::uint16_t port() const { return port_; }
  void stop() {
    if (std::exchange(stopped_, true)) return;
    peers_->stop();
    end();
    peers_->clear();
  }

 private:
  WhoSite compute_site_{"holder compute"};
  WhoSite console_site_{"holder console"};
  const HttpContext compute_http_;
  const HttpContext console_http_;
  PeerTarget target_;
  std::uint16_t port_ = 0;
  bool stopped_ = false;
  std::unique_ptr<PeerListener> peers_;
};

struct SpareSettings {
  RelaySettings relay{};
  std::vector<std::string> proxies{};
  const Tls* tls = nullptr;
};

class TestSpare final : public TestSide {
 public:
  explicit TestSpare(const SpareSettings& settings = {})
      : TestSide(settings.proxies, 1'000),
        relay_(io_, metrics_, settings.relay),
        compute_http_{&site_,  readers_, answers_,
                      {},      {},       &proxies_,
                      nullptr, false,    &relay_.door(Door::compute)},
        console_http_{&site_,  readers_, answers_,
                      {},      {},       &proxies_,
                      nullptr, false,    &relay_.door(Door::console)},
        compute_listener_(
            Listener::open(io_, {"127.0.0.1", 0}, settings.tls, compute_, compute_http_).value()),
        console_listener_(
            Listener::open(io_, {"127.0.0.1", 0}, settings.tls, console_, console_http_).value()) {
    compute_listener_->start();
    console_listener_->start();
    run();
  }
  ~TestSpare() {
    relay_.stop();
    compute_listener_->stop();
    console_listener_->stop();
    end();
  }

  Relay& relay() { return relay_; }
  std::uint16_t compute() const { return compute_listener_->port(); }
  std::uint16_t console() const { return console_listener_->port(); }

 private:
  WhoSite site_{"spare"};
  Relay relay_;
  const HttpContext compute_http_;
  const HttpContext console_http_;
  const std::unique_ptr<Listener> compute_listener_;
  const std::unique_ptr<Listener> console_listener_;
};

}  // namespace hyperflock::net
