// Submits, lists, reads, changes and deletes studies, and lists the devices that could run them.
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "auth/tokens.h"
#include "http/console/console_rest.h"
#include "http/console/rows.h"
#include "http/console/study_access.h"
#include "http/console/study_packs.h"
#include "http/core/body.h"
#include "names/names.h"
#include "protocol/codec.h"
#include "protocol/json/json_writer.h"

namespace hyperflock::http {
namespace {

using protocol::append_list;
using protocol::ObjectWriter;

// The study's row is sent in update frames of at most 1 MiB, so its space must be much smaller.
constexpr std::uint64_t kSpecBody = std::uint64_t{512} * 1024;

// ---- submitting

std::vector<std::string> hashes_of(const protocol::StudySpec& spec) {
  std::vector<std::string> hashes;
  for (const protocol::BlobRef& blob : protocol::blobs_of(spec)) hashes.push_back(blob.sha256);
  return hashes;
}

// Returns an error if a blob that the study names cannot be used. The error names the blob's field,
// which begins with `above`. One of `owners` must own each blob (R69). The error for a blob that
// only other people own is the same as for a blob that the server does not have.
Status check_blobs(const SiteContext& context, const protocol::StudySpec& spec,
                   const std::set<std::string>& owners, const std::string& above = {}) {
  std::vector<std::string> unknown = hashes_of(spec);
  for (const std::string& owner : owners) {
    TRY(unknown, context.storage.not_owned(owner, unknown));
  }
  const auto check = [&](const protocol::BlobRef& blob, const std::string& part) -> Status {
    const std::string field = above + part;
    const auto bytes = context.blobs.size(blob.sha256);
    if (!bytes || std::ranges::count(unknown, blob.sha256) != 0)
      return Error{"unknown_blob", "Upload this blob before the study that names it.",
                   field + ".sha256"};
    if (*bytes != static_cast<std::uint64_t>(blob.bytes)) {
      return Error{"bad_field", "The blob of this hash has another length.", field + ".bytes"};
    }
    return {};
  };
  TRY(check(spec.bundle, "bundle"));
  for (std::size_t i = 0; i < spec.data.size(); ++i)
    TRY(check(spec.data[i].blob, "data[" + std::to_string(i) + "]"));
  return {};
}

// Returns whether two specs ask for the same trials. Name, provenance, priority and the limit of
// failures do not count, because they change no result.
bool same_content(protocol::StudySpec one, const protocol::StudySpec& other) {
  one.name = other.name;
  one.provenance_json = other.provenance_json;
  one.max_failures = other.max_failures;
  one.priority = other.priority;
  one.versions = other.versions;  // the bundle's lock has them too
  one.packs = other.packs;        // the bundle names them too
  one.runtime_index = other.runtime_index;
  one.grown = other.grown;
  return one == other;
}

Error other_content(StudyId earlier) {
  return Error{"study_exists", "Study " + std::to_string(to_int(earlier)) +
                                   " was made with this submit_key and other content; give "
                                   "another key, or submit what it was made of."};
}

// Returns whether a new study, other code or a larger space must be approved (R68). If an
// administrator submits it, it needs no approval.
bool needs_approval(const SiteContext& context, const Request& request, const std::string& owner,
                    const std::string& project) {
  return !is_admin(request) && context.identities.ceiling_of(owner, project).approval;
}

Error stopped(const storage::Stop& stop, std::string field = {}) {
  const auto error = [&](std::string code, std::string text) {
    if (!stop.reason.empty()) text += " Reason: " + stop.reason;
    return Error{std::move(code), std::move(text), std::move(field)};
  };
  switch (stop.code) {
    case storage::Stop::Code::owner_suspended:
      return error("owner_suspended", "An administrator suspended the study's owner.");
    case storage::Stop::Code::project_frozen:
      return error("project_frozen",
                   "An administrator froze this project, so nothing of it runs for now.");
    default:
      return error("bundle_barred", "An administrator barred this blob, so no study may run it.");
  }
}

// Returns an error if a rule stops studies with this owner, project or blobs (R67), or if the study
// is above a ceiling (R68). The error names a field; that of a blob begins with `above`.
Status check_rules(const SiteContext& context, const std::string& owner, const std::string& project,
                   const protocol::StudySpec& spec, const std::string& above = {}) {
  if (const auto stop = context.identities.stop_of(owner, project, spec)) {
    std::string field;
    if (stop.code == storage::Stop::Code::project_frozen) field = "project";
    if (stop.code == storage::Stop::Code::bundle_barred)
      field = above + (context.identities.is_barred(spec.bundle.sha256) ? "bundle" : "data");
    return stopped(stop, std::move(field));
  }
  const storage::StudyCeiling most = context.identities.ceiling_of(owner, project);
  if (most.time_limit_ms > 0 && spec.time_limit_ms > most.time_limit_ms) {
    return Error{"ceiling_exceeded",
                 "A trial may run at most " + std::to_string(most.time_limit_ms) +
                     " ms here; give a lower time limit, or 0 for this one.",
                 "limits.time_limit_ms"};
  }
  std::int64_t bytes = 0;
  std::set<std::string> counted;
  for (const protocol::BlobRef& blob : protocol::blobs_of(spec)) {
    if (counted.insert(blob.sha256).second) bytes += blob.bytes;
  }
  if (most.data_bytes > 0 && bytes > most.data_bytes) {
    return Error{"ceiling_exceeded",
                 "The code and the data of a study may have at most " +
                     std::to_string(most.data_bytes) + " bytes here; this one has " +
                     std::to_string(bytes) + ".",
                 above + "data"};
  }
  return {};
}

// Returns whether a spec names the limit of a trial's time. If it does not, the parser has filled
// in the default.
bool names_time_limit(std::string_view body) {
  struct Named {
    bool time_limit = false;
  };
  const auto named = parse_body<Named>(body, [](const protocol::Value& in, Named& out) {
    out.time_limit = in.find("limits").find("time_limit_ms").present();
  });
  return named && named->time_limit;
}

Status submit(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(auto spec, protocol::parse_study_spec(request.body));
  TRY(spec.name, names::plain_name(spec.name, "name"));
  TRY(spec.runtime_index, protocol::choose_runtime(spec, context.runtimes));
  spec.grown.clear();
  auto webhook = std::exchange(spec.webhook, {});
  if (webhook) TRY(check_webhook(context, *webhook));
  TRY(const auto project, project_of(context, request, std::exchange(spec.project, {})));
  // Holds the blobs until the study names them, even if another study is deleted meanwhile.
  const std::shared_ptr<blobs::CollectedBlobs::Hold> hold = context.blobs.hold(hashes_of(spec));
  TRY(check_blobs(context, spec, {request.principal.name}));
  TRY(spec.packs, packs_of_study(context, spec));
  const bool has_own_limit = names_time_limit(request.body);
  if (!has_own_limit) {
    const std::int64_t most =
        context.identities.ceiling_of(request.principal.name, project).time_limit_ms;
    if (most > 0) spec.time_limit_ms = std::min(spec.time_limit_ms, most);
  }
  TRY(check_rules(context, request.principal.name, project, spec));
  const bool awaits = needs_approval(context, request, request.principal.name, project);
  auto done = [&context, hold, sent = spec, has_own_limit, project,
               lane = hub::quick_after(request.lane),
               reply](Result<hub::Submitted> submitted) mutable {
    if (!submitted) return reply(error_response(submitted.error()));
    if (submitted->how == hub::Submitted::How::created) {
      hold->named();
      reply_with_row(context, lane, submitted->study, 201, reply);
    } else {
      reply_with_row(context, lane, submitted->study, 200, reply,
                     [sent, has_own_limit, project](const storage::StudyRow& row) mutable {
                       // The ceiling may have been another one when the study was submitted.
                       if (!has_own_limit) sent.time_limit_ms = row.spec.time_limit_ms;
                       return row.project == project && same_content(sent, row.spec)
                                  ? Status()
                                  : other_content(row.id);
                     });
    }
  };
  context.hub.submit_study(
      {request.principal.name, project, std::move(spec), quota_of(request.principal),
       note_of(request, "study.submit", {}), std::move(webhook),
       auth::new_token(auth::TokenKind::webhook_secret), awaits},
      std::move(done));
  return {};
}

// ---- changing

Status cancel(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(const auto row, readable_study(context, request));
  context.hub.cancel_study(row.id, note_of(request, "study.cancel", {}),
                           row_replier(context, request, reply));
  return {};
}

Status pause(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(const auto row, readable_study(context, request));
  context.hub.pause_study(row.id, true, note_of(request, "study.pause", {}),
                          row_replier(context, request, reply));
  return {};
}

Status resume(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(const auto row, usable_study(context, request));
  context.hub.pause_study(row.id, false, note_of(request, "study.resume", {}),
                          row_replier(context, request, reply));
  return {};
}

Status prioritize(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(const auto body, protocol::parse_new_priority(request.body));
  TRY(const auto row, usable_study(context, request));
  std::string detail;
  ObjectWriter(detail).integer("priority", body.priority).end();
  context.hub.prioritize_study(row.id, body.priority,
                               note_of(request, "study.priority", {}, std::move(detail)),
                               row_replier(context, request, reply));
  return {};
}

// Issues failed trials again, with other code for the study if the body has some (R64). The new
// code is checked like that of a new study. It may replace code that is barred, because the barred
// code then never runs again.
Status reissue(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(auto body, protocol::parse_reissue(request.body.empty() ? "{}" : request.body));
  TRY(auto row, usable_study(context, request));
  auto kept = row.spec;
  if (body.code) {
    kept.bundle = {};
    kept.data.clear();
  }
  TRY(check_rules(context, row.owner, row.project, kept));
  hub::Reissue wanted{.study = std::move(row), .quota = quota_of(request.principal)};
  std::shared_ptr<blobs::CollectedBlobs::Hold> hold;
  std::string detail;
  if (body.code) {
    if (wanted.study.failed == 0) return protocol::no_failed_trial();
    auto spec = protocol::with_code(wanted.study.spec, *body.code, {});
    TRY(wanted.runtime_index, protocol::choose_runtime(spec, context.runtimes));
    hold = context.blobs.hold(hashes_of(spec));
    TRY(check_blobs(context, spec, {request.principal.name, wanted.study.owner}, "code."));
    spec.runtime_index = wanted.runtime_index;
    TRY(body.code->packs, packs_of_study(context, spec, "code."));
    TRY(check_rules(context, wanted.study.owner, wanted.study.project, spec, "code."));
    wanted.awaits_approval =
        needs_approval(context, request, wanted.study.owner, wanted.study.project);
    ObjectWriter(detail).text("entry", spec.entry).text("bundle", spec.bundle.sha256).end();
    wanted.code = std::move(body.code);
  }
  wanted.note = note_of(request, "study.replay", {}, std::move(detail));
  context.hub.reissue_study(std::move(wanted), [hold, done = row_replier(context, request, reply)](
                                                   const Result<StudyId>& id) {
    if (hold && id) hold->named();
    done(id);
  });
  return {};
}

// Extends the study by the points of a larger space that it does not have yet (R65).
Status extend(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(auto row, usable_study(context, request));
  if (row.spec.kind == protocol::StudyKind::asked)
    return protocol::not_a_grid();  // before its space is read
  TRY(auto more, protocol::parse_extension(request.body, row.spec.kind));
  TRY(protocol::extended(row.spec, more));  // for an error that says what differs
  TRY(check_rules(context, row.owner, row.project, row.spec));
  const bool awaits = needs_approval(context, request, row.owner, row.project);
  context.hub.extend_study({.study = std::move(row),
                            .more = std::move(more),
                            .quota = quota_of(request.principal),
                            .note = note_of(request, "study.extend", {}),
                            .awaits_approval = awaits},
                           row_replier(context, request, reply));
  return {};
}

// Answers with the row of a study whose webhook was set or removed.
hub::Committed webhook_replier(const SiteContext& context, const Request& request, StudyId id,
                               const Reply& reply) {
  return [&context, lane = hub::quick_after(request.lane), id,
          reply](const Result<storage::Outcome>& outcome) {
    if (!outcome) return reply(error_response(outcome.error()));
    if (outcome->applied == storage::Applied::conflict)
      return reply(error_response(unknown_study()));
    reply_with_row(context, lane, id, 200, reply);
  };
}

Status set_webhook(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(const auto row, usable_study(context, request));
  TRY(auto webhook, protocol::parse_webhook(request.body));
  if (Status checked = check_webhook(context, webhook); !checked) {
    checked.error().field = "url";
    return checked;
  }
  context.hub.set_webhook(
      {row.id, std::move(webhook), auth::new_token(auth::TokenKind::webhook_secret)},
      note_of(request, "study.webhook", std::to_string(to_int(row.id))),
      webhook_replier(context, request, row.id, reply));
  return {};
}

Status remove_webhook(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(const auto row, readable_study(context, request));
  context.hub.set_webhook({row.id, std::nullopt},
                          note_of(request, "study.no_webhook", std::to_string(to_int(row.id))),
                          webhook_replier(context, request, row.id, reply));
  return {};
}

// Returns the detail of the audit entry of a deletion (R55): the study's owner and name, which
// nobody can look up after the deletion.
std::string detail_of(const storage::StudyRow& study) {
  std::string out;
  ObjectWriter(out).text("owner", study.owner).text("name", study.spec.name).end();
  return out;
}

Result<Response> deleted(const storage::Outcome& outcome) {
  if (outcome.applied == storage::Applied::superseded)
    return Error{"study_running", "The study is not over: cancel it first, or wait for its end."};
  if (outcome.applied != storage::Applied::applied) return unknown_study();
  return object_response(200, [&](ObjectWriter& body) {
    body.integer("study", to_int(*outcome.study))
        .integer("trials", outcome.freed->trials)
        .integer("artifacts", outcome.freed->artifacts)
        .integer("bytes", outcome.freed->bytes);
  });
}

Status remove(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(const auto study, readable_study(context, request));
  context.hub.delete_study(
      study.id,
      note_of(request, "study.delete", std::to_string(to_int(study.id)), detail_of(study)),
      reply_with(reply, deleted));
  return {};
}

// ---- reading

// Lists the studies that the caller may see, newest first. The cursor is the last study's id.
Result<Response> studies(const SiteContext& context, const Request& request) {
  TRY(const auto wanted, page_of(request.query, kDefaultPage, kLargestPage));
  TRY(const Space space, space_of(request.query));
  storage::StudyQuery query{.before = wanted.after, .limit = wanted.limit};
  if (!is_admin(request)) query.owner = request.principal.name;
  TRY(const auto found, context.storage.studies(query));
  std::string out;
  ObjectWriter page(out);
  append_list(page.begin("studies"), found.studies, [&](const storage::StudyRow& row) {
    out += shown_study_json(context.hub, context.identities, row, space);
  });
  page.integer("cursor", found.studies.empty() ? wanted.after : to_int(found.studies.back().id))
      .boolean("more", found.more)
      .end();
  return json_response(200, std::move(out));
}

Result<Response> study(const SiteContext& context, const Request& request) {
  TRY(const Space space, space_of(request.query));
  TRY(const auto row, readable_study(context, request));
  return json_response(200, shown_study_json(context.hub, context.identities, row, space));
}

// Sends the spec with the newest version of the code, or with that of `code_version` (R64).
Status spec(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(const auto row, readable_study(context, request));
  std::optional<protocol::StudySpec> found = row.spec;
  if (const auto given = query_value(request.query, "code_version")) {
    const auto code = parse_integer(*given, kMaxWireInteger);
    if (!code)
      return Error{"bad_number", "code_version must be an integer from 1.", "code_version"};
    TRY(found, context.storage.spec(row.id, *code));
  }
  if (!found) return Error{"not_found", "The study's code has no such version."};
  return reply_noted(context, request, row,
                     json_response(200, protocol::serialize_study_spec(*found)), reply);
}

// Returns whether a version of the study's code, or its data, is this blob.
bool names_blob(const storage::StudyRow& row, const std::string& sha256) {
  return std::ranges::count(hashes_of(row.spec), sha256) != 0 ||
         std::ranges::count(row.earlier_blobs, sha256) != 0;
}

// Sends code or data of the study to everybody who may see the study.
Status study_blob(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(const auto row, readable_study(context, request));
  const std::string& sha256 = request.captures[1];
  const bool named = names_blob(row, sha256);
  const auto path = named ? context.blobs.path_of(sha256) : std::nullopt;
  const auto bytes = named ? context.blobs.size(sha256) : std::nullopt;
  if (!path || !bytes) {
    reply(error_response(404, Error{"unknown_blob", "The study names no such blob."}));
    return {};
  }
  return reply_noted(context, request, row, blob_response(path->string(), *bytes), reply);
}

// ---- devices

void append_worker(std::string& out, const dispatch::WorkerView& view) {
  ObjectWriter worker(out);
  worker.text("device", view.device)
      .text("class", view.capabilities.device_class)
      .text("engine", view.capabilities.engine)
      .text("state", view.attempt ? "computing" : "idle");
  append_list(worker.begin("backends"), view.capabilities.backends,
              [&out](const std::string& one) { protocol::append_string(out, one); });
  worker.integer("memory_mb", view.capabilities.memory_mb)
      .integer("cores", view.capabilities.cores);
  if (const auto& gpu = view.capabilities.gpu) protocol::append_gpu(worker.begin("gpu"), *gpu);
  if (view.attempt) worker.integer("attempt", to_int(*view.attempt));
  if (view.trial) {
    worker.integer("trial", to_int(view.trial->number)).integer("study", to_int(view.trial->study));
  }
  worker.end();
}

// Lists the connected devices of the projects that the caller may use, in the order in which they
// connected.
Status workers(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(const auto wanted, page_of(request.query, kDefaultPage, kLargestPage));
  dispatch::WorkerQuery query{.after = SessionId{static_cast<std::uint64_t>(wanted.after)},
                              .limit = static_cast<std::size_t>(wanted.limit)};
  if (!is_admin(request)) query.projects = request.principal.projects;
  context.hub.workers(std::move(query), [reply](const dispatch::WorkerPage& page) {
    std::string out;
    ObjectWriter body(out);
    append_list(body.begin("workers"), page.workers,
                [&out](const dispatch::WorkerView& view) { append_worker(out, view); });
    body.integer("cursor", static_cast<std::int64_t>(page.cursor)).boolean("more", page.more).end();
    reply(json_response(200, std::move(out)));
  });
  return {};
}

// Counts the devices of the study's project that may run its trials, and the others by reason
// (R40). Says what share of them the study's owner has (R70), and why the next trial waits.
Status placement(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(auto row, readable_study(context, request));
  dispatch::PlacementQuery query{row.id, std::move(row.owner), std::move(row.project),
                                 std::move(row.spec)};
  context.hub.placement(std::move(query), [reply](const dispatch::Placement& found) {
    std::string out;
    ObjectWriter body(out);
    body.integer("devices", found.devices).integer("matching", found.matching());
    append_list(body.begin("reasons"), found.reasons, [&out](const auto& one) {
      ObjectWriter(out).text("code", one.first).integer("devices", one.second).end();
    });
    const dispatch::ShareOfOwner& share = found.share;
    ObjectWriter own(body.begin("share"));
    own.integer("weight", share.weight)
        .integer("weights", share.weights)
        .integer("guaranteed", share.guaranteed)
        .integer("devices", share.devices);
    if (share.ahead) own.integer("ahead", *share.ahead);
    own.end();
    if (!found.waits.empty()) body.text("waits", found.waits);
    body.end();
    reply(json_response(200, std::move(out)));
  });
  return {};
}

constexpr std::array<Route, 16> kStudyRoutes{{
    grows(
        costly({Method::post, "/api/studies", Access::principal, answer_later<submit>, kSpecBody})),
    costly({Method::get, "/api/studies", Access::principal, answer<studies>}),
    {Method::get, "/api/studies/{}", Access::principal, answer<study>},
    {Method::get, "/api/studies/{}/spec", Access::principal, answer_later<spec>},
    {Method::get, "/api/studies/{}/blobs/{}", Access::principal, answer_later<study_blob>},
    {Method::post, "/api/studies/{}/cancel", Access::principal, answer_later<cancel>, kSmallBody},
    {Method::post, "/api/studies/{}/pause", Access::principal, answer_later<pause>, kSmallBody},
    {Method::post, "/api/studies/{}/resume", Access::principal, answer_later<resume>, kSmallBody},
    {Method::post, "/api/studies/{}/priority", Access::principal, answer_later<prioritize>,
     kSmallBody},
    grows(costly({Method::post, "/api/studies/{}/replay", Access::principal, answer_later<reissue>,
                  kSpecBody})),
    grows(costly({Method::post, "/api/studies/{}/extend", Access::principal, answer_later<extend>,
                  kSpecBody})),
    grows({Method::post, "/api/studies/{}/webhook", Access::principal, answer_later<set_webhook>,
           kSmallBody}),
    {Method::remove, "/api/studies/{}/webhook", Access::principal, answer_later<remove_webhook>},
    {Method::remove, "/api/studies/{}", Access::principal, answer_later<remove>},
    costly({Method::get, "/api/studies/{}/placement", Access::principal, answer_later<placement>}),
    costly({Method::get, "/api/workers", Access::principal, answer_later<workers>}),
}};

}  // namespace

std::span<const Route> study_routes() { return kStudyRoutes; }

}  // namespace hyperflock::http
