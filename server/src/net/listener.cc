#include "net/listener.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <string>
#include <utility>
#include <variant>

#include "base/ip.h"
#include "http/core/message.h"
#include "net/stream.h"
#include "telemetry/log.h"

namespace hyperflock::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Acceptor = asio::basic_socket_acceptor<tcp, hub::Strand>;

IpAddress address_of(const asio::ip::address& address) {
  return (address.is_v4() ? IpAddress(address.to_v4().to_bytes())
                          : IpAddress(address.to_v6().to_bytes()))
      .unmapped();
}

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
    const IpAddress address = address_of(peer.address());
    // A connection from a trusted proxy counts for the clients behind the proxy, which are not
    // known yet.
    const bool by_proxy = context_.proxies != nullptr && context_.proxies->contains(address);
    auto slot = connections_.admit(by_proxy ? std::string() : client_network(address));
    if (!slot) return refuse(socket, slot.error());
    TlsContext tls = tls_ == nullptr ? nullptr : tls_->context();
    start_http_connection(std::make_unique<Stream>(std::move(socket), std::move(tls)),
                          std::move(*slot), address, context_);
  }

  // Answers a connection that exceeds a limit. The request is not read, so that the answer costs
  // little.
  void refuse(Socket& socket, const Error& reason) {
    if (tls_ != nullptr) return;
    const http::Response response = http::error_response(reason);
    const std::string answer =
        http::serialize_head(response, http::KeepAlive::no) + std::get<std::string>(response.body);
    ErrorCode ignored;
    socket.non_blocking(true, ignored);
    socket.write_some(asio::buffer(answer), ignored);
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
