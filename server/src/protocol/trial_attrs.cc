// See trial_attrs.h.
#include "protocol/trial_attrs.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace hyperflock::protocol {
namespace {

using SortedJson = nlohmann::json;

constexpr std::string_view kConstraints = "constraints";
constexpr std::string_view kPrefix = "constraints:";

// Python writes Infinity and NaN, which JSON lacks. A large number replaces both, so a constraint
// that is NaN counts as not met.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kPythonNumbers{{
    {"Infinity", "1e308"},
    {"NaN", "1e308"},
}};

// Replaces Infinity and NaN outside of strings.
std::string as_json(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool in_string = false;
  while (!text.empty()) {
    const auto special = std::ranges::find_if(
        kPythonNumbers, [&](const auto& one) { return !in_string && text.starts_with(one.first); });
    if (special != kPythonNumbers.end()) {
      out += special->second;
      text.remove_prefix(special->first.size());
      continue;
    }
    if (text.front() == '"') in_string = !in_string;
    const std::size_t taken = in_string && text.front() == '\\' ? 2 : 1;
    out += text.substr(0, taken);
    text.remove_prefix(std::min(taken, text.size()));
  }
  return out;
}

bool is_met(const SortedJson& constraint) {
  return constraint.is_number() && constraint.get<double>() <= 0;
}

}  // namespace

bool meets_constraints(std::string_view attrs) {
  // Most trials have no constraints, so the text is searched first, which is faster than parsing
  // it.
  if (attrs.find(kConstraints) == std::string_view::npos) return true;
  const SortedJson json = SortedJson::parse(as_json(attrs), nullptr, false);
  const auto system = json.is_object() ? json.find("system") : json.end();
  if (!json.is_object() || system == json.end() || !system->is_object()) return true;
  for (const auto& [key, value] : system->items()) {
    if (key.starts_with(kPrefix) && !is_met(value)) return false;
    // A named constraint whose name is an index of this list replaces the constraint at that index.
    if (key != kConstraints || !value.is_array()) continue;
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (!system->contains(std::string(kPrefix) + std::to_string(i)) && !is_met(value[i]))
        return false;
    }
  }
  return true;
}

}  // namespace hyperflock::protocol
