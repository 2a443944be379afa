// Whose a study is, and the note that reading it leaves in the audit log: for all addresses of the
// console below /api/studies/<id>. Any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "http/core/site.h"
#include "http/core/site_context.h"

namespace hyperflock::http {

Error unknown_study();

bool may_see(const storage::Principal& principal, const storage::StudyRow& study);

// The study of the first capture, where the caller may see it. Error: `unknown_study`. Reads from
// storage.
Result<storage::StudyRow> readable_study(const SiteContext& context, const Request& request);

// Answers with what was read of the study. Where an administrator reads somebody else's code, data
// or files, a note of it is committed first. Without that commit nothing is shown.
Status reply_noted(const SiteContext& context, const Request& request, const storage::StudyRow& row,
                   Response response, Reply reply);

}  // namespace hyperflock::http
