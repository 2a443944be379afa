#include "cli/http_client.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

namespace hyperflock::cli {
namespace {

constexpr std::size_t kLargestReply = std::size_t{64} << 20;

struct Url {
  bool tls = false;
  std::string host;
  std::string port;
  std::string path;
};

Error unreachable(const std::string& why) {
  return Error{"unreachable", "The server cannot be asked: " + why + "."};
}

Result<Url> parse_url(const std::string& text) {
  Url url;
  url.tls = text.starts_with("https://");
  std::string_view rest = text;
  const std::size_t scheme = rest.find("://");
  if (scheme == std::string_view::npos) return unreachable("the URL has no scheme");
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

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> binary{};
  return inet_pton(AF_INET, host.c_str(), binary.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), binary.data()) == 1;
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

  Status open(const Url& url, const ClientSettings& settings) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    if (::getaddrinfo(url.host.c_str(), url.port.c_str(), &hints, &list) != 0)
      return unreachable("unknown host");
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(list, &::freeaddrinfo);
    socket_ = ::socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    timeval limit{};
    limit.tv_sec = settings.limit_ms / 1000;
    limit.tv_usec = (settings.limit_ms % 1000) * 1000;
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (socket_ < 0 || ::connect(socket_, list->ai_addr, list->ai_addrlen) != 0)
      return unreachable(std::string("cannot connect (") + std::strerror(errno) + ")");
    return url.tls ? shake_hands(url, settings) : Status(Done{});
  }

  bool write(std::string_view text) {
    while (!text.empty()) {
      const long sent = tls_ ? SSL_write(tls_.get(), text.data(), static_cast<int>(text.size()))
                             : ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // Bytes read; 0 or less at the end or on a fault.
  long read(char* to, std::size_t room) {
    return tls_ ? SSL_read(tls_.get(), to, static_cast<int>(room)) : ::recv(socket_, to, room, 0);
  }

 private:
  Status shake_hands(const Url& url, const ClientSettings& settings) {
    context_.reset(SSL_CTX_new(TLS_client_method()));
    if (settings.verify == ClientSettings::Verify::identity) {
      SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
      const int loaded =
          settings.ca_file.empty()
              ? SSL_CTX_set_default_verify_paths(context_.get())
              : SSL_CTX_load_verify_locations(context_.get(), settings.ca_file.c_str(), nullptr);
      if (loaded != 1) return unreachable("no certificates of trusted authorities can be read");
    }
    tls_.reset(SSL_new(context_.get()));
    SSL_set_fd(tls_.get(), socket_);
    if (is_address(url.host)) {
      X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls_.get()), url.host.c_str());
    } else {
      SSL_set1_host(tls_.get(), url.host.c_str());
      SSL_set_tlsext_host_name(tls_.get(), url.host.c_str());
    }
    if (SSL_connect(tls_.get()) == 1) return Done{};
    const long fault = SSL_get_verify_result(tls_.get());
    if (fault != X509_V_OK)
      return unreachable(std::string("its certificate is not trusted (") +
                         X509_verify_cert_error_string(fault) + ")");
    return unreachable("the TLS handshake failed");
  }

  struct Free {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
    void operator()(SSL* tls) const { SSL_free(tls); }
  };
  int socket_ = -1;
  std::unique_ptr<SSL_CTX, Free> context_;
  std::unique_ptr<SSL, Free> tls_;
};

std::optional<std::size_t> content_length(std::string_view head) {
  constexpr std::string_view kName = "content-length:";
  std::string lower(head);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::size_t at = lower.find(kName);
  if (at == std::string::npos) return std::nullopt;
  std::size_t from = at + kName.size();
  while (from < lower.size() && lower[from] == ' ') ++from;
  std::size_t value = 0;
  std::from_chars(lower.data() + from, lower.data() + lower.size(), value);
  return value;
}

}  // namespace

Result<ClientReply> ask(const ClientRequest& request, const ClientSettings& settings) {
  const Result<Url> url = parse_url(request.url);
  if (!url) return url.error();
  Connection connection;
  const Status opened = connection.open(*url, settings);
  if (!opened) return opened.error();
  std::string text = request.method + " " + url->path + " HTTP/1.1\r\nHost: " + url->host +
                     "\r\nConnection: close\r\n";
  if (!request.authorization.empty()) text += "Authorization: " + request.authorization + "\r\n";
  if (request.method != "GET")
    text +=
        "Content-Type: application/json\r\nContent-Length: " + std::to_string(request.body.size()) +
        "\r\n";
  if (!connection.write(text + "\r\n" + request.body)) return unreachable("it takes no request");

  std::string answer;
  std::array<char, 16'384> piece{};
  std::size_t body_at = std::string::npos;
  std::optional<std::size_t> wanted;
  const auto complete = [&] {
    if (body_at == std::string::npos) {
      const std::size_t end = answer.find("\r\n\r\n");
      if (end == std::string::npos) return false;
      body_at = end + 4;
      wanted = content_length(std::string_view(answer).substr(0, body_at));
    }
    return wanted && answer.size() >= body_at + *wanted;
  };
  while (!complete()) {
    const long bytes = connection.read(piece.data(), piece.size());
    if (bytes <= 0) break;
    answer.append(piece.data(), static_cast<std::size_t>(bytes));
    if (answer.size() > kLargestReply) return unreachable("its answer is too long");
  }
  if (body_at == std::string::npos || (wanted && answer.size() < body_at + *wanted))
    return unreachable("it gives no answer");
  ClientReply reply;
  reply.status_line = answer.substr(0, answer.find("\r\n"));
  const std::size_t space = reply.status_line.find(' ');
  if (!reply.status_line.starts_with("HTTP/1.") || space == std::string::npos)
    return unreachable("it does not speak HTTP");
  std::from_chars(reply.status_line.data() + space + 1,
                  reply.status_line.data() + reply.status_line.size(), reply.status);
  reply.body = answer.substr(body_at);
  return reply;
}

}  // namespace hyperflock::cli
