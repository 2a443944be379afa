// See relay.h.
#include "net/relay/relay.h"

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/steady_clock.h"
#include "net/relay/dial.h"
#include "telemetry/log.h"

namespace hyperflock::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using telemetry::Counter;
using LinkDone = std::function<void(Link)>;

constexpr Millis kLogPauseMs = 60'000;
constexpr std::chrono::milliseconds kLookUpAgain{1'000};

struct HostPort {
  std::string host;
  std::string port;
};

HostPort split(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) return {address, ""};
  std::string host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return {std::move(host), address.substr(colon + 1)};
}

std::vector<tcp::endpoint> numeric(const HostPort& place) {
  ErrorCode error;
  const auto address = asio::ip::make_address(place.host, error);
  std::uint16_t port = 0;
  std::from_chars(place.port.data(), place.port.data() + place.port.size(), port);
  if (error || port == 0) return {};
  return {tcp::endpoint(address, port)};
}

}  // namespace

class Relay::Impl : public std::enable_shared_from_this<Relay::Impl> {
 public:
  Impl(asio::io_context& io, telemetry::Metrics& metrics, const RelaySettings& settings)
      : metrics_(metrics),
        settings_(settings),
        strand_(asio::make_strand(io)),
        resolver_(strand_),
        again_(strand_) {}

  void set_target(const std::optional<PeerTarget>& wanted) {
    std::shared_ptr<Server> made;
    std::vector<std::shared_ptr<Carrier>> ended;
    {
      const std::lock_guard lock(mutex_);
      if (stopped_ || is_known(wanted)) return;
      const std::int64_t before = server_ == nullptr ? 0 : server_->epoch;
      if (wanted) made = server_of(*wanted);
      server_ = made;
      if (made == nullptr || made->epoch != before) ended = alive();
    }
    for (const auto& carrier : ended) carrier->end();
    if (made == nullptr) return;
    telemetry::log(telemetry::LogLevel::info, "relaying",
                   {{"peer", wanted->address}, {"epoch", wanted->key.epoch}});
    if (made->endpoints.empty())
      asio::post(strand_, [self = shared_from_this(), made] { self->look_up(made); });
  }

