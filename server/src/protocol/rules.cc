// See rules.h.
#include "protocol/rules.h"

#include <algorithm>

namespace hyperflock::protocol {

std::string read_sha256(const Value& in) {
  std::string text = in.as_text();
  const bool is_hash = text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
                         return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
                       });
  if (!is_hash && in.present()) in.bad_field("64 lower-case hex digits");
  return text;
}

std::string read_file_name(const Value& in) {
  std::string text = in.as_text();
  const bool safe = !text.empty() && text != "." && text != ".." &&
                    text.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
  if (!safe && in.present()) in.bad_field("a file name without a folder");
  return text;
}

std::string read_webhook_url(const Value& in) {
  std::string text = in.as_text(kMaxWebhookUrl);
  const std::string_view scheme = text.starts_with("https://") ? "https://" : "http://";
  const bool fits =
      text.starts_with(scheme) && text.size() > scheme.size() &&
      std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
  if (!fits && in.present())
    in.bad_field("an address that begins with https:// or http://, in ASCII");
  return text;
}

std::string read_module_function(const Value& in) {
  std::string text = in.as_text(kMaxEntry);
  const std::size_t colon = text.find(':');
  const bool whole = colon != std::string::npos && colon > 0 && colon + 1 < text.size();
  if (in.present() && !whole) in.bad_field("module:function");
  return text;
}

}  // namespace hyperflock::protocol
