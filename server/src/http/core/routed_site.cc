#include "http/core/routed_site.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/ip.h"
#include "http/core/admission.h"
#include "http/core/same_origin.h"
#include "protocol/json/json_writer.h"

namespace hyperflock::http {
namespace {

// The value of Request::route for a file. Files have no route in the table.
constexpr std::size_t kStaticRoute = std::numeric_limits<std::size_t>::max();

// Stands for the path of a file in Request::pattern.
constexpr std::string_view kFilePattern = "file";

// Returns the lane in which the work for an admitted request waits. The lane's caller is the person
// or device that the site recognised, or else the network of the request's address. A probe waits
// for probes only, also that of an administrator.
hub::Lane lane_for(const Request& request, const Route* route, Serves serves) {
  using hub::Band;
  const bool is_costly =
      route != nullptr && (route->upload != nullptr || route->cost == Cost::costly);
  const Band band = serves == Serves::devices ? (is_costly ? Band::devices_costly : Band::devices)
                                              : (is_costly ? Band::costly : Band::quick);
  if (route != nullptr && route->cost == Cost::probe)
    return {Band::monitors, "network " + client_network(request.address)};
  if (request.principal.id != 0) return lane_of(request.principal, band);
  if (!request.device.id.empty()) return lane_of_device(request.device.id, band);
  return {band, "network " + client_network(request.address)};
}

// An upload, together with its claim of room on the disk.
class ClaimedUpload final : public Upload {
 public:
  ClaimedUpload(std::unique_ptr<Upload> upload, std::unique_ptr<blobs::DiskRoom::Claim> claim)
      : upload_(std::move(upload)), claim_(std::move(claim)) {}

  Status append(std::string_view bytes) override { return upload_->append(bytes); }
  Response finish() override { return upload_->finish(); }

 private:
  const std::unique_ptr<Upload> upload_;
  const std::unique_ptr<blobs::DiskRoom::Claim> claim_;
};

Plan ready(Response response) { return Plan{Plan::Kind::answer, std::move(response), 0}; }

}  // namespace

Plan RoutedSite::plan(Request& request) {
  const Found found = find_route(parts_.routes, request.method, request.path);
  if (const auto* none = std::get_if<NoMatch>(&found)) return plan_file(request, none->allow);
  const Match& match = std::get<Match>(found);
  const Route& route = parts_.routes[match.route];
  request.route = match.route;
  request.captures = match.captures;
  request.pattern = route.pattern;
  if (route.handle == nullptr && route.upload == nullptr) return Plan{Plan::Kind::websocket, {}, 0};
  // Any page can make its visitor's browser send a request that needs no credential, so such a
  // request must come from the server's own pages or from a program.
  if (route.access == Access::open && route.method == Method::post) {
    if (const Status own = check_same_origin(request, context_.own_origin); !own)
      return ready(error_response(own.error()));
  }
  const Status admitted = parts_.admit(context_, route, request);
  if (!admitted) return ready(error_response(admitted.error()));
  request.lane = lane_for(request, &route, parts_.serves);
  if (route.upload != nullptr) return plan_upload(*route.upload, request);
  return Plan{Plan::Kind::handle, {}, route.body_limit};
}

// If the upload cannot succeed, its body is not read.
Plan RoutedSite::plan_upload(const UploadHandler& upload, const Request& request) const {
  if (!blobs::is_sha256(request.captures.back())) {
    return ready(error_response(Error{
        "bad_field", "Name the bytes by the 64 lower-case hexadecimal digits of their SHA-256.",
        "sha256"}));
  }
  return Plan{Plan::Kind::upload, error_response(upload.too_large(context_)),
              upload.max_bytes(context_)};
}

Plan RoutedSite::plan_file(Request& request, const std::string& allow) const {
  const bool reads = request.method == Method::get || request.method == Method::head;
  const bool known = context_.files.knows(request.path);
  if (known && reads) {
    if (auto cached = context_.files.cached(request)) return ready(with_policy(std::move(*cached)));
    request.route = kStaticRoute;
    request.pattern = kFilePattern;
    request.lane = lane_for(request, nullptr, parts_.serves);
    return Plan{Plan::Kind::handle, {}, 0};
  }
  if (known || !allow.empty()) {
    Response response =
        error_response(Error{"method_not_allowed", "This address does not take this method."});
    response.headers.emplace_back("Allow", known ? "GET, HEAD" : allow);
    return ready(std::move(response));
  }
  if (std::ranges::find(parts_.pages, request.path) != parts_.pages.end()) {
    return ready(error_response(Error{
        "not_found", "The pages are not built or not given to the server (serve --app FOLDER)."}));
  }
  return ready(error_response(Error{"not_found", "Nothing is served at this address."}));
}

Response RoutedSite::with_policy(Response response) const {
  if (!parts_.policy.empty()) response.content_security_policy = parts_.policy;
  return response;
}

void RoutedSite::handle(std::shared_ptr<const Request> request, Reply reply) {
  if (request->route == kStaticRoute) return reply(with_policy(context_.files.load(*request)));
  const Route& route = parts_.routes[request->route];
  // Asking for the free room may block on the disk, so it is done here, on a reader's thread.
  if (route.disk == Disk::grows && !context_.room.admits_rows())
    return reply(error_response(hub::no_room()));
  route.handle(context_, *request, reply);
}

// The bytes are claimed before the body is read, so that uploads at the same time do not count on
// the same room.
Result<std::unique_ptr<Upload>> RoutedSite::open_upload(const Request& request) {
  const UploadHandler& upload = *parts_.routes[request.route].upload;
  TRY(auto opened, upload.open(context_, request));
  auto claim = context_.room.claim(request.content_length.value_or(0));
  if (claim == nullptr) {
    Error full = hub::no_room();
    full.code = upload.no_room;
    return full;
  }
  return std::unique_ptr<Upload>(
      std::make_unique<ClaimedUpload>(std::move(opened), std::move(claim)));
}

Result<Response> readiness(const SiteContext& context, const Request&) {
  const hub::Health health = context.hub.health();
  if (health.draining) return Error{"draining", "The server is about to stop."};
  if (health.hangs) {
    return Error{"writer_hangs",
                 "A commit does not end: look at the disk of the state folder. The server goes on "
                 "by itself when the disk answers."};
  }
  if (health.full) {
    return Error{"disk_full",
                 "The server's disk is full: delete studies or make room. Meanwhile the server "
                 "reads, deletes, cancels and revokes."};
  }
  if (health.read_only) return Error{"read_only", "The server cannot write to its database now."};
  if (context.room.left() == 0) return error_response(503, hub::no_room());
  std::string out;
  protocol::ObjectWriter body(out);
  body.text("status", "ready");
  if (const auto warnings = context.warnings(); !warnings.empty()) {
    protocol::append_list(body.begin("warnings"), warnings,
                          [&out](const std::string& code) { protocol::append_string(out, code); });
  }
  body.end();
  return json_response(200, std::move(out));
}

Result<Response> alive(const SiteContext&, const Request&) {
  return json_response(200, R"({"status":"ok"})");
}

}  // namespace hyperflock::http
