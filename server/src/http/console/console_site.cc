#include "http/console/console_site.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "http/console/identity_rest.h"
#include "http/console/rows.h"
#include "http/console/study_access.h"
#include "http/core/router.h"
#include "hub/await_commit.h"
#include "protocol/codec.h"
#include "protocol/json_writer.h"

namespace hyperflock::http {
namespace {

using protocol::append_list;
using protocol::ObjectWriter;

// The study's row travels in update frames of at most 1 MiB, so its space must stay well below.
constexpr std::uint64_t kSpecBody = std::uint64_t{512} * 1024;
constexpr std::int64_t kDefaultPage = 500;
constexpr std::int64_t kLargestPage = 5'000;
constexpr std::size_t kReportsShown = 100;
constexpr std::array<std::string_view, 1> kPages{"/research"};
// Stricter than kPagePolicy: nothing computes at this origin, so it needs no WebAssembly and no
// worker.
constexpr std::string_view kConsolePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src "
    "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

enum RouteIndex : std::size_t {
  kRoot,
  kMe,
  kGetBlob,
  kPutBlob,
  kSubmit,
  kStudies,
  kStudy,
  kSpec,
  kStudyBlob,
  kCancel,
  kPause,
  kResume,
  kReplay,
  kTrials,
  kUnfinished,
  kTrial,
  kLog,
  kWorkers,
  kPlacement,
  kReports,
  kSocket,
  kHealth,
  kReady,
  kMetrics,
};

constexpr std::array<Route, 24> kRoutes{{
    {Method::get, "/", Access::open, Work::handle, 0},
    {Method::get, "/api/me", Access::principal, Work::handle, 0},
    {Method::head, "/api/blobs/{}", Access::principal, Work::handle, 0},
    {Method::put, "/api/blobs/{}", Access::principal, Work::upload, 0},
    {Method::post, "/api/studies", Access::principal, Work::handle, kSpecBody},
    {Method::get, "/api/studies", Access::principal, Work::handle, 0},
    {Method::get, "/api/studies/{}", Access::principal, Work::handle, 0},
    {Method::get, "/api/studies/{}/spec", Access::principal, Work::handle, 0},
    {Method::get, "/api/studies/{}/blobs/{}", Access::principal, Work::handle, 0},
    {Method::post, "/api/studies/{}/cancel", Access::principal, Work::handle, kSmallBody},
    {Method::post, "/api/studies/{}/pause", Access::principal, Work::handle, kSmallBody},
    {Method::post, "/api/studies/{}/resume", Access::principal, Work::handle, kSmallBody},
    {Method::post, "/api/studies/{}/replay", Access::principal, Work::handle, kSmallBody},
    {Method::get, "/api/studies/{}/trials", Access::principal, Work::handle, 0},
    {Method::get, "/api/studies/{}/unfinished", Access::principal, Work::handle, 0},
    {Method::get, "/api/studies/{}/trials/{}", Access::principal, Work::handle, 0},
    {Method::get, "/api/studies/{}/trials/{}/log", Access::principal, Work::handle, 0},
    {Method::get, "/api/workers", Access::principal, Work::handle, 0},
    {Method::get, "/api/studies/{}/placement", Access::principal, Work::handle, 0},
    {Method::get, "/api/device-reports", Access::admin, Work::handle, 0},
    {Method::get, "/ws/client", Access::open, Work::websocket, 0},
    {Method::get, "/healthz", Access::open, Work::handle, 0},
    {Method::get, "/readyz", Access::open, Work::handle, 0},
    {Method::get, "/metrics", Access::metrics, Work::handle, 0},
}};

// The addresses above, then those of identity_rest.h.
struct Table {
  std::vector<Route> routes{kRoutes.begin(), kRoutes.end()};
  std::vector<Handler> handlers;  // of the rest

  Table() {
    for (const auto& part : {people_routes(), enrolment_routes(), audit_routes(), artifact_routes(),
                             deletion_routes()}) {
      for (const HandledRoute& one : part) {
        routes.push_back(one.route);
        handlers.push_back(one.handle);
      }
    }
  }
};

const Table& table() {
  static const Table all;
  return all;
}

Error closed_project() {
  return Error{"forbidden",
               "This study's project is not open to you any more; ask an administrator."};
}

// Administrators have no limit.
storage::Quota quota_of(const storage::Principal& principal) {
  return principal.role == storage::PrincipalRole::admin ? storage::Quota{} : principal.quota;
}

class BlobUpload final : public Upload {
 public:
  BlobUpload(std::unique_ptr<blobs::CollectedBlobs::Upload> upload, Hub& hub, storage::OwnBlob own)
      : upload_(std::move(upload)), hub_(hub), own_(std::move(own)) {}

