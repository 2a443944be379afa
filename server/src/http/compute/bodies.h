// Reads small request bodies of the compute origin (rest.md) with the protocol's JSON reader. Never
// throws. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "http/core/device_reports.h"

namespace hyperflock::http {

// POST /api/project
struct ProjectQuery {
  std::string code;
};
// POST /api/join
struct JoinQuery {
  std::string code;
  std::string device_class;  // phone, tablet, desktop or node
  std::string engine;
};
// POST /api/passphrase
struct PassphraseQuery {
  std::string key;
};
// POST /api/device/passphrase
struct JoinPassphraseQuery {
  std::string key;
  bool is_new = false;
};
// POST /api/leave
struct LeaveQuery {
  SessionId session{};
};
// The body of POST /api/device-reports.
struct DeviceReportQuery {
  std::string code;
  DeviceReport report;
};

Result<ProjectQuery> parse_project_query(std::string_view body);
Result<JoinQuery> parse_join_query(std::string_view body);
Result<PassphraseQuery> parse_passphrase_query(std::string_view body);
Result<JoinPassphraseQuery> parse_join_passphrase_query(std::string_view body);
Result<LeaveQuery> parse_leave_query(std::string_view body);
Result<DeviceReportQuery> parse_device_report_query(std::string_view body);

}  // namespace hyperflock::http
