#include "http/console_site.h"

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "auth/tokens.h"
#include "http/bodies.h"
#include "http/router.h"
#include "http/rows.h"
#include "ops/log.h"
#include "protocol/codec.h"
#include "protocol/json_writer.h"

namespace hyperflock::http {
namespace {

using protocol::append_list;
using protocol::ObjectWriter;

// The study's row travels in update frames of at most 1 MiB, so its space must stay well below.
constexpr std::uint64_t kSpecBody = std::uint64_t{512} * 1024;
constexpr std::uint64_t kSmallBody = std::uint64_t{4} * 1024;
constexpr std::int64_t kDefaultPage = 500;
constexpr std::int64_t kLargestPage = 5'000;
constexpr std::string_view kResearchPage = "/research";
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
  kCancel,
  kReplay,
  kTrials,
  kTrial,
  kLog,
  kWorkers,
  kRevoke,
  kEnrolment,
  kSocket,
  kHealth,
  kReady,
  kMetrics,
};

constexpr std::array<Route, 19> kRoutes{{
    {Method::get, "/", Access::open, Work::handle, 0},
    {Method::get, "/api/me", Access::principal, Work::handle, 0},
    {Method::head, "/api/blobs/{}", Access::principal, Work::handle, 0},
    {Method::put, "/api/blobs/{}", Access::principal, Work::upload, 0},
    {Method::post, "/api/studies", Access::principal, Work::handle, kSpecBody},
    {Method::get, "/api/studies", Access::principal, Work::handle, 0},
    {Method::get, "/api/studies/{}", Access::principal, Work::handle, 0},
    {Method::post, "/api/studies/{}/cancel", Access::principal, Work::handle, kSmallBody},
    {Method::post, "/api/studies/{}/replay", Access::principal, Work::handle, kSmallBody},
    {Method::get, "/api/studies/{}/trials", Access::principal, Work::handle, 0},
    {Method::get, "/api/studies/{}/trials/{}", Access::principal, Work::handle, 0},
    {Method::get, "/api/studies/{}/trials/{}/log", Access::principal, Work::handle, 0},
    {Method::get, "/api/workers", Access::principal, Work::handle, 0},
    {Method::post, "/api/devices/{}/revoke", Access::principal, Work::handle, kSmallBody},
    {Method::post, "/api/enrolment", Access::principal, Work::handle, kSmallBody},
    {Method::get, "/ws/client", Access::open, Work::websocket, 0},
    {Method::get, "/healthz", Access::open, Work::handle, 0},
    {Method::get, "/readyz", Access::open, Work::handle, 0},
    {Method::get, "/metrics", Access::metrics, Work::handle, 0},
}};
// Files are no route: their names are known to StaticFiles alone.
constexpr std::size_t kStaticRoute = kRoutes.size();

Plan answer(Response response) { return Plan{Plan::Kind::answer, std::move(response), 0}; }

Error unknown_study() {
  return Error{"unknown_study", "There is no such study, or it belongs to somebody else."};
}

class BlobUpload final : public Upload {
 public:
  BlobUpload(std::unique_ptr<blobs::BlobStore::Writer> writer, std::string sha256)
      : writer_(std::move(writer)), sha256_(std::move(sha256)) {}

  Status append(std::string_view bytes) override {
    return writer_->append(std::as_bytes(std::span(bytes)));
  }

  Response finish() override {
    const auto stored = writer_->finish(sha256_);
    if (!stored) return error_response(stored.error());
    std::string out;
    ObjectWriter(out).text("sha256", sha256_).end();
    return json_response(stored->is_new ? 201 : 200, std::move(out));
  }

 private:
  std::unique_ptr<blobs::BlobStore::Writer> writer_;
  std::string sha256_;
};

class ConsoleSite final : public Site {
 public:
  explicit ConsoleSite(const SiteContext& context) : context_(context) {}

  Plan plan(Request& request) override {
    const Found found = find_route(kRoutes, request.method, request.path);
    if (const auto* none = std::get_if<NoMatch>(&found)) return plan_file(request, none->allow);
    const Match& match = std::get<Match>(found);
    const Route& route = kRoutes[match.route];
    request.route = match.route;
    request.captures = match.captures;
    if (route.work == Work::websocket) return Plan{Plan::Kind::websocket, {}, 0};
    const bool wants_token = route.access == Access::principal ||
                             (route.access == Access::metrics && !context_.open_metrics);
    if (wants_token) {
      const Status known = identify(request);
      if (!known) return answer(error_response(known.error()));
    }
    if (route.work == Work::upload) return plan_upload(request);
    return Plan{Plan::Kind::handle, {}, route.body_limit};
  }

