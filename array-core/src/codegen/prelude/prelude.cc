#include "codegen/prelude/prelude.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace arraycore::codegen {
namespace {

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || (c >= 'A' && c <= 'Z');
}

// Collects every identifier of `text` that begins with "ac_".
void helpers_in(std::string_view text, std::vector<std::string>& names) {
  for (std::size_t at = text.find("ac_"); at != std::string_view::npos; at = text.find("ac_", at)) {
    std::size_t end = at;
    while (end < text.size() && is_name(text[end])) ++end;
    if (at == 0 || !is_name(text[at - 1])) names.emplace_back(text.substr(at, end - at));
    at = end;
  }
}

const std::map<std::string, std::string_view>& all_helpers() {
  static const std::map<std::string, std::string_view> helpers = [] {
    std::map<std::string, std::string_view> result;
    for (const auto list : {integer_helpers(), float_helpers(), special_helpers()}) {
      for (const std::string_view text : list) {
        std::vector<std::string> names;
        helpers_in(text, names);
        result.emplace(names.front(), text);
      }
    }
    return result;
  }();
  return helpers;
}

}  // namespace

std::string prelude_for(const std::string& text) {
  std::set<std::string> done;
  std::string result;
  // Adds the helpers that `user` names, after those that they use themselves. No helper is
  // recursive.
  const auto add = [&](const auto& self, std::string_view user) -> void {
    std::vector<std::string> names;
    helpers_in(user, names);
    for (const std::string& name : names) {
      if (!done.insert(name).second) continue;
      const auto found = all_helpers().find(name);
      if (found == all_helpers().end()) continue;  // the shader compiler reports what is missing
      self(self, found->second);
      result += found->second;
      result += '\n';
    }
  };
  add(add, text);
  return result;
}

}  // namespace arraycore::codegen
