#include "net/listener.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <string_view>
#include <utility>

#include "net/stream.h"
#include "telemetry/log.h"

namespace hyperflock::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Acceptor = asio::basic_socket_acceptor<tcp, hub::Strand>;

// The answer to a connection over the limit. It is written without reading the request, so that
// such a connection costs little.
constexpr std::string_view kFull =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: 88\r\n"
    "Retry-After: 5\r\nConnection: close\r\n\r\n"
    R"({"error":{"code":"full","message":"Too many connections are open; try again shortly."}})"
    "\n";
static_assert(kFull.substr(kFull.find("\r\n\r\n") + 4).size() == 88);

class TcpListener final : public Listener {
 public:
  TcpListener(asio::io_context& io, const Tls* tls, Connections& connections,
              const HttpContext& context)
      : io_(io),
        tls_(tls),
        connections_(connections),
        context_(context),
        strand_(asio::make_strand(io)),
        acceptor_(strand_),
        pause_(strand_) {}

  Status bind(const Address& address) {
    ErrorCode error;
    const auto host = asio::ip::make_address(address.host, error);
    const tcp::endpoint endpoint(host, address.port);
    if (!error) acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (!error) port_ = acceptor_.local_endpoint(error).port();
    if (!error) return {};
    return Error{"bind_failed", "Cannot listen on " + address.host + ":" +
                                    std::to_string(address.port) + " (" + error.message() +
                                    "); choose another address or port."};
  }

  void start() override {
    asio::post(strand_, [this] { accept(); });
  }
  void stop() override {
    asio::post(strand_, [this] {
      ErrorCode ignored;
      acceptor_.close(ignored);
      pause_.cancel();
    });
  }
  std::uint16_t port() const override { return port_; }

 private:
  void accept() {
    acceptor_.async_accept(asio::make_strand(io_), [this](ErrorCode error, Socket socket) {
      if (error == asio::error::operation_aborted || !acceptor_.is_open()) return;
      if (error) {
        // Probably no file descriptors are free. New connections wait until some are.
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

  void take(Socket socket) {
    ErrorCode error;
    const tcp::endpoint peer = socket.remote_endpoint(error);
    if (error) return;  // the connection has ended already
    socket.set_option(tcp::no_delay(true), error);
    auto slot = connections_.admit(peer.address().to_string());
    if (!slot) {
      socket.non_blocking(true, error);
      if (tls_ == nullptr) socket.write_some(asio::buffer(kFull), error);
      return;
    }
    TlsContext tls = tls_ == nullptr ? nullptr : tls_->context();
    start_http_connection(std::make_unique<Stream>(std::move(socket), std::move(tls)),
                          std::move(*slot), context_);
  }

  asio::io_context& io_;
  const Tls* tls_;
  Connections& connections_;
  const HttpContext& context_;
  hub::Strand strand_;
  Acceptor acceptor_;
  hub::Timer pause_;
  std::uint16_t port_ = 0;
};

}  // namespace

Result<std::unique_ptr<Listener>> Listener::open(asio::io_context& io, const Address& address,
                                                 const Tls* tls, Connections& connections,
                                                 const HttpContext& context) {
  auto listener = std::make_unique<TcpListener>(io, tls, connections, context);
  TRY(listener->bind(address));
  return std::unique_ptr<Listener>(std::move(listener));
}

}  // namespace hyperflock::net
