#include "client/exchange.h"

#include <netdb.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

namespace hyperflock::client {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Plain = beast::tcp_stream;
using Encrypted = beast::ssl_stream<beast::tcp_stream>;
using Request = http::request<http::string_body>;
using ErrorCode = boost::system::error_code;
using What = Failure::What;
using Answered = std::expected<Answer, Failure>;
using Done = std::expected<void, Failure>;

constexpr auto kUse = asio::as_tuple(asio::use_awaitable);
// The files in which systems keep the certificates of the authorities that they trust. A static
// program must try each of them, because it may run on any system.
constexpr std::array kAuthorities{"/etc/ssl/certs/ca-certificates.crt",
                                  "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
                                  "/etc/ssl/cert.pem"};

std::unexpected<Failure> failed(What what, std::string detail = {}) {
  return std::unexpected(Failure{what, std::move(detail)});
}

std::unexpected<Failure> failed(const ErrorCode& error, What what) {
  return failed(error == beast::error::timeout ? What::timeout : what);
}

// Returns why no answer could be read.
std::unexpected<Failure> unread(const ErrorCode& error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow)
    return failed(What::head_too_long);
  if (error == http::error::body_limit) return failed(What::body_too_long);
  const bool broken_off =
      error == http::error::end_of_stream || error == http::error::partial_message;
  const bool misread = error.category() == make_error_code(http::error::bad_version).category();
  return failed(error, misread && !broken_off ? What::not_http : What::no_answer);
}

Request request_of(const Message& message) {
  Request request(http::string_to_verb(message.method), message.target, 11);
  request.set(http::field::host, message.host);
  request.keep_alive(false);
  for (const auto& [name, value] : message.headers) request.set(name, value);
  if (message.body) {
    request.body() = *message.body;
    request.prepare_payload();
  }
  return request;
}

// Everything runs in the caller's thread.
class Exchange {
 public:
  Exchange(const Destination& to, const Limits& limits, const Trust& trust)
      : to_(to), limits_(limits), trust_(trust) {}

  asio::awaitable<Answered> run(Request request) {
    Plain plain(co_await asio::this_coro::executor);
    give_time(plain, Begin::yes);
    if (const Done connected = co_await connect(plain); !connected)
      co_return std::unexpected(connected.error());
    if (!to_.tls) co_return co_await ask(plain, request);
    asio::ssl::context context(asio::ssl::context::tls_client);
    if (const Done trusted = prepare(context); !trusted) co_return std::unexpected(trusted.error());
    Encrypted encrypted(std::move(plain), context);
    if (const Done shaken = co_await shake_hands(encrypted); !shaken)
      co_return std::unexpected(shaken.error());
    co_return co_await ask(encrypted, request);
  }

 private:
  asio::awaitable<Done> connect(Plain& stream) {
    std::string reason;
    for (const asio::ip::address& address : to_.addresses) {
      give_time(stream);
      const auto [error] = co_await stream.async_connect({address, to_.port}, kUse);
      if (!error) co_return Done();
      // With a limit for each step, the next address gets its own time.
      if (error == beast::error::timeout && limits_.time == Limits::Time::whole)
        co_return failed(What::timeout);
      reason = error.message();
      ErrorCode ignored;
      stream.socket().close(ignored);
    }
    co_return failed(What::connect, std::move(reason));
  }

  Done prepare(asio::ssl::context& context) const {
    context.set_options(asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1);
    if (trust_.verify == Trust::Verify::none) return {};
    context.set_verify_mode(asio::ssl::verify_peer);
    ErrorCode error;
    if (trust_.system) {
      // Without certificates the handshake fails and says why.
      context.set_default_verify_paths(error);
      for (const char* path : kAuthorities) {
        std::error_code missing;
        if (std::filesystem::exists(path, missing)) context.load_verify_file(path, error);
      }
    }
    for (const std::string& file : trust_.ca_files) {
      context.load_verify_file(file, error);
      if (error) return failed(What::authorities, file);
    }
    return {};
  }

  asio::awaitable<Done> shake_hands(Encrypted& stream) {
    SSL* const tls = stream.native_handle();
    if (to_.is_literal) {
      X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), to_.host.c_str());
    } else {
      SSL_set1_host(tls, to_.host.c_str());
      SSL_set_tlsext_host_name(tls, to_.host.c_str());
    }
    give_time(stream);
    const auto [error] = co_await stream.async_handshake(asio::ssl::stream_base::client, kUse);
    if (!error) co_return Done();
    const long fault = SSL_get_verify_result(tls);
    if (fault == X509_V_OK) co_return failed(error, What::handshake);
    co_return failed(What::certificate, X509_verify_cert_error_string(fault));
  }

  template <typename Stream>
  asio::awaitable<Answered> ask(Stream& stream, const Request& request) {
    give_time(stream);
    const auto [unsent, sent] = co_await http::async_write(stream, request, kUse);
    if (unsent) co_return failed(unsent, What::send);
    beast::flat_buffer buffer;
    http::response_parser<http::string_body> parser;
    parser.header_limit(limits_.head_bytes);
    // Without a limit, a body of any length may be announced, because it is not read.
    if (limits_.body_bytes) {
      parser.body_limit(*limits_.body_bytes);
    } else {
      parser.body_limit(boost::none);
    }
    give_time(stream);
    const auto [error, read] = co_await http::async_read_header(stream, buffer, parser, kUse);
    if (error) co_return unread(error);
    while (limits_.body_bytes && !parser.is_done()) {
      give_time(stream);
      const auto [broken, more] = co_await http::async_read_some(stream, buffer, parser, kUse);
      if (broken) co_return unread(broken);
    }
    auto answer = parser.release();
    co_return Answer{.status = static_cast<int>(answer.result_int()),
                     .reason = std::string(answer.reason()),
                     .body = std::move(answer.body())};
  }

  enum class Begin { yes, no };
  template <typename Stream>
  void give_time(Stream& stream, Begin begin = Begin::no) const {
    if (begin == Begin::no && limits_.time == Limits::Time::whole) return;
    beast::get_lowest_layer(stream).expires_after(std::chrono::milliseconds(limits_.limit_ms));
  }

  const Destination& to_;
  const Limits& limits_;
  const Trust& trust_;
};

}  // namespace

std::expected<Answer, Failure> exchange(const Destination& to, const Message& message,
                                        const Limits& limits, const Trust& trust) {
  asio::io_context io;
  Exchange one(to, limits, trust);
  auto answer = asio::co_spawn(io, one.run(request_of(message)), asio::use_future);
  io.run();
  return answer.get();
}

std::expected<std::vector<asio::ip::address>, std::string> look_up(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int fault = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(found, &::freeaddrinfo);
  if (fault != 0) return std::unexpected(std::string(::gai_strerror(fault)));
  std::vector<asio::ip::address> addresses;
  for (const addrinfo* one = list.get(); one != nullptr; one = one->ai_next) {
    if (one->ai_family == AF_INET) {
      sockaddr_in v4{};
      std::memcpy(&v4, one->ai_addr, sizeof v4);
      addresses.emplace_back(asio::ip::address_v4(ntohl(v4.sin_addr.s_addr)));
    } else if (one->ai_family == AF_INET6) {
      sockaddr_in6 v6{};
      std::memcpy(&v6, one->ai_addr, sizeof v6);
      asio::ip::address_v6::bytes_type bytes{};
      std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
      addresses.emplace_back(asio::ip::address_v6(bytes, v6.sin6_scope_id));
    }
  }
  return addresses;
}

}  // namespace hyperflock::client