  void handle(std::shared_ptr<const Request> request, Reply reply) override {
    switch (request->route) {
      case kRoot: {
        Response response;
        response.status = 302;
        response.headers.emplace_back("Location", kResearchPage);
        return reply(std::move(response));
      }
      case kStaticRoute:
        return reply(with_policy(context_.files.load(*request)));
      case kMe:
        return reply(me(*request));
      case kGetBlob:
        return reply(head_blob(*request));
      case kSubmit:
        return submit(*request, std::move(reply));
      case kStudies:
        return reply(studies(*request));
      case kStudy:
        return reply(study(*request));
      case kCancel:
        return cancel(*request, std::move(reply));
      case kReplay:
        return replay(*request, std::move(reply));
      case kTrials:
        return reply(trials(*request));
      case kTrial:
        return reply(trial(*request));
      case kLog:
        return reply(log(*request));
      case kWorkers:
        return workers(std::move(reply));
      case kRevoke:
        return revoke(*request, std::move(reply));
      case kEnrolment:
        return enrolment(*request, std::move(reply));
      case kHealth:
        return reply(json_response(200, R"({"status":"ok"})"));
      case kReady:
        return reply(ready());
      default:
        return metrics(std::move(reply));
    }
  }

  Result<std::unique_ptr<Upload>> open_upload(const Request& request) override {
    auto writer = context_.blobs.begin();
    if (!writer) return writer.error();
    const std::string& sha256 = request.captures.front();
    return std::unique_ptr<Upload>(std::make_unique<BlobUpload>(std::move(*writer), sha256));
  }

 private:
  static Response with_policy(Response response) {
    response.content_security_policy = kConsolePolicy;
    return response;
  }

  // The researcher's page and its scripts; they hold no secret, so they need no token.
  Plan plan_file(Request& request, const std::string& allow) const {
    const bool reads = request.method == Method::get || request.method == Method::head;
    const bool known = context_.files.knows(request.path);
    if (known && reads) {
      if (auto ready = context_.files.cached(request))
        return answer(with_policy(std::move(*ready)));
      request.route = kStaticRoute;
      return Plan{Plan::Kind::handle, {}, 0};
    }
    if (known || !allow.empty()) {
      Response response =
          error_response(Error{"method_not_allowed", "This address does not take this method."});
      response.headers.emplace_back("Allow", known ? "GET, HEAD" : allow);
      return answer(std::move(response));
    }
    if (request.path == kResearchPage) {
      return answer(error_response(
          Error{"not_found",
                "The pages are not built or not given to the server (serve --app FOLDER)."}));
    }
    return answer(error_response(Error{"not_found", "Nothing is served at this address."}));
  }

  Status identify(Request& request) const {
    constexpr std::string_view kScheme = "Bearer ";
    if (!request.authorization.starts_with(kScheme)) {
      return Error{"unauthorized", "Send the header Authorization: Bearer <token>."};
    }
    const auto principal =
        context_.book.check_token(std::string_view(request.authorization).substr(kScheme.size()));
    if (!principal) {
      if (!context_.admission.admit_stranger(request.address)) {
        return Error{"rate_limited",
                     "Too many wrong tokens came from this address; wait a minute."};
      }
      return Error{
          "unauthorized",
          "The server does not know this token; check it, or ask the operator for a new one."};
    }
    request.principal = *principal;
    return Done{};
  }

  // Nothing of the body is read for a blob that cannot be taken.
  Plan plan_upload(const Request& request) const {
    const std::string& sha256 = request.captures.front();
    if (!blobs::is_sha256(sha256)) {
      return answer(error_response(Error{
          "bad_field", "Name the blob by the 64 lower-case hexadecimal digits of its SHA-256.",
          "sha256"}));
    }
    Response too_large = error_response(Error{
        "blob_too_large", "A blob may have at most " + std::to_string(context_.max_blob_bytes) +
                              " bytes on this server."});
    return Plan{Plan::Kind::upload, std::move(too_large), context_.max_blob_bytes};
  }

