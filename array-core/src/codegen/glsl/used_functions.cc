#include "codegen/glsl/used_functions.h"

#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

namespace arraycore::codegen::glsl {
namespace {

bool is_name(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

}  // namespace

std::string used_functions(const std::string& code, const std::string& user) {
  struct Function {
    std::string_view text;
    bool used = false;
  };
  std::map<std::string_view, Function> functions;
  std::vector<Function*> in_order;
  const std::string_view all = code;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t next = all.find("\nfn ", at);
    const std::size_t end = next == all.npos ? all.size() : next + 1;
    const std::string_view text = all.substr(at, end - at);
    Function& function = functions[text.substr(3, text.find('(') - 3)];
    function.text = text;
    in_order.push_back(&function);
    at = end;
  }
  const auto mark = [&](const auto& self, std::string_view text) -> void {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t begin = at;
      while (at < text.size() && is_name(text[at])) ++at;
      const auto found = functions.find(text.substr(begin, at - begin));
      if (found != functions.end() && !found->second.used) {
        found->second.used = true;
        self(self, found->second.text);
      }
      if (at == begin) ++at;
    }
  };
  mark(mark, user);
  std::string result;
  for (const Function* function : in_order)
    if (function->used) result += function->text;
  return result;
}

}  // namespace arraycore::codegen::glsl
