#include "ops/healthcheck.h"

#include <netdb.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

namespace hyperflock::ops {
namespace {

struct Url {
  bool tls = false;
  std::string host;
  std::string port;
  std::string path;
};

Error unhealthy(const std::string& why) {
  return Error{"unhealthy", "The server is not well: " + why + "."};
}

Result<Url> parse_url(const std::string& text) {
  Url url;
  url.tls = text.starts_with("https://");
  std::string_view rest = text;
  const std::size_t scheme = rest.find("://");
  if (scheme == std::string_view::npos) return unhealthy("the URL has no scheme");
  rest.remove_prefix(scheme + 3);
  const std::size_t slash = rest.find('/');
  url.path = slash == std::string_view::npos ? "/" : std::string(rest.substr(slash));
  std::string_view authority = rest.substr(0, slash);
  url.port = url.tls ? "443" : "80";
  const std::size_t bracket = authority.find(']');
  const std::size_t colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon != std::string_view::npos) {
    url.port = authority.substr(colon + 1);
    authority = authority.substr(0, colon);
  }
  if (authority.starts_with('[') && authority.ends_with(']'))
    authority = authority.substr(1, authority.size() - 2);
  url.host = authority;
  return url;
}

// A connected socket, closed at the end of its life.
class Connection {
 public:
  Connection() = default;
  ~Connection() {
    if (socket_ >= 0) ::close(socket_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Status open(const Url& url, Millis limit_ms) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    if (::getaddrinfo(url.host.c_str(), url.port.c_str(), &hints, &list) != 0)
      return unhealthy("unknown host");
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(list, &::freeaddrinfo);
    socket_ = ::socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    timeval limit{};
    limit.tv_sec = limit_ms / 1000;
    limit.tv_usec = (limit_ms % 1000) * 1000;
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (socket_ < 0 || ::connect(socket_, list->ai_addr, list->ai_addrlen) != 0) {
      return unhealthy(std::string("cannot connect (") + std::strerror(errno) + ")");
    }
    if (!url.tls) return Done{};
    context_.reset(SSL_CTX_new(TLS_client_method()));
    tls_.reset(SSL_new(context_.get()));
    SSL_set_fd(tls_.get(), socket_);
    if (SSL_connect(tls_.get()) != 1) return unhealthy("the TLS handshake failed");
    return Done{};
  }

  bool write(const std::string& text) {
    if (tls_)
      return SSL_write(tls_.get(), text.data(), static_cast<int>(text.size())) ==
             static_cast<int>(text.size());
    return ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
  }

  // Bytes read; 0 or less at the end or on a fault.
  long read(char* to, std::size_t room) {
    return tls_ ? SSL_read(tls_.get(), to, static_cast<int>(room)) : ::recv(socket_, to, room, 0);
  }

 private:
  struct Free {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
    void operator()(SSL* tls) const { SSL_free(tls); }
  };
  int socket_ = -1;
  std::unique_ptr<SSL_CTX, Free> context_;
  std::unique_ptr<SSL, Free> tls_;
};

}  // namespace

Status check_health(const std::string& url_text, Millis limit_ms) {
  const Result<Url> url = parse_url(url_text);
  if (!url) return url.error();
  Connection connection;
  Status opened = connection.open(*url, limit_ms);
  if (!opened) return opened;
  if (!connection.write("GET " + url->path + " HTTP/1.1\r\nHost: " + url->host +
                        "\r\nConnection: close\r\n\r\n")) {
    return unhealthy("it takes no request");
  }
  std::string answer;
  std::array<char, 512> piece{};
  while (answer.find("\r\n") == std::string::npos && answer.size() < 4096) {
    const long bytes = connection.read(piece.data(), piece.size());
    if (bytes <= 0) return unhealthy("it gives no answer");
    answer.append(piece.data(), static_cast<std::size_t>(bytes));
  }
  if (answer.starts_with("HTTP/1.1 200 ")) return Done{};
  return unhealthy("it answers \"" + answer.substr(0, answer.find("\r\n")) + "\"");
}

}  // namespace hyperflock::ops
