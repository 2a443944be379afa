#include "http/core/message.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

#include "telemetry/utf8.h"

namespace hyperflock::http {
namespace {

constexpr std::int64_t kSoonS = 2;
constexpr const char* kDownloadPolicy = "default-src 'none'; sandbox; frame-ancestors 'none'";

struct CodeStatus {
  std::string_view code;
  int status;
};

// The HTTP status of each code. All other codes are faults in a well-formed request: 422.
constexpr std::array kStatuses{
    CodeStatus{"bad_request", 400},
    CodeStatus{"malformed", 400},
    CodeStatus{"unauthorized", 401},
    CodeStatus{"forbidden", 403},
    CodeStatus{"bad_enrolment_code", 403},
    CodeStatus{"approval_pending", 403},
    CodeStatus{"approval_refused", 403},
    CodeStatus{"suspended", 403},
    CodeStatus{"registration_closed", 403},
    CodeStatus{"project_frozen", 403},
    CodeStatus{"bundle_barred", 403},
    CodeStatus{"owner_suspended", 403},
    CodeStatus{"ceiling_exceeded", 403},
    CodeStatus{"not_waiting", 409},
    CodeStatus{"unknown_salt", 409},
    CodeStatus{"unknown_project", 404},
    CodeStatus{"quota_exceeded", 403},
    CodeStatus{"webhooks_off", 403},
    CodeStatus{"not_found", 404},
    CodeStatus{"unknown_study", 404},
    CodeStatus{"no_complete_trial", 404},
    CodeStatus{"no_feasible_trial", 404},
    CodeStatus{"method_not_allowed", 405},
    CodeStatus{"length_required", 411},
    CodeStatus{"body_too_large", 413},
    CodeStatus{"blob_too_large", 413},
    CodeStatus{"checkpoint_too_large", 413},
    CodeStatus{"checkpoint_quota", 429},
    CodeStatus{"artifact_too_large", 413},
    CodeStatus{"artifact_quota", 429},
    CodeStatus{"artifact_count", 403},
    CodeStatus{"device_share", 403},
    CodeStatus{"artifact_exists", 409},
    CodeStatus{"unknown_artifact", 404},
    CodeStatus{"unknown_attempt", 404},
    CodeStatus{"rate_limited", 429},
    CodeStatus{"too_many_requests", 429},
    CodeStatus{"too_many_connections", 429},
    CodeStatus{"bad_forwarded", 400},
    CodeStatus{"bad_proxy_header", 400},
    CodeStatus{"cross_origin", 403},
    CodeStatus{"bad_link", 403},
    CodeStatus{"link_expired", 410},
    CodeStatus{"not_json", 415},
    CodeStatus{"headers_too_large", 431},
    CodeStatus{"internal", 500},
    CodeStatus{"artifact_no_room", 507},
    CodeStatus{"no_room", 507},
    CodeStatus{"storage_unavailable", 503},
    CodeStatus{"disk_full", 503},
    CodeStatus{"read_only", 503},
    CodeStatus{"writer_hangs", 503},
    CodeStatus{"full", 503},
    CodeStatus{"too_many_devices", 503},
    CodeStatus{"shard_waiting", 503},
    CodeStatus{"draining", 503},
    CodeStatus{"unknown_device", 404},
    CodeStatus{"unknown_token", 404},
    CodeStatus{"unknown_researcher", 404},
    CodeStatus{"unknown_enrolment", 404},
    CodeStatus{"unknown_passphrase", 404},
    CodeStatus{"passphrase_taken", 409},
    CodeStatus{"passphrase_full", 409},
    CodeStatus{"name_taken", 409},
    CodeStatus{"name_confusable", 409},
    CodeStatus{"last_admin", 409},
    CodeStatus{"study_cancelled", 409},
    CodeStatus{"no_failed_trial", 409},
    CodeStatus{"space_changed", 409},
    CodeStatus{"study_exists", 409},
    CodeStatus{"study_running", 409},
    CodeStatus{"not_a_grid", 409},
};

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 302:
      return "Found";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 422:
      return "Unprocessable Content";
    case 426:
      return "Upgrade Required";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return status >= 500 ? "Internal Server Error" : "Status";
  }
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alnum(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

}  // namespace

hub::Lane lane_of(const storage::Principal& person, hub::Band band) {
  const bool is_admin = person.role == storage::PrincipalRole::admin;
  return {is_admin ? hub::Band::operators : band, "person " + std::to_string(person.id)};
}

hub::Lane lane_of_device(const std::string& device, hub::Band band) {
  return {band, "device " + device};
}

std::uint64_t Response::body_bytes() const {
  if (const auto* text = std::get_if<std::string>(&body)) return text->size();
  if (const auto* shared = std::get_if<std::shared_ptr<const std::string>>(&body))
    return (*shared)->size();
  return std::get<FileBody>(body).bytes;
}

Response json_response(int status, std::string text) {
  Response response;
  response.status = status;
  response.content_type = "application/json";
  response.headers.emplace_back("Cache-Control", "no-store");
  response.body = std::move(text);
  return response;
}

Response blob_response(std::string path, std::uint64_t bytes) {
  Response response;
  response.content_type = "application/octet-stream";
  response.headers.emplace_back("Cache-Control", "private, max-age=31536000, immutable");
  response.body = FileBody{std::move(path), bytes};
  return response;
}

std::string attachment(std::string_view file_name) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string plain;
  std::string escaped;
  for (const char c : file_name) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_alnum(c) || c == '-' || c == '.' || c == '_') {
      plain += c;
      escaped += c;
      continue;
    }
    escaped += '%';
    escaped += kHex[byte >> 4];
    escaped += kHex[byte & 15];
    if (byte >= 0x80) {
      if (byte >= 0xc0) plain += '_';  // one for each character
    } else {
      // Programs interpret these characters in different ways in a quoted name.
      plain += c == '"' || c == '\\' || c == '%' ? '_' : c;
    }
  }
  std::string value = "attachment; filename=\"" + plain + '"';
  if (plain != file_name) value += "; filename*=UTF-8''" + escaped;
  return value;
}

