#include "http/compute/compute_site.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "auth/tokens.h"
#include "http/compute/artifact_upload.h"
#include "http/compute/blob_files.h"
#include "http/compute/bodies.h"
#include "http/compute/checkpoint_upload.h"
#include "http/compute/contribution.h"
#include "http/compute/downloads.h"
#include "http/core/changes.h"
#include "http/core/routed_site.h"
#include "http/core/static_files.h"
#include "names/names.h"
#include "protocol/json/json_writer.h"
#include "telemetry/log.h"

namespace hyperflock::http {
namespace {

using protocol::ObjectWriter;
using telemetry::Counter;

constexpr std::uint64_t kReportBody = std::uint64_t{32} * 1024;
constexpr std::array<std::string_view, 2> kPages{"/join", "/selftest"};

Error bad_code() {
  return Error{"bad_enrolment_code",
               "This join link is not valid (any more); ask whoever sent it for a new one."};
}

Error closed_code() {
  return Error{"bad_enrolment_code",
               "This join link takes no more devices: its time is over, or enough have joined by "
               "it; ask whoever sent it for a new one."};
}

Status admit(const SiteContext& context, const Route& route, Request& request) {
  if (route.access == Access::open) return {};
  constexpr std::string_view kScheme = "Device ";
  std::string_view header = request.authorization;
  if (header.starts_with(kScheme)) {
    header.remove_prefix(kScheme.size());
    const std::size_t colon = header.find(':');
    const auto device =
        colon == std::string_view::npos
            ? std::nullopt
            : context.identities.find_own(header.substr(0, colon), header.substr(colon + 1));
    if (device && (route.access == Access::own_device || !device->revoked)) {
      request.device = *device;
      return {};
    }
    // A request with the secret of a revoked device is no guess, so it is not counted as a wrong
    // credential.
    if (!device) {
      if (const auto admitted = context.admission.admit_stranger(request.address); !admitted) {
        return Error{"rate_limited",
                     "Too many wrong credentials of devices came from this address; wait a minute.",
                     {},
                     admitted.wait_s};
      }
    }
  }
  return Error{
      "unauthorized",
      "Send the header Authorization: Device <device>:<secret> of a device that has joined."};
}

// Returns the project of an enrolment code. It is an error if the code is unknown, or if this
// address has tried too many codes.
Result<auth::CodeView> opened_by(const SiteContext& context, const std::string& code,
                                 const std::string& address) {
  const auto view = context.identities.check_code(code);
  if (view) return *view;
  const auto admitted = context.admission.admit_stranger(address);
  if (admitted) return bad_code();
  return Error{"rate_limited",
               "Too many wrong codes came from this address; wait a minute.",
               {},
               admitted.wait_s};
}

// Returns the names that volunteers see, such as "Ada, Grace".
std::string shown_owners(const SiteContext& context, const std::string& project,
                         std::vector<std::string> owners) {
  if (owners.empty()) owners = context.identities.researchers(project, storage::kNamedOwners);
  std::string out;
  for (const std::string& owner : owners) out += (out.empty() ? "" : ", ") + owner;
  return out;
}

Result<Response> project(const SiteContext& context, const Request& request) {
  TRY(const auto query, parse_project_query(request.body));
  // A code that has ended is accepted too, because devices that joined with it keep their project.
  TRY(const auto code, opened_by(context, query.code, request.address));
  TRY(const auto totals, context.storage.project_totals(code.project));
  TRY(const auto open, context.storage.open_specs(code.project, kShownDownloads));
  const bool brotli = accepts(request.accept_encoding, "br");
  std::string out = R"({"project":)";
  ObjectWriter(out)
      .text("name", names::shown(code.project))
      .text("owner", names::shown(shown_owners(context, code.project, totals.owners)))
      .integer("studies", totals.studies)
      .integer("trials_done", totals.done)
      .integer("trials_total", totals.trials)
      .raw("downloads", downloads_json(open, context.runtimes, context.packs,
                                       brotli ? Compression::brotli : Compression::gzip))
      .end();
  return json_response(200, out + "}");
}

Status admit_join(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(const auto query, parse_join_query(request.body));
  TRY(const auto code, opened_by(context, query.code, request.address));
  if (!code.open) return closed_code();
  const auto admitted = context.admission.admit_join(request.address);
  if (!admitted) {
    return Error{"rate_limited",
                 "Many devices joined from this address just now; try again in a minute.",
                 {},
                 admitted.wait_s};
  }
  const std::string secret = auth::new_token(auth::TokenKind::device_secret);
  const storage::Device device{auth::new_device_id(), code.project, auth::token_hash(secret),
                               query.device_class, query.engine};
  const storage::CreateDevice create{device, auth::token_hash(query.code), context.max_devices};
  const auto answer = [create, device, secret, &identities = context.identities,
                       &metrics =
                           context.metrics](const storage::Outcome& outcome) -> Result<Response> {
    if (outcome.refusal == storage::Refusal::too_many_devices) {
      metrics.count(Counter::joins_refused, "too_many_devices");
      return Error{"too_many_devices",
                   "As many devices have joined as this server takes; try again later."};
    }
    if (outcome.applied == storage::Applied::superseded) return closed_code();
    if (outcome.applied != storage::Applied::applied)
      return Error{"internal", "The new device's name was taken; join again."};
    identities.committed(create, outcome);
    metrics.count(Counter::devices_joined);
    telemetry::log(
        telemetry::LogLevel::info, "device_joined",
        {{"device", device.id}, {"project", device.project}, {"class", device.device_class}});
    return object_response(201, [&](ObjectWriter& body) {
      body.text("device", device.id).text("secret", secret).text("project", device.project);
    });
  };
  context.hub.commit({create}, reply_with(reply, answer));
  return {};
}

Status join(const SiteContext& context, const Request& request, const Reply& reply) {
  Status admitted = admit_join(context, request, reply);
  if (!admitted) context.metrics.count(Counter::joins_refused, admitted.error().code);
  return admitted;
}

// Erases a device that a volunteer asks to erase. The audit log does not name the device.
Status erase(const SiteContext& context, const Request& request, const Reply& reply) {
  storage::NoteAudit note;
  note.entry.actor = "device";
  note.entry.action = "device.erase";
  return erase_device(context, request.device.id, std::move(note), reply);
}

// A page that is being closed cannot wait until its WebSocket has sent a message. So it sends this
// request, which the browser delivers even after the page is gone.
Result<Response> leave(const SiteContext& context, const Request& request) {
  TRY(const auto query, parse_leave_query(request.body));
  context.hub.leave(request.device.id, query.session);
  return json_response(200, "{}");
}

Result<Response> report(const SiteContext& context, const Request& request) {
  TRY(const auto query, parse_device_report_query(request.body));
  TRY(const auto code, opened_by(context, query.code, request.address));
  const auto admitted = context.admission.admit_report(request.address);
  if (!admitted) {
    return Error{"rate_limited",
                 "Many reports came from this address just now; try again in a minute.",
                 {},
                 admitted.wait_s};
  }
  TRY(const auto number, context.reports.add(query.report, code.project, context.identities.now()));
  return object_response(201, [&](ObjectWriter& body) { body.integer("report", number); });
}

// Sends the checkpoint from which the attempt continues.
Result<Response> checkpoint(const SiteContext& context, const Request& request) {
  const Error unknown{"unknown_blob", "The attempt begins with no checkpoint that is kept."};
  const auto id = parse_integer(request.captures.front(), kMaxWireInteger);
  TRY(const auto attempt, context.storage.attempt(AttemptId{id.value_or(0)}));
  if (!attempt || attempt->device != request.device.id || !attempt->from)
    return error_response(404, unknown);
  const std::string& sha256 = attempt->from->blob.sha256;
  const auto path = context.collected.path_of(sha256);
  const auto bytes = context.collected.size(sha256);
  if (!path || !bytes) return error_response(404, unknown);
  return blob_response(path->string(), *bytes);
}

constexpr std::array<Route, 18> kRoutes{{
    {Method::get, "/", Access::open, answer<to_first_page<kPages>>},
    probe({Method::get, "/healthz", Access::open, answer<alive>}),
    probe({Method::get, "/readyz", Access::open, answer<readiness>}),
    {Method::post, "/api/project", Access::open, answer<project>, kSmallBody},
    grows({Method::post, "/api/join", Access::open, answer_later<join>, kSmallBody}),
    {Method::post, "/api/device/erase", Access::own_device, answer_later<erase>, kSmallBody},
    {Method::get, "/api/device/contribution", Access::own_device, answer<contribution>},
    grows({Method::post, "/api/device/passphrase", Access::own_device,
           answer_later<join_passphrase>, kSmallBody}),
    {Method::post, "/api/passphrase", Access::open, answer<contribution_together>, kSmallBody},
    {Method::post, "/api/leave", Access::device, answer<leave>, kSmallBody},
    grows({Method::post, "/api/device-reports", Access::open, answer<report>, kReportBody}),
    {Method::get, "/api/blobs/{}", Access::device, answer<blob>},
    {Method::get, "/api/blobs/{}/link", Access::device, answer<give_blob_link>},
    {Method::get, "/blobs/{}/{}/{}/{}", Access::open, answer<linked_blob>},
    {Method::get, "/api/attempts/{}/checkpoint", Access::device, answer<checkpoint>},
    {Method::put, "/api/attempts/{}/checkpoints/{}", Access::device, nullptr, 0,
     &kCheckpointUpload},
    {Method::put, "/api/attempts/{}/artifacts/{}", Access::device, nullptr, 0, &kArtifactUpload},
    {Method::get, "/ws/worker", Access::open},
}};

}  // namespace

std::span<const Route> compute_routes() { return kRoutes; }

std::unique_ptr<Site> make_compute_site(const SiteContext& context) {
  return std::make_unique<RoutedSite>(context,
                                      SiteParts{kRoutes, kPages, {}, admit, Serves::devices});
}

}  // namespace hyperflock::http