  Response me(const Request& request) const {
    const bool admin = request.principal.role == storage::PrincipalRole::admin;
    std::string out;
    ObjectWriter(out)
        .text("name", request.principal.name)
        .text("role", admin ? "admin" : "researcher")
        .text("server", context_.server_version)
        .text("join_origin", context_.join_origin)
        .integer("max_blob_bytes", static_cast<std::int64_t>(context_.max_blob_bytes))
        .end();
    return json_response(200, std::move(out));
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

  void submit(const Request& request, Reply reply) const {
    Result<protocol::StudySpec> spec = protocol::parse_study_spec(request.body);
    if (!spec) return reply(error_response(spec.error()));
    if (const auto missing = missing_blob(*spec)) return reply(error_response(422, *missing));
    // The callbacks run on the hub's strand: the row is written without a database read there, by a
    // reader.
    auto answer = [this, sent = *spec, reply = std::move(reply)](Result<Submitted> submitted) {
      if (!submitted) return reply(error_response(submitted.error()));
      if (submitted->how == Submitted::How::created) {
        reply_with_row(submitted->study, 201, reply);
      } else {
        reply_with_row(submitted->study, 200, reply, [sent](const storage::StudyRow& row) {
          return same_content(sent, row.spec) ? std::nullopt : std::optional(other_content(row.id));
        });
      }
    };
    context_.service.submit_study(request.principal.name, context_.book.first_project(),
                                  std::move(*spec), std::move(answer));
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
    const auto row = readable_study(request);
    if (!row) return reply(error_response(row.error()));
    context_.service.cancel_study(row->id, row_replier(std::move(reply)));
  }

  void replay(const Request& request, Reply reply) const {
    auto row = readable_study(request);
    if (!row) return reply(error_response(row.error()));
    context_.service.replay_study(std::move(*row), row_replier(std::move(reply)));
  }

  // Answers with the row of the study that changed.
  std::function<void(Result<StudyId>)> row_replier(Reply reply) const {
    return [this, reply = std::move(reply)](Result<StudyId> changed) {
      if (!changed) return reply(error_response(changed.error()));
      reply_with_row(*changed, 200, reply);
    };
  }

  // The device is refused from now on, its session closed and its attempt issued again.
  void revoke(const Request& request, Reply reply) const {
    if (request.principal.role != storage::PrincipalRole::admin) {
      return reply(error_response(Error{"forbidden", "Only an administrator revokes devices."}));
    }
    const std::string& device = request.captures.front();
    context_.service.revoke_device(
        device, [this, device, reply = std::move(reply)](Result<storage::Outcome> outcome) {
          if (!outcome) return reply(error_response(outcome.error()));
          if (outcome->applied == storage::Applied::conflict) {
            return reply(error_response(Error{"unknown_device", "No device has this name."}));
          }
          context_.book.committed(storage::RevokeDevice{device}, *outcome);
          ops::log(ops::LogLevel::info, "device_revoked", {{"device", device}});
          std::string out;
          ObjectWriter(out).text("device", device).boolean("revoked", true).end();
          reply(json_response(200, std::move(out)));
        });
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
          reply(json_response(status, study_row_json(**row)));
        });
    if (!posted) {
      reply(error_response(
          Error{"storage_unavailable", "The server has too much to do; ask for the study again."}));
    }
  }

  // The study of the first capture, where the caller may see it.
  Result<storage::StudyRow> readable_study(const Request& request) const {
    const auto id = parse_integer(request.captures.front(), kMaxWireInteger);
    if (!id) return unknown_study();
    auto row = context_.storage.study(StudyId{*id});
    if (!row) return row.error();
    if (!*row || !may_see(request.principal, **row)) return unknown_study();
    return std::move(**row);
  }

  static bool may_see(const storage::Principal& principal, const storage::StudyRow& study) {
    return principal.role == storage::PrincipalRole::admin || study.owner == principal.name;
  }

  Response studies(const Request& request) const {
    const auto rows = context_.storage.studies();
    if (!rows) return error_response(rows.error());
    std::string out = R"({"studies":[)";
    bool first = true;
    for (const storage::StudyRow& row : *rows) {
      if (!may_see(request.principal, row)) continue;
      if (!std::exchange(first, false)) out += ',';
      out += study_row_json(row);
    }
    return json_response(200, out + "]}");
  }

  Response study(const Request& request) const {
    const auto row = readable_study(request);
    return row ? json_response(200, study_row_json(*row)) : error_response(row.error());
  }

  struct Page {
    std::int64_t after = 0;
    std::int64_t limit = 0;
  };

