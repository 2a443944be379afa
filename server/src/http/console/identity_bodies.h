// Reads request bodies about people, tokens, projects and codes (rest.md) with the protocol's JSON
// reader. Never throws. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "protocol/json/json_reader.h"
#include "storage/identity.h"

namespace hyperflock::http {

inline constexpr std::int64_t kDayS = 86'400;
// The longest lifetime, in seconds, of a token or an enrolment code that expires.
inline constexpr std::int64_t kLongestS = 3'650 * kDayS;

// POST /api/tokens
struct TokenQuery {
  std::int64_t researcher = 0;
  std::int64_t expires_s = 0;  // 0: never
};
// The body of POST /api/tokens/rotate.
struct RotateQuery {
  std::int64_t grace_s = kDayS;
};
// POST /api/projects
struct ProjectNameQuery {
  std::string project;
};
// The body of POST /api/enrolment.
struct EnrolmentQuery {
  std::optional<std::string> project;
  std::string label;
  std::int64_t expires_s = 0;  // 0: never
  std::int64_t max_uses = 0;   // 0: any number
};
// POST /api/register
struct RegisterQuery {
  std::string name;
  std::string note;
};
// The limits that change. The other limits stay as they are.
struct QuotaChange {
  std::optional<std::int64_t> studies;
  std::optional<std::int64_t> trials;
  std::optional<std::int64_t> bytes;

  storage::Quota of(const storage::Quota& now) const {
    return {studies.value_or(now.studies), trials.value_or(now.trials), bytes.value_or(now.bytes)};
  }
};
// The body of POST /api/researchers.
struct ResearcherQuery {
  std::string name;
  storage::PrincipalRole role = storage::PrincipalRole::researcher;
  std::optional<QuotaChange> quota;
  std::optional<std::vector<std::string>> projects;
};
// An administrator's reason for a stop or a refusal; the body of freeze, bar and refuse.
struct ReasonQuery {
  std::string reason;
};
// The body of POST /api/devices/<id>/revoke and of POST /api/enrolment/<id>/revoke.
struct DeviceRevocation {
  bool reject = false;  // whether what the device, or those of the code, have sent is rejected
  std::string reason;   // of that
};
// The body of POST /api/researchers/<id>. Only fields that are given change.
struct ResearcherChange {
  std::optional<storage::PrincipalState> state;
  std::string reason;  // of the states refused and suspended
  std::optional<QuotaChange> quota;
  std::optional<std::vector<std::string>> projects;
};

// Reads a reason. Researchers read it on pages and in terminals, so it must be plain text.
std::string read_reason(const protocol::Value& in);
Result<TokenQuery> parse_token_query(std::string_view body);
Result<RotateQuery> parse_rotate_query(std::string_view body);
Result<ProjectNameQuery> parse_project_name_query(std::string_view body);
Result<EnrolmentQuery> parse_enrolment_query(std::string_view body);
Result<RegisterQuery> parse_register_query(std::string_view body);
Result<ResearcherQuery> parse_researcher_query(std::string_view body);
Result<ReasonQuery> parse_reason(std::string_view body);
Result<DeviceRevocation> parse_device_revocation(std::string_view body);
Result<ResearcherChange> parse_researcher_change(std::string_view body);

}  // namespace hyperflock::http
