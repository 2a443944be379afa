// Lets administrators stop misuse: freeze projects, bar blobs (R67), set ceilings, and approve or
// refuse studies (R68). Also lets them set shares of the devices (R70). Suspending a researcher is
// in people_rest.cc.
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "blobs/sha256.h"
#include "http/console/console_rest.h"
#include "http/console/identity_bodies.h"
#include "http/console/study_access.h"
#include "http/core/body.h"
#include "protocol/json/json_writer.h"
#include "storage/state_names.h"

namespace hyperflock::http {
namespace {

using protocol::append_list;
using protocol::name_of;
using protocol::ObjectWriter;
using protocol::Value;
using storage::Applied;
using storage::Ceiling;
using storage::CeilingScope;
using storage::Outcome;
using storage::Share;

constexpr std::int64_t kLongestTimeMs = std::int64_t{365} * 86'400'000;
constexpr std::size_t kMostBorrowers = 100;
constexpr std::int64_t kUsualPage = 50;
constexpr std::int64_t kMostPage = 200;

std::string detail_of(const std::string& reason) {
  std::string out;
  if (!reason.empty()) ObjectWriter(out).text("reason", reason).end();
  return out;
}

// ---- projects

Status set_frozen(const SiteContext& context, const Request& request, const Reply& reply,
                  bool frozen) {
  TRY(const auto query, parse_reason(request.body));
  const auto id = parse_integer(request.captures.front(), kMaxWireInteger);
  const auto projects = context.identities.projects(request.principal);
  const auto project =
      std::ranges::find(projects, id.value_or(0), [](const auto& one) { return one.id; });
  if (project == projects.end())
    return Error{"unknown_project", "No project has this number; ask for the list of projects."};
  return commit_rules(context, storage::FreezeProject{project->name, frozen, query.reason},
                      note_of(request, frozen ? "project.freeze" : "project.unfreeze",
                              project->name, detail_of(query.reason)),
                      reply, [name = project->name, frozen, reason = query.reason](const Outcome&) {
                        return object_response(200, [&](ObjectWriter& body) {
                          body.text("project", name).boolean("frozen", frozen);
                          if (frozen && !reason.empty()) body.text("reason", reason);
                        });
                      });
}

Status freeze(const SiteContext& context, const Request& request, const Reply& reply) {
  return set_frozen(context, request, reply, true);
}

Status unfreeze(const SiteContext& context, const Request& request, const Reply& reply) {
  return set_frozen(context, request, reply, false);
}

// ---- blobs

// Reduces `rows` to one page. A page's cursor is the number of rows before it. Returns the next
// page's cursor.
template <typename Row>
std::int64_t take_page(std::vector<Row>& rows, const Page& page, bool& more) {
  const auto skipped = std::min<std::int64_t>(page.after, std::ssize(rows));
  rows.erase(rows.begin(), rows.begin() + skipped);
  more = cut(rows, page);
  return skipped + std::ssize(rows);
}

Result<Response> list_barred(const SiteContext& context, const Request& request) {
  TRY(const auto page, page_of(request.query, kDefaultPage, kLargestPage));
  auto barred = context.identities.barred();
  bool more = false;
  const std::int64_t cursor = take_page(barred, page, more);
  std::string out;
  ObjectWriter body(out);
  append_list(body.begin("barred"), barred, [&out](const storage::BarredBlob& one) {
    ObjectWriter(out)
        .text("sha256", one.sha256)
        .text("reason", one.reason)
        .text("barred_by", one.barred_by)
        .integer("barred_at", one.barred_at)
        .end();
  });
  body.integer("cursor", cursor).boolean("more", more).end();
  return json_response(200, std::move(out));
}

Status set_barred(const SiteContext& context, const Request& request, const Reply& reply,
                  bool barred) {
  const std::string& sha256 = request.captures.front();
  TRY(const auto query, parse_reason(request.body));
  if (!blobs::is_sha256(sha256))
    return Error{"bad_field", "Give the SHA-256 of the code or the data: 64 hex digits.", "sha256"};
  return commit_rules(
      context, storage::BarBlob{sha256, barred, query.reason, request.principal.name},
      note_of(request, barred ? "blob.bar" : "blob.lift", sha256, detail_of(query.reason)), reply,
      [sha256, barred](const Outcome&) {
        return object_response(200, [&](ObjectWriter& body) {
          body.text("sha256", sha256).boolean("barred", barred);
        });
      });
}

Status bar(const SiteContext& context, const Request& request, const Reply& reply) {
  return set_barred(context, request, reply, true);
}

Status lift(const SiteContext& context, const Request& request, const Reply& reply) {
  return set_barred(context, request, reply, false);
}

// ---- ceilings

void append_ceiling(std::string& out, CeilingScope scope, const std::string& name,
                    const Ceiling& ceiling) {
  ObjectWriter row(out);
  row.text("scope", name_of(scope));
  if (scope != CeilingScope::server) row.text("name", name);
  if (ceiling.time_limit_ms) row.integer("time_limit_ms", *ceiling.time_limit_ms);
  if (ceiling.devices) row.integer("devices", *ceiling.devices);
  if (ceiling.data_bytes) row.integer("data_bytes", *ceiling.data_bytes);
  if (ceiling.approval) row.boolean("approval", *ceiling.approval);
  row.end();
}

Result<Response> list_ceilings(const SiteContext& context, const Request& request) {
  TRY(const auto page, page_of(request.query, kDefaultPage, kLargestPage));
  struct Row {
    CeilingScope scope;
    std::string name;
    Ceiling ceiling;
  };
  const storage::Rules rules = context.identities.rules();
  std::vector<Row> rows{{CeilingScope::server, {}, rules.server}};
  for (const auto& [name, ceiling] : rules.of_projects)
    rows.push_back({CeilingScope::project, name, ceiling});
  for (const auto& [name, ceiling] : rules.of_researchers)
    rows.push_back({CeilingScope::researcher, name, ceiling});
  bool more = false;
  const std::int64_t cursor = take_page(rows, page, more);
  std::string out;
  ObjectWriter body(out);
  append_list(body.begin("ceilings"), rows,
              [&out](const Row& row) { append_ceiling(out, row.scope, row.name, row.ceiling); });
  body.integer("cursor", cursor).boolean("more", more).end();
  return json_response(200, std::move(out));
}

// The ceiling that a request changes, and its new limits. A limit that the request does not name
// stays as it is; null removes a limit.
struct CeilingQuery {
  CeilingScope scope = CeilingScope::server;
  std::string name;
  std::optional<std::optional<std::int64_t>> time_limit_ms;
  std::optional<std::optional<std::int64_t>> devices;
  std::optional<std::optional<std::int64_t>> data_bytes;
  std::optional<std::optional<bool>> approval;
};

Result<CeilingQuery> parse_ceiling(std::string_view text) {
  return parse_body<CeilingQuery>(text, [](const Value& in, CeilingQuery& out) {
    const Value scope = in["scope"];
    if (const auto named = protocol::from_name<CeilingScope>(scope.as_text())) {
      out.scope = *named;
    } else {
      scope.bad_field("server, researcher or project");
    }
    if (out.scope != CeilingScope::server) out.name = in["name"].as_text();
    const auto limit = [&in](std::string_view key, std::int64_t most) {
      std::optional<std::optional<std::int64_t>> given;
      const Value one = in.find(key);
      if (!one.present()) return given;
      given.emplace();
      if (!one.json().is(protocol::JsonKind::null))
        *given = one.as_integer({.low = 0, .high = most});
      return given;
    };
    out.time_limit_ms = limit("time_limit_ms", kLongestTimeMs);
    out.devices = limit("devices", kMaxWireInteger);
    out.data_bytes = limit("data_bytes", kMaxWireInteger);
    if (const Value approval = in.find("approval"); approval.present()) {
      out.approval.emplace();
      if (!approval.json().is(protocol::JsonKind::null)) *out.approval = approval.as_bool();
    }
  });
}

std::string detail_of(const CeilingQuery& query, const Ceiling& ceiling) {
  std::string out;
  append_ceiling(out, query.scope, query.name, ceiling);
  return out;
}

Status set_ceiling(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(const auto query, parse_ceiling(request.body));
  const storage::Rules rules = context.identities.rules();
  Ceiling ceiling = rules.server;
  if (query.scope != CeilingScope::server) {
    const auto& all =
        query.scope == CeilingScope::project ? rules.of_projects : rules.of_researchers;
    const auto found = all.find(query.name);
    ceiling = found == all.end() ? Ceiling{} : found->second;
  }
  if (query.time_limit_ms) ceiling.time_limit_ms = *query.time_limit_ms;
  if (query.devices) ceiling.devices = *query.devices;
  if (query.data_bytes) ceiling.data_bytes = *query.data_bytes;
  if (query.approval) ceiling.approval = *query.approval;
  const std::string object =
      std::string(name_of(query.scope)) + (query.name.empty() ? "" : " ") + query.name;
  return commit_rules(context, storage::SetCeiling{query.scope, query.name, ceiling},
                      note_of(request, "ceiling.set", object, detail_of(query, ceiling)), reply,
                      [query, ceiling](const Outcome& outcome) -> Result<Response> {
                        if (outcome.applied == Applied::conflict) {
                          return Error{"bad_field",
                                       "This server has no researcher or project of this name.",
                                       "name"};
                        }
                        return json_response(200, detail_of(query, ceiling));
                      });
}

// ---- shares

void append_share(std::string& out, CeilingScope scope, const std::string& name,
                  const Share& share) {
  ObjectWriter row(out);
  row.text("scope", name_of(scope)).text("name", name);
  if (share.weight) row.integer("weight", *share.weight);
  row.integer("guaranteed", share.guaranteed);
  if (scope == CeilingScope::project) {
    append_list(row.begin("lends"), share.lends,
                [&out](const std::string& one) { protocol::append_string(out, one); });
  }
  row.end();
}

Result<Response> list_shares(const SiteContext& context, const Request& request) {
  TRY(const auto page, page_of(request.query, kDefaultPage, kLargestPage));
  struct Row {
    CeilingScope scope;
    std::string name;
    Share share;
  };
  const storage::Rules rules = context.identities.rules();
  std::vector<Row> rows;
  for (const auto& [name, share] : rules.shares_of_projects)
    rows.push_back({CeilingScope::project, name, share});
  for (const auto& [name, share] : rules.shares_of_researchers)
    rows.push_back({CeilingScope::researcher, name, share});
  bool more = false;
  const std::int64_t cursor = take_page(rows, page, more);
  std::string out;
  ObjectWriter body(out);
  append_list(body.begin("shares"), rows,
              [&out](const Row& row) { append_share(out, row.scope, row.name, row.share); });
  body.integer("cursor", cursor).boolean("more", more).end();
  return json_response(200, std::move(out));
}

// The share that a request changes. What the request does not name stays as it is; null removes it.
struct ShareQuery {
  CeilingScope scope = CeilingScope::researcher;
  std::string name;
  std::optional<std::optional<std::int64_t>> weight;
  std::optional<std::int64_t> guaranteed;
  std::optional<std::set<std::string>> lends;
};

Result<ShareQuery> parse_share(std::string_view text) {
  return parse_body<ShareQuery>(text, [](const Value& in, ShareQuery& out) {
    const Value scope = in["scope"];
    const auto named = protocol::from_name<CeilingScope>(scope.as_text());
    if (named && *named != CeilingScope::server) {
      out.scope = *named;
    } else {
      scope.bad_field("researcher or project");
    }
    out.name = in["name"].as_text();
    const auto is_null = [](const Value& one) { return one.json().is(protocol::JsonKind::null); };
    if (const Value weight = in.find("weight"); weight.present()) {
      out.weight.emplace();
      if (!is_null(weight))
        *out.weight = weight.as_integer({.low = 1, .high = storage::kMostWeight});
    }
    if (const Value least = in.find("guaranteed"); least.present())
      out.guaranteed = is_null(least) ? 0 : least.as_integer({.low = 0, .high = kMaxWireInteger});
    const Value lends = in.find("lends");
    if (!lends.present()) return;
    if (out.scope != CeilingScope::project) lends.bad_field("only a project lends devices");
    out.lends.emplace();
    if (is_null(lends)) return;
    lends.each(kMostBorrowers, [&](const Value& one) { out.lends->insert(one.as_text()); });
  });
}

Status set_share(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(const auto query, parse_share(request.body));
  const storage::Rules rules = context.identities.rules();
  const auto& all =
      query.scope == CeilingScope::project ? rules.shares_of_projects : rules.shares_of_researchers;
  const auto found = all.find(query.name);
  Share share = found == all.end() ? Share{} : found->second;
  if (query.weight) share.weight = *query.weight;
  if (query.guaranteed) share.guaranteed = *query.guaranteed;
  if (query.lends) share.lends = *query.lends;
  std::string row;
  append_share(row, query.scope, query.name, share);
  return commit_rules(
      context, storage::SetShare{query.scope, query.name, share},
      note_of(request, "share.set", std::string(name_of(query.scope)) + " " + query.name, row),
      reply, [row](const Outcome& outcome) -> Result<Response> {
        if (outcome.applied == Applied::conflict) {
          return Error{"bad_field", "This server has no researcher or project of this name.",
                       "name"};
        }
        return json_response(200, row);
      });
}

// ---- approval

Result<Response> list_awaiting(const SiteContext& context, const Request& request) {
  TRY(const auto wanted, page_of(request.query, kUsualPage, kMostPage));
  TRY(const Space space, space_of(request.query));
  TRY(const auto found, context.storage.awaiting_approval(wanted.after, wanted.limit));
  std::int64_t cursor = wanted.after;
  std::string out;
  ObjectWriter body(out);
  append_list(body.begin("studies"), found.studies, [&](const storage::StudyRow& row) {
    out += shown_study_json(context.hub, context.identities, row, space);
    cursor = to_int(row.id);
  });
  body.integer("cursor", cursor).boolean("more", found.more).end();
  return json_response(200, std::move(out));
}

Status judge(const SiteContext& context, const Request& request, const Reply& reply,
             bool approved) {
  TRY(const auto query, parse_reason(request.body));
  TRY(const auto row, readable_study(context, request));
  context.hub.judge_study(
      {row.id, approved, query.reason},
      note_of(request, approved ? "study.approve" : "study.refuse", {}, detail_of(query.reason)),
      row_replier(context, request, reply));
  return {};
}

Status approve(const SiteContext& context, const Request& request, const Reply& reply) {
  return judge(context, request, reply, true);
}

Status refuse(const SiteContext& context, const Request& request, const Reply& reply) {
  return judge(context, request, reply, false);
}

constexpr std::array<Route, 12> kRulesRoutes{{
    {Method::post, "/api/projects/{}/freeze", Access::admin, answer_later<freeze>, kSmallBody},
    {Method::post, "/api/projects/{}/unfreeze", Access::admin, answer_later<unfreeze>, kSmallBody},
    costly({Method::get, "/api/barred", Access::admin, answer<list_barred>}),
    {Method::post, "/api/barred/{}", Access::admin, answer_later<bar>, kSmallBody},
    {Method::post, "/api/barred/{}/lift", Access::admin, answer_later<lift>, kSmallBody},
    costly({Method::get, "/api/ceilings", Access::admin, answer<list_ceilings>}),
    {Method::post, "/api/ceilings", Access::admin, answer_later<set_ceiling>, kSmallBody},
    costly({Method::get, "/api/shares", Access::admin, answer<list_shares>}),
    {Method::post, "/api/shares", Access::admin, answer_later<set_share>, kSmallBody},
    costly({Method::get, "/api/approvals", Access::admin, answer<list_awaiting>}),
    {Method::post, "/api/studies/{}/approve", Access::admin, answer_later<approve>, kSmallBody},
    {Method::post, "/api/studies/{}/refuse", Access::admin, answer_later<refuse>, kSmallBody},
}};

}  // namespace

std::span<const Route> rules_routes() { return kRulesRoutes; }

}  // namespace hyperflock::http
