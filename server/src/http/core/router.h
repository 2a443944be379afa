// Finds the route of a path in a site's table. A pattern consists of literal segments and `{}`,
// which matches one non-empty segment. Pure; any thread.
#pragma once

#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/core/site.h"

namespace hyperflock::http {

// The callers that may use a route. `own_device`: a device, even if it is revoked. `principal`: a
// researcher or an administrator.
enum class Access { open, device, own_device, principal, admin, metrics };
struct SiteContext;

// Answers a request. Runs on a thread that may block. `reply` may be kept and called later.
using Handler = void (*)(const SiteContext& context, const Request& request, const Reply& reply);

inline void respond(const Reply& reply, Result<Response> response) {
  reply(response ? *std::move(response) : error_response(response.error()));
}

// Makes a Handler from a function that returns the answer or an error.
template <Result<Response> (*kFunction)(const SiteContext&, const Request&)>
void answer(const SiteContext& context, const Request& request, const Reply& reply) {
  respond(reply, kFunction(context, request));
}

// Makes a Handler from a function that replies later, or returns an error and never replies.
template <Status (*kFunction)(const SiteContext&, const Request&, const Reply&)>
void answer_later(const SiteContext& context, const Request& request, const Reply& reply) {
  if (const Status begun = kFunction(context, request, reply); !begun)
    reply(error_response(begun.error()));
}

// Handles a body that is stored while it arrives. The path ends with the body's SHA-256.
struct UploadHandler {
  std::uint64_t (*max_bytes)(const SiteContext& context);
  Error (*too_large)(const SiteContext& context);
  // Runs on a thread that may block.
  Result<std::unique_ptr<Upload>> (*open)(const SiteContext& context, const Request& request);
  // The code of the answer when the disk has no room for the body.
  std::string_view no_room = "no_room";
};

// The limit in bytes for JSON bodies with a few fields.
inline constexpr std::uint64_t kSmallBody = std::uint64_t{4} * 1024;

// In which queues a request waits (hub::Band). Costly ones read many rows or hash bytes. Probes are
// those of monitors, which must be answered also while everybody else waits.
enum class Cost { quick, costly, probe };

// Whether a request makes the disk fuller. Such requests are refused when the disk is nearly full.
// Every upload is such a request.
enum class Disk { stays, grows };

// A route has a handler or an upload handler; a route for a WebSocket has neither.
struct Route {
  Method method = Method::get;  // get includes HEAD
  std::string_view pattern;
  Access access = Access::open;
  Handler handle = nullptr;
  std::uint64_t body_limit = 0;           // for `handle`
  const UploadHandler* upload = nullptr;  // always costly
  Cost cost = Cost::quick;
  Disk disk = Disk::stays;
};

// Returns a copy of the route that is marked as costly.
constexpr Route costly(Route route) {
  route.cost = Cost::costly;
  return route;
}

// Returns a copy of the route that is marked as a probe.
constexpr Route probe(Route route) {
  route.cost = Cost::probe;
  return route;
}

// Returns a copy of the route that is marked as making the disk fuller.
constexpr Route grows(Route route) {
  route.disk = Disk::grows;
  return route;
}

struct Match {
  std::size_t route = 0;
  std::vector<std::string> captures;
};

struct NoMatch {
  std::string allow;  // the methods of the path; empty if no route has it
};

using Found = std::variant<Match, NoMatch>;

Found find_route(std::span<const Route> routes, Method method, std::string_view path);

// Returns the value of a key in `a=1&b=2`; nullopt without the key.
std::optional<std::string_view> query_value(std::string_view query, std::string_view key);

// Returns a query's value without escapes (application/x-www-form-urlencoded: a plus is a space);
// nullopt if an escape is invalid.
std::optional<std::string> unescaped(std::string_view value);

// Returns a decimal integer of 0 to `maximum`; nullopt for any other text.
std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t maximum);

// A part of a list: at most `limit` rows after the cursor `after`.
struct Page {
  std::int64_t after = 0;
  std::int64_t limit = 0;
};

// The usual and the largest number of rows in one page of a list.
inline constexpr std::int64_t kDefaultPage = 500;
inline constexpr std::int64_t kLargestPage = 5'000;

// Returns the page that the query `after=0&limit=500` asks for; `usual` is the default limit.
// Error: `bad_number`.
Result<Page> page_of(std::string_view query, std::int64_t usual, std::int64_t most);

// Cuts a list that was read with one row more than the page may have. Returns whether there was
// such a row, so that the answer can say that more follow.
template <typename Row>
bool cut(std::vector<Row>& rows, const Page& page) {
  const bool more = std::ssize(rows) > page.limit;
  if (more) rows.resize(static_cast<std::size_t>(page.limit));
  return more;
}

}  // namespace hyperflock::http
