// Serves the artifacts of a study to everybody who may see the study. See console_rest.h.
#include <array>
#include <optional>
#include <utility>

#include "http/console/console_rest.h"
#include "http/console/study_access.h"
#include "protocol/json/json_writer.h"

namespace hyperflock::http {
namespace {

using protocol::append_list;
using protocol::ObjectWriter;

constexpr std::int64_t kArtifactPage = 500;

void append_artifact(std::string& out, const storage::ArtifactRow& artifact) {
  ObjectWriter(out)
      .text("id", artifact.id)
      .integer("trial", to_int(artifact.trial.number))
      .integer("attempt", to_int(artifact.attempt))
      .text("name", artifact.name)
      .text("type", artifact.type)
      .text("store", artifact.store)
      .text("sha256", artifact.blob.sha256)
      .integer("bytes", artifact.blob.bytes)
      .integer("created_at", artifact.created_at)
      .end();
}

// Returns the trial that the query names, if any.
Result<std::optional<TrialNumber>> trial_of(const Request& request) {
  const auto text = query_value(request.query, "trial");
  if (!text) return std::optional<TrialNumber>();
  const auto number = parse_integer(*text, kMaxWireInteger);
  if (!number) return Error{"bad_number", "trial must be the number of a trial.", "trial"};
  return std::optional(TrialNumber{*number});
}

Result<Response> list(const SiteContext& context, const Request& request) {
  TRY(const auto study, readable_study(context, request));
  TRY(const auto asked, page_of(request.query, kArtifactPage, kArtifactPage));
  TRY(const auto trial, trial_of(request));
  TRY(const auto found, context.storage.artifacts(study.id, trial, asked.after, asked.limit));
  std::string out;
  ObjectWriter page(out);
  append_list(page.begin("artifacts"), found,
              [&out](const storage::ArtifactRow& one) { append_artifact(out, one); });
  page.integer("cursor", found.empty() ? asked.after : found.back().arrived).end();
  return json_response(200, std::move(out));
}

Status bytes(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(const auto study, readable_study(context, request));
  TRY(const auto trial, trial_of(request));
  TRY(const auto found, context.storage.artifact(study.id, request.captures.at(1), trial));
  const std::string sha256 = found ? found->blob.sha256 : std::string();
  const auto path = context.collected.path_of(sha256);
  const auto size = context.collected.size(sha256);
  if (!path || !size) {
    return Error{"unknown_artifact", "The study has no such artifact, or it is kept no more."};
  }
  return reply_noted(context, request, study, download_response(path->string(), *size, found->name),
                     reply);
}

constexpr std::array<Route, 2> kArtifactRoutes{{
    costly({Method::get, "/api/studies/{}/artifacts", Access::principal, answer<list>}),
    {Method::get, "/api/studies/{}/artifacts/{}", Access::principal, answer_later<bytes>},
}};

}  // namespace

std::span<const Route> artifact_routes() { return kArtifactRoutes; }

}  // namespace hyperflock::http
