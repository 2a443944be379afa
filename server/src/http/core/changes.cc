// See changes.h.
#include "http/core/changes.h"

#include <utility>

#include "telemetry/log.h"

namespace hyperflock::http {

storage::NoteAudit note_of(const Request& request, std::string action, std::string object,
                           std::string detail) {
  storage::NoteAudit note;
  note.entry.actor = request.principal.name;
  note.entry.action = std::move(action);
  note.entry.object = std::move(object);
  note.entry.address = request.address;
  note.entry.detail = std::move(detail);
  return note;
}

void commit_noted(const SiteContext& context, const storage::Transition& change,
                  storage::NoteAudit note, Reply reply,
                  std::function<Response(const storage::Outcome&)> answer) {
  context.hub.commit({change, std::move(note)},
                     [&book = context.book, change, reply = std::move(reply),
                      answer = std::move(answer)](Result<storage::Outcome> outcome) {
                       if (!outcome) return reply(error_response(outcome.error()));
                       book.committed(change, *outcome);
                       reply(answer(*outcome));
                     });
}

Error unknown_device() { return {"unknown_device", "No device has this name."}; }

void erase_device(const SiteContext& context, const std::string& device, storage::NoteAudit note,
                  Reply reply) {
  context.hub.erase_device(
      device, std::move(note),
      [&book = context.book, device, reply = std::move(reply)](Result<storage::Outcome> outcome) {
        if (!outcome) return reply(error_response(outcome.error()));
        if (outcome->applied == storage::Applied::conflict)
          return reply(error_response(unknown_device()));
        book.committed(storage::EraseDevice{device}, *outcome);
        telemetry::log(telemetry::LogLevel::info, "device_erased");
        reply(json_response(200, R"({"erased":true})"));
      });
}

}  // namespace hyperflock::http
