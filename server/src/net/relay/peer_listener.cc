// See peer_listener.h.
#include "net/relay/peer_listener.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "http/core/message.h"
#include "net/relay/link_socket.h"
#include "net/relay/relay_header.h"
#include "net/stream.h"
#include "telemetry/log.h"

namespace hyperflock::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using telemetry::Counter;
using telemetry::Gauge;
using Acceptor = asio::basic_socket_acceptor<tcp, hub::Strand>;

constexpr int kStops = 1012;
constexpr std::size_t kSinkBytes = 4'096;

// What all connections of one listener share. They own it, because they may outlive the listener.
struct Shared {
  Shared(TlsContext tls, const PeerListener::Origin& of_compute,
         const PeerListener::Origin& of_console, telemetry::Metrics& counts,
         const PeerLimits& of_peers)
      : context(std::move(tls)),
        compute(of_compute),
        console(of_console),
        metrics(counts),
        limits(of_peers),
        beginning(of_peers.beginning, of_peers.beginning, counts, "peer") {}

  const TlsContext context;
  const PeerListener::Origin compute;
  const PeerListener::Origin console;
  telemetry::Metrics& metrics;
  const PeerLimits limits;
  Connections beginning;  // those that have not shown the key and the header yet
};

// Counts a relayed connection while it lives.
class Counted {
 public:
  explicit Counted(telemetry::Metrics& metrics) : metrics_(metrics) {
    metrics_.count(Counter::connections_relayed);
    metrics_.change(Gauge::relayed_connections, 1);
  }
  ~Counted() { metrics_.change(Gauge::relayed_connections, -1); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  telemetry::Metrics& metrics_;
};

// A link until it is known which client it is for.
class PeerConnection final : public Closable, public std::enable_shared_from_this<PeerConnection> {
 public:
  PeerConnection(Socket socket, ConnectionSlot slot, std::shared_ptr<Shared> shared)
      : shared_(std::move(shared)),
        stream_(std::make_unique<Stream>(std::move(socket), shared_->context)),
        slot_(std::move(slot)),
        timer_(stream_->get_executor()) {}

  void start() {
    slot_.attach(shared_from_this());
    asio::co_spawn(
        timer_.get_executor(), [self = shared_from_this()] { return self->run(); },
        [](const std::exception_ptr& fault) {
          if (fault) telemetry::log(telemetry::LogLevel::error, "connection_fault", {});
        });
  }

  void shut(int) override { end("stopping"); }
  void displace() override { end("displaced"); }
  void check_progress(Instant) override {}

 private:
  // Ends the connection while it is beginning. Any thread.
  void end(const char* why) {
    asio::post(timer_.get_executor(), [self = shared_from_this(), why] { self->cut(why); });
  }

  void cut(const char* why) {
    if (stream_ == nullptr || !stream_->next_layer().is_open()) return;
    if (refusal_ == nullptr) refusal_ = why;
    ErrorCode ignored;
    (void)stream_->next_layer().close(ignored);
  }

  LinkTask<void> run() {
    timer_.expires_after(std::chrono::milliseconds(shared_->limits.begin_ms));
    timer_.async_wait([weak = weak_from_this()](ErrorCode stopped) {
      if (const auto self = weak.lock(); self && !stopped) self->cut("silent");
    });
    auto [error, none] = co_await stream_->tls()->async_handshake(std::string(), kLinkUse);
    if (error || !stream_->tls()->connection().has_shared_key()) {
      cut("bad_handshake");
    } else {
      co_await take_client();
    }
    timer_.cancel();
    if (refusal_ != nullptr) shared_->metrics.count(Counter::peers_refused, refusal_);
    slot_ = ConnectionSlot();
    if (stream_ != nullptr) cut("ended");
  }

  LinkTask<void> take_client() {
    std::string header;
    RelayRead read = read_relay_header(header);
    while (read.state == RelayRead::State::more) {
      const std::size_t before = header.size();
      header.resize(before + read.missing);
      const asio::mutable_buffer room = asio::buffer(header) + before;
      auto [error, bytes] = co_await stream_->async_read_some(room, kLinkUse);
      if (error) co_return cut("bad_header");
      header.resize(before + bytes);
      read = read_relay_header(header);
    }
    if (read.state == RelayRead::State::bad) co_return cut("bad_header");
    const RelayedClient& client = read.client;
    const PeerListener::Origin& origin =
        client.door == Door::console ? shared_->console : shared_->compute;
    const TrustedProxies* const proxies = origin.context.proxies;
    const IpAddress& address = client.client.address;
    const bool by_proxy = proxies != nullptr && proxies->contains(address);
    auto slot = origin.connections.admit(by_proxy ? std::string() : client_network(address));
    if (!slot) co_return co_await refuse(slot.error());
    stream_->keep(std::make_shared<Counted>(shared_->metrics));
    timer_.cancel();
    start_relayed_connection(std::move(stream_), std::move(*slot), {client.client, client.named},
                             origin.context);
  }

