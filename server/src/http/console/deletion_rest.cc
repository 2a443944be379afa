// DELETE /api/studies/<id> (R55): see identity_rest.h.
#include <array>
#include <string>
#include <utility>

#include "http/console/identity_rest.h"
#include "http/console/study_access.h"
#include "protocol/json_writer.h"

namespace hyperflock::http {
namespace {

using protocol::ObjectWriter;

// Whose study it was, and what it was called: nobody can look that up any more.
std::string detail_of(const storage::StudyRow& study) {
  std::string out;
  ObjectWriter(out).text("owner", study.owner).text("name", study.spec.name).end();
  return out;
}

Response answer(const Result<storage::Outcome>& outcome) {
  if (!outcome) return error_response(outcome.error());
  if (outcome->applied == storage::Applied::superseded) {
    return error_response(
        Error{"study_running", "The study is not over: cancel it first, or wait for its end."});
  }
  if (outcome->applied != storage::Applied::applied) return error_response(unknown_study());
  std::string out;
  ObjectWriter(out)
      .integer("study", to_int(*outcome->study))
      .integer("trials", outcome->freed->trials)
      .integer("artifacts", outcome->freed->artifacts)
      .integer("bytes", outcome->freed->bytes)
      .end();
  return json_response(200, std::move(out));
}

void remove(const SiteContext& context, const Request& request, const Reply& reply) {
  const auto study = readable_study(context, request);
  if (!study) return reply(error_response(study.error()));
  context.hub.delete_study(
      study->id,
      note_of(request, "study.delete", std::to_string(to_int(study->id)), detail_of(*study)),
      [reply](const Result<storage::Outcome>& outcome) { reply(answer(outcome)); });
}

constexpr std::array<HandledRoute, 1> kRoutes{{
    {{Method::remove, "/api/studies/{}", Access::principal}, remove},
}};

}  // namespace

std::span<const HandledRoute> deletion_routes() { return kRoutes; }

}  // namespace hyperflock::http
