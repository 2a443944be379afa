// Identities in memory: see identity_book.h.
#include "auth/identity_book.h"

#include <algorithm>
#include <mutex>

#include "auth/tokens.h"

namespace hyperflock::auth {
namespace {

// Looks at every row, also after a hit.
template <typename Row>
const Row* find_by_hash(const std::vector<Row>& rows, std::string Row::* hash,
                        const std::string& wanted) {
  const Row* found = nullptr;
  for (const Row& row : rows) {
    if (equal_in_constant_time(row.*hash, wanted)) found = &row;
  }
  return found;
}

}  // namespace

void IdentityBook::load(const storage::Identities& stored) {
  std::unordered_map<std::string, storage::Device> devices;
  for (const storage::Device& device : stored.devices) devices.emplace(device.id, device);
  const std::unique_lock lock(mutex_);
  principals_ = stored.principals;
  enrolments_ = stored.enrolments;
  devices_ = std::move(devices);
}

void IdentityBook::committed(const storage::Transition& transition,
                             const storage::Outcome& outcome) {
  if (outcome.applied != storage::Applied::applied) return;
  const std::unique_lock lock(mutex_);
  if (const auto* principal = std::get_if<storage::CreatePrincipal>(&transition)) {
    principals_.push_back(principal->principal);
  } else if (const auto* device = std::get_if<storage::CreateDevice>(&transition)) {
    devices_.insert_or_assign(device->device.id, device->device);
  } else if (const auto* enrolment = std::get_if<storage::CreateEnrolment>(&transition)) {
    enrolments_.push_back(enrolment->enrolment);
  } else if (const auto* revoked = std::get_if<storage::RevokeDevice>(&transition)) {
    if (const auto found = devices_.find(revoked->device); found != devices_.end())
      found->second.revoked = true;
  }
}

std::optional<storage::Principal> IdentityBook::check_token(std::string_view token) const {
  const std::string hash = token_hash(token);
  const std::shared_lock lock(mutex_);
  const storage::Principal* found =
      find_by_hash(principals_, &storage::Principal::token_hash, hash);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::optional<storage::Device> IdentityBook::check_device(std::string_view id,
                                                          std::string_view secret) const {
  const std::string hash = token_hash(secret);
  const std::shared_lock lock(mutex_);
  const storage::Device* found = find_device(id, hash);
  return found == nullptr || found->revoked ? std::nullopt : std::optional(*found);
}

bool IdentityBook::is_revoked(std::string_view id, std::string_view secret) const {
  const std::string hash = token_hash(secret);
  const std::shared_lock lock(mutex_);
  const storage::Device* found = find_device(id, hash);
  return found != nullptr && found->revoked;
}

const storage::Device* IdentityBook::find_device(std::string_view id,
                                                 const std::string& secret_hash) const {
  const auto found = devices_.find(std::string(id));
  const bool known =
      found != devices_.end() && equal_in_constant_time(found->second.secret_hash, secret_hash);
  return known ? &found->second : nullptr;
}

std::optional<std::string> IdentityBook::check_code(std::string_view code) const {
  const std::string hash = token_hash(code);
  const std::shared_lock lock(mutex_);
  const storage::Enrolment* found = find_by_hash(enrolments_, &storage::Enrolment::code_hash, hash);
  return found == nullptr ? std::nullopt : std::optional(found->project);
}

std::vector<std::string> IdentityBook::researchers() const {
  std::vector<std::string> names;
  {
    const std::shared_lock lock(mutex_);
    for (const storage::Principal& principal : principals_) {
      if (principal.role == storage::PrincipalRole::researcher) names.push_back(principal.name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string IdentityBook::first_project() const {
  const std::shared_lock lock(mutex_);
  return enrolments_.empty() ? std::string() : enrolments_.front().project;
}

bool IdentityBook::has_project(std::string_view project) const {
  const std::shared_lock lock(mutex_);
  return std::any_of(enrolments_.begin(), enrolments_.end(),
                     [&](const storage::Enrolment& one) { return one.project == project; });
}

}  // namespace hyperflock::auth
