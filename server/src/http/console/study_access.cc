// See study_access.h.
#include "http/console/study_access.h"

#include <utility>

#include "http/console/console_rest.h"
#include "http/core/router.h"

namespace hyperflock::http {

Error unknown_study() {
  return Error{"unknown_study", "There is no such study, or it belongs to somebody else."};
}

std::string shown_study_json(const Hub& hub, const auth::IdentityCache& identities,
                             const storage::StudyRow& row, Space space) {
  const std::int64_t open = open_trials(row).value_or(0);
  return study_row_json(row, hub.is_owned(row.id) ? Sampler::attached : Sampler::away,
                        hub.estimate(row.id, open),
                        held_of(row, identities.stop_of(row.owner, row.project, row.spec)), space);
}

Result<Space> space_of(std::string_view query) {
  const auto asked = query_value(query, "space");
  if (!asked) return Space::whole;
  if (*asked == "names") return Space::names;
  return Error{"bad_field", "space may be: names. Without it, rows have the whole space.", "space"};
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

Result<storage::StudyRow> usable_study(const SiteContext& context, const Request& request) {
  auto row = readable_study(context, request);
  if (row && !auth::IdentityCache::may_use(request.principal, row->project)) {
    return Error{"forbidden",
                 "This study's project is not open to you any more; ask an administrator."};
  }
  return row;
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

void reply_with_row(const SiteContext& context, const hub::Lane& lane, StudyId id, int status,
                    const Reply& reply, std::function<Status(const storage::StudyRow&)> objection) {
  const auto read = [&context, id, status, objection = std::move(objection)]() -> Result<Response> {
    TRY(const auto row, context.storage.study(id));
    if (!row) return unknown_study();
    if (objection) TRY(objection(*row));
    return json_response(status, shown_study_json(context.hub, context.identities, *row));
  };
  const hub::Added added = context.readers.post(lane, [read, reply] { respond(reply, read()); });
  if (added != hub::Added::yes) respond(reply, overloaded(added));
}

hub::Callback<StudyId> row_replier(const SiteContext& context, const Request& request,
                                   Reply reply) {
  return [&context, lane = hub::quick_after(request.lane),
          reply = std::move(reply)](const Result<StudyId>& changed) {
    if (!changed) return reply(error_response(changed.error()));
    reply_with_row(context, lane, *changed, 200, reply);
  };
}

}  // namespace hyperflock::http
