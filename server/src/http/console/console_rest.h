// Declares the tables of the console's routes (rest.md), one for each file, and what the files
// share. A change is committed together with its entry in the audit log. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "http/core/changes.h"
#include "http/core/router.h"
#include "http/core/site_context.h"
#include "protocol/json/json_writer.h"

namespace hyperflock::http {

std::span<const Route> study_routes();      // study_rest.cc
std::span<const Route> rejection_routes();  // rejection_rest.cc
std::span<const Route> trial_routes();      // trial_rest.cc
std::span<const Route> series_routes();     // series_rest.cc
std::span<const Route> blob_routes();       // blob_rest.cc
std::span<const Route> artifact_routes();   // artifact_rest.cc
std::span<const Route> webhook_routes();    // webhook_rest.cc
std::span<const Route> people_routes();     // people_rest.cc
std::span<const Route> rules_routes();      // rules_rest.cc: freezes, bars, ceilings, approval
std::span<const Route> enrolment_routes();  // enrolment_rest.cc: projects, codes, devices
std::span<const Route> operator_routes();   // operator_rest.cc: audit log, reports, metrics

inline bool is_admin(const Request& request) {
  return request.principal.role == storage::PrincipalRole::admin;
}

// Returns the quota of the caller. An administrator has no limits.
inline storage::Quota quota_of(const storage::Principal& principal) {
  return principal.role == storage::PrincipalRole::admin ? storage::Quota{} : principal.quota;
}

// Returns which part of a list of identities a page needs: one row more than the page's limit, by
// which cut() sees whether more rows follow.
inline auth::Piece piece_of(const Page& page) {
  return {page.after, static_cast<std::size_t>(page.limit) + 1};
}

// Ends the answer with a page of rows that are ordered by id.
template <typename Row>
void end_page(protocol::ObjectWriter& body, const Page& page, const std::vector<Row>& rows,
              bool more) {
  body.integer("cursor", rows.empty() ? page.after : rows.back().id).boolean("more", more).end();
}

// What was rejected in all studies.
struct RejectedEverywhere {
  std::int64_t devices = 0;   // that joined by the code
  std::int64_t studies = 0;   // in which something was rejected
  std::int64_t attempts = 0;  // that are rejected now
  std::int64_t trials = 0;    // that run again
  using Done = std::function<void(const Result<RejectedEverywhere>&)>;
};
// Rejects what the device has sent in every study that the caller may continue (R71). `done` may
// run on any thread. After an error, what was rejected stays so.
void reject_everywhere(const SiteContext& context, const Request& request,
                       const std::string& device, const std::string& reason,
                       RejectedEverywhere::Done done);

// Revokes all devices that joined by this code, and does the same for each of them. `studies` is
// not counted.
void revoke_devices_of_code(const SiteContext& context, const Request& request, std::int64_t code,
                            const std::string& reason, RejectedEverywhere::Done done);

// Returns the name of the project, or of the caller's first project if `named` is empty. Errors:
// `forbidden` if the caller may use no project, `bad_field` if the caller may not use this one.
Result<std::string> project_of(const SiteContext& context, const Request& request,
                               const std::string& named);

// Checks a webhook before it is stored. Errors: `webhooks_off`, `bad_webhook`, `webhook_refused`.
Status check_webhook(const SiteContext& context, const protocol::Webhook& webhook);

// Appends `{"studies", "trials", "bytes"}`. A limit of 0 means no limit.
void append_quota(std::string& out, const storage::Quota& quota);

}  // namespace hyperflock::http
