// The console's addresses about people, tokens, projects, enrolment codes, devices, the audit log,
// artifacts and the end of studies (rest.md). Each change is committed together with its entry in
// the audit log. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

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

constexpr std::uint64_t kSmallBody = std::uint64_t{4} * 1024;

inline bool is_admin(const Request& request) {
  return request.principal.role == storage::PrincipalRole::admin;
}

// What the caller does, as the audit log keeps it. `detail`: JSON text of an object, or empty.
storage::NoteAudit note_of(const Request& request, std::string action, std::string object,
                           std::string detail = {});

// Commits the change and, where it was applied, its note; tells the book; then answers with what
// `answer` makes of the outcome.
void commit_noted(const SiteContext& context, const storage::Transition& change,
                  storage::NoteAudit note, Reply reply,
                  std::function<Response(const storage::Outcome&)> answer);

// The project of that name, or the caller's first where it is empty. Errors: `forbidden` where none
// is open to the caller, `bad_field` where this one is not.
Result<std::string> project_of(const SiteContext& context, const Request& request,
                               const std::string& named);

// Appends `{"studies", "trials", "bytes"}`; a limit of 0 is none.
void append_quota(std::string& out, const storage::Quota& quota);

// Lets the server forget a device, and answers.
void erase_device(const SiteContext& context, const std::string& device, storage::NoteAudit note,
                  Reply reply);

// GET /api/me.
Response me(const SiteContext& context, const Request& request);

}  // namespace hyperflock::http
