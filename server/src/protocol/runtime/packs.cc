// Implements packs.h.
#include "protocol/runtime/packs.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "protocol/runtime/piece_json.h"

namespace hyperflock::protocol {
namespace {

Error malformed(const std::string& why) {
  return {"packs_malformed", "packs.json cannot be used: " + why};
}

// Returns a pack without a check of what it needs; nullopt if it is malformed.
std::optional<Pack> pack_of(const nlohmann::json& json) {
  if (!json.is_object()) return std::nullopt;
  Pack pack;
  pack.version = text_of(json, "version");
  auto download = download_of(json);
  const auto needs = json.find("needs");
  if (pack.version.empty() || !download || needs == json.end() || !needs->is_array())
    return std::nullopt;
  pack.download = *std::move(download);
  for (const auto& need : *needs) {
    if (!need.is_string()) return std::nullopt;
    pack.needs.push_back(need.get<std::string>());
  }
  return pack;
}

// Returns a pack that needs itself through others; empty if there is none. REQUIRES: each pack
// that is needed is listed.
std::string in_circle(const PackList& list) {
  // In each round, the packs whose needs are all settled are settled, too.
  std::set<std::string_view> settled;
  for (bool found = true; found;) {
    found = false;
    for (const auto& [name, pack] : list.packs) {
      if (!std::ranges::all_of(pack.needs, [&](const auto& n) { return settled.contains(n); }))
        continue;
      found |= settled.insert(name).second;
    }
  }
  const auto left = std::ranges::find_if(
      list.packs, [&](const auto& pack) { return !settled.contains(pack.first); });
  return left == list.packs.end() ? std::string() : left->first;
}

bool is_pack_name(std::string_view name) {
  const auto alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && alphanumeric(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return alphanumeric(c) || c == '.' || c == '-'; });
}

// Returns the words of a text in which one space divides each two; nullopt if one is no pack's
// name.
std::optional<std::vector<std::string>> pack_names(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view name = text.substr(begin, end - begin);
    if (!is_pack_name(name)) return std::nullopt;
    names.emplace_back(name);
    begin = end + 1;
  }
  return names;
}

// Checks that the spec lists the packs that the bundle names.
Status check_listed(const std::vector<PackRef>& wanted, const std::vector<std::string>& bundle) {
  std::set<std::string_view> listed;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string field = "packs[" + std::to_string(i) + "].name";
    if (!listed.insert(wanted[i].name).second)
      return Error{"bad_field", "The pack " + wanted[i].name + " is listed twice.", field};
    if (!std::ranges::binary_search(bundle, wanted[i].name)) {
      return Error{
          "pack_mismatch",
          "The spec lists the pack " + wanted[i].name + ", which the bundle does not name.", field};
    }
  }
  for (const std::string& name : bundle) {
    if (!listed.contains(name)) {
      return Error{"pack_mismatch",
                   "The bundle names the pack " + name + ", which the spec does not list.",
                   "packs"};
    }
  }
  return {};
}

}  // namespace

Result<PackList> parse_pack_list(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("packs") || !json["packs"].is_object())
    return malformed("it is no list of packs.");
  PackList list;
  list.pyodide = text_of(json, "pyodide");
  if (list.pyodide.empty()) return malformed("it does not name the version of Pyodide.");
  for (const auto& [name, entry] : json["packs"].items()) {
    auto pack = is_pack_name(name) ? pack_of(entry) : std::nullopt;
    if (!pack) return malformed("its entry " + name + " is no pack.");
    list.packs.emplace(name, *std::move(pack));
  }
  for (const auto& [name, pack] : list.packs) {
    for (const std::string& need : pack.needs) {
      if (!list.packs.contains(need))
        return malformed(name + " needs " + need + ", which is not listed.");
    }
  }
  if (const std::string name = in_circle(list); !name.empty())
    return malformed(name + " needs packs that need each other in a circle.");
  return list;
}

std::vector<const Pack*> with_needs(const PackList& list, const std::vector<PackRef>& packs) {
  std::vector<std::string_view> names;
  for (const PackRef& pack : packs) names.push_back(pack.name);
  std::vector<const Pack*> found;
  // Both lists grow while they are read.
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto pack = list.packs.find(names[i]);
    if (pack == list.packs.end() || std::ranges::count(found, &pack->second) != 0) continue;
    found.push_back(&pack->second);
    names.insert(names.end(), pack->second.needs.begin(), pack->second.needs.end());
  }
  return found;
}

std::vector<std::string> packs_of_bundle(std::string_view end) {
  constexpr std::string_view kNeeds = "hyperflock needs ";
  for (std::size_t at = end.find(kNeeds); at != std::string_view::npos;
       at = end.find(kNeeds, at + 1)) {
    auto names = pack_names(end.substr(at + kNeeds.size()));
    if (!names) continue;
    std::erase(*names, "optuna");  // a part of the runtime
    std::ranges::sort(*names);
    names->erase(std::unique(names->begin(), names->end()), names->end());
    return *std::move(names);
  }
  return {};
}

Result<std::vector<PackRef>> choose_packs(const std::vector<PackRef>& wanted,
                                          const std::vector<std::string>& bundle,
                                          const PackList& list, std::string_view pyodide) {
  if (!wanted.empty()) TRY(check_listed(wanted, bundle));
  std::vector<PackRef> chosen;
  for (const std::string& name : bundle) {
    const auto there = list.packs.find(name);
    const auto asked = std::ranges::find(wanted, name, &PackRef::name);
    const std::string field =
        asked == wanted.end() ? "packs" : "packs[" + std::to_string(asked - wanted.begin()) + "]";
    if (there == list.packs.end()) {
      return Error{"missing_pack",
                   "This server has no " + name + " for browsers: its operator adds it.", field};
    }
    const std::string& version = there->second.version;
    if (asked != wanted.end() && asked->version != version) {
      return Error{"runtime_mismatch",
                   "The code was made for " + name + ' ' + asked->version +
                       ", and this server's browsers have " + version +
                       ": submit it with the hyperflock package of this server's version.",
                   field + ".version"};
    }
    chosen.push_back({name, version});
  }
  if (!chosen.empty() && !pyodide.empty() && pyodide != list.pyodide) {
    return Error{"runtime_mismatch",
                 "This server's packs are built for Pyodide " + list.pyodide +
                     ", and the study's runtime has " + std::string(pyodide) +
                     ": its operator adds packs of that version.",
                 "packs"};
  }
  return chosen;
}

}  // namespace hyperflock::protocol
