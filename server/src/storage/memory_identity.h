// The guards of identity.h over plain vectors and maps: the in-memory back end's part for people,
// projects, codes, devices and the audit log. Used under its locks.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "storage/storage.h"

namespace hyperflock::storage {

struct IdentityState {
  std::vector<Principal> principals;  // these by id; ids start at 1 and have no gap
  std::vector<Token> tokens;
  std::vector<Project> projects;
  std::vector<Enrolment> enrolments;
  std::map<std::string, Device> devices;
  std::map<std::pair<std::string, std::string>, std::int64_t> owner_blobs;  // bytes
  std::deque<AuditEntry> audit;
  std::int64_t last_audit = 0;

  bool owns(const std::string& owner, const std::string& sha256) const {
    return owner_blobs.contains({owner, sha256});
  }
  std::int64_t bytes_of(const std::string& owner) const;
};

// `now`: Unix ms.
Outcome judge(IdentityState& state, const CreatePrincipal& create, std::int64_t now);
Outcome judge(IdentityState& state, const UpdatePrincipal& update, std::int64_t now);
Outcome judge(IdentityState& state, const CreateToken& create, std::int64_t now);
Outcome judge(IdentityState& state, const RevokeToken& revoke, std::int64_t now);
Outcome judge(IdentityState& state, const CreateProject& create, std::int64_t now);
Outcome judge(IdentityState& state, const CreateEnrolment& create, std::int64_t now);
Outcome judge(IdentityState& state, const RevokeEnrolment& revoke, std::int64_t now);
Outcome judge(IdentityState& state, const CreateDevice& create, std::int64_t now);
Outcome judge(IdentityState& state, const RevokeDevice& revoke, std::int64_t now);
Outcome judge(IdentityState& state, const TrimAudit& trim, std::int64_t now);

std::int64_t note(IdentityState& state, const AuditEntry& entry, std::int64_t now);
std::vector<AuditEntry> audit_page(const IdentityState& state, std::int64_t after,
                                   std::int64_t limit);

}  // namespace hyperflock::storage
