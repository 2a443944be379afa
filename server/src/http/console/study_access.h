// Says who may see a study, shows its row, and notes in the audit log that it was read. All routes
// of the console below /api/studies/<id> use this. Any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/console/rows.h"
#include "http/core/site.h"
#include "http/core/site_context.h"

namespace hyperflock::http {

Error unknown_study();

// Returns the study's row as JSON. The hub adds whether the study's owner is connected, and how
// long the study will still take.
std::string shown_study_json(const Hub& hub, const auth::IdentityCache& identities,
                             const storage::StudyRow& row, Space space = Space::whole);

// Returns how much of the space the rows have that a request asks for: with the query `space=names`
// only names. Error: `bad_field`.
Result<Space> space_of(std::string_view query);

bool may_see(const storage::Principal& principal, const storage::StudyRow& study);

// Returns the study whose id is the first variable part of the path, if the caller may see it.
// Reads from storage. Error: `unknown_study`.
Result<storage::StudyRow> readable_study(const SiteContext& context, const Request& request);

// Returns the same study, if its project is open to the caller, too: a researcher who has lost a
// project can still read its studies, but cannot continue them. Errors: `unknown_study`,
// `forbidden`.
Result<storage::StudyRow> usable_study(const SiteContext& context, const Request& request);

// Replies with content of the study. If an administrator reads another person's code, data or
// files, an entry of the audit log is committed first. If that commit fails, no content is sent.
Status reply_noted(const SiteContext& context, const Request& request, const storage::StudyRow& row,
                   Response response, Reply reply);

// Queues a task in `lane`, which reads the study's row and replies with it. If `objection` returns
// an error for the row, replies with the error instead.
void reply_with_row(const SiteContext& context, const hub::Lane& lane, StudyId id, int status,
                    const Reply& reply,
                    std::function<Status(const storage::StudyRow&)> objection = {});

// Returns a callback that replies with the row of the changed study.
hub::Callback<StudyId> row_replier(const SiteContext& context, const Request& request, Reply reply);

}  // namespace hyperflock::http
