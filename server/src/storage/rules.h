// What administrators have set: whose studies, which projects and which blobs are stopped (R67),
// ceilings for studies (R68), and shares of the devices (R70). Plain data and pure functions; any
// thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "protocol/study_spec.h"

namespace hyperflock::storage {

// Limits of one researcher, of one project or of the whole server. The server's limits apply only
// where neither the researcher nor the project has one. A limit that is not set is nullopt; 0 means
// that there is no limit.
struct Ceiling {
  std::optional<std::int64_t> time_limit_ms{};  // of a trial
  std::optional<std::int64_t> devices{};        // that compute at the same time
  std::optional<std::int64_t> data_bytes{};     // of the bundle and the data of one study
  std::optional<bool> approval{};               // whether new studies wait for an administrator
  bool operator==(const Ceiling&) const = default;
  bool empty() const { return *this == Ceiling{}; }
};

enum class CeilingScope { server, researcher, project };

// How much of the devices a researcher or a project gets (R70).
struct Share {
  // In proportion to the weights of others; nullopt: kUsualWeight.
  std::optional<std::int64_t> weight{};
  // This many devices come before the weights. A project gets them of those that others lend.
  std::int64_t guaranteed = 0;
  // The projects that may use this project's idle devices. kEveryProject stands for all projects.
  std::set<std::string> lends{};
  bool operator==(const Share&) const = default;
  bool empty() const { return *this == Share{}; }
};
inline constexpr std::int64_t kUsualWeight = 100;
inline constexpr std::int64_t kMostWeight = 1'000;
inline constexpr std::string_view kEveryProject = "*";

struct Rules {
  std::map<std::string, std::string> owners{};    // researchers who are not active, with the reason
  std::map<std::string, std::string> projects{};  // frozen ones, each with the reason
  std::map<std::string, std::string> blobs{};     // SHA-256 of barred ones, each with the reason
  Ceiling server{};                               // for everybody without a limit of their own
  std::map<std::string, Ceiling> of_researchers{};
  std::map<std::string, Ceiling> of_projects{};
  std::map<std::string, Share> shares_of_researchers{};
  std::map<std::string, Share> shares_of_projects{};
  bool operator==(const Rules&) const = default;
};

// Why no trial of a study may run (R67).
struct Stop {
  enum class Code { none, owner_suspended, project_frozen, bundle_barred } code = Code::none;
  std::string reason{};  // the administrator's words; may be empty
  explicit operator bool() const { return code != Code::none; }
  bool operator==(const Stop&) const = default;
};

inline Stop stop_of(const Rules& rules, const std::string& owner, const std::string& project,
                    const protocol::StudySpec& spec) {
  if (const auto stopped = rules.owners.find(owner); stopped != rules.owners.end())
    return {Stop::Code::owner_suspended, stopped->second};
  if (const auto frozen = rules.projects.find(project); frozen != rules.projects.end())
    return {Stop::Code::project_frozen, frozen->second};
  if (rules.blobs.empty()) return {};
  for (const protocol::BlobRef& blob : protocol::blobs_of(spec)) {
    if (const auto barred = rules.blobs.find(blob.sha256); barred != rules.blobs.end())
      return {Stop::Code::bundle_barred, barred->second};
  }
  return {};
}

// The limits of a study (R68); 0: no limit.
struct StudyCeiling {
  std::int64_t time_limit_ms = 0;
  std::int64_t data_bytes = 0;
  bool approval = false;
};

namespace detail {

template <typename Rule>
const Rule* find(const std::map<std::string, Rule>& all, const std::string& name) {
  const auto found = all.find(name);
  return found == all.end() ? nullptr : &found->second;
}

// Returns the lower of two limits. 0 means no limit, so it is higher than any other value.
inline std::int64_t lower(std::int64_t one, std::int64_t other) {
  if (one == 0 || other == 0) return std::max(one, other);
  return std::min(one, other);
}

// Returns the strictest value that the researcher or the project has, or else that of the server.
template <typename Value, typename Stricter>
Value strictest(const Rules& rules, const Ceiling* researcher, const Ceiling* project,
                std::optional<Value> Ceiling::* member, Stricter stricter) {
  const auto of = [member](const Ceiling* one) { return one ? one->*member : std::nullopt; };
  const auto first = of(researcher);
  const auto second = of(project);
  if (first && second) return stricter(*first, *second);
  if (first || second) return first ? *first : *second;
  return (rules.server.*member).value_or(Value{});
}

}  // namespace detail

inline StudyCeiling ceiling_of(const Rules& rules, const std::string& owner,
                               const std::string& project) {
  const Ceiling* one = detail::find(rules.of_researchers, owner);
  const Ceiling* other = detail::find(rules.of_projects, project);
  return {
      .time_limit_ms = detail::strictest(rules, one, other, &Ceiling::time_limit_ms, detail::lower),
      .data_bytes = detail::strictest(rules, one, other, &Ceiling::data_bytes, detail::lower),
      .approval = detail::strictest(rules, one, other, &Ceiling::approval, std::logical_or<>())};
}

// Returns how many devices may compute studies of this researcher at the same time; 0: any number.
inline std::int64_t devices_of_researcher(const Rules& rules, const std::string& owner) {
  const Ceiling* own = detail::find(rules.of_researchers, owner);
  if (own != nullptr && own->devices) return *own->devices;
  return rules.server.devices.value_or(0);
}

// Returns how many devices may compute studies of this project at the same time; 0: any number. The
// server's ceiling applies to each researcher and not to projects.
inline std::int64_t devices_of_project(const Rules& rules, const std::string& project) {
  const Ceiling* own = detail::find(rules.of_projects, project);
  return own == nullptr ? 0 : own->devices.value_or(0);
}

// Returns the limit of a trial's time (R68): the study's own limit, but at most the ceiling.
// Without an own limit, the ceiling is the limit. 0: there is no limit and no ceiling.
inline std::int64_t time_limit(const Rules& rules, const std::string& owner,
                               const std::string& project, std::int64_t own) {
  return detail::lower(own, ceiling_of(rules, owner, project).time_limit_ms);
}

inline std::int64_t weight_of_researcher(const Rules& rules, const std::string& owner) {
  const Share* own = detail::find(rules.shares_of_researchers, owner);
  return own == nullptr ? kUsualWeight : own->weight.value_or(kUsualWeight);
}
inline std::int64_t weight_of_project(const Rules& rules, const std::string& project) {
  const Share* own = detail::find(rules.shares_of_projects, project);
  return own == nullptr ? kUsualWeight : own->weight.value_or(kUsualWeight);
}

// Returns how many devices come before the weights of others; 0: none.
inline std::int64_t guaranteed_to_researcher(const Rules& rules, const std::string& owner) {
  const Share* own = detail::find(rules.shares_of_researchers, owner);
  return own == nullptr ? 0 : own->guaranteed;
}
inline std::int64_t guaranteed_to_project(const Rules& rules, const std::string& project) {
  const Share* own = detail::find(rules.shares_of_projects, project);
  return own == nullptr ? 0 : own->guaranteed;
}

// Returns whether `lender` lends its idle devices to `project`.
inline bool lends(const Rules& rules, const std::string& lender, const std::string& project) {
  const Share* own = detail::find(rules.shares_of_projects, lender);
  return own != nullptr && lender != project &&
         (own->lends.contains(project) || own->lends.contains(std::string(kEveryProject)));
}

}  // namespace hyperflock::storage
