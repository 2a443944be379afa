#include "cli/http_client.h"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <boost/url/src.hpp>
#include <boost/url/url_view.hpp>
#include <chrono>
#include <utility>

namespace hyperflock::cli {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace urls = boost::urls;
using Plain = beast::tcp_stream;
using Encrypted = beast::ssl_stream<beast::tcp_stream>;
using Message = http::request<http::string_body>;
using ErrorCode = boost::system::error_code;

constexpr auto kUse = asio::as_tuple(asio::use_awaitable);
constexpr std::uint64_t kLargestReply = std::uint64_t{64} << 20;

Error unreachable(const std::string& why) {
  return Error{"unreachable", "The server cannot be asked: " + why + "."};
}

// Returns the reason why no reply could be read, as text.
std::string fault_of(const ErrorCode& error) {
  if (error == http::error::body_limit) return "its answer is too long";
  const bool broken_off =
      error == http::error::end_of_stream || error == http::error::partial_message;
  const bool misread = error.category() == make_error_code(http::error::bad_version).category();
  return misread && !broken_off ? "it does not speak HTTP" : "it gives no answer";
}

Message message_of(const ClientRequest& request, const urls::url_view& url) {
  const std::string target(url.encoded_target());
  Message message(http::string_to_verb(request.method), target.empty() ? "/" : target, 11);
  message.set(http::field::host, std::string(url.encoded_host_and_port()));
  message.keep_alive(false);
  if (!request.authorization.empty())
    message.set(http::field::authorization, request.authorization);
  if (request.method != "GET") {
    message.set(http::field::content_type, "application/json");
    message.body() = request.body;
    message.prepare_payload();
  }
  return message;
}

// Sends one request over one connection. Everything runs in the caller's thread.
class Exchange {
 public:
  Exchange(const urls::url_view& url, const ClientSettings& settings)
      : url_(url), settings_(settings) {}

  asio::awaitable<Result<ClientReply>> run(Message message) {
    Plain plain(co_await asio::this_coro::executor);
    if (const Status connected = co_await connect(plain); !connected) co_return connected.error();
    if (url_.scheme_id() != urls::scheme::https) co_return co_await ask(plain, message);
    asio::ssl::context context(asio::ssl::context::tls_client);
    if (const Status trusted = trust(context); !trusted) co_return trusted.error();
    Encrypted encrypted(std::move(plain), context);
    if (const Status shaken = co_await shake_hands(encrypted); !shaken) co_return shaken.error();
    co_return co_await ask(encrypted, message);
  }

 private:
  asio::awaitable<Status> connect(Plain& stream) {
    asio::ip::tcp::resolver resolver(co_await asio::this_coro::executor);
    const std::string port(url_.has_port() ? url_.port() : url_.scheme());
    ErrorCode unknown;
    const auto addresses = resolver.resolve(std::string(url_.host_address()), port, unknown);
    if (unknown) co_return unreachable("unknown host");
    give_time(stream);
    const auto [refused, address] = co_await stream.async_connect(addresses, kUse);
    if (refused) co_return unreachable("cannot connect (" + refused.message() + ")");
    co_return Status();
  }

  Status trust(asio::ssl::context& context) const {
    if (settings_.verify == ClientSettings::Verify::none) return {};
    ErrorCode error;
    context.set_verify_mode(asio::ssl::verify_peer);
    if (settings_.ca_file.empty()) {
      context.set_default_verify_paths(error);
    } else {
      context.load_verify_file(settings_.ca_file, error);
    }
    if (error) return unreachable("no certificates of trusted authorities can be read");
    return {};
  }

  asio::awaitable<Status> shake_hands(Encrypted& stream) {
    SSL* const tls = stream.native_handle();
    const std::string host(url_.host_address());
    if (url_.host_type() == urls::host_type::name) {
      SSL_set1_host(tls, host.c_str());
      SSL_set_tlsext_host_name(tls, host.c_str());
    } else {
      X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), host.c_str());
    }
    give_time(stream);
    const auto [error] = co_await stream.async_handshake(asio::ssl::stream_base::client, kUse);
    if (!error) co_return Status();
    const long fault = SSL_get_verify_result(tls);
    if (fault == X509_V_OK) co_return unreachable("the TLS handshake failed");
    co_return unreachable(std::string("its certificate is not trusted (") +
                          X509_verify_cert_error_string(fault) + ")");
  }

  template <typename Stream>
  asio::awaitable<Result<ClientReply>> ask(Stream& stream, const Message& message) {
    give_time(stream);
    const auto [unsent, sent] = co_await http::async_write(stream, message, kUse);
    if (unsent) co_return unreachable("it takes no request");
    beast::flat_buffer buffer;
    http::response_parser<http::string_body> parser;
    parser.body_limit(kLargestReply);
    while (!parser.is_done()) {
      give_time(stream);
      const auto [error, read] = co_await http::async_read_some(stream, buffer, parser, kUse);
      if (error) co_return unreachable(fault_of(error));
    }
    auto reply = parser.release();
    co_return ClientReply{.status = static_cast<int>(reply.result_int()),
                          .status_line = "HTTP/1.1 " + std::to_string(reply.result_int()) + " " +
                                         std::string(reply.reason()),
                          .body = std::move(reply.body())};
  }

  template <typename Stream>
  void give_time(Stream& stream) const {
    beast::get_lowest_layer(stream).expires_after(std::chrono::milliseconds(settings_.limit_ms));
  }

  urls::url_view url_;
  const ClientSettings& settings_;
};

}  // namespace

Result<ClientReply> ask(const ClientRequest& request, const ClientSettings& settings) {
  const auto url = urls::parse_uri(request.url);
  if (!url || (url->scheme_id() != urls::scheme::http && url->scheme_id() != urls::scheme::https))
    return unreachable("the URL does not begin with http:// or https://");
  asio::io_context io;
  Exchange exchange(*url, settings);
  auto reply = asio::co_spawn(io, exchange.run(message_of(request, *url)), asio::use_future);
  io.run();
  return reply.get();
}

}  // namespace hyperflock::cli
