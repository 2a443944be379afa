// See study_access.h.
#include "http/console/study_access.h"

#include <utility>

#include "http/console/identity_rest.h"
#include "http/core/router.h"

namespace hyperflock::http {

Error unknown_study() {
  return Error{"unknown_study", "There is no such study, or it belongs to somebody else."};
}

bool may_see(const storage::Principal& principal, const storage::StudyRow& study) {
  return principal.role == storage::PrincipalRole::admin || study.owner == principal.name;
}

Result<storage::StudyRow> readable_study(const SiteContext& context, const Request& request) {
  const auto id = parse_integer(request.captures.front(), kMaxWireInteger);
  if (!id) return unknown_study();
  auto row = context.storage.study(StudyId{*id});
  if (!row) return row.error();
  if (!*row || !may_see(request.principal, **row)) return unknown_study();
  return std::move(**row);
}

storage::NoteAudit study_note(const Request& request, std::string action) {
  storage::NoteAudit what = note_of(request, std::move(action), {});
  what.if_applied = false;
  return what;
}

void note_then(const SiteContext& context, const storage::NoteAudit& what,
               std::function<void()> then) {
  context.service.commit({what},
                         [then = std::move(then)](const Result<storage::Outcome>&) { then(); });
}

void reply_noted(const SiteContext& context, const Request& request, const storage::StudyRow& row,
                 Response response, Reply reply) {
  if (row.owner == request.principal.name) return reply(std::move(response));
  storage::NoteAudit what = study_note(request, "study.read");
  what.entry.object = std::to_string(to_int(row.id));
  note_then(context, what,
            [response = std::move(response), reply = std::move(reply)] { reply(response); });
}

}  // namespace hyperflock::http
