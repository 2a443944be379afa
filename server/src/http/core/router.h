// Finds the route of a path in a site's table. Patterns are literal segments and `{}`, which takes
// one non-empty segment. Pure; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/core/site.h"

namespace hyperflock::http {

// `own_device`: a device's credential, also of one that was revoked. `principal`: a researcher or
// an administrator.
enum class Access { open, device, own_device, principal, admin, metrics };
struct SiteContext;

// Answers a request. It runs on a thread that may block; `reply` may be kept and called later.
using Handler = void (*)(const SiteContext& context, const Request& request, const Reply& reply);

inline void respond(const Reply& reply, Result<Response> response) {
  reply(response ? *std::move(response) : error_response(response.error()));
}

// Makes a Handler of a function that returns the answer, or why there is none.
template <Result<Response> (*kFunction)(const SiteContext&, const Request&)>
void answer(const SiteContext& context, const Request& request, const Reply& reply) {
  respond(reply, kFunction(context, request));
}

// Makes a Handler of a function that replies later, or returns why it does not.
template <Status (*kFunction)(const SiteContext&, const Request&, const Reply&)>
void answer_later(const SiteContext& context, const Request& request, const Reply& reply) {
  if (const Status begun = kFunction(context, request, reply); !begun)
    reply(error_response(begun.error()));
}

// How a route takes a body that is stored while it arrives. The last part of its path is the
// SHA-256 of the bytes.
struct UploadHandler {
  std::uint64_t (*max_bytes)(const SiteContext& context);
  Error (*too_large)(const SiteContext& context);
  // Runs on a thread that may block.
  Result<std::unique_ptr<Upload>> (*open)(const SiteContext& context, const Request& request);
};

// The limit of bodies that carry a few fields.
inline constexpr std::uint64_t kSmallBody = std::uint64_t{4} * 1024;

// A route has a handler or an upload handler. One without either is a WebSocket's.
struct Route {
  Method method = Method::get;  // get stands for HEAD too
  std::string_view pattern;
  Access access = Access::open;
  Handler handle = nullptr;
  std::uint64_t body_limit = 0;  // of `handle`
  const UploadHandler* upload = nullptr;
};

struct Match {
  std::size_t route = 0;
  std::vector<std::string> captures;
};

struct NoMatch {
  std::string allow;  // methods of the path, empty when no route has it
};

using Found = std::variant<Match, NoMatch>;

Found find_route(std::span<const Route> routes, Method method, std::string_view path);

// The value of a key in `a=1&b=2`; nothing where it is not there.
std::optional<std::string_view> query_value(std::string_view query, std::string_view key);

// A value of a query as it was before it was escaped (application/x-www-form-urlencoded: a plus is
// a space); nothing where an escape is broken.
std::optional<std::string> unescaped(std::string_view value);

// A decimal integer in 0..maximum and nothing else.
std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t maximum);

// A part of a list: what stands behind the cursor `after`, at most `limit` rows.
struct Page {
  std::int64_t after = 0;
  std::int64_t limit = 0;
};

// What `after=0&limit=500` asks for; `usual` where there is no limit. Error: `bad_number`.
Result<Page> page_of(std::string_view query, std::int64_t usual, std::int64_t most);

}  // namespace hyperflock::http
