// See spare.h.
#include "app/spare/spare.h"

#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "app/machine/observed.h"
#include "app/spare/listening.h"
#include "base/steady_clock.h"
#include "http/core/same_origin.h"
#include "http/core/site.h"
#include "hub/reader_pool.h"
#include "net/answer_log.h"
#include "net/connections.h"
#include "net/listener.h"
#include "net/proxy/trusted_proxies.h"
#include "net/relay/relay.h"
#include "net/tls.h"
#include "telemetry/log.h"
#include "telemetry/metrics.h"

namespace hyperflock::app {
namespace {

namespace asio = boost::asio;
using settings::Address;
using settings::ServeConfig;
using telemetry::Gauge;

constexpr std::chrono::milliseconds kLookEvery{500};
constexpr std::int64_t kSpareRetryS = 5;
constexpr int kSpareEnds = 1012;
constexpr Millis kSpareEndMs = 1'000;

// The metrics that a spare has. All others are about a server that serves.
constexpr std::array<std::string_view, 15> kSpareMetrics{"hyperflock_build_info",
                                                         "hyperflock_connections",
                                                         "hyperflock_connections_refused_total",
                                                         "hyperflock_shard_held",
                                                         "hyperflock_spare_connections",
                                                         "hyperflock_spare_connections_waiting",
                                                         "hyperflock_spare_database_away",
                                                         "hyperflock_spare_links_failed_total",
                                                         "hyperflock_spare_links_opened_total",
                                                         "hyperflock_spare_relayed_bytes_total",
                                                         "process_cpu_seconds_total",
                                                         "process_max_fds",
                                                         "process_open_fds",
                                                         "process_resident_memory_bytes",
                                                         "process_start_time_seconds"};

// Answers requests that are not passed on, without a body of the client. `metrics`: those that
// programs of this machine may read; null: none.
class SpareSite final : public http::Site {
 public:
  explicit SpareSite(const telemetry::Metrics* metrics) : metrics_(metrics) {}

  http::Plan plan(http::Request& request) override {
    if (metrics_ != nullptr && request.path == "/metrics/own") return plan_metrics(request);
    const bool asks_for_life = request.path == "/healthz" && (request.method == http::Method::get ||
                                                              request.method == http::Method::head);
    http::Plan plan;
    plan.response =
        asks_for_life
            ? http::json_response(200, R"({"status":"ok"})")
            : http::error_response(503, Error{.code = "shard_waiting",
                                              .message = "This server waits until it may take the "
                                                         "database over: ask again later, or ask "
                                                         "another server.",
                                              .retry_after_s = kSpareRetryS});
    return plan;
  }
  void handle(std::shared_ptr<const http::Request>, http::Reply reply) override {
    metrics_->refresh();
    http::Response response;
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    response.headers.emplace_back("Cache-Control", "no-store");
    response.body = metrics_->text(kSpareMetrics);
    reply(std::move(response));
  }
  Result<std::unique_ptr<http::Upload>> open_upload(const http::Request&) override {
    return Error{"shard_waiting", "This server waits."};
  }

 private:
  // A spare knows no tokens. What it counts is about nobody, but a page of another origin must not
  // read it by a name that leads to this machine.
  static http::Plan plan_metrics(http::Request& request) {
    http::Plan plan;
    request.lane = {hub::Band::monitors, {}};
    if (request.local && http::names_loopback(request.host)) {
      plan.kind = http::Plan::Kind::handle;
    } else {
      plan.response = http::error_response(
          Error{"forbidden",
                "A spare knows no tokens: read its metrics on its own machine, by a loopback "
                "address."});
    }
    return plan;
  }

  const telemetry::Metrics* const metrics_;
};

class WaitingServer final : public Spare {
 public:
  WaitingServer(const ServeConfig& config, std::unique_ptr<storage::ShardWatch> watch,
                std::unique_ptr<net::Tls> tls, net::TrustedProxies proxies)
      : config_(config),
        watch_(std::move(watch)),
        tls_(std::move(tls)),
        proxies_(std::move(proxies)),
        compute_connections_(config.max_connections_per_address, config.max_connections, metrics_,
                             "compute"),
        console_connections_(config.max_connections_per_address, config.max_console_connections,
                             metrics_, "console"),
        readers_({}),
        compute_http_{&compute_site_, readers_, answers_, {}, {}, &proxies_, nullptr},
        console_http_{&console_site_, readers_, answers_, {}, {}, &proxies_, nullptr} {
    observe_start(metrics_);
    metrics_.before_read([this] {
      observe_process(metrics_);
      metrics_.set(Gauge::spare_connections, static_cast<double>(relay_.carried()));
      metrics_.set(Gauge::spare_waiting, static_cast<double>(relay_.waiting()));
    });
    compute_http_.onward = &relay_.door(net::Door::compute);
    console_http_.onward = &relay_.door(net::Door::console);
  }

