// The console's addresses about people, tokens, projects, enrolment codes, devices, the audit log,
// artifacts and the end of studies (rest.md). Each change is committed together with its entry in
// the audit log. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "http/core/changes.h"
#include "http/core/site_base.h"

namespace hyperflock::http {

using Handler = void (*)(const SiteContext& context, const Request& request, const Reply& reply);

struct HandledRoute {
  Route route;
  Handler handle;
};

std::span<const HandledRoute> people_routes();     // people_rest.cc
std::span<const HandledRoute> enrolment_routes();  // enrolment_rest.cc: projects, codes, devices
std::span<const HandledRoute> audit_routes();      // audit_rest.cc
std::span<const HandledRoute> artifact_routes();   // artifact_rest.cc
std::span<const HandledRoute> deletion_routes();   // deletion_rest.cc

inline bool is_admin(const Request& request) {
  return request.principal.role == storage::PrincipalRole::admin;
}

// The project of that name, or the caller's first where it is empty. Errors: `forbidden` where none
// is open to the caller, `bad_field` where this one is not.
Result<std::string> project_of(const SiteContext& context, const Request& request,
                               const std::string& named);

// Appends `{"studies", "trials", "bytes"}`; a limit of 0 is none.
void append_quota(std::string& out, const storage::Quota& quota);

// GET /api/me.
Response me(const SiteContext& context, const Request& request);

}  // namespace hyperflock::http
