#include "webhook/sender.h"

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
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <boost/none.hpp>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

namespace hyperflock::webhook {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Plain = beast::tcp_stream;
using Encrypted = beast::ssl_stream<beast::tcp_stream>;
using Message = http::request<http::string_body>;
using ErrorCode = boost::system::error_code;

constexpr auto kUse = asio::as_tuple(asio::use_awaitable);
// The most bytes of an answer's head, and the most addresses of a host that are tried.
constexpr std::uint32_t kLongestHead = 16 * 1024;
constexpr std::size_t kMostAddresses = 4;
// The files in which systems keep the certificates of the authorities that they trust. A static
// program must try each of them, because it may run on any system.
constexpr std::array kAuthorities{"/etc/ssl/certs/ca-certificates.crt",
                                  "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
                                  "/etc/ssl/cert.pem"};

Error timed_out() { return {"webhook_timeout", "The webhook's host did not answer in time."}; }

Error error_of(const ErrorCode& error, std::string code, std::string sentence) {
  if (error == beast::error::timeout) return timed_out();
  return {std::move(code), std::move(sentence)};
}

Message message_of(const Post& post, const Url& url, const std::string& agent) {
  Message message(http::verb::post, url.target, 11);
  message.set(http::field::host, url.host_and_port());
  message.set(http::field::user_agent, agent);
  message.set(http::field::content_type, "application/json");
  for (const auto& [name, value] : post.headers) message.set(name, value);
  message.keep_alive(false);
  message.body() = post.body;
  message.prepare_payload();
  return message;
}

// One request over one connection. Everything runs in the caller's thread.
class Exchange {
 public:
  Exchange(const Url& url, const SenderSettings& settings) : url_(url), settings_(settings) {}

  asio::awaitable<Result<int>> run(std::vector<asio::ip::address> addresses, Message message) {
    Plain plain(co_await asio::this_coro::executor);
    // One time limit for all steps, so that a host gains nothing by answering in single bytes.
    plain.expires_after(std::chrono::milliseconds(settings_.limit_ms));
    if (const Status connected = co_await connect(plain, addresses); !connected)
      co_return connected.error();
    if (!url_.tls) co_return co_await ask(plain, message);
    asio::ssl::context context(asio::ssl::context::tls_client);
    trust(context);
    Encrypted encrypted(std::move(plain), context);
    if (const Status shaken = co_await shake_hands(encrypted); !shaken) co_return shaken.error();
    co_return co_await ask(encrypted, message);
  }

 private:
  // Connects to the checked addresses. The host is not looked up again.
  asio::awaitable<Status> connect(Plain& stream, const std::vector<asio::ip::address>& addresses) {
    for (const asio::ip::address& address : addresses) {
      const auto [error] = co_await stream.async_connect({address, url_.port}, kUse);
      if (!error) co_return Status();
      if (error == beast::error::timeout) co_return timed_out();
      ErrorCode ignored;
      stream.socket().close(ignored);
    }
    co_return Error{"webhook_unreachable", "The webhook's host refuses the connection."};
  }

  void trust(asio::ssl::context& context) const {
    context.set_options(asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1);
    context.set_verify_mode(asio::ssl::verify_peer);
    // Without certificates the handshake fails and says why.
    ErrorCode ignored;
    context.set_default_verify_paths(ignored);
    for (const char* path : kAuthorities) {
      std::error_code missing;
      if (std::filesystem::exists(path, missing)) context.load_verify_file(path, ignored);
    }
    if (!settings_.ca_file.empty()) context.load_verify_file(settings_.ca_file, ignored);
  }

  asio::awaitable<Status> shake_hands(Encrypted& stream) {
    SSL* const tls = stream.native_handle();
    if (url_.literal) {
      X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), url_.host.c_str());
    } else {
      SSL_set1_host(tls, url_.host.c_str());
      SSL_set_tlsext_host_name(tls, url_.host.c_str());
    }
    const auto [error] = co_await stream.async_handshake(asio::ssl::stream_base::client, kUse);
    if (!error) co_return Status();
    const long fault = SSL_get_verify_result(tls);
    if (fault == X509_V_OK)
      co_return error_of(error, "webhook_tls", "The TLS handshake with the webhook's host failed.");
    co_return Error{"webhook_tls",
                    std::string("The certificate of the webhook's host is not trusted (") +
                        X509_verify_cert_error_string(fault) + ")."};
  }

  template <typename Stream>
  asio::awaitable<Result<int>> ask(Stream& stream, const Message& message) {
    const auto [unsent, sent] = co_await http::async_write(stream, message, kUse);
    if (unsent)
      co_return error_of(unsent, "webhook_answer", "The webhook's host takes no request.");
    beast::flat_buffer buffer(kLongestHead);
    http::response_parser<http::empty_body> parser;
    parser.header_limit(kLongestHead);
    parser.body_limit(boost::none);  // the body is not read
    const auto [error, read] = co_await http::async_read_header(stream, buffer, parser, kUse);
    if (error == http::error::header_limit || error == http::error::buffer_overflow)
      co_return Error{"webhook_answer", "The head of the webhook's answer is too long."};
    if (error)
      co_return error_of(error, "webhook_answer", "The webhook's host gives no answer in HTTP.");
    co_return static_cast<int>(parser.get().result_int());
  }

  const Url& url_;
  const SenderSettings& settings_;
};

}  // namespace

Result<std::vector<asio::ip::address>> system_lookup(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int fault = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(found, &::freeaddrinfo);
  if (fault != 0)
    return Error{"webhook_unresolved", "The server finds no address of the webhook's host (" +
                                           std::string(::gai_strerror(fault)) + ")."};
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

Result<int> Sender::post(const Post& post) const {
  TRY(const auto url, parse_url(post.url));
  TRY(settings_.rules.judge(url));
  std::vector<asio::ip::address> found;
  if (url.literal) {
    found.push_back(*url.literal);
  } else {
    TRY(auto looked_up, settings_.lookup(url.host));
    found = std::move(looked_up);
  }
  std::vector<asio::ip::address> allowed;
  Status refusal = Error{"webhook_unresolved", "The webhook's host has no address."};
  for (const asio::ip::address& address : found) {
    const Status judged = settings_.rules.judge(url, address);
    if (!judged) {
      refusal = judged;
    } else if (allowed.size() < kMostAddresses) {
      allowed.push_back(address);
    }
  }
  if (allowed.empty()) return refusal.error();
  asio::io_context io;
  Exchange exchange(url, settings_);
  auto status =
      asio::co_spawn(io, exchange.run(std::move(allowed), message_of(post, url, settings_.agent)),
                     asio::use_future);
  io.run();
  return status.get();
}

bool may_retry(const Error& error) {
  return error.code != "bad_webhook" && error.code != "webhook_refused";
}

}  // namespace hyperflock::webhook
