#include "traces/exporter.h"

#include <utility>

#include "client/exchange.h"
#include "webhook/url.h"

namespace hyperflock::traces {
namespace {

// The end of the server may wait this long for a collector that does not answer.
constexpr Millis kLimitMs = 3'000;
constexpr std::uint64_t kLongestAnswer = std::uint64_t{64} << 10;

Error error_of(const client::Failure& failure) {
  using What = client::Failure::What;
  std::string why = "The collector of --otlp-endpoint gives no answer in HTTP";
  if (failure.what == What::connect) why = "The collector of --otlp-endpoint cannot be reached";
  if (failure.what == What::timeout) why = "The collector of --otlp-endpoint is too slow";
  if (failure.what == What::handshake || failure.what == What::certificate)
    why = "The collector of --otlp-endpoint has no trusted certificate";
  return {"collector_away", why + (failure.detail.empty() ? "." : " (" + failure.detail + ").")};
}

// Returns the URL without slashes at its end. Error: `bad_webhook`, as parse_url() says.
Result<webhook::Url> base_of(const std::string& text) {
  TRY(auto url, webhook::parse_url(text));
  while (url.target.ends_with('/')) url.target.pop_back();
  return url;
}

Status post(const webhook::Url& url, const std::string& agent, const std::string& json) {
  client::Destination to{
      .port = url.port, .tls = url.tls, .host = url.host, .is_literal = url.literal.has_value()};
  if (url.literal) {
    to.addresses = {*url.literal};
  } else {
    auto found = client::look_up(url.host);
    if (!found) return Error{"collector_away", "The host of --otlp-endpoint has no address."};
    to.addresses = *std::move(found);
  }
  const client::Message message{
      .method = "POST",
      .target = url.target + "/v1/traces",
      .host = url.host_and_port(),
      .headers = {{"User-Agent", agent}, {"Content-Type", "application/json"}},
      .body = json};
  const auto answer = client::exchange(
      to, message, {.limit_ms = kLimitMs, .body_bytes = kLongestAnswer}, client::Trust{});
  if (!answer) return error_of(answer.error());
  if (answer->status >= 200 && answer->status < 300) return {};
  return Error{"collector_refuses", "The collector of --otlp-endpoint answers with the status " +
                                        std::to_string(answer->status) + "."};
}

}  // namespace

std::string endpoint_fault(const std::string& url) {
  const bool parsed = url.find('?') == std::string::npos && base_of(url).has_value();
  return parsed
             ? std::string()
             : "Give the URL of a collector for OTLP over HTTP, without a user and a query, such "
               "as http://127.0.0.1:4318.";
}

Result<std::unique_ptr<telemetry::Tracer>> make_tracer(const ExporterSettings& settings,
                                                       telemetry::Metrics& metrics) {
  if (settings.endpoint.empty()) return std::unique_ptr<telemetry::Tracer>();
  if (const std::string fault = endpoint_fault(settings.endpoint); !fault.empty())
    return Error{"bad_flag", fault};
  const webhook::Url url = base_of(settings.endpoint).value();
  telemetry::TracerSettings tracing;
  tracing.sample = settings.sample;
  tracing.version = settings.version;
  tracing.send = [url, agent = "Hyperflock/" + settings.version](const std::string& json) {
    return post(url, agent, json);
  };
  return std::make_unique<telemetry::Tracer>(std::move(tracing), metrics);
}

}  // namespace hyperflock::traces
