#include "http/compute/bodies.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "blobs/sha256.h"
#include "http/core/body.h"
#include "names/names.h"

namespace hyperflock::http {
namespace {

constexpr std::array<std::string_view, 4> kClasses{"phone", "tablet", "desktop", "node"};
constexpr std::array<std::string_view, 5> kCheckStates{"ok", "limited", "missing", "failed",
                                                       "skipped"};
constexpr std::size_t kMaxChecks = 40;

// Reads a text that must be one of `names`. `wanted` lists these names in the error message.
template <std::size_t N>
std::string one_of(const protocol::Value& in, const std::array<std::string_view, N>& names,
                   std::string_view wanted) {
  std::string text = in.as_text();
  if (in.present() && std::ranges::find(names, text) == names.end()) in.bad_field(wanted);
  return text;
}

// Reads a device's description of itself. Characters that a name must not have become escapes.
std::string shown_line(const protocol::Value& in) { return names::shown(in.as_text()); }

std::string device_class(const protocol::Value& in) {
  return one_of(in, kClasses, "phone, tablet, desktop or node");
}

// Reads the key of a passphrase, which is a SHA-256 in hex.
std::string passphrase_key(const protocol::Value& in) {
  std::string key = in.as_text();
  if (in.present() && !blobs::is_sha256(key)) in.bad_field("64 hexadecimal digits");
  return key;
}

}  // namespace

Result<ProjectQuery> parse_project_query(std::string_view body) {
  return parse_body<ProjectQuery>(body, [](const protocol::Value& in, ProjectQuery& query) {
    query.code = in["code"].as_text();
  });
}

Result<JoinQuery> parse_join_query(std::string_view body) {
  return parse_body<JoinQuery>(body, [](const protocol::Value& in, JoinQuery& query) {
    query.code = in["code"].as_text();
    query.device_class = device_class(in["class"]);
    query.engine = shown_line(in["engine"]);
  });
}

Result<PassphraseQuery> parse_passphrase_query(std::string_view body) {
  return parse_body<PassphraseQuery>(body, [](const protocol::Value& in, PassphraseQuery& query) {
    query.key = passphrase_key(in["key"]);
  });
}

Result<JoinPassphraseQuery> parse_join_passphrase_query(std::string_view body) {
  return parse_body<JoinPassphraseQuery>(body,
                                         [](const protocol::Value& in, JoinPassphraseQuery& query) {
                                           query.key = passphrase_key(in["key"]);
                                           query.is_new = in["new"].as_bool();
                                         });
}

Result<LeaveQuery> parse_leave_query(std::string_view body) {
  return parse_body<LeaveQuery>(body, [](const protocol::Value& in, LeaveQuery& query) {
    query.session = in["session"].as_id<SessionId>();
  });
}

Result<DeviceReportQuery> parse_device_report_query(std::string_view body) {
  return parse_body<DeviceReportQuery>(body, [](const protocol::Value& in,
                                                DeviceReportQuery& query) {
    query.code = in["code"].as_text();
    const protocol::Value report = in["report"];
    query.report.device_class = device_class(report["class"]);
    query.report.engine = shown_line(report["engine"]);
    report["checks"].each(kMaxChecks, [&query](const protocol::Value& check) {
      query.report.checks.push_back(
          {.name = shown_line(check["name"]),
           .state = one_of(check["state"], kCheckStates, "ok, limited, missing, failed or skipped"),
           .detail = shown_line(check["detail"])});
    });
  });
}

}  // namespace hyperflock::http
