// See changes.h.
#include "http/core/changes.h"

#include <utility>

#include "telemetry/log.h"

namespace hyperflock::http {

namespace {

// Adds the request's id to the JSON text of an object, or to an empty text. So the entry of the
// audit log leads to the lines of the log.
std::string with_request(std::string object, const telemetry::RequestContext& request) {
  if (!request) return object;
  const std::string field = R"("request":")" + request.id() + '"';
  if (object.empty() || object == "{}") return '{' + field + '}';
  object.insert(object.size() - 1, ',' + field);
  return object;
}

}  // namespace

hub::Committed reply_with(Reply reply, Answer answer) {
  return [reply = std::move(reply),
          answer = std::move(answer)](const Result<storage::Outcome>& outcome) {
    respond(reply, outcome ? answer(*outcome) : outcome.error());
  };
}

storage::NoteAudit note_of(const Request& request, std::string action, std::string object,
                           std::string detail) {
  storage::NoteAudit note;
  note.entry.actor = request.principal.name;
  note.entry.action = std::move(action);
  note.entry.object = std::move(object);
  note.entry.address = request.address;
  note.entry.detail = with_request(std::move(detail), request.context);
  return note;
}

Status commit_noted(const SiteContext& context, const storage::Transition& change,
                    storage::NoteAudit note, Reply reply, Answer answer) {
  context.hub.commit(
      {change, std::move(note)},
      reply_with(std::move(reply), [&identities = context.identities, change,
                                    answer = std::move(answer)](const storage::Outcome& outcome) {
        identities.committed(change, outcome);
        return answer(outcome);
      }));
  return {};
}

Error overloaded(hub::Added added) {
  if (added == hub::Added::caller_full) {
    return Error{"too_many_requests",
                 "Too many of your requests wait already; send fewer at once."};
  }
  return Error{"storage_unavailable",
               "The server has too much to do at the moment; try again in a few seconds."};
}

Status commit_rules(const SiteContext& context, const storage::Transition& change,
                    storage::NoteAudit note, Reply reply, Answer answer) {
  context.hub.change_rules(
      {change, std::move(note)},
      [&identities = context.identities, change](const auto& outcome) {
        identities.committed(change, outcome);
        return identities.rules();
      },
      reply_with(std::move(reply), std::move(answer)));
  return {};
}

Error unknown_device() { return {"unknown_device", "No device has this name."}; }

Status erase_device(const SiteContext& context, const std::string& device, storage::NoteAudit note,
                    Reply reply) {
  const auto answer = [&identities = context.identities,
                       device](const storage::Outcome& outcome) -> Result<Response> {
    if (outcome.applied == storage::Applied::conflict) return unknown_device();
    identities.committed(storage::EraseDevice{device}, outcome);
    telemetry::log(telemetry::LogLevel::info, "device_erased");
    return json_response(200, R"({"erased":true})");
  };
  context.hub.erase_device(device, std::move(note), reply_with(std::move(reply), answer));
  return {};
}

}  // namespace hyperflock::http