  // Answers a client that exceeds a limit. Its request is not read, so that the answer costs
  // little.
  LinkTask<void> refuse(const Error& reason) {
    const http::Response response = http::error_response(reason);
    const std::string answer =
        http::serialize_head(response, http::KeepAlive::no) + std::get<std::string>(response.body);
    auto [error, bytes] = co_await asio::async_write(*stream_, asio::buffer(answer), kLinkUse);
    if (error) co_return;
    ErrorCode ignored;
    (void)stream_->next_layer().shutdown(Socket::shutdown_send, ignored);
    // Closing a socket with unread bytes would make the other end drop the answer.
    std::string sink(kSinkBytes, '\0');
    const asio::mutable_buffer room = asio::buffer(sink);
    for (ErrorCode ended; !ended;) {
      auto [cut, some] = co_await stream_->next_layer().async_read_some(room, kLinkUse);
      ended = cut;
    }
  }

  const std::shared_ptr<Shared> shared_;
  std::unique_ptr<Stream> stream_;
  ConnectionSlot slot_;
  hub::Timer timer_;
  const char* refusal_ = nullptr;
};

class TcpPeerListener final : public PeerListener {
 public:
  TcpPeerListener(asio::io_context& io, std::shared_ptr<Shared> shared)
      : io_(io),
        shared_(std::move(shared)),
        strand_(asio::make_strand(io)),
        acceptor_(strand_),
        pause_(strand_) {}

  Status listen(BoundAddress address) {
    ErrorCode error;
    const tcp protocol = address.is_v6() ? tcp::v6() : tcp::v4();
    const std::uint16_t port = address.port();
    (void)acceptor_.assign(protocol, address.release(), error);
    if (!error) prepare_link(acceptor_.native_handle());
    if (!error) (void)acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (!error) return {};
    return Error{"bind_failed", "Cannot listen on port " + std::to_string(port) + " of --peer (" +
                                    error.message() + ")."};
  }

  void start() override {
    asio::post(strand_, [this] { accept(); });
  }
  void stop() override {
    asio::post(strand_, [this] {
      ErrorCode ignored;
      (void)acceptor_.close(ignored);
      pause_.cancel();
    });
    shared_->beginning.shut_all(kStops);
  }
  void clear() override { shared_->beginning.clear(); }

 private:
  void accept() {
    acceptor_.async_accept(asio::make_strand(io_), [this](ErrorCode error, Socket socket) {
      if (error == asio::error::operation_aborted || !acceptor_.is_open()) return;
      if (error) {
        telemetry::log(telemetry::LogLevel::warning, "accept_failed",
                       {{"reason", error.message()}});
        pause_.expires_after(std::chrono::milliseconds(100));
        pause_.async_wait([this](ErrorCode stopped) {
          if (!stopped) accept();
        });
        return;
      }
      take(std::move(socket));
      accept();
    });
  }

  // A new connection displaces the oldest one that has not shown the key, so that silent ones keep
  // no spare away.
  void take(Socket socket) {
    auto slot = shared_->beginning.admit({});
    if (!slot) return shared_->metrics.count(Counter::peers_refused, slot.error().code);
    prepare_link(socket.native_handle());
    std::make_shared<PeerConnection>(std::move(socket), std::move(*slot), shared_)->start();
  }

  asio::io_context& io_;
  const std::shared_ptr<Shared> shared_;
  hub::Strand strand_;
  Acceptor acceptor_;
  hub::Timer pause_;
};

}  // namespace

Result<std::unique_ptr<PeerListener>> PeerListener::open(asio::io_context& io, BoundAddress address,
                                                         const PeerKey& key, const Origin& compute,
                                                         const Origin& console,
                                                         telemetry::Metrics& metrics,
                                                         const PeerLimits& limits) {
  auto listener = std::make_unique<TcpPeerListener>(
      io, std::make_shared<Shared>(peer_context(key, TlsEnd::accepts), compute, console, metrics,
                                   limits));
  TRY(listener->listen(std::move(address)));
  return std::unique_ptr<PeerListener>(std::move(listener));
}

}  // namespace hyperflock::net