  static Result<Page> page_of(const Request& request) {
    const auto number = [&request](std::string_view key, std::int64_t fallback,
                                   std::int64_t maximum) {
      const auto text = query_value(request.query, key);
      return text ? parse_integer(*text, maximum) : std::optional<std::int64_t>(fallback);
    };
    const auto after = number("after", 0, kMaxWireInteger);
    const auto limit = number("limit", kDefaultPage, kLargestPage);
    if (!after)
      return Error{"bad_number", "after must be an integer, the cursor of the last page.", "after"};
    if (!limit || *limit == 0) return Error{"bad_number", "limit must be in 1..5000.", "limit"};
    return Page{*after, *limit};
  }

  // What a trial printed, in memory: its newest lines after the cursor.
  Response log(const Request& request) const {
    const auto row = readable_study(request);
    if (!row) return error_response(row.error());
    const auto number = parse_integer(request.captures[1], kMaxWireInteger);
    if (!number) return error_response(Error{"not_found", "The study has no such trial."});
    const auto asked = page_of(request);
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
    const auto row = readable_study(request);
    if (!row) return error_response(row.error());
    const auto asked = page_of(request);
    if (!asked) return error_response(asked.error());
    const auto found = context_.storage.finished_trials(row->id, asked->after, asked->limit);
    if (!found) return error_response(found.error());
    std::int64_t cursor = asked->after;
    std::string out;
    ObjectWriter page(out);
    append_list(page.begin("trials"), *found, [&](const storage::TrialDetail& one) {
      out += trial_row_json(one);
      cursor = one.trial.seq;
    });
    page.integer("cursor", cursor).end();
    return json_response(200, std::move(out));
  }

  Response trial(const Request& request) const {
    const auto row = readable_study(request);
    if (!row) return error_response(row.error());
    const auto number = parse_integer(request.captures[1], kMaxWireInteger);
    const Error none{"not_found", "The study has no such trial, or nobody has begun it."};
    if (!number) return error_response(none);
    const auto found = context_.storage.trial(TrialKey{row->id, TrialNumber{*number}});
    if (!found) return error_response(found.error());
    if (!*found) return error_response(none);
    return json_response(200, trial_row_json(**found, Detail::full));
  }

  void workers(Reply reply) const {
    context_.service.workers(
        [reply = std::move(reply)](const std::vector<dispatch::WorkerView>& views) {
          std::string out;
          ObjectWriter body(out);
          append_list(body.begin("workers"), views, [&out](const dispatch::WorkerView& view) {
            ObjectWriter worker(out);
            worker.text("device", view.device)
                .text("class", view.device_class)
                .text("engine", view.engine)
                .text("state", view.attempt ? "computing" : "idle");
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

  void enrolment(const Request& request, Reply reply) const {
    const auto query = parse_enrolment_query(request.body);
    if (!query) return reply(error_response(query.error()));
    const std::string project = query->project.value_or(context_.book.first_project());
    if (!context_.book.has_project(project)) {
      return reply(
          error_response(422, Error{"bad_field", "This server has no such project.", "project"}));
    }
    const std::string code = auth::new_token(auth::TokenKind::enrolment_code);
    const storage::Enrolment made{auth::token_hash(code), project};
    context_.service.commit(
        storage::CreateEnrolment{made},
        [reply = std::move(reply), code, made, this](Result<storage::Outcome> outcome) {
          if (!outcome) return reply(error_response(outcome.error()));
          context_.book.committed(storage::CreateEnrolment{made}, *outcome);
          ops::log(ops::LogLevel::info, "enrolment_created", {{"project", made.project}});
          std::string out;
          ObjectWriter(out)
              .text("code", code)
              .text("join_url", context_.join_origin + "/join#" + code)
              .end();
          reply(json_response(201, std::move(out)));
        });
  }

  Response ready() const {
    const Health health = context_.service.health();
    if (health.draining) return error_response(Error{"draining", "The server is about to stop."});
    if (health.read_only)
      return error_response(Error{"read_only", "The server cannot write to its database now."});
    return json_response(200, R"({"status":"ready"})");
  }

  void metrics(Reply reply) const {
    context_.service.counters(
        [reply = std::move(reply), &metrics = context_.metrics](const dispatch::Counters& now) {
          metrics.dispatcher(now.workers, now.leased, now.queued, now.read_only);
          Response response;
          response.content_type = "text/plain; version=0.0.4; charset=utf-8";
          response.headers.emplace_back("Cache-Control", "no-store");
          response.body = metrics.text();
          reply(std::move(response));
        });
  }

  const SiteContext context_;
};

}  // namespace

std::unique_ptr<Site> make_console_site(const SiteContext& context) {
  return std::make_unique<ConsoleSite>(context);
}

}  // namespace hyperflock::http