  Status append(std::string_view bytes) override {
    return upload_->append(std::as_bytes(std::span(bytes)));
  }

  Response finish() override {
    const auto stored = upload_->finish();
    if (!stored) return error_response(stored.error());
    own_.bytes = static_cast<std::int64_t>(stored->bytes);
    const Status owned = take_over();
    if (!owned) return error_response(owned.error());
    std::string out;
    ObjectWriter(out).text("sha256", own_.sha256).end();
    return json_response(stored->is_new ? 201 : 200, std::move(out));
  }

 private:
  // Counts the blob for who brought it. Waits: this thread may.
  Status take_over() const {
    constexpr std::chrono::seconds kPatience{5};
    const Result<storage::Outcome> got = hub::await_commit(
        kPatience,
        Error{"storage_unavailable", "The server is about to stop; upload the blob again."},
        [this](const hub::Committed& told) {
          hub_.commit({own_}, [told, upload = upload_](const Result<storage::Outcome>& outcome) {
            // In the order of the commits: see CollectedBlobs::drop().
            if (outcome && !outcome->excess) upload->named();
            told(outcome);
          });
        });
    if (!got) return got.error();
    if (got->excess) return storage::quota_error(*got->excess);
    return Done{};
  }

  // Shared with the commit's callback: its blob is not removed before that has run.
  const std::shared_ptr<blobs::CollectedBlobs::Upload> upload_;
  Hub& hub_;
  storage::OwnBlob own_;
};

class ConsoleSite final : public SiteBase {
 public:
  explicit ConsoleSite(const SiteContext& context)
      : SiteBase(context, table().routes, kPages, kConsolePolicy) {}

  Result<std::unique_ptr<Upload>> open_upload(const Request& request) override {
    storage::OwnBlob own{request.principal.name, request.captures.front(), 0,
                         quota_of(request.principal)};
    // Before it is read; what is here already may be the caller's, which the end tells.
    if (own.quota.bytes > 0 && !context_.blobs.exists(own.sha256)) {
      const auto used = context_.storage.usage(own.owner);
      if (!used) return used.error();
      const auto bytes = static_cast<std::int64_t>(request.content_length.value_or(0));
      if (const auto excess = storage::excess_of(own.quota, *used, {0, 0, bytes}))
        return storage::quota_error(*excess);
    }
    auto upload = context_.blobs.begin(own.sha256);
    if (!upload) return upload.error();
    return std::unique_ptr<Upload>(
        std::make_unique<BlobUpload>(std::move(*upload), context_.hub, std::move(own)));
  }

 private:
  // The page and its scripts hold no secret, so they need no token.
  Status admit(const Route& route, Request& request) const override {
    const bool is_open =
        route.access == Access::open || (route.access == Access::metrics && context_.open_metrics);
    if (is_open) return Done{};
    Status known = identify(request);
    if (known && route.access == Access::admin && !is_admin(request))
      return Error{"forbidden", "Only an administrator may do this."};
    return known;
  }

  void answer(std::shared_ptr<const Request> request, Reply reply) override {
    if (request->route >= kRoutes.size())
      return table().handlers[request->route - kRoutes.size()](context_, *request, reply);
    switch (request->route) {
      case kMe:
        return reply(me(context_, *request));
      case kGetBlob:
        return reply(head_blob(*request));
      case kSubmit:
        return submit(*request, std::move(reply));
      case kStudies:
        return reply(studies(*request));
      case kStudy:
        return reply(study(*request));
      case kSpec:
        return spec(*request, std::move(reply));
      case kStudyBlob:
        return study_blob(*request, std::move(reply));
      case kCancel:
        return cancel(*request, std::move(reply));
      case kPause:
        return pause(*request, true, std::move(reply));
      case kResume:
        return pause(*request, false, std::move(reply));
      case kReplay:
        return replay(*request, std::move(reply));
      case kTrials:
        return reply(trials(*request));
      case kUnfinished:
        return reply(unfinished(*request));
      case kTrial:
        return reply(trial(*request));
      case kLog:
        return reply(log(*request));
      case kWorkers:
        return workers(*request, std::move(reply));
      case kPlacement:
        return placement(*request, std::move(reply));
      case kReports:
        return reply(device_reports());
      case kReady:
        return reply(readiness());
      default:
        return metrics(std::move(reply));
    }
  }

