// Whose a study is, and the notes that reading or changing it leaves in the audit log: for all
// addresses of the console below /api/studies/<id>. Any thread.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "http/core/site_base.h"

namespace hyperflock::http {

Error unknown_study();

bool may_see(const storage::Principal& principal, const storage::StudyRow& study);

// The study of the first capture, where the caller may see it. Error: `unknown_study`. Reads from
// storage.
Result<storage::StudyRow> readable_study(const SiteContext& context, const Request& request);

// What the caller did to a study. They change through the dispatcher, so it is noted just after.
storage::NoteAudit study_note(const Request& request, std::string action);
// `then` runs when it is noted.
void note_then(const SiteContext& context, const storage::NoteAudit& what,
               std::function<void()> then);

// Answers with what was read of the study. An administrator who reads somebody else's code, data or
// files leaves a note of it.
void reply_noted(const SiteContext& context, const Request& request, const storage::StudyRow& row,
                 Response response, Reply reply);

}  // namespace hyperflock::http
