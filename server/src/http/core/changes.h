// Makes changes that sites commit together with their entry in the audit log. Functions with a
// Reply parameter reply after the commit. Any thread.
#pragma once

#include <functional>
#include <string>

#include "http/core/router.h"
#include "http/core/site_context.h"

namespace hyperflock::http {

// A function that returns the response for the outcome of a transition.
using Answer = std::function<Result<Response>(const storage::Outcome&)>;

// Returns a callback that replies with the response of `answer`.
hub::Committed reply_with(Reply reply, Answer answer);

// Returns an audit entry for the caller's action. `detail` is the JSON text of an object, or empty.
// The entry's detail gets the request's id as `request`.
storage::NoteAudit note_of(const Request& request, std::string action, std::string object,
                           std::string detail = {});

// Commits the change together with `note`, its entry in the audit log. The entry is written only if
// the change is applied. Then the function updates the IdentityCache and replies.
Status commit_noted(const SiteContext& context, const storage::Transition& change,
                    storage::NoteAudit note, Reply reply, Answer answer);

// Returns the error of a request whose work cannot be queued. `added` says why.
Error overloaded(hub::Added added);
// Does what commit_noted() does, for a change of the rules of administrators (R67, R68). Replies
// only after every attempt that the rules now forbid has been revoked.
Status commit_rules(const SiteContext& context, const storage::Transition& change,
                    storage::NoteAudit note, Reply reply, Answer answer);

Error unknown_device();

// Erases a device from the server, and replies.
Status erase_device(const SiteContext& context, const std::string& device, storage::NoteAudit note,
                    Reply reply);

}  // namespace hyperflock::http