  Status identify(Request& request) const {
    constexpr std::string_view kScheme = "Bearer ";
    if (!request.authorization.starts_with(kScheme)) {
      return Error{"unauthorized", "Send the header Authorization: Bearer <token>."};
    }
    const auto caller =
        context_.book.check_token(std::string_view(request.authorization).substr(kScheme.size()));
    if (!caller) {
      const auto admitted = context_.admission.admit_stranger(request.address);
      if (!admitted) {
        return Error{"rate_limited",
                     "Too many wrong tokens came from this address; wait a minute.",
                     {},
                     admitted.wait_s};
      }
      return Error{
          "unauthorized",
          "The server does not know this token; check it, or ask the operator for a new one."};
    }
    request.principal = caller->principal;
    request.token = caller->token;
    switch (caller->principal.state) {
      case storage::PrincipalState::active:
        return Done{};
      case storage::PrincipalState::pending:
        return Error{"approval_pending",
                     "An administrator has not decided about your request yet; ask again later."};
      case storage::PrincipalState::refused:
        return Error{"approval_refused",
                     "An administrator refused your request; ask the operator why."};
      case storage::PrincipalState::suspended:
        break;
    }
    return Error{"suspended", "An administrator suspended your access; ask the operator why."};
  }

  // Nothing of the body is read for a blob that cannot be taken.
  Plan plan_upload(const Request& request) const override {
    const std::string& sha256 = request.captures.front();
    if (!blobs::is_sha256(sha256)) {
      return ready(error_response(Error{
          "bad_field", "Name the blob by the 64 lower-case hexadecimal digits of its SHA-256.",
          "sha256"}));
    }
    Response too_large = error_response(Error{
        "blob_too_large", "A blob may have at most " + std::to_string(context_.max_blob_bytes) +
                              " bytes on this server."});
    return Plan{Plan::Kind::upload, std::move(too_large), context_.max_blob_bytes};
  }

  Response head_blob(const Request& request) const {
    const std::string& sha256 = request.captures.front();
    if (context_.blobs.exists(sha256)) return json_response(200, "");
    return error_response(404, Error{"unknown_blob", "This server has no such blob; upload it."});
  }

  // A blob that the study names and that is not here; its field where there is one.
  std::optional<Error> missing_blob(const protocol::StudySpec& spec) const {
    const auto check = [this](const protocol::BlobRef& blob,
                              const std::string& field) -> std::optional<Error> {
      const auto bytes = context_.blobs.size(blob.sha256);
      if (!bytes)
        return Error{"unknown_blob", "Upload this blob before the study that names it.",
                     field + ".sha256"};
      if (*bytes != static_cast<std::uint64_t>(blob.bytes)) {
        return Error{"bad_field", "The blob of this hash has another length.", field + ".bytes"};
      }
      return std::nullopt;
    };
    if (auto error = check(spec.bundle, "bundle")) return error;
    for (std::size_t i = 0; i < spec.data.size(); ++i) {
      if (auto error = check(spec.data[i].blob, "data[" + std::to_string(i) + "]")) return error;
    }
    return std::nullopt;
  }

  static std::vector<std::string> blobs_of(const protocol::StudySpec& spec) {
    std::vector<std::string> blobs{spec.bundle.sha256};
    for (const protocol::DataRef& data : spec.data) blobs.push_back(data.blob.sha256);
    return blobs;
  }

