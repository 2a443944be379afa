// Manages projects, enrolment codes and devices; see console_rest.h.
#include <array>
#include <utility>
#include <vector>

#include "auth/tokens.h"
#include "http/console/console_rest.h"
#include "http/console/identity_bodies.h"
#include "protocol/json/json_writer.h"
#include "telemetry/log.h"

namespace hyperflock::http {
namespace {

using protocol::append_list;
using protocol::append_string;
using protocol::ObjectWriter;
using storage::Applied;
using storage::Outcome;

// ---- projects

// At most this many researchers of each project are named in the list of projects.
constexpr std::size_t kNamedResearchers = 100;

// Appends the limits of the caller's studies in this project (R68). 0 means no limit.
void append_ceiling(std::string& out, const storage::Rules& rules, const Request& request,
                    const std::string& project) {
  const std::string& caller = request.principal.name;
  const storage::StudyCeiling most = storage::ceiling_of(rules, caller, project);
  ObjectWriter(out)
      .integer("time_limit_ms", most.time_limit_ms)
      .integer("data_bytes", most.data_bytes)
      .integer("devices", storage::devices_of_researcher(rules, caller))
      .integer("devices_of_project", storage::devices_of_project(rules, project))
      .boolean("approval", most.approval && !is_admin(request))
      .end();
}

// Appends the caller's share of the project's devices (R70).
void append_share(std::string& out, const storage::Rules& rules, const Request& request) {
  const std::string& caller = request.principal.name;
  ObjectWriter(out)
      .integer("weight", storage::weight_of_researcher(rules, caller))
      .integer("guaranteed", storage::guaranteed_to_researcher(rules, caller))
      .end();
}

Result<Response> list_projects(const SiteContext& context, const Request& request) {
  TRY(const auto page, page_of(request.query, kDefaultPage, kLargestPage));
  std::vector<storage::Project> projects =
      context.identities.projects(request.principal, piece_of(page));
  const bool more = cut(projects, page);
  const storage::Rules rules = context.identities.rules();  // once, because this copies them
  std::string out;
  ObjectWriter body(out);
  append_list(body.begin("projects"), projects, [&](const storage::Project& project) {
    ObjectWriter row(out);
    row.integer("id", project.id)
        .text("project", project.name)
        .integer("created_at", project.created_at)
        .integer("devices", context.identities.devices(project.name));
    append_list(row.begin("researchers"),
                context.identities.researchers(project.name, kNamedResearchers),
                [&out](const std::string& name) { append_string(out, name); });
    if (project.frozen_at != 0) {
      ObjectWriter frozen(row.begin("frozen"));
      frozen.integer("at", project.frozen_at);
      if (!project.reason.empty()) frozen.text("reason", project.reason);
      frozen.end();
    }
    append_ceiling(row.begin("ceiling"), rules, request, project.name);
    append_share(row.begin("share"), rules, request);
    row.end();
  });
  end_page(body, page, projects, more);
  return json_response(200, std::move(out));
}

Status create_project(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(const auto query, parse_project_name_query(request.body));
  return commit_noted(context, storage::CreateProject{query.project},
                      note_of(request, "project.create", query.project), reply,
                      [name = query.project](const Outcome& outcome) {
                        if (outcome.applied != Applied::applied) {
                          return error_response(Error{
                              "name_taken", "A project has this name; choose another.", "project"});
                        }
                        return object_response(201, [&](ObjectWriter& body) {
                          body.integer("id", outcome.id).text("project", name);
                        });
                      });
}

// ---- codes

std::string_view state_of(const storage::Enrolment& code, std::int64_t now) {
  if (code.revoked_at != 0) return "revoked";
  if (code.expires_at != 0 && code.expires_at <= now) return "expired";
  return storage::admits(code, now) ? "open" : "used_up";
}

void append_code(std::string& out, const storage::Enrolment& code, std::int64_t now) {
  ObjectWriter row(out);
  row.integer("enrolment", code.id)
      .text("project", code.project)
      .text("state", state_of(code, now))
      .text("label", code.label)
      .text("created_by", code.created_by)
      .integer("created_at", code.created_at)
      .integer("uses", code.uses);
  if (code.max_uses != 0) row.integer("max_uses", code.max_uses);
  if (code.expires_at != 0) row.integer("expires_at", code.expires_at);
  if (code.revoked_at != 0) row.integer("revoked_at", code.revoked_at);
  row.end();
}

Result<Response> list_codes(const SiteContext& context, const Request& request) {
  TRY(const auto page, page_of(request.query, kDefaultPage, kLargestPage));
  std::vector<storage::Enrolment> codes =
      context.identities.enrolments(request.principal, piece_of(page));
  const bool more = cut(codes, page);
  const std::int64_t now = context.identities.now();
  std::string out;
  ObjectWriter body(out);
  append_list(body.begin("enrolments"), codes,
              [&](const storage::Enrolment& code) { append_code(out, code, now); });
  end_page(body, page, codes, more);
  return json_response(200, std::move(out));
}

Status create_code(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(const auto query, parse_enrolment_query(request.body));
  TRY(const auto project, project_of(context, request, query.project.value_or("")));
  const std::string code = auth::new_token(auth::TokenKind::enrolment_code);
  storage::Enrolment made{.code_hash = auth::token_hash(code), .project = project};
  made.label = query.label;
  made.created_by = request.principal.name;
  made.max_uses = query.max_uses;
  if (query.expires_s != 0) made.expires_at = context.identities.now() + query.expires_s * 1'000;
  return commit_noted(
      context, storage::CreateEnrolment{made}, note_of(request, "enrolment.create", project), reply,
      [&context, code, made](const Outcome& outcome) {
        telemetry::log(telemetry::LogLevel::info, "enrolment_created", {{"project", made.project}});
        std::string out;
        ObjectWriter row(out);
        row.text("code", code)
            .text("join_url", context.join_origin + "/join#" + code)
            .integer("enrolment", outcome.id)
            .text("project", made.project);
        if (made.expires_at != 0) row.integer("expires_at", made.expires_at);
        if (made.max_uses != 0) row.integer("max_uses", made.max_uses);
        row.end();
        return json_response(201, std::move(out));
      });
}

Status revoke_code(const SiteContext& context, const Request& request, const Reply& reply) {
  const auto id = parse_integer(request.captures.front(), kMaxWireInteger);
  const auto code = id ? context.identities.enrolment(*id) : std::nullopt;
  if (!code || !auth::IdentityCache::may_use(request.principal, code->project)) {
    return Error{"unknown_enrolment", "There is no such code, or it is of another project."};
  }
  TRY(const auto query, parse_device_revocation(request.body));
  const storage::RevokeEnrolment change{code->id};
  const auto revoked = [&context, request, change, query, reply](const Result<Outcome>& outcome) {
    if (!outcome) return reply(error_response(outcome.error()));
    context.identities.committed(change, *outcome);
    if (!query.reject) {
      return reply(object_response(200, [&](ObjectWriter& body) {
        body.integer("enrolment", change.id).boolean("revoked", true);
      }));
    }
    revoke_devices_of_code(context, request, change.id, query.reason,
                           [change, reply](const Result<RejectedEverywhere>& done) {
                             if (!done) return reply(error_response(done.error()));
                             reply(object_response(200, [&](ObjectWriter& body) {
                               body.integer("enrolment", change.id)
                                   .boolean("revoked", true)
                                   .integer("devices", done->devices)
                                   .integer("rejected", done->attempts)
                                   .integer("trials", done->trials);
                             }));
                           });
  };
  context.hub.commit({change, note_of(request, "enrolment.revoke", std::to_string(code->id))},
                     revoked);
  return {};
}

// ---- devices

// Refuses the device from now on, closes its session, and issues the trial of its attempt again.
// With `reject`, what it has sent is rejected afterwards. A researcher may revoke devices of a
// project that is open to them, because they also hand out the codes by which devices join it.
Status revoke_device(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(const auto query, parse_device_revocation(request.body));
  const std::string& device = request.captures.front();
  const auto project = context.identities.project_of_device(device);
  if (!project || !auth::IdentityCache::may_use(request.principal, *project))
    return unknown_device();
  const auto revoked = [&context, request, device, query, reply](const Outcome& outcome) {
    if (outcome.applied == Applied::conflict) return reply(error_response(unknown_device()));
    context.identities.committed(storage::RevokeDevice{device}, outcome);
    telemetry::log(telemetry::LogLevel::info, "device_revoked", {{"device", device}});
    if (!query.reject) {
      return reply(object_response(
          200, [&](ObjectWriter& body) { body.text("device", device).boolean("revoked", true); }));
    }
    reject_everywhere(context, request, device, query.reason,
                      [device, reply](const Result<RejectedEverywhere>& done) {
                        if (!done) return reply(error_response(done.error()));
                        reply(object_response(200, [&](ObjectWriter& body) {
                          body.text("device", device)
                              .boolean("revoked", true)
                              .integer("studies", done->studies)
                              .integer("rejected", done->attempts)
                              .integer("trials", done->trials);
                        }));
                      });
  };
  context.hub.revoke_device(device, note_of(request, "device.revoke", device),
                            [revoked, reply](const Result<Outcome>& outcome) {
                              outcome ? revoked(*outcome) : reply(error_response(outcome.error()));
                            });
  return {};
}

Status erase_by_admin(const SiteContext& context, const Request& request, const Reply& reply) {
  const std::string& device = request.captures.front();
  return erase_device(context, device, note_of(request, "device.erase", device), reply);
}

constexpr std::array<Route, 7> kEnrolmentRoutes{{
    costly({Method::get, "/api/projects", Access::principal, answer<list_projects>}),
    grows({Method::post, "/api/projects", Access::admin, answer_later<create_project>, kSmallBody}),
    costly({Method::get, "/api/enrolment", Access::principal, answer<list_codes>}),
    grows(
        {Method::post, "/api/enrolment", Access::principal, answer_later<create_code>, kSmallBody}),
    {Method::post, "/api/enrolment/{}/revoke", Access::principal, answer_later<revoke_code>,
     kSmallBody},
    {Method::post, "/api/devices/{}/revoke", Access::principal, answer_later<revoke_device>,
     kSmallBody},
    {Method::post, "/api/devices/{}/erase", Access::admin, answer_later<erase_by_admin>,
     kSmallBody},
}};

}  // namespace

std::span<const Route> enrolment_routes() { return kEnrolmentRoutes; }

Result<std::string> project_of(const SiteContext& context, const Request& request,
                               const std::string& named) {
  std::string project = named.empty() ? context.identities.first_project(request.principal) : named;
  if (project.empty())
    return Error{"forbidden", "No project is open to you yet; ask an administrator."};
  if (!context.identities.has_project(project) ||
      !auth::IdentityCache::may_use(request.principal, project))
    return Error{"bad_field", "This server has no such project that you may use.", "project"};
  return project;
}

}  // namespace hyperflock::http
