// Manages people and their tokens; see console_rest.h.
#include <algorithm>
#include <array>
#include <utility>

#include "auth/tokens.h"
#include "http/console/console_rest.h"
#include "http/console/identity_bodies.h"
#include "http/core/same_origin.h"
#include "names/names.h"
#include "protocol/json/json_writer.h"
#include "telemetry/log.h"

namespace hyperflock::http {
namespace {

using protocol::append_list;
using protocol::append_string;
using protocol::ObjectWriter;
using storage::Applied;
using storage::Outcome;
using storage::PrincipalRole;
using storage::PrincipalState;

constexpr std::size_t kMostPending = 100;
// The most projects in the answer of /api/me. /api/projects lists all.
constexpr std::size_t kMyProjects = 1'000;
// The quota of a person who registered. An administrator can change it.
constexpr storage::Quota kFirstQuota{20, 1'000'000, std::int64_t{10} << 30};

std::string_view name_of(PrincipalRole role) {
  return role == PrincipalRole::admin ? "admin" : "researcher";
}

std::string_view name_of(PrincipalState state) {
  constexpr std::array<std::string_view, 4> kNames{"active", "pending", "refused", "suspended"};
  return kNames[static_cast<std::size_t>(state)];
}

auth::TokenKind kind_of(PrincipalRole role) {
  return role == PrincipalRole::admin ? auth::TokenKind::admin : auth::TokenKind::researcher;
}

Error unknown_researcher() {
  return {"unknown_researcher", "Nobody has this number; ask for the list of researchers."};
}

Error unknown_token() {
  return {"unknown_token", "There is no such token, or it is somebody else's."};
}

Error last_admin() {
  return {"last_admin",
          "This is the last way in for an administrator; make another token, or another "
          "administrator, first."};
}

// Returns the time `seconds` from now, in Unix milliseconds; 0 (never) stays 0.
std::int64_t ends_at(const SiteContext& context, std::int64_t seconds) {
  return seconds == 0 ? 0 : context.identities.now() + seconds * 1'000;
}

void append_person_fields(ObjectWriter& row, const storage::Principal& one) {
  row.integer("researcher", one.id)
      .text("name", one.name)
      .text("role", name_of(one.role))
      .text("state", name_of(one.state))
      .text("note", one.note);
  if (!one.reason.empty()) row.text("reason", one.reason);
  row.integer("created_at", one.created_at);
  std::string& out = row.begin("projects");
  append_list(out, one.projects, [&out](const std::string& name) { append_string(out, name); });
  append_quota(row.begin("quota"), one.quota);
}

void append_person(std::string& out, const storage::Principal& one) {
  ObjectWriter row(out);
  append_person_fields(row, one);
  row.end();
}

// What a person uses of their quota.
struct Use {
  storage::Usage used;
  storage::StoredBytes stored;
};

Result<Use> use_of(const SiteContext& context, const storage::Principal& one) {
  Use use;
  TRY(use.used, context.storage.usage(one.name));
  TRY(use.stored, context.storage.stored(one.name));
  return use;
}

void append_use(ObjectWriter& row, const Use& use, const storage::Quota& quota) {
  append_quota(row.begin("used"), {use.used.studies, use.used.trials, use.used.bytes});
  ObjectWriter(row.begin("stored"))
      .integer("data", use.stored.data)
      .integer("artifacts", use.stored.artifacts)
      .integer("checkpoints", use.stored.checkpoints)
      .integer("records", use.stored.records)
      .integer("most_records", storage::most_records(quota.bytes))
      .end();
}

std::optional<storage::Principal> person_of(const SiteContext& context, const Request& request) {
  const auto id = parse_integer(request.captures.front(), kMaxWireInteger);
  return id ? context.identities.principal(*id) : std::nullopt;
}

// ---- tokens

Result<Response> list_tokens(const SiteContext& context, const Request& request) {
  TRY(const auto page, page_of(request.query, kDefaultPage, kLargestPage));
  std::optional<std::int64_t> caller;
  if (!is_admin(request)) caller = request.principal.id;
  std::vector<storage::Token> tokens = context.identities.tokens(caller, piece_of(page));
  const bool more = cut(tokens, page);
  std::string out;
  ObjectWriter body(out);
  append_list(body.begin("tokens"), tokens, [&](const storage::Token& one) {
    const auto owner = context.identities.principal(one.principal);
    ObjectWriter row(out);
    row.integer("token", one.id)
        .integer("researcher", one.principal)
        .text("name", owner ? owner->name : "")
        .integer("created_at", one.created_at);
    if (one.expires_at != 0) row.integer("expires_at", one.expires_at);
    if (one.revoked_at != 0) row.integer("revoked_at", one.revoked_at);
    row.boolean("current", one.id == request.token).end();
  });
  end_page(body, page, tokens, more);
  return json_response(200, std::move(out));
}

Status create_token(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(const auto query, parse_token_query(request.body));
  const auto owner = context.identities.principal(query.researcher);
  if (!owner) return unknown_researcher();
  const std::string token = auth::new_token(kind_of(owner->role));
  const std::int64_t expires_at = ends_at(context, query.expires_s);
  return commit_noted(context, storage::CreateToken{owner->id, auth::token_hash(token), expires_at},
                      note_of(request, "token.create", owner->name), reply,
                      [token, expires_at](const Outcome& outcome) {
                        std::string out;
                        ObjectWriter row(out);
                        row.integer("id", outcome.id).text("token", token);
                        if (expires_at != 0) row.integer("expires_at", expires_at);
                        row.end();
                        return json_response(201, std::move(out));
                      });
}

// Makes a new token for the caller. The current one expires after a grace period.
Status rotate_token(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(const auto query, parse_rotate_query(request.body));
  const std::string token = auth::new_token(kind_of(request.principal.role));
  const std::int64_t retires_at = context.identities.now() + query.grace_s * 1'000;
  const std::int64_t old = request.token;
  const bool at_once = query.grace_s == 0;
  return commit_noted(
      context,
      storage::CreateToken{request.principal.id, auth::token_hash(token), 0, old, retires_at},
      note_of(request, "token.rotate", std::to_string(old)), reply,
      [&context, token, old, retires_at, at_once](const Outcome& outcome) {
        if (outcome.applied != Applied::applied) {
          return error_response(Error{"unauthorized", "This token has ended meanwhile."});
        }
        if (at_once) context.hub.end_sessions({old}, Hub::Sessions::ended);
        std::string out;
        ObjectWriter row(out);
        row.integer("id", outcome.id).text("token", token);
        // The current token may expire earlier than `retires_at`.
        const auto kept = context.identities.token(old);
        ObjectWriter(row.begin("old"))
            .integer("token", old)
            .integer("expires_at", kept ? kept->expires_at : retires_at)
            .end();
        row.end();
        return json_response(201, std::move(out));
      });
}

Status revoke_token(const SiteContext& context, const Request& request, const Reply& reply) {
  const auto id = parse_integer(request.captures.front(), kMaxWireInteger);
  const auto token = id ? context.identities.token(*id) : std::nullopt;
  const bool mine = token && token->principal == request.principal.id;
  if (!token || (!mine && !is_admin(request))) return unknown_token();
  const auto owner = context.identities.principal(token->principal);
  const bool is_way_in = owner && owner->role == PrincipalRole::admin && token->revoked_at == 0;
  if (is_way_in && !context.identities.others_administer(token->id, 0)) return last_admin();
  return commit_noted(context, storage::RevokeToken{token->id},
                      note_of(request, "token.revoke", std::to_string(token->id)), reply,
                      [&context, token](const Outcome&) {
                        context.hub.end_sessions({token->id}, Hub::Sessions::ended);
                        return object_response(200, [&](ObjectWriter& body) {
                          body.integer("token", token->id).boolean("revoked", true);
                        });
                      });
}

// ---- people

Result<Response> list_people(const SiteContext& context, const Request& request) {
  TRY(const auto page, page_of(request.query, kDefaultPage, kLargestPage));
  std::vector<storage::Principal> people = context.identities.principals(piece_of(page));
  const bool more = cut(people, page);
  std::vector<Use> uses;
  uses.reserve(people.size());
  for (const storage::Principal& one : people) {
    TRY(const Use use, use_of(context, one));
    uses.push_back(use);
  }
  std::string out;
  ObjectWriter body(out);
  append_list(body.begin("researchers"), people, [&](const storage::Principal& one) {
    ObjectWriter row(out);
    append_person_fields(row, one);
    append_use(row, uses[static_cast<std::size_t>(&one - people.data())], one.quota);
    row.end();
  });
  // Whoever has no quota may store so much.
  body.integer("room", static_cast<std::int64_t>(
                           std::min<std::uint64_t>(context.room.left(), kMaxWireInteger)));
  end_page(body, page, people, more);
  return json_response(200, std::move(out));
}

// Returns an error when the server lacks one of these projects.
Status check_projects(const SiteContext& context,
                      const std::optional<std::vector<std::string>>& projects) {
  if (!projects) return {};
  for (const std::string& name : *projects) {
    if (!context.identities.has_project(name))
      return Error{"bad_field", "This server has no project of one of these names.", "projects"};
  }
  return {};
}

// Returns an error if people could take the new name for that of an administrator, or of the server
// itself in the audit log. A new administrator is compared with everybody.
Status check_looks(const SiteContext& context, const storage::Principal& person) {
  const auto looks_like = [&](std::string_view other) {
    return names::confusable(person.name, other);
  };
  const auto others = person.role == PrincipalRole::admin ? context.identities.principals()
                                                          : context.identities.administrators();
  const bool is_taken =
      looks_like("server") || std::ranges::any_of(others, [&](const storage::Principal& one) {
        return one.name != person.name && looks_like(one.name);
      });
  if (!is_taken) return {};
  return Error{"name_confusable",
               "This name looks like that of an administrator or of the server; choose another.",
               "name"};
}

// Replies with the token of a new person.
Status make_person(const SiteContext& context, storage::Principal person, storage::NoteAudit note,
                   Reply reply) {
  const std::string token = auth::new_token(kind_of(person.role));
  const int status = person.state == PrincipalState::pending ? 202 : 201;
  const storage::CreatePrincipal create{.principal = person, .token_hash = auth::token_hash(token)};
  return commit_noted(
      context, create, std::move(note), std::move(reply),
      [token, person = std::move(person), status](const Outcome& outcome) {
        if (outcome.applied != Applied::applied) {
          return error_response(
              Error{"name_taken", "Somebody has this name here; choose another.", "name"});
        }
        return object_response(status, [&](ObjectWriter& body) {
          body.integer("researcher", outcome.id)
              .text("name", person.name)
              .text("state", name_of(person.state))
              .text("token", token);
        });
      });
}

Status create_person(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(const auto query, parse_researcher_query(request.body));
  TRY(check_projects(context, query.projects));
  storage::Principal person{.id = 0, .name = query.name, .role = query.role};
  if (query.quota) person.quota = query.quota->of({});
  if (query.projects) {
    person.projects = *query.projects;
  } else if (const std::string first = context.identities.first_project(request.principal);
             !first.empty() && person.role == PrincipalRole::researcher) {
    person.projects = {first};
  }
  std::ranges::sort(person.projects);
  TRY(check_looks(context, person));
  return make_person(context, std::move(person), note_of(request, "researcher.create", query.name),
                     reply);
}

// Registers a person. Their token gives no rights until an administrator agrees.
Status register_person(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(check_json(request));
  TRY(const auto query, parse_register_query(request.body));
  if (!context.open_registration) {
    return Error{"registration_closed",
                 "This server takes no requests; ask its operator for a token."};
  }
  const auto admitted = context.admission.admit_stranger(request.address);
  if (!admitted) {
    return Error{"rate_limited",
                 "Too many requests came from this address; wait a minute.",
                 {},
                 admitted.wait_s};
  }
  if (context.identities.pending() >= kMostPending) {
    return Error{"registration_closed",
                 "A hundred requests wait for the operator already; ask again later."};
  }
  storage::Principal person{.id = 0, .name = query.name};
  person.state = PrincipalState::pending;
  TRY(check_looks(context, person));
  person.note = query.note;
  person.quota = kFirstQuota;
  storage::NoteAudit note = note_of(request, "researcher.register", query.name);
  note.entry.actor = query.name;
  telemetry::log(telemetry::LogLevel::info, "researcher_registered", {{"name", query.name}});
  return make_person(context, std::move(person), std::move(note), reply);
}

std::string detail_of(const storage::UpdatePrincipal& change) {
  std::string out;
  ObjectWriter detail(out);
  if (change.state) detail.text("state", name_of(*change.state));
  if (!change.reason.empty()) detail.text("reason", change.reason);
  if (change.quota) append_quota(detail.begin("quota"), *change.quota);
  if (change.projects) {
    append_list(detail.begin("projects"), *change.projects,
                [&out](const std::string& name) { append_string(out, name); });
  }
  detail.end();
  return out;
}

Status change_person(const SiteContext& context, const Request& request, const Reply& reply) {
  const auto person = person_of(context, request);
  if (!person) return unknown_researcher();
  TRY(const auto asked, parse_researcher_change(request.body));
  TRY(check_projects(context, asked.projects));
  storage::UpdatePrincipal change{
      .id = person->id, .state = asked.state, .projects = asked.projects, .reason = asked.reason};
  if (asked.quota) change.quota = asked.quota->of(person->quota);
  const bool closes = change.state && *change.state != PrincipalState::active;
  if (closes && person->role == PrincipalRole::admin &&
      !context.identities.others_administer(0, person->id))
    return last_admin();
  // A person can become active only with a project.
  const bool opens = change.state == PrincipalState::active;
  if (opens && !change.projects && person->projects.empty()) {
    const std::string first = context.identities.first_project(request.principal);
    if (!first.empty()) change.projects = std::vector<std::string>{first};
  }
  return commit_rules(
      context, change, note_of(request, "researcher.update", person->name, detail_of(change)),
      reply, [&context, id = person->id, closes](const Outcome&) {
        if (closes) {
          context.hub.end_sessions(context.identities.live_tokens(id), Hub::Sessions::paused);
        }
        std::string out;
        const auto now = context.identities.principal(id);
        if (now) append_person(out, *now);
        return json_response(200, std::move(out));
      });
}

// ---- the caller

Result<Response> me(const SiteContext& context, const Request& request) {
  const storage::Principal& caller = request.principal;
  TRY(const Use use, use_of(context, caller));
  std::string out;
  ObjectWriter body(out);
  body.text("name", caller.name)
      .text("role", name_of(caller.role))
      .text("server", context.server_version)
      .text("join_origin", context.join_origin)
      .integer("max_blob_bytes", static_cast<std::int64_t>(context.max_blob_bytes))
      .integer("token", request.token);
  std::vector<std::string> projects;
  for (const storage::Project& project :
       context.identities.projects(caller, {.limit = kMyProjects}))
    projects.push_back(project.name);
  append_list(body.begin("projects"), projects,
              [&out](const std::string& name) { append_string(out, name); });
  append_quota(body.begin("quota"), caller.quota);
  append_use(body, use, caller.quota);
  body.end();
  return json_response(200, std::move(out));
}

constexpr std::array<Route, 9> kPeopleRoutes{{
    {Method::get, "/api/me", Access::principal, answer<me>},
    costly({Method::get, "/api/tokens", Access::principal, answer<list_tokens>}),
    {Method::post, "/api/tokens", Access::admin, answer_later<create_token>, kSmallBody},
    {Method::post, "/api/tokens/rotate", Access::principal, answer_later<rotate_token>, kSmallBody},
    {Method::post, "/api/tokens/{}/revoke", Access::principal, answer_later<revoke_token>,
     kSmallBody},
    costly({Method::get, "/api/researchers", Access::admin, answer<list_people>}),
    grows({Method::post, "/api/researchers", Access::admin, answer_later<create_person>,
           4 * kSmallBody}),
    {Method::post, "/api/researchers/{}", Access::admin, answer_later<change_person>,
     4 * kSmallBody},
    grows({Method::post, "/api/register", Access::open, answer_later<register_person>, kSmallBody}),
}};

}  // namespace

std::span<const Route> people_routes() { return kPeopleRoutes; }

void append_quota(std::string& out, const storage::Quota& quota) {
  ObjectWriter(out)
      .integer("studies", quota.studies)
      .integer("trials", quota.trials)
      .integer("bytes", quota.bytes)
      .end();
}

}  // namespace hyperflock::http