  ~WaitingServer() override { stop(); }

  Status listen() {
    const auto open = [this](const Address& address, bool tls, net::Connections& connections,
                             const net::HttpContext& context) {
      return net::Listener::open(io_, {address.host, address.port}, tls ? tls_.get() : nullptr,
                                 connections, context);
    };
    TRY(compute_, open(config_.compute, config_.tls(), compute_connections_, compute_http_));
    TRY(console_,
        open(config_.console, config_.console_tls(), console_connections_, console_http_));
    compute_->start();
    console_->start();
    serves_ = std::thread([this] { io_.run(); });
    looks_ = std::thread([this] { look(); });
    telemetry::log(telemetry::LogLevel::info, "shard_waiting",
                   {{"compute", compute_->port()}, {"console", console_->port()}});
    return {};
  }

  std::uint16_t compute_port() const override { return compute_->port(); }
  std::uint16_t console_port() const override { return console_->port(); }
  bool may_take() const override { return may_take_; }

  void reload() override {
    if (tls_ != nullptr) (void)reload_certificate(*tls_);
  }

  void stop() override {
    if (stopped_) return;
    stopped_ = true;
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    if (looks_.joinable()) looks_.join();
    relay_.stop();
    for (net::Listener* one : {compute_.get(), console_.get()})
      if (one != nullptr) one->stop();
    for (net::Connections* open : both()) open->shut_all(kSpareEnds);
    if (serves_.joinable()) {
      for (net::Connections* open : both()) (void)open->wait_empty(kSpareEndMs);
    }
    readers_.stop();
    io_.stop();
    if (serves_.joinable()) serves_.join();
    for (net::Connections* open : both()) open->clear();
    compute_.reset();  // frees the addresses
    console_.reset();
  }

 private:
  std::array<net::Connections*, 2> both() { return {&compute_connections_, &console_connections_}; }

  // Returns where connections are passed on to.
  static std::optional<net::PeerTarget> target_of(const storage::ShardSeen& seen) {
    if (seen.peer.address.empty()) return std::nullopt;
    return net::PeerTarget{.key = {.epoch = seen.epoch, .secret = seen.peer.secret},
                           .address = seen.peer.address};
  }

  // Runs on its own thread, because the database may answer late.
  void look() {
    std::string holder;
    bool answered = true;
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      lock.unlock();
      const auto seen = watch_->look();
      may_take_ = seen && seen->may_take;
      metrics_.set(Gauge::spare_database_away, seen ? 0 : 1);
      // While the database is away, the server that has it may still be there.
      if (seen) relay_.set_target(target_of(*seen));
      for (net::Connections* open : both()) open->check_progress(steady_now());
      if (seen && seen->server != holder) {
        holder = seen->server;
        telemetry::log(telemetry::LogLevel::info, "shard_seen", {{"server", holder}});
      }
      if (seen.has_value() != std::exchange(answered, seen.has_value())) {
        telemetry::log(answered ? telemetry::LogLevel::info : telemetry::LogLevel::warning,
                       answered ? "database_back" : "database_away",
                       {{"reason", answered ? std::string() : seen.error().message}});
      }
      lock.lock();
      wake_.wait_for(lock, kLookEvery, [this] { return stopping_; });
    }
  }

  const ServeConfig config_;
  const std::unique_ptr<storage::ShardWatch> watch_;
  telemetry::Metrics metrics_;
  const std::unique_ptr<net::Tls> tls_;
  const net::TrustedProxies proxies_;
  SpareSite compute_site_{nullptr};
  SpareSite console_site_{&metrics_};
  net::Connections compute_connections_;
  net::Connections console_connections_;
  hub::ReaderPool readers_;
  net::AnswerLog answers_{metrics_, nullptr};
  net::HttpContext compute_http_;
  net::HttpContext console_http_;
  asio::io_context io_{1};
  net::Relay relay_{io_, metrics_};
  std::unique_ptr<net::Listener> compute_;
  std::unique_ptr<net::Listener> console_;
  std::atomic<bool> may_take_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;  // under mutex_
  bool stopped_ = false;
  std::thread serves_;
  std::thread looks_;
};

}  // namespace

Result<std::unique_ptr<Spare>> Spare::start(const ServeConfig& config,
                                            std::unique_ptr<storage::ShardWatch> watch) {
  std::unique_ptr<net::Tls> tls;
  if (config.tls()) {
    TRY(tls, open_certificate(config));
  }
  TRY(auto proxies, net::TrustedProxies::make(config.trusted_proxies));
  auto spare =
      std::make_unique<WaitingServer>(config, std::move(watch), std::move(tls), std::move(proxies));
  TRY(spare->listen());
  return std::unique_ptr<Spare>(std::move(spare));
}

}  // namespace hyperflock::app
