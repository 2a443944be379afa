#include "cli/healthcheck.h"

#include "cli/http_client.h"

namespace hyperflock::cli {
namespace {

Error unhealthy(const std::string& why) {
  return Error{"unhealthy", "The server is not well: " + why};
}

}  // namespace

Status check_health(const std::string& url, Millis limit_ms) {
  ClientSettings settings;
  settings.limit_ms = limit_ms;
  settings.verify = ClientSettings::Verify::none;
  const auto reply = ask({.method = "GET", .url = url, .authorization = {}, .body = {}}, settings);
  if (!reply) return unhealthy(reply.error().message);
  if (reply->status == 200) return {};
  return unhealthy("it answers \"" + reply->status_line + "\".");
}

}  // namespace hyperflock::cli