  void submit(const Request& request, Reply reply) const {
    Result<protocol::StudySpec> spec = protocol::parse_study_spec(request.body);
    if (!spec) return reply(error_response(spec.error()));
    const auto project = project_of(context_, request, std::exchange(spec->project, {}));
    if (!project) return reply(error_response(project.error()));
    // What is here stays until the study names it, whatever is deleted meanwhile.
    const std::shared_ptr<blobs::CollectedBlobs::Hold> hold = context_.blobs.hold(blobs_of(*spec));
    if (const auto missing = missing_blob(*spec)) return reply(error_response(422, *missing));
    // The callbacks run on the hub's strand: the row is written without a database read there, by a
    // reader.
    auto answer = [this, hold, sent = *spec, project = *project,
                   reply = std::move(reply)](Result<hub::Submitted> submitted) mutable {
      if (!submitted) return reply(error_response(submitted.error()));
      if (submitted->how == hub::Submitted::How::created) {
        hold->named();
        reply_with_row(submitted->study, 201, reply);
      } else {
        reply_with_row(submitted->study, 200, reply, [sent, project](const storage::StudyRow& row) {
          return row.project == project && same_content(sent, row.spec)
                     ? std::nullopt
                     : std::optional(other_content(row.id));
        });
      }
    };
    context_.hub.submit_study({request.principal.name, *project, std::move(*spec),
                               quota_of(request.principal), note_of(request, "study.submit", {})},
                              std::move(answer));
  }

  // Whether two specs ask for the same trials. A name is for people, and provenance says where a
  // spec came from.
  static bool same_content(protocol::StudySpec one, const protocol::StudySpec& other) {
    one.name = other.name;
    one.provenance_json = other.provenance_json;
    return one == other;
  }

  static Error other_content(StudyId earlier) {
    return Error{"study_exists", "Study " + std::to_string(to_int(earlier)) +
                                     " was made with this submit_key and other content; give "
                                     "another key, or submit what it was made of."};
  }

  void cancel(const Request& request, Reply reply) const {
    const auto row = readable_study(context_, request);
    if (!row) return reply(error_response(row.error()));
    context_.hub.cancel_study(row->id, note_of(request, "study.cancel", {}),
                              row_replier(std::move(reply)));
  }

  void pause(const Request& request, bool paused, Reply reply) const {
    const auto row = readable_study(context_, request);
    if (!row) return reply(error_response(row.error()));
    // As for a replay: what was computed stays, and nothing more is.
    if (!paused && !auth::IdentityBook::may_use(request.principal, row->project))
      return reply(error_response(closed_project()));
    context_.hub.pause_study(row->id, paused,
                             note_of(request, paused ? "study.pause" : "study.resume", {}),
                             row_replier(std::move(reply)));
  }

  void replay(const Request& request, Reply reply) const {
    auto row = readable_study(context_, request);
    if (!row) return reply(error_response(row.error()));
    // Whoever lost a project keeps what was computed there, and has nothing more computed.
    if (!auth::IdentityBook::may_use(request.principal, row->project))
      return reply(error_response(closed_project()));
    context_.hub.replay_study(std::move(*row), quota_of(request.principal),
                              note_of(request, "study.replay", {}), row_replier(std::move(reply)));
  }

  // Answers with the row of the study that changed.
  std::function<void(Result<StudyId>)> row_replier(Reply reply) const {
    return [this, reply = std::move(reply)](const Result<StudyId>& changed) {
      if (!changed) return reply(error_response(changed.error()));
      reply_with_row(*changed, 200, reply);
    };
  }

  // `objection`: why the row is not to be shown after all.
  void reply_with_row(
      StudyId id, int status, const Reply& reply,
      std::function<std::optional<Error>(const storage::StudyRow&)> objection = {}) const {
    const bool posted =
        context_.readers.post([this, id, status, reply, objection = std::move(objection)] {
          const auto row = context_.storage.study(id);
          if (!row) return reply(error_response(row.error()));
          if (!*row) return reply(error_response(unknown_study()));
          if (const auto error = objection ? objection(**row) : std::nullopt) {
            return reply(error_response(*error));
          }
          reply(json_response(status, row_json(**row)));
        });
    if (!posted) {
      reply(error_response(
          Error{"storage_unavailable", "The server has too much to do; ask for the study again."}));
    }
  }

  Response studies(const Request& request) const {
    const auto rows = context_.storage.studies();
    if (!rows) return error_response(rows.error());
    std::string out = R"({"studies":[)";
    bool first = true;
    for (const storage::StudyRow& row : *rows) {
      if (!may_see(request.principal, row)) continue;
      if (!std::exchange(first, false)) out += ',';
      out += row_json(row);
    }
    return json_response(200, out + "]}");
  }

  std::string row_json(const storage::StudyRow& row) const {
    return study_row_json(row, context_.hub.is_owned(row.id) ? Sampler::attached : Sampler::away);
  }

