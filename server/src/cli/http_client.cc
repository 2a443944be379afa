#include "cli/http_client.h"

#include <boost/url/src.hpp>
#include <boost/url/url_view.hpp>
#include <utility>

#include "client/exchange.h"

namespace hyperflock::cli {
namespace {

namespace urls = boost::urls;
using What = client::Failure::What;

constexpr std::uint64_t kLargestReply = std::uint64_t{64} << 20;

Error unreachable(const std::string& why) {
  return Error{"unreachable", "The server cannot be asked: " + why + "."};
}

Error error_of(const client::Failure& failure) {
  switch (failure.what) {
    case What::connect:
      return unreachable("cannot connect (" + failure.detail + ")");
    case What::authorities:
      return unreachable("no certificates of trusted authorities can be read");
    case What::handshake:
      return unreachable("the TLS handshake failed");
    case What::certificate:
      return unreachable("its certificate is not trusted (" + failure.detail + ")");
    case What::send:
      return unreachable("it takes no request");
    case What::head_too_long:
    case What::body_too_long:
      return unreachable("its answer is too long");
    case What::not_http:
      return unreachable("it does not speak HTTP");
    case What::timeout:
    case What::no_answer:
      break;
  }
  return unreachable("it gives no answer");
}

client::Message message_of(const ClientRequest& request, const urls::url_view& url) {
  const std::string target(url.encoded_target());
  client::Message message{.method = request.method,
                          .target = target.empty() ? "/" : target,
                          .host = std::string(url.encoded_host_and_port()),
                          .headers = {},
                          .body = std::nullopt};
  if (!request.authorization.empty())
    message.headers.emplace_back("Authorization", request.authorization);
  if (!request.accept_encoding.empty())
    message.headers.emplace_back("Accept-Encoding", request.accept_encoding);
  if (request.method != "GET") {
    message.headers.emplace_back("Content-Type", "application/json");
    message.body = request.body;
  }
  return message;
}

Result<client::Destination> destination_of(const urls::url_view& url) {
  client::Destination to;
  to.tls = url.scheme_id() == urls::scheme::https;
  to.port = url.has_port() ? url.port_number() : to.tls ? 443 : 80;
  to.host = std::string(url.host_address());
  to.is_literal = url.host_type() != urls::host_type::name;
  auto found = client::look_up(to.host);
  if (!found) return unreachable("unknown host");
  to.addresses = *std::move(found);
  return to;
}

}  // namespace

Result<ClientReply> ask(const ClientRequest& request, const ClientSettings& settings) {
  const auto url = urls::parse_uri(request.url);
  if (!url || (url->scheme_id() != urls::scheme::http && url->scheme_id() != urls::scheme::https))
    return unreachable("the URL does not begin with http:// or https://");
  TRY(const auto to, destination_of(*url));
  client::Trust trust;
  if (settings.verify == ClientSettings::Verify::none) trust.verify = client::Trust::Verify::none;
  if (!settings.ca_file.empty()) {
    trust.ca_files = {settings.ca_file};
    trust.system = false;
  }
  auto answer = client::exchange(to, message_of(request, *url),
                                 {.time = client::Limits::Time::step,
                                  .limit_ms = settings.limit_ms,
                                  .body_bytes = kLargestReply},
                                 trust);
  if (!answer) return error_of(answer.error());
  return ClientReply{
      .status = answer->status,
      .status_line = "HTTP/1.1 " + std::to_string(answer->status) + " " + answer->reason,
      .body = std::move(answer->body)};
}

}  // namespace hyperflock::cli
