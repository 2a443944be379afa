#include "http/compute_site.h"

#include <algorithm>
#include <array>
#include <utility>

#include "auth/tokens.h"
#include "http/bodies.h"
#include "http/checkpoint_upload.h"
#include "http/router.h"
#include "ops/log.h"
#include "protocol/json_writer.h"

namespace hyperflock::http {
namespace {

using protocol::ObjectWriter;

constexpr std::uint64_t kSmallBody = std::uint64_t{4} * 1024;
constexpr std::string_view kJoinPage = "/join";

enum RouteIndex : std::size_t {
  kRoot,
  kHealth,
  kProject,
  kJoin,
  kBlob,
  kCheckpoint,
  kSave,
  kSocket
};

constexpr std::array<Route, 8> kRoutes{{
    {Method::get, "/", Access::open, Work::handle, 0},
    {Method::get, "/healthz", Access::open, Work::handle, 0},
    {Method::post, "/api/project", Access::open, Work::handle, kSmallBody},
    {Method::post, "/api/join", Access::open, Work::handle, kSmallBody},
    {Method::get, "/api/blobs/{}", Access::device, Work::handle, 0},
    {Method::get, "/api/attempts/{}/checkpoint", Access::device, Work::handle, 0},
    {Method::put, "/api/attempts/{}/checkpoints/{}", Access::device, Work::upload, 0},
    {Method::get, "/ws/worker", Access::open, Work::websocket, 0},
}};
// Files are no route: their names are known to StaticFiles alone.
constexpr std::size_t kStaticRoute = kRoutes.size();

Plan answer(Response response) { return Plan{Plan::Kind::answer, std::move(response), 0}; }

Error bad_code() {
  return Error{"bad_enrolment_code",
               "This join link is not valid (any more); ask whoever sent it for a new one."};
}

// How far a project is, and for whom it computes.
struct ProjectSummary {
  std::string owners;
  std::int64_t studies = 0;
  std::int64_t done = 0;
  std::int64_t total = 0;
};

class ComputeSite final : public Site {
 public:
  explicit ComputeSite(const SiteContext& context) : context_(context) {}

  Plan plan(Request& request) override {
    const Found found = find_route(kRoutes, request.method, request.path);
    if (const auto* none = std::get_if<NoMatch>(&found)) return plan_file(request, none->allow);
    const Match& match = std::get<Match>(found);
    const Route& route = kRoutes[match.route];
    request.route = match.route;
    request.captures = match.captures;
    if (route.work == Work::websocket) return Plan{Plan::Kind::websocket, {}, 0};
    if (route.access == Access::device && !identify(request)) {
      return answer(error_response(Error{
          "unauthorized",
          "Send the header Authorization: Device <device>:<secret> of a device that has joined."}));
    }
    if (route.work == Work::upload) return plan_upload(request);
    return Plan{Plan::Kind::handle, {}, route.body_limit};
  }

  void handle(std::shared_ptr<const Request> request, Reply reply) override {
    switch (request->route) {
      case kRoot: {
        Response response;
        response.status = 302;
        response.headers.emplace_back("Location", kJoinPage);
        return reply(std::move(response));
      }
      case kHealth:
        return reply(json_response(200, R"({"status":"ok"})"));
      case kProject:
        return reply(project(*request));
      case kJoin:
        return join(*request, std::move(reply));
      case kBlob:
        return reply(blob(*request));
      case kCheckpoint:
        return reply(checkpoint(*request));
      default:
        return reply(context_.files.load(*request));
    }
  }

  Result<std::unique_ptr<Upload>> open_upload(const Request& request) override {
    return open_checkpoint_upload(context_, request);
  }

 private:
  // Nothing of the body is read for a checkpoint that cannot be taken.
  Plan plan_upload(const Request& request) const {
    if (!blobs::is_sha256(request.captures.at(1))) {
      return answer(error_response(
          Error{"bad_field",
                "Name the checkpoint by the 64 lower-case hexadecimal digits of its SHA-256.",
                "sha256"}));
    }
    Response too_large = error_response(
        Error{"checkpoint_too_large", "A checkpoint may have at most " +
                                          std::to_string(context_.checkpoints.max_bytes()) +
                                          " bytes on this server: save less of the trial."});
    return Plan{Plan::Kind::upload, std::move(too_large), context_.checkpoints.max_bytes()};
  }

  Plan plan_file(Request& request, const std::string& allow) const {
    const bool reads = request.method == Method::get || request.method == Method::head;
    const bool known = context_.files.knows(request.path);
    if (known && reads) {
      if (auto ready = context_.files.cached(request)) return answer(std::move(*ready));
      request.route = kStaticRoute;
      return Plan{Plan::Kind::handle, {}, 0};
    }
    if (known || !allow.empty()) {
      Response response =
          error_response(Error{"method_not_allowed", "This address does not take this method."});
      response.headers.emplace_back("Allow", known ? "GET, HEAD" : allow);
      return answer(std::move(response));
    }
    if (request.path == kJoinPage) {
      return answer(error_response(
          Error{"not_found",
                "The pages are not built or not given to the server (serve --app FOLDER)."}));
    }
    return answer(error_response(Error{"not_found", "Nothing is served at this address."}));
  }

