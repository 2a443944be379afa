// Changes that sites commit together with their entry in the audit log. Any thread.
#pragma once

#include <functional>
#include <string>

#include "http/core/site.h"
#include "http/core/site_context.h"

namespace hyperflock::http {

// Returns the entry of the audit log for what the caller does. `detail` is JSON text of an object,
// or empty.
storage::NoteAudit note_of(const Request& request, std::string action, std::string object,
                           std::string detail = {});

// Commits the change together with its note, which is written only when the change was applied.
// Then it updates the book and replies with what `answer` makes of the outcome.
void commit_noted(const SiteContext& context, const storage::Transition& change,
                  storage::NoteAudit note, Reply reply,
                  std::function<Response(const storage::Outcome&)> answer);

Error unknown_device();

// Erases a device from the server, and replies.
void erase_device(const SiteContext& context, const std::string& device, storage::NoteAudit note,
                  Reply reply);

}  // namespace hyperflock::http
