// Who may see a study, and the audit entry for reading it. Used by all addresses of the console
// below /api/studies/<id>. Any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "http/core/site.h"
#include "http/core/site_context.h"

namespace hyperflock::http {

Error unknown_study();

bool may_see(const storage::Principal& principal, const storage::StudyRow& study);

// Returns the study of the first capture if the caller may see it. Reads from storage. Error:
// `unknown_study`.
Result<storage::StudyRow> readable_study(const SiteContext& context, const Request& request);

// Answers with what was read of the study. If an administrator reads another person's code, data or
// files, an entry of the audit log is committed first. If that commit fails, nothing is shown.
Status reply_noted(const SiteContext& context, const Request& request, const storage::StudyRow& row,
                   Response response, Reply reply);

}  // namespace hyperflock::http