  Response study(const Request& request) const {
    const auto row = readable_study(context_, request);
    return row ? json_response(200, row_json(*row)) : error_response(row.error());
  }

  // What was submitted: all that decides what the trials compute, and where it came from.
  void spec(const Request& request, Reply reply) const {
    const auto row = readable_study(context_, request);
    if (!row) return reply(error_response(row.error()));
    reply_noted(context_, request, *row,
                json_response(200, protocol::serialize_study_spec(row->spec)), std::move(reply));
  }

  // Code or data of the study, for whoever may see it.
  void study_blob(const Request& request, Reply reply) const {
    const auto row = readable_study(context_, request);
    if (!row) return reply(error_response(row.error()));
    const std::string& sha256 = request.captures[1];
    const auto& data = row->spec.data;
    const bool named = row->spec.bundle.sha256 == sha256 ||
                       std::ranges::any_of(data, [&sha256](const protocol::DataRef& one) {
                         return one.blob.sha256 == sha256;
                       });
    const auto path = named ? context_.blobs.path_of(sha256) : std::nullopt;
    const auto bytes = named ? context_.blobs.size(sha256) : std::nullopt;
    if (!path || !bytes) {
      const Error unknown{"unknown_blob", "The study names no such blob."};
      return reply(error_response(404, unknown));
    }
    reply_noted(context_, request, *row, blob_response(path->string(), *bytes), std::move(reply));
  }

  // What a trial printed, in memory: its newest lines after the cursor.
  Response log(const Request& request) const {
    const auto row = readable_study(context_, request);
    if (!row) return error_response(row.error());
    const auto number = parse_integer(request.captures[1], kMaxWireInteger);
    if (!number) return error_response(Error{"not_found", "The study has no such trial."});
    const auto asked = page_of(request.query, kDefaultPage, kLargestPage);
    if (!asked) return error_response(asked.error());
    const protocol::TrialLog found = context_.outputs.read(
        {row->id, TrialNumber{*number}}, asked->after, static_cast<std::size_t>(asked->limit));
    std::string out;
    ObjectWriter page(out);
    protocol::append_log_lines(page.begin("lines"), found.lines);
    page.integer("cursor", found.cursor).end();
    return json_response(200, std::move(out));
  }

  Response trials(const Request& request) const {
    const auto row = readable_study(context_, request);
    if (!row) return error_response(row.error());
    const auto asked = page_of(request.query, kDefaultPage, kLargestPage);
    if (!asked) return error_response(asked.error());
    const auto found = context_.storage.finished_trials(row->id, asked->after, asked->limit);
    if (!found) return error_response(found.error());
    std::string out;
    ObjectWriter page(out);
    append_trials(page.begin("trials"), *found, request.query);
    page.integer("cursor", found->empty() ? asked->after : found->back().trial.seq).end();
    return json_response(200, std::move(out));
  }

  Response unfinished(const Request& request) const {
    const auto row = readable_study(context_, request);
    if (!row) return error_response(row.error());
    const auto found = context_.storage.unfinished_trials(row->id);
    if (!found) return error_response(found.error());
    std::string out = R"({"trials":)";
    append_trials(out, *found, request.query);
    return json_response(200, out + '}');
  }

  // With `points=1` the rows have their curves, as long as there is room for them.
  void append_trials(std::string& out, const std::vector<storage::TrialDetail>& page,
                     std::string_view query) const {
    const bool wanted = query_value(query, "points") == "1";
    CurveRoom room;
    append_list(out, page, [&](const storage::TrialDetail& one) {
      if (!wanted || (one.attempt && !room.is_left())) {
        out += trial_row_json(one);
        return;
      }
      if (!one.attempt) {  // it never ran: nothing is read to know that
        out += trial_row_json(one, Detail::curve);
        return;
      }
      // Of the row's own attempt: whatever became of the trial since the page was read.
      auto points = context_.storage.curve(*one.attempt);
      room.take(points ? points->size() : 0);
      if (!points) {
        out += trial_row_json(one);
        return;
      }
      storage::TrialDetail whole = one;
      whole.points = std::move(points).value();
      out += trial_row_json(whole, Detail::curve);
    });
  }

