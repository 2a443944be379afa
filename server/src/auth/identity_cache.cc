// Keeps identities in memory; see identity_cache.h.
#include "auth/identity_cache.h"

#include <algorithm>
#include <chrono>
#include <mutex>

#include "auth/tokens.h"

namespace hyperflock::auth {
namespace {

// Finds a row by its hash. Compares every row, even after a match.
template <typename Row>
const Row* find_by_hash(const std::vector<Row>& rows, std::string Row::* hash,
                        const std::string& wanted) {
  const Row* found = nullptr;
  for (const Row& row : rows) {
    if (equal_in_constant_time(row.*hash, wanted)) found = &row;
  }
  return found;
}

template <typename Row>
Row* by_id(std::vector<Row>& rows, std::int64_t id) {
  const auto found = std::ranges::find(rows, id, &Row::id);
  return found == rows.end() ? nullptr : &*found;
}

template <typename Row>
std::optional<Row> copy_by_id(const std::vector<Row>& rows, std::int64_t id) {
  const auto found = std::ranges::find(rows, id, &Row::id);
  return found == rows.end() ? std::nullopt : std::optional(*found);
}

bool is_live(const storage::Token& token, std::int64_t now) {
  return token.revoked_at == 0 && (token.expires_at == 0 || now < token.expires_at);
}

// Applies committed transitions in the way that storage does. REQUIRES: the lock is held.
struct Follower {
  std::vector<storage::Principal>& principals;
  std::vector<storage::Token>& tokens;
  std::vector<storage::Project>& projects;
  std::vector<storage::Enrolment>& enrolments;
  std::unordered_map<std::string, storage::Device>& devices;
  const storage::Outcome& outcome;
  std::int64_t now;

