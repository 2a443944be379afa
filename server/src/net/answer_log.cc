#include "net/answer_log.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include "base/steady_clock.h"
#include "telemetry/log.h"

namespace hyperflock::net {
namespace {

using telemetry::LogLevel;

std::string_view name_of(http::Method method) {
  switch (method) {
    case http::Method::get:
      return "GET";
    case http::Method::head:
      return "HEAD";
    case http::Method::post:
      return "POST";
    case http::Method::put:
      return "PUT";
    case http::Method::remove:
      return "DELETE";
    case http::Method::other:
      break;
  }
  return "other";
}

}  // namespace

telemetry::RequestContext AnswerLog::begin() const {
  telemetry::RequestContext request = telemetry::new_request();
  request.sampled = tracer_ != nullptr && tracer_->samples(request);
  return request;
}

telemetry::RequestContext AnswerLog::go_on(const telemetry::RequestContext& client) {
  telemetry::RequestContext request = telemetry::child_of(client);
  request.sampled = client.sampled && tracer_ != nullptr && tracer_->admits_wish();
  return request;
}

void AnswerLog::trace(const http::Request& request, int status, const std::string& error,
                      std::chrono::duration<double> spent) {
  using telemetry::Span;
  const std::string method(name_of(request.method));
  const std::int64_t end_ns = telemetry::wall_ns();
  const std::int64_t spent_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count();
  const bool has_route = !request.pattern.empty();
  Span span{.context = request.context,
            .parent = request.parent_span,
            .kind = Span::Kind::server,
            .name = has_route ? method + ' ' + std::string(request.pattern) : method,
            .start_ns = end_ns - spent_ns,
            .end_ns = end_ns,
            .attributes = {{"http.request.method", method},
                           {"http.response.status_code", std::int64_t{status}}}};
  if (has_route) span.attributes.emplace_back("http.route", std::string(request.pattern));
  if (!error.empty()) span.attributes.emplace_back("error.type", error);
  // By OpenTelemetry's conventions, a request that the client got wrong is no error of the server.
  if (status >= 500) span.error = error.empty() ? std::to_string(status) : error;
  tracer_->add(std::move(span));
}

void AnswerLog::note(const http::Request& request, int status, const std::string& error,
                     std::chrono::duration<double> spent) {
  static constexpr std::array<std::string_view, 6> kClasses{"", "1xx", "2xx", "3xx", "4xx", "5xx"};
  const auto group = static_cast<std::size_t>(status) / 100;
  metrics_.count(telemetry::Counter::http_requests,
                 group < kClasses.size() ? kClasses[group] : kClasses[0]);
  metrics_.observe(telemetry::Histogram::http_seconds, spent.count());

  if (tracer_ != nullptr && request.context.sampled) trace(request, status, error, spent);
  const double ms = std::round(spent.count() * 1e4) / 10;
  // A monitor asks again and again, and /readyz is 503 as long as a trouble lasts. A spare answers
  // everything by 503.
  const bool is_probe = request.lane.band == hub::Band::monitors || error == "shard_waiting";
  if (status >= 500 && !is_probe) {
    if (const auto left_out = failed_.admit(steady_now())) {
      telemetry::log(LogLevel::warning, "request_failed",
                     {{"method", name_of(request.method)},
                      {"route", request.pattern},
                      {"status", status},
                      {"code", error},
                      {"ms", ms},
                      {"person", request.principal.name},
                      {"left_out", *left_out}});
    }
  } else if (status >= 400 && request.principal.id != 0 && !is_probe) {
    if (const auto left_out = refused_.admit(steady_now())) {
      telemetry::log(LogLevel::info, "request_refused",
                     {{"method", name_of(request.method)},
                      {"route", request.pattern},
                      {"status", status},
                      {"code", error},
                      {"ms", ms},
                      {"person", request.principal.name},
                      {"left_out", *left_out}});
    }
  } else if (telemetry::logs(LogLevel::debug)) {
    telemetry::log(LogLevel::debug, "request",
                   {{"method", name_of(request.method)},
                    {"route", request.pattern},
                    {"status", status},
                    {"code", error},
                    {"ms", ms}});
  }
}

}  // namespace hyperflock::net
