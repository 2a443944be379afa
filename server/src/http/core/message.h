// An HTTP request and its answer as plain data, without sockets. The connection (net/) and the
// sites exchange them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "hub/reader_pool.h"
#include "protocol/json/json_writer.h"
#include "storage/records.h"
#include "telemetry/request_context.h"

namespace hyperflock::http {

enum class Method { get, head, post, put, remove, other };

// The head of a request, and its body if the site asked for it.
struct Request {
  Method method = Method::other;
  std::string path;   // as sent: no served name needs a percent sign
  std::string query;  // after '?'
  std::string host;
  std::string authorization;
  std::string accept_encoding;
  std::string if_none_match;
  std::string content_type;
  std::string origin;      // of the page that sent it; empty if no browser did
  std::string fetch_site;  // how the browser relates that page to this server (Sec-Fetch-Site)
  std::optional<std::uint64_t> content_length;
  std::string address;  // of the client, without its port
  bool secure = false;  // whether the client uses TLS
  bool local = false;   // from a program on this machine, and through no proxy that says so
  std::string body;

  telemetry::RequestContext context;  // its id and span
  std::uint64_t parent_span = 0;      // of the client's trace; 0: none

  // The index of the route. Site::plan sets it for Site::handle.
  std::size_t route = 0;
  std::string_view pattern;           // of the route, for logs; empty if there is no route
  std::vector<std::string> captures;  // the {} of the route's pattern
  storage::Principal principal;       // console routes
  std::int64_t token = 0;             // id of the token
  storage::Device device;             // device routes of compute
  // The lane in which the work for this request waits. Site::plan sets it.
  hub::Lane lane{hub::Band::quick, {}};
};

// Returns the lane in which work for this person waits. Administrators have a band of their own.
hub::Lane lane_of(const storage::Principal& person, hub::Band band);
// Returns the lane in which work for the device with this id waits.
hub::Lane lane_of_device(const std::string& device, hub::Band band);

// A file that is sent in pieces.
struct FileBody {
  std::string path;
  std::uint64_t bytes = 0;
};

struct Response {
  int status = 200;
  std::string error;         // its code; empty: the response is no error
  std::string content_type;  // empty: none
  std::vector<std::pair<std::string, std::string>> headers;
  std::string content_security_policy;  // empty: kPagePolicy
  std::variant<std::string, std::shared_ptr<const std::string>, FileBody> body;

  std::uint64_t body_bytes() const;
};

Response json_response(int status, std::string text);

// Returns a response with an object that `fill` writes:
//   object_response(200, [&](ObjectWriter& body) { body.integer("study", id); });
template <typename Fill>
Response object_response(int status, Fill fill) {
  std::string out;
  protocol::ObjectWriter body(out);
  fill(body);
  body.end();
  return json_response(status, std::move(out));
}

// Returns a response with a blob. Caches may keep it for ever, because its name is its hash. Only
// private caches may do so, because the blob needs a credential.
Response blob_response(std::string path, std::uint64_t bytes);

// Returns the value of Content-Disposition for a file name: a plain name as it is, any other as an
// ASCII form followed by the name itself (RFC 6266, RFC 8187). REQUIRES: UTF-8 without control
// characters.
std::string attachment(std::string_view file_name);

// Returns a response with bytes from another person's device. Browsers save them, but neither show
// nor run them.
Response download_response(std::string path, std::uint64_t bytes, std::string_view file_name);

// Gives the response the id of its request: the header X-Request-Id and, if the response is an
// error, the field `request_id` in its body.
void name_request(Response& response, const std::string& id);

// Returns `{"error": {...}}` with the status of the code. The statuses 429 and 503 get a
// Retry-After header: Error::retry_after_s if it is known, otherwise a short time.
Response error_response(const Error& error);
Response error_response(int status, const Error& error);
int status_of(std::string_view code);

// The Content-Security-Policy of pages, of the agent's scripts, and of all files without their own
// policy.
inline constexpr std::string_view kPagePolicy =
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' "
    "data:; "
    "connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action "
    "'none'; "
    "frame-ancestors 'none'";

// Returns the Content-Security-Policy of the thread that runs trials. The thread may load scripts
// of its own origin and read the runtime, and nothing else. REQUIRES: valid_host(host).
std::string python_thread_policy(std::string_view host, bool secure);

// Returns the Content-Security-Policy of the agent's thread if studies' data also come from another
// origin: as kPagePolicy, and the thread may request that origin. REQUIRES: `https://name[:port]`.
std::string agent_thread_policy(std::string_view data_origin);

// The Content-Security-Policy of the thread that owns the graphics device. The thread may load
// scripts of its own origin, and request nothing else. Code of trials runs there only as shaders.
inline constexpr std::string_view kGpuThreadPolicy =
    "default-src 'none'; script-src 'self'; worker-src 'none'";

// Returns whether the text is `name`, `name:port`, `1.2.3.4:port` or `[v6]:port`, without
// characters that could end a policy.
bool valid_host(std::string_view host);

enum class KeepAlive { no, yes };

// Returns a time in the form of headers (RFC 9110, 5.6.7), such as "Sun, 06 Nov 1994 08:49:37 GMT".
std::string http_date(std::int64_t unix_seconds);

enum class Scheme { http, https };

// Returns the status line and the headers, with the security headers of every answer. A client can
// compare its clock with the Date header. With https, browsers use only https for this host from
// now on (RFC 6797).
std::string serialize_head(const Response& response, KeepAlive keep_alive,
                           Scheme scheme = Scheme::http);

}  // namespace hyperflock::http
