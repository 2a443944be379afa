// Finds the route of a path in a site's table. Patterns are literal segments and `{}`, which takes
// one non-empty segment. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/core/message.h"

namespace hyperflock::http {

// `own_device`: a device's credential, also of one that was revoked. `principal`: a researcher or
// an administrator.
enum class Access { open, device, own_device, principal, admin, metrics };
enum class Work { handle, upload, websocket };

// Bodies of requests that carry a few fields.
inline constexpr std::uint64_t kSmallBody = std::uint64_t{4} * 1024;

struct Route {
  Method method = Method::get;  // get stands for HEAD too
  std::string_view pattern;
  Access access = Access::open;
  Work work = Work::handle;
  std::uint64_t body_limit = 0;
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
