// See blob_files.h.
#include "http/compute/blob_files.h"

#include <optional>
#include <string>

#include "http/core/router.h"
#include "http/core/static_files.h"

namespace hyperflock::http {
namespace {

using protocol::ObjectWriter;

Error unknown_to_device() {
  return {"unknown_blob", "No study of this device's project names such a blob."};
}

// Returns the project whose study names the blob: the device's own, or one to which that lends idle
// devices (R70). nullopt: there is none, and the device may not read the blob.
Result<std::optional<std::string>> project_of(const SiteContext& context, const Request& request,
                                              const std::string& sha256) {
  const std::string& own = request.device.project;
  TRY(const auto referenced, context.storage.project_references(own, sha256));
  if (referenced) return std::optional(own);
  for (const std::string& other : context.identities.borrowers_of(own)) {
    TRY(const auto lent, context.storage.project_references(other, sha256));
    if (lent) return std::optional(other);
  }
  return std::optional<std::string>();
}

// Refuses an address that the server did not sign. A network that sends many of them gets
// `rate_limited` instead, as for wrong credentials; addresses that are signed are always served.
Error refusal_of_forged(const SiteContext& context, const Request& request) {
  const auto admitted = context.admission.admit_stranger(request.address);
  if (!admitted) {
    return Error{"rate_limited",
                 "Too many addresses that the server did not give came from this network; wait a "
                 "minute.",
                 {},
                 admitted.wait_s};
  }
  return Error{
      "bad_link",
      "The server did not give this address, or gave it with another key: ask for a link."};
}

}  // namespace

Result<Response> blob(const SiteContext& context, const Request& request) {
  const std::string& sha256 = request.captures.front();
  TRY(const auto project, project_of(context, request, sha256));
  const auto path = context.blobs.path_of(sha256);
  const auto bytes = context.blobs.size(sha256);
  const bool barred = context.identities.is_barred(sha256);
  if (!project || barred || !path || !bytes) return error_response(404, unknown_to_device());
  return blob_response(path->string(), *bytes);
}

Result<Response> give_blob_link(const SiteContext& context, const Request& request) {
  const std::string& sha256 = request.captures.front();
  TRY(const auto project, project_of(context, request, sha256));
  const auto id = project ? context.identities.project_id(*project) : std::nullopt;
  if (!id || context.identities.is_barred(sha256) || !context.blobs.exists(sha256))
    return error_response(404, unknown_to_device());
  const auto link = context.links.sign(*id, sha256, context.identities.now());
  return object_response(200, [&](ObjectWriter& body) {
    body.text("url", context.data_origin + link.path).integer("until", link.until_s * 1'000);
  });
}

Result<Response> linked_blob(const SiteContext& context, const Request& request) {
  const std::string& project = request.captures[0];
  const std::string& until = request.captures[1];
  const std::string& signature = request.captures[2];
  const std::string& sha256 = request.captures[3];
  // With a query the same bytes would have any number of addresses, and a cache would fetch and
  // store each.
  if (!request.query.empty() || !context.links.is_signed(project, until, sha256, signature))
    return refusal_of_forged(context, request);
  const std::int64_t left_s =
      parse_integer(until, kMaxWireInteger).value_or(0) - context.identities.now() / 1'000;
  if (left_s <= 0) return Error{"link_expired", "This address is no longer valid: ask for a link."};

  const auto number = parse_integer(project, kMaxWireInteger);
  const auto name = context.identities.project_name(number.value_or(0));
  TRY(const bool referenced, context.storage.project_references(name.value_or(""), sha256));
  const auto path = context.blobs.path_of(sha256);
  const auto bytes = context.blobs.size(sha256);
  if (!referenced || context.identities.is_barred(sha256) || !path || !bytes) {
    return error_response(
        404, Error{"unknown_blob", "No study of the link's project names this blob any more."});
  }
  Response response = blob_response(path->string(), *bytes);
  const std::string etag = '"' + sha256 + '"';
  // No cache answers by an address that the server itself would refuse.
  response.headers = {
      {"Cache-Control", "public, max-age=" + std::to_string(left_s) + ", immutable"},
      {"ETag", etag}};
  if (!context.data_origin.empty())
    response.headers.emplace_back("Access-Control-Allow-Origin", context.join_origin);
  if (names_etag(request.if_none_match, etag)) {
    response.status = 304;
    response.content_type.clear();
    response.body = std::string();
  }
  return response;
}

}  // namespace hyperflock::http
