#include "storage/memory_identity.h"

#include <algorithm>

namespace hyperflock::storage {
namespace {

Outcome outcome(Applied applied, std::int64_t id = 0) {
  Outcome result;
  result.applied = applied;
  result.id = id;
  return result;
}

template <typename Row>
Row* by_id(std::vector<Row>& rows, std::int64_t id) {
  const auto found = std::ranges::find(rows, id, &Row::id);
  return found == rows.end() ? nullptr : &*found;
}

template <typename Row>
std::int64_t next_id(const std::vector<Row>& rows) {
  return static_cast<std::int64_t>(rows.size()) + 1;
}

bool projects_exist(const IdentityState& state, const std::vector<std::string>& names) {
  return std::ranges::all_of(names, [&](const std::string& name) {
    return std::ranges::find(state.projects, name, &Project::name) != state.projects.end();
  });
}

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::ranges::sort(names);
  const auto rest = std::ranges::unique(names);
  names.erase(rest.begin(), rest.end());
  return names;
}

std::int64_t add_token(IdentityState& state, std::int64_t principal, const std::string& hash,
                       std::int64_t expires_at, std::int64_t now) {
  state.tokens.push_back({next_id(state.tokens), principal, hash, now, expires_at, 0});
  return state.tokens.back().id;
}

}  // namespace

std::int64_t IdentityState::bytes_of(const std::string& owner) const {
  std::int64_t bytes = 0;
  for (const auto& [key, size] : owner_blobs) bytes += key.first == owner ? size : 0;
  return bytes;
}

Outcome judge(IdentityState& state, const CreatePrincipal& create, std::int64_t now) {
  const bool taken = std::ranges::find(state.principals, create.principal.name, &Principal::name) !=
                     state.principals.end();
  if (taken || !projects_exist(state, create.principal.projects)) return outcome(Applied::conflict);
  Principal made = create.principal;
  made.id = next_id(state.principals);
  made.projects = sorted(made.projects);
  made.created_at = now;
  state.principals.push_back(std::move(made));
  Outcome result = outcome(Applied::applied, state.principals.back().id);
  result.token = add_token(state, result.id, create.token_hash, create.token_expires_at, now);
  return result;
}

Outcome judge(IdentityState& state, const UpdatePrincipal& update, std::int64_t) {
  Principal* one = by_id(state.principals, update.id);
  if (one == nullptr) return outcome(Applied::conflict);
  if (update.projects && !projects_exist(state, *update.projects))
    return outcome(Applied::conflict);
  if (update.state) one->state = *update.state;
  if (update.quota) one->quota = *update.quota;
  if (update.projects) one->projects = sorted(*update.projects);
  return outcome(Applied::applied, update.id);
}

Outcome judge(IdentityState& state, const CreateToken& create, std::int64_t now) {
  if (by_id(state.principals, create.principal) == nullptr) return outcome(Applied::conflict);
  if (create.retires != 0) {
    Token* old = by_id(state.tokens, create.retires);
    if (old == nullptr || old->principal != create.principal) return outcome(Applied::conflict);
    const bool ended = old->expires_at != 0 && old->expires_at <= now;
    if (old->revoked_at != 0 || ended) return outcome(Applied::superseded);
    old->expires_at =
        old->expires_at == 0 ? create.retires_at : std::min(old->expires_at, create.retires_at);
  }
  return outcome(Applied::applied,
                 add_token(state, create.principal, create.hash, create.expires_at, now));
}

Outcome judge(IdentityState& state, const RevokeToken& revoke, std::int64_t now) {
  Token* token = by_id(state.tokens, revoke.id);
  if (token == nullptr) return outcome(Applied::conflict);
  if (token->revoked_at != 0) return outcome(Applied::repeated, revoke.id);
  token->revoked_at = now;
  return outcome(Applied::applied, revoke.id);
}

Outcome judge(IdentityState& state, const CreateProject& create, std::int64_t now) {
  if (projects_exist(state, {create.name})) return outcome(Applied::conflict);
  state.projects.push_back({next_id(state.projects), create.name, now});
  return outcome(Applied::applied, state.projects.back().id);
}

Outcome judge(IdentityState& state, const CreateEnrolment& create, std::int64_t now) {
  if (!projects_exist(state, {create.enrolment.project})) return outcome(Applied::conflict);
  const auto known =
      std::ranges::find(state.enrolments, create.enrolment.code_hash, &Enrolment::code_hash);
  if (known != state.enrolments.end()) return outcome(Applied::repeated);
  Enrolment made = create.enrolment;
  made.id = next_id(state.enrolments);
  made.created_at = now;
  made.uses = made.revoked_at = 0;
  state.enrolments.push_back(std::move(made));
  return outcome(Applied::applied, state.enrolments.back().id);
}

Outcome judge(IdentityState& state, const RevokeEnrolment& revoke, std::int64_t now) {
  Enrolment* code = by_id(state.enrolments, revoke.id);
  if (code == nullptr) return outcome(Applied::conflict);
  if (code->revoked_at != 0) return outcome(Applied::repeated, revoke.id);
  code->revoked_at = now;
  return outcome(Applied::applied, revoke.id);
}

Outcome judge(IdentityState& state, const CreateDevice& create, std::int64_t now) {
  Enrolment* code = nullptr;
  if (!create.code_hash.empty()) {
    const auto found = std::ranges::find(state.enrolments, create.code_hash, &Enrolment::code_hash);
    if (found == state.enrolments.end() || !admits(*found, now))
      return outcome(Applied::superseded);
    code = &*found;
  }
  if (!state.devices.emplace(create.device.id, create.device).second)
    return outcome(Applied::conflict);
  if (code != nullptr) ++code->uses;
  return outcome(Applied::applied);
}

Outcome judge(IdentityState& state, const RevokeDevice& revoke, std::int64_t) {
  const auto found = state.devices.find(revoke.device);
  if (found == state.devices.end()) return outcome(Applied::conflict);
  const bool was = std::exchange(found->second.revoked, true);
  return outcome(was ? Applied::repeated : Applied::applied);
}

Outcome judge(IdentityState& state, const TrimAudit& trim, std::int64_t) {
  const auto removed =
      std::erase_if(state.audit, [&](const AuditEntry& one) { return one.at < trim.before; });
  return outcome(removed > 0 ? Applied::applied : Applied::repeated);
}

std::int64_t note(IdentityState& state, const AuditEntry& entry, std::int64_t now) {
  AuditEntry kept = entry;
  kept.id = ++state.last_audit;
  kept.at = now;
  state.audit.push_back(std::move(kept));
  return state.last_audit;
}

std::vector<AuditEntry> audit_page(const IdentityState& state, std::int64_t after,
                                   std::int64_t limit) {
  std::vector<AuditEntry> page;
  for (const AuditEntry& entry : state.audit) {
    if (static_cast<std::int64_t>(page.size()) >= limit) break;
    if (entry.id > after) page.push_back(entry);
  }
  return page;
}

}  // namespace hyperflock::storage