Response download_response(std::string path, std::uint64_t bytes, std::string_view file_name) {
  Response response;
  response.content_type = "application/octet-stream";
  response.headers.emplace_back("Cache-Control", "no-store");
  response.headers.emplace_back("Content-Disposition", attachment(file_name));
  response.content_security_policy = kDownloadPolicy;
  response.body = FileBody{std::move(path), bytes};
  return response;
}

void name_request(Response& response, const std::string& id) {
  response.headers.emplace_back("X-Request-Id", id);
  auto* body = std::get_if<std::string>(&response.body);
  constexpr std::string_view kEnd = "}}";  // of what error_response() wrote
  if (response.error.empty() || body == nullptr || !body->ends_with(kEnd)) return;
  body->resize(body->size() - kEnd.size());
  *body += R"(,"request_id":")" + id + R"("}})";
}

Response error_response(int status, const Error& error) {
  Response response = object_response(status, [&error](protocol::ObjectWriter& body) {
    protocol::ObjectWriter inner(body.begin("error"));
    inner.text("code", error.code).text("message", telemetry::valid_utf8(error.message));
    if (!error.field.empty()) inner.text("field", telemetry::valid_utf8(error.field));
    inner.end();
  });
  response.error = error.code;
  if (status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (status == 503 || status == 429) {
    response.headers.emplace_back(
        "Retry-After", std::to_string(error.retry_after_s > 0 ? error.retry_after_s : kSoonS));
  }
  return response;
}

Response error_response(const Error& error) { return error_response(status_of(error.code), error); }

int status_of(std::string_view code) {
  const auto* found = std::ranges::find(kStatuses, code, &CodeStatus::code);
  return found == kStatuses.end() ? 422 : found->status;
}

std::string python_thread_policy(std::string_view host, bool secure) {
  std::string policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src ";
  policy += secure ? "https://" : "http://";
  policy += host;
  policy += "/runtime/; worker-src 'none'";
  return policy;
}

std::string agent_thread_policy(std::string_view data_origin) {
  constexpr std::string_view kOwn = "connect-src 'self'";
  std::string policy(kPagePolicy);
  const std::size_t end = policy.find(kOwn) + kOwn.size();
  return policy.insert(end, " " + std::string(data_origin));
}

bool valid_host(std::string_view host) {
  if (host.empty() || host.size() > 255) return false;
  std::string_view name = host;
  std::string_view port;
  if (host.front() == '[') {
    const std::size_t end = host.find(']');
    if (end == std::string_view::npos || end < 3) return false;
    name = host.substr(1, end - 1);
    if (!std::ranges::all_of(name, [](char c) { return is_hex(c) || c == ':' || c == '.'; }))
      return false;
    if (end + 1 == host.size()) return true;
    if (host[end + 1] != ':') return false;
    port = host.substr(end + 2);
  } else {
    const std::size_t colon = host.find(':');
    name = host.substr(0, colon);
    if (name.empty() ||
        !std::ranges::all_of(name, [](char c) { return is_alnum(c) || c == '.' || c == '-'; })) {
      return false;
    }
    if (colon == std::string_view::npos) return true;
    port = host.substr(colon + 1);
  }
  return !port.empty() && port.size() <= 5 && std::ranges::all_of(port, is_digit);
}

std::string http_date(std::int64_t unix_seconds) {
  // strftime is not used, because its names depend on the locale.
  constexpr std::array kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                               "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto seconds = static_cast<std::time_t>(unix_seconds);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT",
                kDays[static_cast<std::size_t>(utc.tm_wday)], utc.tm_mday,
                kMonths[static_cast<std::size_t>(utc.tm_mon)], utc.tm_year + 1900, utc.tm_hour,
                utc.tm_min, utc.tm_sec);
  return text.data();
}

std::string serialize_head(const Response& response, KeepAlive keep_alive, Scheme scheme) {
  std::string head;
  head.reserve(1024);
  const auto header = [&head](std::string_view name, std::string_view value) {
    head += name;
    head += ": ";
    head += value;
    head += "\r\n";
  };
  head += "HTTP/1.1 ";
  head += std::to_string(response.status);
  head += ' ';
  head += reason_of(response.status);
  head += "\r\n";
  header("Date", http_date(std::time(nullptr)));
  if (response.status != 304) header("Content-Length", std::to_string(response.body_bytes()));
  if (!response.content_type.empty()) header("Content-Type", response.content_type);
  for (const auto& [name, value] : response.headers) header(name, value);
  // These headers isolate the page (SharedArrayBuffer needs the first two) and limit its rights.
  header("Cross-Origin-Opener-Policy", "same-origin");
  header("Cross-Origin-Embedder-Policy", "require-corp");
  header("Cross-Origin-Resource-Policy", "same-origin");
  header("Content-Security-Policy", response.content_security_policy.empty()
                                        ? kPagePolicy
                                        : std::string_view(response.content_security_policy));
  header("X-Content-Type-Options", "nosniff");
  header("Referrer-Policy", "no-referrer");
  if (scheme == Scheme::https) header("Strict-Transport-Security", "max-age=31536000");
  header("Permissions-Policy",
         "screen-wake-lock=(self), camera=(), microphone=(), geolocation=(), payment=(), usb=()");
  header("Connection", keep_alive == KeepAlive::yes ? "keep-alive" : "close");
  head += "\r\n";
  return head;
}

}  // namespace hyperflock::http
