// Answers operators: the audit log by page or as lines, reports of devices, readiness and
// metrics.
#include <array>
#include <utility>

#include "http/console/console_rest.h"
#include "http/core/routed_site.h"
#include "protocol/json/json_writer.h"
#include "telemetry/utf8.h"

namespace hyperflock::http {
namespace {

using protocol::append_list;
using protocol::ObjectWriter;

constexpr std::int64_t kLargestExport = 100'000;
constexpr std::int64_t kReportsShown = 100;

void append_entry(std::string& out, const storage::AuditEntry& entry) {
  ObjectWriter row(out);
  row.integer("id", entry.id).integer("at", entry.at);
  row.text("actor", telemetry::valid_utf8(entry.actor));
  row.text("action", telemetry::valid_utf8(entry.action));
  row.text("object", telemetry::valid_utf8(entry.object));
  row.text("address", telemetry::valid_utf8(entry.address));
  row.raw("detail", entry.detail.empty() ? "{}" : entry.detail).end();
}

Result<Response> audit_page(const SiteContext& context, const Request& request) {
  TRY(const auto wanted, page_of(request.query, kDefaultPage, kLargestPage));
  TRY(const auto entries, context.storage.audit(wanted.after, wanted.limit));
  std::int64_t cursor = wanted.after;
  std::string out;
  ObjectWriter body(out);
  append_list(body.begin("entries"), entries, [&](const storage::AuditEntry& entry) {
    append_entry(out, entry);
    cursor = entry.id;
  });
  body.integer("cursor", cursor).end();
  return json_response(200, std::move(out));
}

// Sends entries of the audit log, one JSON object on each line. A client passes the last id in its
// next request, to get the entries after it.
Result<Response> audit_export(const SiteContext& context, const Request& request) {
  TRY(const auto wanted, page_of(request.query, kLargestExport, kLargestExport));
  TRY(const auto entries, context.storage.audit(wanted.after, wanted.limit));
  std::string out;
  for (const storage::AuditEntry& entry : entries) {
    append_entry(out, entry);
    out += '\n';
  }
  Response response = json_response(200, std::move(out));
  response.content_type = "application/x-ndjson";
  response.headers.emplace_back("Content-Disposition", attachment("audit.ndjson"));
  return response;
}

// Sends reports of devices, the newest first. The cursor is the last report's number.
Result<Response> device_reports(const SiteContext& context, const Request& request) {
  TRY(const auto wanted, page_of(request.query, kReportsShown, kLargestPage));
  auto found = context.reports.newest(wanted.after, static_cast<std::size_t>(wanted.limit) + 1);
  const bool more = cut(found, wanted);
  std::string out;
  ObjectWriter body(out);
  append_list(body.begin("reports"), found,
              [&out](const DeviceReports::Stored& one) { out += one.json; });
  body.integer("cursor", found.empty() ? wanted.after : found.back().number)
      .boolean("more", more)
      .end();
  return json_response(200, std::move(out));
}

Status metrics(const SiteContext& context, const Request&, const Reply& reply) {
  using telemetry::Gauge;
  context.metrics.refresh();
  const hub::Health health = context.hub.health();
  context.metrics.set(Gauge::read_only, health.read_only ? 1 : 0);
  context.metrics.set(Gauge::disk_full, health.full || context.room.left() == 0 ? 1 : 0);
  context.hub.counters([reply, &metrics = context.metrics](const dispatch::Counters& now) {
    metrics.set(Gauge::devices_connected, static_cast<double>(now.workers));
    metrics.set(Gauge::attempts_running, static_cast<double>(now.leased));
    metrics.set(Gauge::trials_queued, static_cast<double>(now.queued));
    metrics.set(Gauge::owners_attached, static_cast<double>(now.owners));
    metrics.set(Gauge::owner_calls_waiting, static_cast<double>(now.calls_waiting));
    Response response;
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    response.headers.emplace_back("Cache-Control", "no-store");
    response.body = metrics.text();
    reply(std::move(response));
  });
  return {};
}

constexpr std::array<Route, 6> kOperatorRoutes{{
    costly({Method::get, "/api/audit", Access::admin, answer<audit_page>}),
    costly({Method::get, "/api/audit/export", Access::admin, answer<audit_export>}),
    costly({Method::get, "/api/device-reports", Access::admin, answer<device_reports>}),
    probe({Method::get, "/readyz", Access::open, answer<readiness>}),
    probe({Method::get, "/metrics", Access::metrics, answer_later<metrics>}),
    // A spare passes the one on and answers the other.
    probe({Method::get, "/metrics/own", Access::metrics, answer_later<metrics>}),
}};

}  // namespace

std::span<const Route> operator_routes() { return kOperatorRoutes; }

}  // namespace hyperflock::http
