#include "codegen/wgsl_prelude.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/wgsl_types.h"

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
  std::vector<std::string> todo;
  helpers_in(text, todo);
  std::set<std::string> done;
  std::string result;
  while (!todo.empty()) {
    const std::string name = todo.back();
    todo.pop_back();
    if (!done.insert(name).second) continue;
    const auto found = all_helpers().find(name);
    if (found == all_helpers().end()) continue;  // the shader compiler reports what is missing
    result += found->second;
    result += '\n';
    helpers_in(found->second, todo);
  }
  return result;
}

}  // namespace arraycore::codegen
