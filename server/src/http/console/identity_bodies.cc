#include "http/console/identity_bodies.h"

#include <algorithm>

#include "http/core/body.h"
#include "names/names.h"

namespace hyperflock::http {
namespace {

using protocol::Value;

constexpr std::size_t kLongestName = 64;
constexpr std::size_t kMostProjects = 64;
constexpr std::size_t kLongestReason = 500;

// Returns the result of a check of a text. If the check refused the text, notes the error and
// returns an empty text.
std::string checked(const Value& in, const Result<std::string>& text) {
  if (text) return *text;
  in.note(text.error().code, text.error().message);
  return {};
}

// Reads a new name that people see on pages and in terminals.
std::string read_name(const Value& in) {
  const std::string name = in.as_text(kLongestName);
  return in.present() ? checked(in, names::plain_name(name, in.path())) : name;
}

std::int64_t read_seconds(const Value& in, std::int64_t fallback) {
  return in.present() ? in.as_integer({.low = 0, .high = kLongestS}) : fallback;
}

std::optional<QuotaChange> read_quota(const Value& in) {
  if (!in.present()) return std::nullopt;
  QuotaChange quota;
  if (!in.require_object()) return quota;
  const auto number = [&in](std::string_view key) {
    const Value one = in.find(key);
    return one.present() ? std::optional(one.as_integer()) : std::nullopt;
  };
  quota.studies = number("studies");
  quota.trials = number("trials");
  quota.bytes = number("bytes");
  return quota;
}

std::optional<std::vector<std::string>> read_projects(const Value& in) {
  if (!in.present()) return std::nullopt;
  std::vector<std::string> names;
  in.each(kMostProjects, [&](const Value& one) { names.push_back(one.as_text()); });
  return names;
}

}  // namespace

std::string read_reason(const Value& in) {
  const std::string reason = in.as_text(kLongestReason);
  return checked(in, names::plain_text(reason, in.path()));
}

Result<TokenQuery> parse_token_query(std::string_view body) {
  return parse_body<TokenQuery>(body, [](const Value& in, TokenQuery& query) {
    query.researcher = in["researcher"].as_integer({.low = 1});
    query.expires_s = read_seconds(in.find("expires_s"), 0);
  });
}

Result<RotateQuery> parse_rotate_query(std::string_view body) {
  if (body.empty()) return RotateQuery{};
  return parse_body<RotateQuery>(body, [](const Value& in, RotateQuery& query) {
    query.grace_s = read_seconds(in.find("grace_s"), query.grace_s);
  });
}

Result<ProjectNameQuery> parse_project_name_query(std::string_view body) {
  return parse_body<ProjectNameQuery>(body, [](const Value& in, ProjectNameQuery& query) {
    query.project = read_name(in["project"]);
  });
}

Result<EnrolmentQuery> parse_enrolment_query(std::string_view body) {
  if (body.empty()) return EnrolmentQuery{};
  return parse_body<EnrolmentQuery>(body, [](const Value& in, EnrolmentQuery& query) {
    const Value project = in.find("project");
    // Older projects may have names that new ones must not have, so this name is not checked.
    if (project.present()) {
      query.project = project.as_text(kLongestName);
      if (query.project->empty()) project.bad_field("the name of a project");
    }
    const Value label = in.find("label");
    if (label.present()) query.label = read_name(label);
    query.expires_s = read_seconds(in.find("expires_s"), 0);
    const Value uses = in.find("max_uses");
    if (uses.present()) query.max_uses = uses.as_integer();
  });
}

Result<RegisterQuery> parse_register_query(std::string_view body) {
  return parse_body<RegisterQuery>(body, [](const Value& in, RegisterQuery& query) {
    query.name = read_name(in["name"]);
    const Value note = in.find("note");
    if (note.present()) query.note = checked(note, names::plain_text(note.as_text(), note.path()));
  });
}

Result<ResearcherQuery> parse_researcher_query(std::string_view body) {
  return parse_body<ResearcherQuery>(body, [](const Value& in, ResearcherQuery& query) {
    query.name = read_name(in["name"]);
    if (const Value role = in.find("role"); role.present()) {
      const std::string name = role.as_text();
      if (name == "admin") {
        query.role = storage::PrincipalRole::admin;
      } else if (name != "researcher") {
        role.bad_field("admin or researcher");
      }
    }
    query.quota = read_quota(in.find("quota"));
    query.projects = read_projects(in.find("projects"));
  });
}

Result<ReasonQuery> parse_reason(std::string_view body) {
  if (body.empty()) return ReasonQuery{};
  return parse_body<ReasonQuery>(body, [](const Value& in, ReasonQuery& query) {
    if (const Value reason = in.find("reason"); reason.present())
      query.reason = read_reason(reason);
  });
}

Result<DeviceRevocation> parse_device_revocation(std::string_view body) {
  if (body.empty()) return DeviceRevocation{};
  return parse_body<DeviceRevocation>(body, [](const Value& in, DeviceRevocation& query) {
    if (const Value reject = in.find("reject"); reject.present()) query.reject = reject.as_bool();
    const Value reason = in.find("reason");
    if (!reason.present()) return;
    query.reason = read_reason(reason);
    if (!query.reject) reason.bad_field("left out, unless the results are rejected");
  });
}

Result<ResearcherChange> parse_researcher_change(std::string_view body) {
  return parse_body<ResearcherChange>(body, [](const Value& in, ResearcherChange& change) {
    if (const Value state = in.find("state"); state.present()) {
      const std::string name = state.as_text();
      if (name == "active") {
        change.state = storage::PrincipalState::active;
      } else if (name == "refused") {
        change.state = storage::PrincipalState::refused;
      } else if (name == "suspended") {
        change.state = storage::PrincipalState::suspended;
      } else {
        state.bad_field("active, refused or suspended");
      }
    }
    if (const Value reason = in.find("reason"); reason.present()) {
      change.reason = read_reason(reason);
      if (!change.state || *change.state == storage::PrincipalState::active)
        reason.bad_field("left out, unless the state becomes refused or suspended");
    }
    change.quota = read_quota(in.find("quota"));
    change.projects = read_projects(in.find("projects"));
  });
}

}  // namespace hyperflock::http
