// Changes that sites commit together with their entry in the audit log. Each function that takes a
// Reply answers when the change is committed. Any thread.
#pragma once

#include <functional>
#include <string>

#include "http/core/router.h"
#include "http/core/site_context.h"

namespace hyperflock::http {

// Makes the response to a transition that was judged.
using Answer = std::function<Result<Response>(const storage::Outcome&)>;

// Returns a callback that replies with what `answer` makes of the outcome.
hub::Committed reply_with(Reply reply, Answer answer);

// Returns the entry of the audit log for what the caller does. `detail` is JSON text of an object,
// or empty.
storage::NoteAudit note_of(const Request& request, std::string action, std::string object,
                           std::string detail = {});

// Commits the change together with its note, which is written only when the change was applied.
// Then it updates the book, and replies.
Status commit_noted(const SiteContext& context, const storage::Transition& change,
                    storage::NoteAudit note, Reply reply, Answer answer);

Error unknown_device();

// Erases a device from the server, and replies.
Status erase_device(const SiteContext& context, const std::string& device, storage::NoteAudit note,
                    Reply reply);

}  // namespace hyperflock::http