  void operator()(const storage::CreatePrincipal& create) const {
    principals.push_back(create.principal);
    principals.back().id = outcome.id;
    principals.back().created_at = now;
    tokens.push_back(
        {outcome.token, outcome.id, create.token_hash, now, create.token_expires_at, 0});
  }
  void operator()(const storage::UpdatePrincipal& update) const {
    storage::Principal* one = by_id(principals, update.id);
    if (one == nullptr) return;
    if (update.state) one->state = *update.state;
    if (update.quota) one->quota = *update.quota;
    if (update.projects) one->projects = *update.projects;
    std::ranges::sort(one->projects);
  }
  void operator()(const storage::CreateToken& create) const {
    if (storage::Token* old = by_id(tokens, create.retires)) {
      old->expires_at =
          old->expires_at == 0 ? create.retires_at : std::min(old->expires_at, create.retires_at);
    }
    tokens.push_back({outcome.id, create.principal, create.hash, now, create.expires_at, 0});
  }
  void operator()(const storage::RevokeToken& revoke) const {
    if (storage::Token* token = by_id(tokens, revoke.id)) token->revoked_at = now;
  }
  void operator()(const storage::CreateProject& create) const {
    projects.push_back({outcome.id, create.name, now});
  }
  void operator()(const storage::CreateEnrolment& create) const {
    enrolments.push_back(create.enrolment);
    enrolments.back().id = outcome.id;
    enrolments.back().created_at = now;
  }
  void operator()(const storage::RevokeEnrolment& revoke) const {
    if (storage::Enrolment* code = by_id(enrolments, revoke.id)) code->revoked_at = now;
  }
  void operator()(const storage::CreateDevice& create) const {
    devices.insert_or_assign(create.device.id, create.device);
    const auto code =
        std::ranges::find(enrolments, create.code_hash, &storage::Enrolment::code_hash);
    if (code != enrolments.end()) ++code->uses;
  }
  void operator()(const storage::RevokeDevice& revoke) const {
    if (const auto found = devices.find(revoke.device); found != devices.end())
      found->second.revoked = true;
  }
  void operator()(const storage::EraseDevice& erase) const { devices.erase(erase.device); }
  template <typename Other>
  void operator()(const Other&) const {}
};

}  // namespace

IdentityCache::IdentityCache(storage::WallClock clock) : clock_(std::move(clock)) {}

storage::WallClock IdentityCache::system_clock() {
  return [] {
    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(since_1970).count();
  };
}

void IdentityCache::load(const storage::Identities& stored) {
  std::unordered_map<std::string, storage::Device> devices;
  for (const storage::Device& device : stored.devices) devices.emplace(device.id, device);
  const std::unique_lock lock(mutex_);
  principals_ = stored.principals;
  tokens_ = stored.tokens;
  projects_ = stored.projects;
  enrolments_ = stored.enrolments;
  devices_ = std::move(devices);
  swept_at_ = clock_();
}

void IdentityCache::committed(const storage::Transition& transition,
                              const storage::Outcome& outcome) {
  if (outcome.applied != storage::Applied::applied) return;
  const std::unique_lock lock(mutex_);
  std::visit(Follower{principals_, tokens_, projects_, enrolments_, devices_, outcome, clock_()},
             transition);
}

std::optional<Caller> IdentityCache::check_token(std::string_view token) const {
  const std::string hash = token_hash(token);
  const std::shared_lock lock(mutex_);
  const storage::Token* found = find_by_hash(tokens_, &storage::Token::hash, hash);
  if (found == nullptr || !is_live(*found, clock_())) return std::nullopt;
  const auto owner = copy_by_id(principals_, found->principal);
  return owner ? std::optional(Caller{*owner, found->id}) : std::nullopt;
}

std::optional<storage::Device> IdentityCache::check_device(std::string_view id,
                                                           std::string_view secret) const {
  const auto found = find_own(id, secret);
  return found && !found->revoked ? found : std::nullopt;
}

bool IdentityCache::is_revoked(std::string_view id, std::string_view secret) const {
  const auto found = find_own(id, secret);
  return found && found->revoked;
}

std::optional<storage::Device> IdentityCache::find_own(std::string_view id,
                                                       std::string_view secret) const {
  const std::string hash = token_hash(secret);
  const std::shared_lock lock(mutex_);
  const storage::Device* found = find_device(id, hash);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

const storage::Device* IdentityCache::find_device(std::string_view id,
                                                  const std::string& secret_hash) const {
  const auto found = devices_.find(std::string(id));
  const bool known =
      found != devices_.end() && equal_in_constant_time(found->second.secret_hash, secret_hash);
  return known ? &found->second : nullptr;
}

std::optional<CodeView> IdentityCache::check_code(std::string_view code) const {
  const std::string hash = token_hash(code);
  const std::shared_lock lock(mutex_);
  const storage::Enrolment* found = find_by_hash(enrolments_, &storage::Enrolment::code_hash, hash);
  if (found == nullptr || found->revoked_at != 0) return std::nullopt;
  return CodeView{found->project, storage::admits(*found, clock_())};
}

std::vector<storage::Principal> IdentityCache::principals() const {
  const std::shared_lock lock(mutex_);
  return principals_;
}

std::vector<storage::Token> IdentityCache::tokens() const {
  const std::shared_lock lock(mutex_);
  return tokens_;
}

std::vector<storage::Project> IdentityCache::projects() const {
  const std::shared_lock lock(mutex_);
  return projects_;
}

std::vector<storage::Enrolment> IdentityCache::enrolments() const {
  const std::shared_lock lock(mutex_);
  return enrolments_;
}

std::optional<storage::Principal> IdentityCache::principal(std::int64_t id) const {
  const std::shared_lock lock(mutex_);
  return copy_by_id(principals_, id);
}

std::optional<storage::Token> IdentityCache::token(std::int64_t id) const {
  const std::shared_lock lock(mutex_);
  return copy_by_id(tokens_, id);
}

std::optional<storage::Enrolment> IdentityCache::enrolment(std::int64_t id) const {
  const std::shared_lock lock(mutex_);
  return copy_by_id(enrolments_, id);
}

std::vector<std::int64_t> IdentityCache::live_tokens(std::int64_t principal) const {
  std::vector<std::int64_t> live;
  const std::shared_lock lock(mutex_);
  for (const storage::Token& token : tokens_) {
    if (token.principal == principal && is_live(token, clock_())) live.push_back(token.id);
  }
  return live;
}

bool IdentityCache::others_administer(std::int64_t token, std::int64_t principal) const {
  const std::shared_lock lock(mutex_);
  return std::ranges::any_of(tokens_, [&](const storage::Token& one) {
    // A token that will expire does not count, because it gives access for a limited time only.
    if (one.id == token || one.principal == principal || one.revoked_at != 0 || one.expires_at != 0)
      return false;
    const auto owner = copy_by_id(principals_, one.principal);
    return owner && owner->role == storage::PrincipalRole::admin &&
           owner->state == storage::PrincipalState::active;
  });
}

std::size_t IdentityCache::pending() const {
  const std::shared_lock lock(mutex_);
  return static_cast<std::size_t>(std::ranges::count(principals_, storage::PrincipalState::pending,
                                                     &storage::Principal::state));
}

std::map<std::string, std::int64_t> IdentityCache::devices_by_project() const {
  std::map<std::string, std::int64_t> counts;
  const std::shared_lock lock(mutex_);
  for (const auto& [id, device] : devices_) counts[device.project] += device.revoked ? 0 : 1;
  return counts;
}

std::vector<std::string> IdentityCache::researchers(std::string_view project) const {
  std::vector<std::string> names;
  {
    const std::shared_lock lock(mutex_);
    for (const storage::Principal& one : principals_) {
      if (one.role == storage::PrincipalRole::researcher &&
          one.state == storage::PrincipalState::active &&
          std::ranges::find(one.projects, project) != one.projects.end())
        names.push_back(one.name);
    }
  }
  std::ranges::sort(names);
  return names;
}

std::string IdentityCache::first_project(const storage::Principal& principal) const {
  const std::shared_lock lock(mutex_);
  for (const storage::Project& project : projects_) {
    if (may_use(principal, project.name)) return project.name;
  }
  return {};
}

bool IdentityCache::may_use(const storage::Principal& principal, std::string_view project) {
  return principal.role == storage::PrincipalRole::admin ||
         std::ranges::find(principal.projects, project) != principal.projects.end();
}

bool IdentityCache::has_project(std::string_view project) const {
  const std::shared_lock lock(mutex_);
  return std::ranges::find(projects_, project, &storage::Project::name) != projects_.end();
}

std::vector<std::int64_t> IdentityCache::take_expired() {
  std::vector<std::int64_t> ended;
  const std::unique_lock lock(mutex_);
  const std::int64_t now = clock_();
  for (const storage::Token& token : tokens_) {
    if (token.expires_at > swept_at_ && token.expires_at <= now) ended.push_back(token.id);
  }
  swept_at_ = std::max(swept_at_, now);
  return ended;
}

}  // namespace hyperflock::auth