  bool identify(Request& request) const {
    constexpr std::string_view kScheme = "Device ";
    std::string_view header = request.authorization;
    if (!header.starts_with(kScheme)) return false;
    header.remove_prefix(kScheme.size());
    const std::size_t colon = header.find(':');
    if (colon == std::string_view::npos) return false;
    const auto device =
        context_.book.check_device(header.substr(0, colon), header.substr(colon + 1));
    if (!device) return false;
    request.device = *device;
    return true;
  }

  // The project of a code; an Error where there is none, or where this address has tried too many.
  Result<std::string> project_of(const std::string& code, const std::string& address) const {
    const auto project = context_.book.check_code(code);
    if (project) return *project;
    if (context_.admission.admit_stranger(address)) return bad_code();
    return Error{"rate_limited", "Too many wrong codes came from this address; wait a minute."};
  }

  Response project(const Request& request) const {
    const auto query = parse_project_query(request.body);
    if (!query) return error_response(query.error());
    const auto name = project_of(query->code, request.address);
    if (!name) return error_response(name.error());
    const auto summary = summarize(*name);
    if (!summary) return error_response(summary.error());
    std::string out = R"({"project":)";
    ObjectWriter(out)
        .text("name", *name)
        .text("owner", summary->owners)
        .integer("studies", summary->studies)
        .integer("trials_done", summary->done)
        .integer("trials_total", summary->total)
        .end();
    return json_response(200, out + "}");
  }

  Result<ProjectSummary> summarize(const std::string& project) const {
    const auto studies = context_.storage.studies();
    if (!studies) return studies.error();
    ProjectSummary summary;
    std::vector<std::string> owners;
    for (const storage::StudyRow& study : *studies) {
      if (study.project != project) continue;
      ++summary.studies;
      summary.done += study.complete + study.pruned + study.failed;
      summary.total += study.total;
      if (std::ranges::find(owners, study.owner) == owners.end()) owners.push_back(study.owner);
    }
    if (owners.empty()) owners = context_.book.researchers();
    constexpr std::size_t kNamed = 3;
    for (std::size_t i = 0; i < owners.size() && i < kNamed; ++i) {
      if (i != 0) summary.owners += ", ";
      summary.owners += owners[i];
    }
    return summary;
  }

  void join(const Request& request, Reply reply) const {
    const auto query = parse_join_query(request.body);
    if (!query) return reply(error_response(query.error()));
    const auto project = project_of(query->code, request.address);
    if (!project) return reply(error_response(project.error()));
    if (!context_.admission.admit_join(request.address)) {
      return reply(error_response(
          Error{"rate_limited",
                "Many devices joined from this address just now; try again in a minute."}));
    }
    const std::string secret = auth::new_token(auth::TokenKind::device_secret);
    storage::Device device{auth::new_device_id(), *project, auth::token_hash(secret),
                           query->device_class, query->engine};
    context_.service.commit(
        storage::CreateDevice{device}, [reply = std::move(reply), device, secret,
                                        &book = context_.book](Result<storage::Outcome> outcome) {
          if (!outcome) return reply(error_response(outcome.error()));
          if (outcome->applied != storage::Applied::applied) {
            return reply(
                error_response(Error{"internal", "The new device's name was taken; join again."}));
          }
          book.committed(storage::CreateDevice{device}, *outcome);
          ops::log(
              ops::LogLevel::info, "device_joined",
              {{"device", device.id}, {"project", device.project}, {"class", device.device_class}});
          std::string out;
          ObjectWriter(out)
              .text("device", device.id)
              .text("secret", secret)
              .text("project", device.project)
              .end();
          reply(json_response(201, std::move(out)));
        });
  }

  Response blob(const Request& request) const {
    const Error unknown{"unknown_blob", "No study of this device's project names such a blob."};
    const std::string& sha256 = request.captures.front();
    const auto referenced = context_.storage.project_references(request.device.project, sha256);
    if (!referenced) return error_response(referenced.error());
    const auto path = context_.blobs.path_of(sha256);
    const auto bytes = context_.blobs.size(sha256);
    if (!*referenced || !path || !bytes) return error_response(404, unknown);
    return content(*path, *bytes);
  }

  // What this attempt begins with.
  Response checkpoint(const Request& request) const {
    const Error unknown{"unknown_blob", "The attempt begins with no checkpoint that is kept."};
    const auto id = parse_integer(request.captures.front(), kMaxWireInteger);
    const auto attempt = context_.storage.attempt(AttemptId{id.value_or(0)});
    if (!attempt) return error_response(attempt.error());
    if (!*attempt || (**attempt).device != request.device.id || !(**attempt).from)
      return error_response(404, unknown);
    const std::string& sha256 = (**attempt).from->blob.sha256;
    const auto path = context_.checkpoints.path_of(sha256);
    const auto bytes = context_.checkpoints.size(sha256);
    if (!path || !bytes) return error_response(404, unknown);
    return content(*path, *bytes);
  }

  static Response content(const std::filesystem::path& path, std::uint64_t bytes) {
    Response response;
    response.content_type = "application/octet-stream";
    // Content by hash never changes; private, because the right to read it is the device's.
    response.headers.emplace_back("Cache-Control", "private, max-age=31536000, immutable");
    response.body = FileBody{path.string(), bytes};
    return response;
  }

  const SiteContext context_;
};

}  // namespace

std::unique_ptr<Site> make_compute_site(const SiteContext& context) {
  return std::make_unique<ComputeSite>(context);
}

}  // namespace hyperflock::http
