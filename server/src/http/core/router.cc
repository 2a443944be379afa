#include "http/core/router.h"

#include <algorithm>
#include <charconv>

namespace hyperflock::http {
namespace {

// Removes the text up to the next '/' from the front and returns it.
std::string_view next_segment(std::string_view& path) {
  const std::size_t slash = path.find('/');
  const std::string_view segment = path.substr(0, slash);
  path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  return segment;
}

std::optional<std::vector<std::string>> match(std::string_view pattern, std::string_view path) {
  std::vector<std::string> captures;
  if (std::ranges::count(pattern, '/') != std::ranges::count(path, '/')) return std::nullopt;
  while (!pattern.empty()) {
    const std::string_view wanted = next_segment(pattern);
    const std::string_view given = next_segment(path);
    if (wanted == "{}") {
      if (given.empty()) return std::nullopt;
      captures.emplace_back(given);
    } else if (wanted != given) {
      return std::nullopt;
    }
  }
  if (!path.empty()) return std::nullopt;
  return captures;
}

std::string_view name_of(Method method) {
  switch (method) {
    case Method::get:
      return "GET, HEAD";
    case Method::head:
      return "HEAD";
    case Method::post:
      return "POST";
    case Method::put:
      return "PUT";
    case Method::remove:
      return "DELETE";
    case Method::other:
      break;
  }
  return "";
}

}  // namespace

Found find_route(std::span<const Route> routes, Method method, std::string_view path) {
  NoMatch none;
  for (std::size_t i = 0; i < routes.size(); ++i) {
    auto captures = match(routes[i].pattern, path);
    if (!captures) continue;
    const bool same =
        routes[i].method == method || (routes[i].method == Method::get && method == Method::head);
    if (same) return Match{i, std::move(*captures)};
    if (!none.allow.empty()) none.allow += ", ";
    none.allow += name_of(routes[i].method);
  }
  return none;
}

std::optional<std::string_view> query_value(std::string_view query, std::string_view key) {
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == key)
      return pair.substr(equals + 1);
  }
  return std::nullopt;
}

std::optional<std::string> unescaped(std::string_view value) {
  std::string out;
  out.reserve(value.size());
  for (std::size_t at = 0; at < value.size(); ++at) {
    if (value[at] != '%') {
      out += value[at] == '+' ? ' ' : value[at];
      continue;
    }
    unsigned byte = 0;
    const char* digits = value.data() + at + 1;
    if (value.size() - at < 3) return std::nullopt;
    if (std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) return std::nullopt;
    out += static_cast<char>(byte);
    at += 2;
  }
  return out;
}

std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t maximum) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > maximum)
    return std::nullopt;
  return value;
}

Result<Page> page_of(std::string_view query, std::int64_t usual, std::int64_t most) {
  const auto number = [query](std::string_view key, std::int64_t fallback, std::int64_t maximum) {
    const auto text = query_value(query, key);
    return text ? parse_integer(*text, maximum) : std::optional<std::int64_t>(fallback);
  };
  const auto after = number("after", 0, kMaxWireInteger);
  if (!after)
    return Error{"bad_number", "after must be an integer, the cursor of the last page.", "after"};
  const auto limit = number("limit", usual, most);
  if (!limit || *limit == 0)
    return Error{"bad_number", "limit must be in 1.." + std::to_string(most) + ".", "limit"};
  return Page{*after, *limit};
}

}  // namespace hyperflock::http
