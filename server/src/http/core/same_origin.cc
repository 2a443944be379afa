#include "http/core/same_origin.h"

#include <string>

#include "base/ip.h"
#include "base/text.h"

namespace hyperflock::http {
Status check_same_origin(const Request& request, std::string_view own_origin) {
  const Error foreign{"cross_origin", "A page of another address may not send this request."};
  if (!request.fetch_site.empty()) {
    if (request.fetch_site == "same-origin" || request.fetch_site == "none") return {};
    return foreign;
  }
  if (request.origin.empty()) return {};
  const std::string origin = lower(request.origin);
  if (!own_origin.empty() && origin == lower(own_origin)) return {};
  const std::size_t start = origin.find("://");
  if (start == std::string::npos || origin.substr(start + 3) != lower(request.host)) return foreign;
  return {};
}

Status check_json(const Request& request) {
  const std::string type = lower(request.content_type.substr(0, request.content_type.find(';')));
  if (trimmed(type) == "application/json") return {};
  return Error{"not_json",
               "Send the body as JSON, with the header Content-Type: application/json."};
}

bool names_loopback(std::string_view host) {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    if (end == std::string_view::npos) return false;
    host = host.substr(1, end - 1);
  } else {
    host = host.substr(0, host.find(':'));
  }
  if (lower(host) == "localhost") return true;
  const auto address = IpAddress::parse(host);
  return address && address->unmapped().is_loopback();
}

}  // namespace hyperflock::http
