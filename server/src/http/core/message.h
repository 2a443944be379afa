// One HTTP request and its answer as plain data: what the connection (net/) and the sites exchange.
// No sockets here.
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
#include "protocol/json_writer.h"
#include "storage/records.h"

namespace hyperflock::http {

enum class Method { get, head, post, put, remove, other };

// The head of a request, and its body where the site asked for one.
struct Request {
  Method method = Method::other;
  std::string path;   // of the target, as sent: no name that is served needs a percent sign
  std::string query;  // after '?'
  std::string host;
  std::string authorization;
  std::string accept_encoding;
  std::string if_none_match;
  std::string content_type;
  std::optional<std::uint64_t> content_length;
  std::string address;  // of the peer, without its port
  bool secure = false;  // came over TLS
  std::string body;

  // Filled in by Site::plan for Site::handle.
  std::size_t route = 0;
  std::vector<std::string> captures;  // the {} of the route's pattern
  storage::Principal principal;       // console routes
  std::int64_t token = 0;             // by which the principal came
  storage::Device device;             // device routes of compute
};

// A file that is sent in pieces.
struct FileBody {
  std::string path;
  std::uint64_t bytes = 0;
};

struct Response {
  int status = 200;
  std::string content_type;  // none when empty
  std::vector<std::pair<std::string, std::string>> headers;
  std::string content_security_policy;  // kPagePolicy when empty
  std::variant<std::string, std::shared_ptr<const std::string>, FileBody> body;

  std::uint64_t body_bytes() const;
};

Response json_response(int status, std::string text);

// The response with an object that `fill` writes:
//   object_response(200, [&](ObjectWriter& body) { body.integer("study", id); });
template <typename Fill>
Response object_response(int status, Fill fill) {
  std::string out;
  protocol::ObjectWriter body(out);
  fill(body);
  body.end();
  return json_response(status, std::move(out));
}

// Content by its hash, which never changes; private, because the right to read it is the caller's.
Response blob_response(std::string path, std::uint64_t bytes);

// The value of Content-Disposition for a file of this name: the name itself where it is plain, else
// an ASCII form of it and the name beside it (RFC 6266, RFC 8187). REQUIRES: UTF-8 without control
// characters.
std::string attachment(std::string_view file_name);

// Bytes from a stranger, to be kept and never shown: whatever a browser takes them for, they run
// nothing.
Response download_response(std::string path, std::uint64_t bytes, std::string_view file_name);

// `{"error": {...}}` with the status that belongs to the code. 429 and 503 say when to come again:
// after Error::retry_after_s where that is known, else soon.
Response error_response(const Error& error);
Response error_response(int status, const Error& error);
int status_of(std::string_view code);

// Documents, agent scripts and everything without a policy of its own.
inline constexpr std::string_view kPagePolicy =
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' "
    "data:; "
    "connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action "
    "'none'; "
    "frame-ancestors 'none'";

// The policy of the thread that runs trials: it may load scripts of its own origin and read the
// runtime, nothing else. REQUIRES: valid_host(host).
std::string python_thread_policy(std::string_view host, bool secure);

// The policy of the thread that owns the graphics device: it loads scripts of its own origin, and
// asks for nothing. What trials write it runs as shaders only.
inline constexpr std::string_view kGpuThreadPolicy =
    "default-src 'none'; script-src 'self'; worker-src 'none'";

// True for `name`, `name:port`, `1.2.3.4:port` and `[v6]:port` with nothing in them that could end
// a policy.
bool valid_host(std::string_view host);

enum class KeepAlive { no, yes };

// A time as headers have it (RFC 9110, 5.6.7), such as "Sun, 06 Nov 1994 08:49:37 GMT".
std::string http_date(std::int64_t unix_seconds);

// Status line and headers, with today's time, so that a client sees how far its clock is off, and
// with the security headers that every answer carries.
std::string serialize_head(const Response& response, KeepAlive keep_alive);

}  // namespace hyperflock::http
