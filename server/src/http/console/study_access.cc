// See study_access.h.
#include "http/console/study_access.h"

#include <utility>

#include "http/console/console_rest.h"
#include "http/console/rows.h"
#include "http/core/router.h"

namespace hyperflock::http {

Error unknown_study() {
  return Error{"unknown_study", "There is no such study, or it belongs to somebody else."};
}

std::string shown_study_json(const Hub& hub, const storage::StudyRow& row) {
  const std::int64_t open = open_trials(row).value_or(0);
  return study_row_json(row, hub.is_owned(row.id) ? Sampler::attached : Sampler::away,
                        hub.estimate(row.id, open));
}

bool may_see(const storage::Principal& principal, const storage::StudyRow& study) {
  return principal.role == storage::PrincipalRole::admin || study.owner == principal.name;
}

Result<storage::StudyRow> readable_study(const SiteContext& context, const Request& request) {
  const auto id = parse_integer(request.captures.front(), kMaxWireInteger);
  if (!id) return unknown_study();
  TRY(auto row, context.storage.study(StudyId{*id}));
  if (!row || !may_see(request.principal, *row)) return unknown_study();
  return std::move(*row);
}

Status reply_noted(const SiteContext& context, const Request& request, const storage::StudyRow& row,
                   Response response, Reply reply) {
  if (row.owner == request.principal.name) {
    reply(std::move(response));
    return {};
  }
  storage::NoteAudit note = note_of(request, "study.read", std::to_string(to_int(row.id)));
  note.if_applied = false;  // the note comes without a change
  context.hub.commit({std::move(note)}, [response = std::move(response), reply = std::move(reply)](
                                            const Result<storage::Outcome>& noted) {
    reply(noted ? response : error_response(noted.error()));
  });
  return {};
}

}  // namespace hyperflock::http