  void stop() {
    std::vector<std::shared_ptr<Carrier>> ended;
    std::deque<Waiting> waiting;
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      server_ = nullptr;
      waiting.swap(waiting_);
      ended = alive();
    }
    for (const auto& carrier : ended) carrier->end();
    for (Waiting& one : waiting) refuse(one);
    asio::post(strand_, [self = shared_from_this()] {
      self->resolver_.cancel();
      self->again_.cancel();
    });
  }

  void open(const hub::Strand& strand, std::string header, LinkDone done) {
    Waiting asked{strand, std::move(header), std::move(done), steady_now()};
    std::shared_ptr<const Server> server;
    {
      const std::lock_guard lock(mutex_);
      if (is_reachable() && dials_ >= settings_.dials_at_once) {
        waiting_.push_back(std::move(asked));
        return;
      }
      if (is_reachable()) {
        server = server_;
        ++dials_;
      }
    }
    if (server == nullptr) {
      metrics_.count(Counter::spare_links_failed, "no_server");
      return refuse(asked);
    }
    begin(std::move(server), std::move(asked));
  }

  void carry(std::unique_ptr<Stream> client, Link link, ConnectionSlot slot, std::string begun) {
    // Leaves the list when the carrier is destroyed.
    struct Entry {
      std::shared_ptr<Impl> owner;
      std::uint64_t id;
      Entry(std::shared_ptr<Impl> impl, std::uint64_t number)
          : owner(std::move(impl)), id(number) {}
      Entry(const Entry&) = delete;
      Entry& operator=(const Entry&) = delete;
      ~Entry() { owner->forget(id); }
    };
    std::uint64_t id = 0;
    {
      const std::lock_guard lock(mutex_);
      id = ++last_id_;
    }
    auto entry = std::make_shared<Entry>(shared_from_this(), id);
    auto carrier =
        std::make_shared<Carrier>(std::move(client), std::move(link.stream), std::move(slot),
                                  std::move(begun), settings_.carrier, std::move(entry), metrics_);
    bool is_over = false;
    {
      const std::lock_guard lock(mutex_);
      carriers_.emplace(id, carrier);
      is_over = server_ == nullptr || server_->epoch != link.epoch;
    }
    carrier->start();
    if (is_over) carrier->end();
  }

  std::size_t carried() const {
    const std::lock_guard lock(mutex_);
    return carriers_.size();
  }
  std::size_t waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }

 private:
  // The server that has the database.
  struct Server {
    std::int64_t epoch = 0;
    std::string address;
    TlsContext context;
    std::vector<tcp::endpoint> endpoints;  // under mutex_; empty: not found yet
  };
  // A connection that waits for its turn.
  struct Waiting {
    hub::Strand strand;
    std::string header;
    LinkDone done;
    Instant since;
  };

  static std::shared_ptr<Server> server_of(const PeerTarget& target) {
    auto server = std::make_shared<Server>();
    server->epoch = target.key.epoch;
    server->address = target.address;
    server->context = peer_context(target.key, TlsEnd::connects);
    server->endpoints = numeric(split(target.address));
    return server;
  }

  // REQUIRES: mutex_ is held.
  bool is_known(const std::optional<PeerTarget>& wanted) const {
    if (!wanted || server_ == nullptr) return !wanted && server_ == nullptr;
    return wanted->key.epoch == server_->epoch && wanted->address == server_->address;
  }
  bool is_reachable() const { return server_ != nullptr && !server_->endpoints.empty(); }
  std::vector<std::shared_ptr<Carrier>> alive() const {
    std::vector<std::shared_ptr<Carrier>> found;
    for (const auto& [id, weak] : carriers_) {
      if (auto carrier = weak.lock()) found.push_back(std::move(carrier));
    }
    return found;
  }

  void forget(std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    carriers_.erase(id);
  }

  static void refuse(Waiting& asked) {
    asio::post(asked.strand, [done = std::move(asked.done)] { done({}); });
  }

  void begin(std::shared_ptr<const Server> server, Waiting asked) {
    DialSettings settings{.context = server->context,
                          .header = std::move(asked.header),
                          .limit_ms = settings_.dial_ms};
    {
      const std::lock_guard lock(mutex_);
      settings.endpoints = server->endpoints;
    }
    dial(asked.strand, std::move(settings),
         [self = shared_from_this(), server = std::move(server),
          done = std::move(asked.done)](Dialled dialled) {
           self->note_end(dialled);
           done(Link{std::move(dialled.link), server->epoch});
           self->next();
         });
  }

  void note_end(const Dialled& dialled) {
    if (dialled.end == Dialled::End::opened) {
      metrics_.count(Counter::spare_links_opened);
      return;
    }
    const char* const why = dialled.end == Dialled::End::wrong_key ? "wrong_key" : "unreachable";
    metrics_.count(Counter::spare_links_failed, why);
    note_failure(why, dialled.reason);
  }

  bool is_current(const Server& server) const {
    const std::lock_guard lock(mutex_);
    return server_ != nullptr && server_->epoch == server.epoch;
  }

  // A dial has ended: begins the next one that has not waited for too long.
  void next() {
    const Instant now = steady_now();
    std::vector<Waiting> late;
    std::optional<Waiting> turn;
    std::shared_ptr<const Server> server;
    {
      const std::lock_guard lock(mutex_);
      while (!waiting_.empty() && !turn) {
        Waiting one = std::move(waiting_.front());
        waiting_.pop_front();
        if (is_reachable() && now - one.since < settings_.dial_ms) {
          turn.emplace(std::move(one));
        } else {
          late.push_back(std::move(one));
        }
      }
      if (turn) server = server_;
      if (!turn) --dials_;
    }
    for (Waiting& one : late) {
      metrics_.count(Counter::spare_links_failed, "late");
      refuse(one);
    }
    if (turn) begin(std::move(server), std::move(*turn));
  }

  // Logs that links fail, once a minute.
  void note_failure(const char* why, const std::string& reason) {
    {
      const std::lock_guard lock(mutex_);
      const Instant now = steady_now();
      if (log_after_.ms > now.ms) return;
      log_after_ = now + kLogPauseMs;
    }
    telemetry::log(telemetry::LogLevel::warning, "relay_failed",
                   {{"why", why}, {"reason", reason}});
  }

  // Looks the name of the server up, until it is found or another server has the database. On
  // strand_.
  void look_up(const std::shared_ptr<Server>& server) {
    if (!is_current(*server)) return;
    const HostPort place = split(server->address);
    resolver_.async_resolve(
        place.host, place.port,
        [self = shared_from_this(), server](ErrorCode error,
                                            const tcp::resolver::results_type& found) {
          if (!error && !found.empty()) {
            const std::lock_guard lock(self->mutex_);
            for (const auto& one : found) server->endpoints.push_back(one.endpoint());
            return;
          }
          self->note_failure("unreachable", server->address + " was not found: " + error.message());
          self->again_.expires_after(kLookUpAgain);
          self->again_.async_wait([self, server](ErrorCode stopped) {
            if (!stopped) self->look_up(server);
          });
        });
  }

  telemetry::Metrics& metrics_;
  const RelaySettings settings_;
  const hub::Strand strand_;
  asio::ip::basic_resolver<tcp, hub::Strand> resolver_;
  hub::Timer again_;
  mutable std::mutex mutex_;
  std::shared_ptr<Server> server_;
  std::map<std::uint64_t, std::weak_ptr<Carrier>> carriers_;
  std::uint64_t last_id_ = 0;
  std::deque<Waiting> waiting_;
  std::size_t dials_ = 0;
  Instant log_after_{};
  bool stopped_ = false;

 public:
  // The two listeners.
  class Side final : public Onward {
   public:
    Side(Impl& impl, Door door) : impl_(impl), door_(door) {}
    void open(const hub::Strand& strand, const Client& client, bool named, LinkDone done) override {
      impl_.open(strand, write_relay_header({.client = client, .named = named, .door = door_}),
                 std::move(done));
    }
    void carry(std::unique_ptr<Stream> client, Link link, ConnectionSlot slot,
               std::string begun) override {
      impl_.carry(std::move(client), std::move(link), std::move(slot), std::move(begun));
    }

   private:
    Impl& impl_;
    const Door door_;
  };
  Side compute{*this, Door::compute};
  Side console{*this, Door::console};
};

Relay::Relay(asio::io_context& io, telemetry::Metrics& metrics, const RelaySettings& settings)
    : impl_(std::make_shared<Impl>(io, metrics, settings)) {}
Relay::~Relay() = default;
void Relay::set_target(const std::optional<PeerTarget>& target) { impl_->set_target(target); }
void Relay::stop() { impl_->stop(); }
Onward& Relay::door(Door door) {
  return door == Door::compute ? static_cast<Onward&>(impl_->compute) : impl_->console;
}
std::size_t Relay::carried() const { return impl_->carried(); }
std::size_t Relay::waiting() const { return impl_->waiting(); }

}  // namespace hyperflock::net