  Response trial(const Request& request) const {
    const auto row = readable_study(context_, request);
    if (!row) return error_response(row.error());
    const auto number = parse_integer(request.captures[1], kMaxWireInteger);
    const Error none{"not_found", "The study has no such trial, or nobody has begun it."};
    if (!number) return error_response(none);
    const auto found = context_.storage.trial(TrialKey{row->id, TrialNumber{*number}});
    if (!found) return error_response(found.error());
    if (!*found) return error_response(none);
    return json_response(200, trial_row_json(**found, Detail::full));
  }

  // Those of the projects that the caller may use.
  void workers(const Request& request, Reply reply) const {
    context_.hub.workers([caller = request.principal,
                          reply = std::move(reply)](std::vector<dispatch::WorkerView> views) {
      std::erase_if(views, [&caller](const dispatch::WorkerView& view) {
        return !auth::IdentityBook::may_use(caller, view.project);
      });
      std::string out;
      ObjectWriter body(out);
      append_list(body.begin("workers"), views, [&out](const dispatch::WorkerView& view) {
        ObjectWriter worker(out);
        worker.text("device", view.device)
            .text("class", view.capabilities.device_class)
            .text("engine", view.capabilities.engine)
            .text("state", view.attempt ? "computing" : "idle");
        append_list(worker.begin("backends"), view.capabilities.backends,
                    [&out](const std::string& one) { protocol::append_string(out, one); });
        worker.integer("memory_mb", view.capabilities.memory_mb)
            .integer("cores", view.capabilities.cores);
        if (const auto& gpu = view.capabilities.gpu)
          protocol::append_gpu(worker.begin("gpu"), *gpu);
        if (view.attempt) worker.integer("attempt", to_int(*view.attempt));
        if (view.trial) {
          worker.integer("trial", to_int(view.trial->number))
              .integer("study", to_int(view.trial->study));
        }
        worker.end();
      });
      body.end();
      reply(json_response(200, std::move(out)));
    });
  }

  // Of the devices that could get work of the study's project: how many may run its trials, and why
  // the others may not (R40).
  void placement(const Request& request, Reply reply) const {
    const auto row = readable_study(context_, request);
    if (!row) return reply(error_response(row.error()));
    context_.hub.workers([project = row->project, spec = row->spec,
                          reply = std::move(reply)](std::vector<dispatch::WorkerView> views) {
      std::erase_if(views, [&](const auto& view) { return view.project != project; });
      std::map<std::string_view, std::int64_t> reasons;
      for (const dispatch::WorkerView& view : views) {
        const std::string_view reason = protocol::unmet(spec, view.capabilities);
        if (!reason.empty()) ++reasons[reason];
      }
      auto matching = static_cast<std::int64_t>(views.size());
      for (const auto& [reason, count] : reasons) matching -= count;
      std::string out;
      ObjectWriter body(out);
      body.integer("devices", static_cast<std::int64_t>(views.size()))
          .integer("matching", matching);
      append_list(body.begin("reasons"), reasons, [&out](const auto& one) {
        ObjectWriter(out).text("code", one.first).integer("devices", one.second).end();
      });
      body.end();
      reply(json_response(200, std::move(out)));
    });
  }

  Response device_reports() const {
    std::string out;
    ObjectWriter body(out);
    append_list(body.begin("reports"), context_.reports.newest(kReportsShown),
                [&out](const std::string& report) { out += report; });
    body.end();
    return json_response(200, std::move(out));
  }

  Response readiness() const {
    const hub::Health health = context_.hub.health();
    if (health.draining) return error_response(Error{"draining", "The server is about to stop."});
    if (health.read_only)
      return error_response(Error{"read_only", "The server cannot write to its database now."});
    return json_response(200, R"({"status":"ready"})");
  }

  void metrics(Reply reply) const {
    context_.hub.counters(
        [reply = std::move(reply), &metrics = context_.metrics](const dispatch::Counters& now) {
          metrics.dispatcher(now.workers, now.leased, now.queued, now.read_only);
          metrics.owners(now.owners, now.calls_waiting);
          Response response;
          response.content_type = "text/plain; version=0.0.4; charset=utf-8";
          response.headers.emplace_back("Cache-Control", "no-store");
          response.body = metrics.text();
          reply(std::move(response));
        });
  }
};

}  // namespace

std::span<const Route> console_routes() { return table().routes; }

std::unique_ptr<Site> make_console_site(const SiteContext& context) {
  return std::make_unique<ConsoleSite>(context);
}

}  // namespace hyperflock::http
