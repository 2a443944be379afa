// The audit log, by pages and as lines: see identity_rest.h.
#include <array>
#include <utility>

#include "http/console/identity_rest.h"
#include "protocol/json_writer.h"
#include "telemetry/json_text.h"

namespace hyperflock::http {
namespace {

using protocol::append_list;
using protocol::ObjectWriter;

constexpr std::int64_t kDefaultPage = 500;
constexpr std::int64_t kLargestPage = 5'000;
constexpr std::int64_t kLargestExport = 100'000;

void append_entry(std::string& out, const storage::AuditEntry& entry) {
  ObjectWriter row(out);
  row.integer("id", entry.id).integer("at", entry.at);
  telemetry::append_json_string(row.begin("actor"), entry.actor);
  telemetry::append_json_string(row.begin("action"), entry.action);
  telemetry::append_json_string(row.begin("object"), entry.object);
  telemetry::append_json_string(row.begin("address"), entry.address);
  row.raw("detail", entry.detail.empty() ? "{}" : entry.detail).end();
}

void page(const SiteContext& context, const Request& request, const Reply& reply) {
  const auto asked = page_of(request.query, kDefaultPage, kLargestPage);
  if (!asked) return reply(error_response(asked.error()));
  const auto entries = context.storage.audit(asked->after, asked->limit);
  if (!entries) return reply(error_response(entries.error()));
  std::int64_t cursor = asked->after;
  std::string out;
  ObjectWriter body(out);
  append_list(body.begin("entries"), *entries, [&](const storage::AuditEntry& entry) {
    append_entry(out, entry);
    cursor = entry.id;
  });
  body.integer("cursor", cursor).end();
  reply(json_response(200, std::move(out)));
}

// One JSON object a line; the last one's id is where the next export goes on.
void export_lines(const SiteContext& context, const Request& request, const Reply& reply) {
  const auto asked = page_of(request.query, kLargestExport, kLargestExport);
  if (!asked) return reply(error_response(asked.error()));
  const auto entries = context.storage.audit(asked->after, asked->limit);
  if (!entries) return reply(error_response(entries.error()));
  std::string out;
  for (const storage::AuditEntry& entry : *entries) {
    append_entry(out, entry);
    out += '\n';
  }
  Response response = json_response(200, std::move(out));
  response.content_type = "application/x-ndjson";
  response.headers.emplace_back("Content-Disposition", attachment("audit.ndjson"));
  reply(std::move(response));
}

constexpr std::array<HandledRoute, 2> kRoutes{{
    {{Method::get, "/api/audit", Access::admin}, page},
    {{Method::get, "/api/audit/export", Access::admin}, export_lines},
}};

}  // namespace

std::span<const HandledRoute> audit_routes() { return kRoutes; }

}  // namespace hyperflock::http
