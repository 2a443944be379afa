#include "webhook/url.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace hyperflock::webhook {
namespace {

namespace ip = boost::asio::ip;

constexpr std::size_t kLongestName = 253;
constexpr std::size_t kLongestLabel = 63;

Error bad(std::string why) { return {"bad_webhook", std::move(why), "webhook.url"}; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

bool is_label(std::string_view label) {
  return !label.empty() && label.size() <= kLongestLabel && std::ranges::all_of(label, [](char c) {
    return is_digit(c) || is_letter(c) || c == '-' || c == '_';
  });
}

// Whether some program would read the name as an IPv4 address: its last label is a number, in
// decimal, octal or hexadecimal.
bool ends_in_number(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  const std::string_view last = dot == std::string_view::npos ? name : name.substr(dot + 1);
  if (std::ranges::all_of(last, is_digit)) return true;
  if (!last.starts_with("0x")) return false;
  return std::ranges::all_of(last.substr(2),
                             [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
}

Status read_host(std::string_view text, Url& url) {
  boost::system::error_code fault;
  if (text.starts_with('[')) {
    if (!text.ends_with(']')) return bad("The address of the webhook has a [ without its ].");
    const std::string inner(text.substr(1, text.size() - 2));
    const auto address = ip::make_address_v6(inner, fault);
    if (fault || inner.find('%') != std::string::npos)
      return bad("The host of the webhook is not an IPv6 address.");
    url.literal = address;
    url.host = address.to_string();
    return {};
  }
  const auto name = host_name(text);
  if (!name) return bad("The webhook needs a host name of letters, digits, dots and hyphens.");
  url.host = *name;
  if (!ends_in_number(url.host)) return {};
  const auto address = ip::make_address_v4(url.host, fault);
  if (fault || address.to_string() != url.host)
    return bad("Write the IPv4 address of the webhook as four decimal numbers, such as 192.0.2.1.");
  url.literal = address;
  return {};
}

}  // namespace

std::optional<std::string> host_name(std::string_view text) {
  if (text.ends_with('.')) text.remove_suffix(1);
  const std::string name = lower(text);
  if (name.empty() || name.size() > kLongestName) return std::nullopt;
  for (std::string_view rest = name;;) {
    const std::size_t dot = rest.find('.');
    if (!is_label(rest.substr(0, dot))) return std::nullopt;
    if (dot == std::string_view::npos) return name;
    rest.remove_prefix(dot + 1);
  }
}

std::string Url::host_and_port() const {
  const bool v6 = literal && literal->is_v6();
  std::string text = v6 ? "[" + host + "]" : host;
  if (port != (tls ? 443 : 80)) text += ":" + std::to_string(port);
  return text;
}

Result<Url> parse_url(std::string_view text) {
  Url url;
  if (text.starts_with("https://")) {
    text.remove_prefix(8);
  } else if (text.starts_with("http://")) {
    text.remove_prefix(7);
    url.tls = false;
    url.port = 80;
  } else {
    return bad("The address of a webhook begins with https://.");
  }
  if (std::ranges::any_of(text, [](char c) { return c <= ' ' || c > '~'; }))
    return bad("The address of a webhook has no spaces and only ASCII characters.");
  if (text.find_first_of("\\#") != std::string_view::npos)
    return bad("The address of a webhook has no backslash and no fragment (#).");
  const std::size_t end = text.find_first_of("/?");
  std::string_view authority = text.substr(0, end);
  if (end != std::string_view::npos) {
    url.target = text[end] == '?' ? "/" + std::string(text.substr(end)) : text.substr(end);
  }
  if (authority.find('@') != std::string_view::npos)
    return bad("The address of a webhook has no user name and no password.");
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon != std::string_view::npos) {
    const std::string_view digits = authority.substr(colon + 1);
    const auto [stop, fault] =
        std::from_chars(digits.data(), digits.data() + digits.size(), url.port);
    if (fault != std::errc() || stop != digits.data() + digits.size() || url.port == 0)
      return bad("The port of the webhook is a number from 1 to 65535.");
    authority = authority.substr(0, colon);
  }
  TRY(read_host(authority, url));
  return url;
}

}  // namespace hyperflock::webhook
