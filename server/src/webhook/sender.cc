#include "webhook/sender.h"

#include <utility>

#include "client/exchange.h"

namespace hyperflock::webhook {
namespace {

namespace asio = boost::asio;
using What = client::Failure::What;

// The most addresses of a host that are tried.
constexpr std::size_t kMostAddresses = 4;

Error error_of(const client::Failure& failure) {
  switch (failure.what) {
    case What::connect:
      return {"webhook_unreachable", "The webhook's host refuses the connection."};
    case What::authorities:
      return {"webhook_tls", "The certificates in " + failure.detail + " cannot be read."};
    case What::handshake:
      return {"webhook_tls", "The TLS handshake with the webhook's host failed."};
    case What::certificate:
      return {"webhook_tls",
              "The certificate of the webhook's host is not trusted (" + failure.detail + ")."};
    case What::timeout:
      return {"webhook_timeout", "The webhook's host did not answer in time."};
    case What::send:
      return {"webhook_answer", "The webhook's host takes no request."};
    case What::head_too_long:
      return {"webhook_answer", "The head of the webhook's answer is too long."};
    case What::body_too_long:
    case What::not_http:
    case What::no_answer:
      break;
  }
  return {"webhook_answer", "The webhook's host gives no answer in HTTP."};
}

}  // namespace

Result<std::vector<asio::ip::address>> system_lookup(const std::string& host) {
  auto found = client::look_up(host);
  if (found) return *std::move(found);
  return Error{"webhook_unresolved",
               "The server finds no address of the webhook's host (" + found.error() + ")."};
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
  client::Message message{
      .method = "POST",
      .target = url.target,
      .host = url.host_and_port(),
      .headers = {{"User-Agent", settings_.agent}, {"Content-Type", "application/json"}},
      .body = post.body};
  message.headers.insert(message.headers.end(), post.headers.begin(), post.headers.end());
  client::Trust trust;
  if (!settings_.ca_file.empty()) trust.ca_files.push_back(settings_.ca_file);
  const auto answer = client::exchange({.addresses = std::move(allowed),
                                        .port = url.port,
                                        .tls = url.tls,
                                        .host = url.host,
                                        .is_literal = url.literal.has_value()},
                                       message, {.limit_ms = settings_.limit_ms}, trust);
  if (!answer) return error_of(answer.error());
  return answer->status;
}

bool may_retry(const Error& error) {
  return error.code != "bad_webhook" && error.code != "webhook_refused";
}

}  // namespace hyperflock::webhook
