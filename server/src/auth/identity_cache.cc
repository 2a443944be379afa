// Keeps identities in memory; see identity_cache.h.
#include "auth/identity_cache.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <mutex>

#include "auth/tokens.h"

namespace hyperflock::auth {
namespace {

template <typename Row>
Row* by_id(std::map<std::int64_t, Row>& rows, std::int64_t id) {
  const auto found = rows.find(id);
  return found == rows.end() ? nullptr : &found->second;
}

template <typename Row>
std::optional<Row> copy_by_id(const std::map<std::int64_t, Row>& rows, std::int64_t id) {
  const auto found = rows.find(id);
  return found == rows.end() ? std::nullopt : std::optional(found->second);
}

template <typename Row>
std::vector<Row> piece_of(const std::map<std::int64_t, Row>& rows, Piece piece) {
  std::vector<Row> out;
  for (auto row = rows.upper_bound(piece.after); row != rows.end() && out.size() < piece.limit;
       ++row)
    out.push_back(row->second);
  return out;
}

// Adds ids of `all` above `piece.after` to `out`, at most `piece.limit`.
void take_ids(const std::set<std::int64_t>& all, Piece piece, std::vector<std::int64_t>& out) {
  std::size_t taken = 0;
  for (auto id = all.upper_bound(piece.after); id != all.end() && taken < piece.limit;
       ++id, ++taken)
    out.push_back(*id);
}

// Returns the rows with the `piece.limit` lowest of these ids, in the order of the ids.
template <typename Row>
std::vector<Row> rows_of(const std::map<std::int64_t, Row>& rows, std::vector<std::int64_t> ids,
                         Piece piece) {
  std::ranges::sort(ids);
  std::vector<Row> out;
  for (const std::int64_t id : ids) {
    if (out.size() == piece.limit) break;
    out.push_back(rows.at(id));
  }
  return out;
}

bool is_live(const storage::Token& token, std::int64_t now) {
  return token.revoked_at == 0 && (token.expires_at == 0 || now < token.expires_at);
}

}  // namespace

// Applies committed transitions in the way that storage does. REQUIRES: the lock is held.
struct IdentityCache::Follower {
  IdentityCache& cache;
  const storage::Outcome& outcome;
  std::int64_t now;

  void operator()(const storage::CreatePrincipal& create) const {
    storage::Principal one = create.principal;
    one.id = outcome.id;
    one.created_at = now;
    note_state(one);
    cache.put(std::move(one));
    cache.put(storage::Token{outcome.token, outcome.id, create.token_hash, now,
                             create.token_expires_at, 0});
  }
  void operator()(const storage::UpdatePrincipal& update) const {
    auto one = copy_by_id(cache.principals_, update.id);
    if (!one) return;
    if (update.state) {
      one->state = *update.state;
      one->reason = update.reason;
    }
    note_state(*one);
    if (update.quota) one->quota = *update.quota;
    if (update.projects) one->projects = *update.projects;
    std::ranges::sort(one->projects);
    cache.put(*std::move(one));
  }
  void operator()(const storage::CreateToken& create) const {
    if (storage::Token* old = by_id(cache.tokens_.rows, create.retires)) {
      cache.set_expiry(*old, old->expires_at == 0 ? create.retires_at
                                                  : std::min(old->expires_at, create.retires_at));
    }
    cache.put(storage::Token{outcome.id, create.principal, create.hash, now, create.expires_at, 0});
  }
  void operator()(const storage::RevokeToken& revoke) const {
    if (storage::Token* token = by_id(cache.tokens_.rows, revoke.id)) token->revoked_at = now;
  }
  void operator()(const storage::CreateProject& create) const {
    cache.put(storage::Project{outcome.id, create.name, now});
  }
  void operator()(const storage::FreezeProject& freeze) const {
    const auto id = cache.project_ids_.find(freeze.name);
    if (id == cache.project_ids_.end()) return;
    storage::Project& project = cache.projects_.at(id->second);
    project.frozen_at = freeze.frozen ? now : 0;
    project.reason = freeze.frozen ? freeze.reason : "";
    if (freeze.frozen) {
      cache.rules_.projects.insert_or_assign(freeze.name, freeze.reason);
    } else {
      cache.rules_.projects.erase(freeze.name);
    }
  }
  void operator()(const storage::BarBlob& bar) const {
    std::erase_if(cache.barred_, [&](const auto& one) { return one.sha256 == bar.sha256; });
    if (bar.barred) {
      cache.barred_.push_back({bar.sha256, bar.reason, bar.by, now});
      std::ranges::sort(cache.barred_, {}, &storage::BarredBlob::sha256);
      cache.rules_.blobs.insert_or_assign(bar.sha256, bar.reason);
    } else {
      cache.rules_.blobs.erase(bar.sha256);
    }
  }
  void operator()(const storage::SetCeiling& set) const {
    if (set.scope == storage::CeilingScope::server) {
      cache.rules_.server = set.ceiling;
      return;
    }
    auto& all = set.scope == storage::CeilingScope::project ? cache.rules_.of_projects
                                                            : cache.rules_.of_researchers;
    if (set.ceiling.empty()) {
      all.erase(set.name);
    } else {
      all.insert_or_assign(set.name, set.ceiling);
    }
  }
  void operator()(const storage::SetShare& set) const {
    auto& all = set.scope == storage::CeilingScope::project ? cache.rules_.shares_of_projects
                                                            : cache.rules_.shares_of_researchers;
    if (set.share.empty()) {
      all.erase(set.name);
    } else {
      all.insert_or_assign(set.name, set.share);
    }
  }
  void operator()(const storage::CreateEnrolment& create) const {
    storage::Enrolment code = create.enrolment;
    code.id = outcome.id;
    code.created_at = now;
    cache.put(std::move(code));
  }
  void operator()(const storage::RevokeEnrolment& revoke) const {
    if (storage::Enrolment* code = by_id(cache.codes_.rows, revoke.id)) code->revoked_at = now;
  }
  void operator()(const storage::CreateDevice& create) const {
    storage::Device device = create.device;
    device.seen_at = now;
    cache.put(std::move(device));
    const auto code = cache.codes_.by_hash.find(create.code_hash);
    if (code != cache.codes_.by_hash.end()) ++cache.codes_.rows.at(code->second).uses;
  }
  void operator()(const storage::RevokeDevice& revoke) const {
    const auto found = cache.devices_.find(revoke.device);
    if (found == cache.devices_.end() || found->second.revoked) return;
    found->second.revoked = true;
    --cache.joined_[found->second.project];
  }
  void operator()(const storage::EraseDevice& erase) const { cache.remove_device(erase.device); }
  void operator()(const storage::CollectDevice& gone) const { cache.remove_device(gone.device); }
  void operator()(const storage::SeeDevice& see) const {
    const auto found = cache.devices_.find(see.device);
    if (found != cache.devices_.end()) found->second.seen_at = now;
  }
  template <typename Other>
  void operator()(const Other&) const {}

 private:
  void note_state(const storage::Principal& one) const {
    if (one.state == storage::PrincipalState::active) {
      cache.rules_.owners.erase(one.name);
    } else {
      cache.rules_.owners.insert_or_assign(one.name, one.reason);
    }
  }
};

IdentityCache::IdentityCache(storage::WallClock clock) : clock_(std::move(clock)) {}

storage::WallClock IdentityCache::system_clock() {
  return [] {
    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(since_1970).count();
  };
}

void IdentityCache::load(const storage::Identities& stored) {
  const std::unique_lock lock(mutex_);
  principals_.clear();
  tokens_ = {};
  projects_.clear();
  codes_ = {};
  devices_.clear();
  tokens_of_.clear();
  project_ids_.clear();
  codes_of_.clear();
  members_of_.clear();
  joined_.clear();
  admins_.clear();
  pending_ = 0;
  expiring_.clear();
  for (const storage::Principal& one : stored.principals) put(one);
  for (const storage::Token& one : stored.tokens) put(one);
  for (const storage::Project& one : stored.projects) put(one);
  for (const storage::Enrolment& one : stored.enrolments) put(one);
  for (const storage::Device& one : stored.devices) put(one);
  barred_ = stored.barred;
  rules_ = stored.rules;
  swept_at_ = clock_();
}

void IdentityCache::committed(const storage::Transition& transition,
                              const storage::Outcome& outcome) {
  if (outcome.applied != storage::Applied::applied) return;
  const std::unique_lock lock(mutex_);
  std::visit(Follower{*this, outcome, clock_()}, transition);
}

void IdentityCache::put(storage::Principal principal) {
  using storage::PrincipalRole;
  using storage::PrincipalState;
  const auto is_member = [](const storage::Principal& one) {
    return one.role == PrincipalRole::researcher && one.state == PrincipalState::active;
  };
  if (const auto old = principals_.find(principal.id); old != principals_.end()) {
    const storage::Principal& was = old->second;
    pending_ -= was.state == PrincipalState::pending ? 1 : 0;
    if (is_member(was)) {
      for (const std::string& project : was.projects) members_of_[project].erase(was.name);
    }
  }
  pending_ += principal.state == PrincipalState::pending ? 1 : 0;
  if (principal.role == PrincipalRole::admin) admins_.insert(principal.id);
  if (is_member(principal)) {
    for (const std::string& project : principal.projects)
      members_of_[project].insert(principal.name);
  }
  const std::int64_t id = principal.id;
  principals_.insert_or_assign(id, std::move(principal));
}

void IdentityCache::put(storage::Token token) {
  tokens_of_[token.principal].insert(token.id);
  if (token.expires_at != 0) expiring_.emplace(token.expires_at, token.id);
  tokens_.by_hash.insert_or_assign(token.hash, token.id);
  const std::int64_t id = token.id;
  tokens_.rows.insert_or_assign(id, std::move(token));
}

void IdentityCache::set_expiry(storage::Token& token, std::int64_t expires_at) {
  expiring_.erase({token.expires_at, token.id});
  token.expires_at = expires_at;
  expiring_.emplace(expires_at, token.id);
}

void IdentityCache::put(storage::Project project) {
  project_ids_.insert_or_assign(project.name, project.id);
  const std::int64_t id = project.id;
  projects_.insert_or_assign(id, std::move(project));
}

void IdentityCache::put(storage::Enrolment code) {
  codes_of_[code.project].insert(code.id);
  codes_.by_hash.insert_or_assign(code.code_hash, code.id);
  const std::int64_t id = code.id;
  codes_.rows.insert_or_assign(id, std::move(code));
}

void IdentityCache::put(storage::Device device) {
  remove_device(device.id);
  if (!device.revoked) ++joined_[device.project];
  std::string id = device.id;
  devices_.emplace(std::move(id), std::move(device));
}

void IdentityCache::remove_device(const std::string& id) {
  const auto found = devices_.find(id);
  if (found == devices_.end()) return;
  if (!found->second.revoked) --joined_[found->second.project];
  devices_.erase(found);
}

const storage::Token* IdentityCache::find_token(const std::string& hash) const {
  const auto found = tokens_.by_hash.find(hash);
  return found == tokens_.by_hash.end() ? nullptr : &tokens_.rows.at(found->second);
}

const storage::Enrolment* IdentityCache::find_code(const std::string& hash) const {
  const auto found = codes_.by_hash.find(hash);
  return found == codes_.by_hash.end() ? nullptr : &codes_.rows.at(found->second);
}

std::optional<Caller> IdentityCache::check_token(std::string_view token) const {
  const std::string hash = token_hash(token);
  const std::shared_lock lock(mutex_);
  const storage::Token* found = find_token(hash);
  if (found == nullptr || !is_live(*found, clock_())) return std::nullopt;
  const auto owner = copy_by_id(principals_, found->principal);
  return owner ? std::optional(Caller{*owner, found->id}) : std::nullopt;
}

std::optional<storage::Device> IdentityCache::check_device(std::string_view id,
                                                           std::string_view secret) const {
  const auto found = find_own(id, secret);
  return found && !found->revoked ? found : std::nullopt;
}

std::optional<std::string> IdentityCache::project_of_device(const std::string& id) const {
  const std::shared_lock lock(mutex_);
  const auto found = devices_.find(id);
  return found == devices_.end() ? std::nullopt : std::optional(found->second.project);
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
  const storage::Enrolment* found = find_code(hash);
  if (found == nullptr || found->revoked_at != 0) return std::nullopt;
  return CodeView{found->project, storage::admits(*found, clock_())};
}

std::vector<storage::Principal> IdentityCache::principals(Piece piece) const {
  const std::shared_lock lock(mutex_);
  return piece_of(principals_, piece);
}

std::vector<storage::Token> IdentityCache::tokens(std::optional<std::int64_t> principal,
                                                  Piece piece) const {
  const std::shared_lock lock(mutex_);
  if (!principal) return piece_of(tokens_.rows, piece);
  std::vector<std::int64_t> ids;
  if (const auto own = tokens_of_.find(*principal); own != tokens_of_.end())
    take_ids(own->second, piece, ids);
  return rows_of(tokens_.rows, std::move(ids), piece);
}

std::vector<storage::Project> IdentityCache::projects(const storage::Principal& viewer,
                                                      Piece piece) const {
  const std::shared_lock lock(mutex_);
  if (viewer.role == storage::PrincipalRole::admin) return piece_of(projects_, piece);
  std::vector<std::int64_t> ids;
  for (const std::string& name : viewer.projects) {
    const auto id = project_ids_.find(name);
    if (id != project_ids_.end() && id->second > piece.after) ids.push_back(id->second);
  }
  return rows_of(projects_, std::move(ids), piece);
}

std::vector<storage::Enrolment> IdentityCache::enrolments(const storage::Principal& viewer,
                                                          Piece piece) const {
  const std::shared_lock lock(mutex_);
  if (viewer.role == storage::PrincipalRole::admin) return piece_of(codes_.rows, piece);
  std::vector<std::int64_t> ids;
  for (const std::string& name : viewer.projects) {
    if (const auto codes = codes_of_.find(name); codes != codes_of_.end())
      take_ids(codes->second, piece, ids);
  }
  return rows_of(codes_.rows, std::move(ids), piece);
}

std::optional<storage::Principal> IdentityCache::principal(std::int64_t id) const {
  const std::shared_lock lock(mutex_);
  return copy_by_id(principals_, id);
}

std::optional<storage::Token> IdentityCache::token(std::int64_t id) const {
  const std::shared_lock lock(mutex_);
  return copy_by_id(tokens_.rows, id);
}

std::vector<storage::Principal> IdentityCache::administrators() const {
  std::vector<storage::Principal> admins;
  const std::shared_lock lock(mutex_);
  admins.reserve(admins_.size());
  for (const std::int64_t id : admins_) admins.push_back(principals_.at(id));
  return admins;
}

std::optional<storage::Enrolment> IdentityCache::enrolment(std::int64_t id) const {
  const std::shared_lock lock(mutex_);
  return copy_by_id(codes_.rows, id);
}

std::vector<std::int64_t> IdentityCache::live_tokens(std::int64_t principal) const {
  std::vector<std::int64_t> live;
  const std::shared_lock lock(mutex_);
  const auto own = tokens_of_.find(principal);
  if (own == tokens_of_.end()) return live;
  for (const std::int64_t id : own->second) {
    if (is_live(tokens_.rows.at(id), clock_())) live.push_back(id);
  }
  return live;
}

bool IdentityCache::others_administer(std::int64_t token, std::int64_t principal) const {
  const std::shared_lock lock(mutex_);
  return std::ranges::any_of(admins_, [&](std::int64_t admin) {
    const auto owned = tokens_of_.find(admin);
    if (admin == principal || owned == tokens_of_.end() ||
        principals_.at(admin).state != storage::PrincipalState::active)
      return false;
    return std::ranges::any_of(owned->second, [&](std::int64_t id) {
      // A token that will expire does not count as lasting access for an administrator.
      const storage::Token& one = tokens_.rows.at(id);
      return id != token && one.revoked_at == 0 && one.expires_at == 0;
    });
  });
}

std::size_t IdentityCache::pending() const {
  const std::shared_lock lock(mutex_);
  return pending_;
}

std::int64_t IdentityCache::devices(const std::string& project) const {
  const std::shared_lock lock(mutex_);
  const auto found = joined_.find(project);
  return found == joined_.end() ? 0 : found->second;
}

std::int64_t IdentityCache::all_devices() const {
  const std::shared_lock lock(mutex_);
  return std::ssize(devices_);
}

std::vector<std::string> IdentityCache::researchers(const std::string& project,
                                                    std::size_t limit) const {
  std::vector<std::string> names;
  const std::shared_lock lock(mutex_);
  const auto found = members_of_.find(project);
  if (found == members_of_.end()) return names;
  for (const std::string& name : found->second) {
    if (names.size() == limit) break;
    names.push_back(name);
  }
  return names;
}

std::string IdentityCache::first_project(const storage::Principal& principal) const {
  const auto first = projects(principal, {.limit = 1});
  return first.empty() ? std::string() : first.front().name;
}

bool IdentityCache::may_use(const storage::Principal& principal, std::string_view project) {
  return principal.role == storage::PrincipalRole::admin ||
         std::ranges::find(principal.projects, project) != principal.projects.end();
}

bool IdentityCache::has_project(const std::string& project) const {
  const std::shared_lock lock(mutex_);
  return project_ids_.contains(project);
}

std::optional<std::int64_t> IdentityCache::project_id(const std::string& name) const {
  const std::shared_lock lock(mutex_);
  const auto found = project_ids_.find(name);
  return found == project_ids_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::string> IdentityCache::project_name(std::int64_t id) const {
  const std::shared_lock lock(mutex_);
  const auto found = projects_.find(id);
  return found == projects_.end() ? std::nullopt : std::optional(found->second.name);
}

storage::Rules IdentityCache::rules() const {
  const std::shared_lock lock(mutex_);
  return rules_;
}

std::vector<storage::BarredBlob> IdentityCache::barred() const {
  const std::shared_lock lock(mutex_);
  return barred_;
}

storage::Stop IdentityCache::stop_of(const std::string& owner, const std::string& project,
                                     const protocol::StudySpec& spec) const {
  const std::shared_lock lock(mutex_);
  return storage::stop_of(rules_, owner, project, spec);
}

bool IdentityCache::is_barred(const std::string& sha256) const {
  const std::shared_lock lock(mutex_);
  return rules_.blobs.contains(sha256);
}

std::vector<std::string> IdentityCache::borrowers_of(const std::string& project) const {
  const std::shared_lock lock(mutex_);
  std::vector<std::string> borrowers;
  if (!rules_.shares_of_projects.contains(project)) return borrowers;
  for (const auto& [name, id] : project_ids_) {
    if (storage::lends(rules_, project, name)) borrowers.push_back(name);
  }
  return borrowers;
}

storage::StudyCeiling IdentityCache::ceiling_of(const std::string& owner,
                                                const std::string& project) const {
  const std::shared_lock lock(mutex_);
  return storage::ceiling_of(rules_, owner, project);
}

std::vector<std::int64_t> IdentityCache::take_expired() {
  std::vector<std::int64_t> ended;
  const std::unique_lock lock(mutex_);
  const std::int64_t now = clock_();
  constexpr std::int64_t kAnyId = std::numeric_limits<std::int64_t>::max();
  for (auto one = expiring_.upper_bound({swept_at_, kAnyId});
       one != expiring_.end() && one->first <= now; ++one)
    ended.push_back(one->second);
  swept_at_ = std::max(swept_at_, now);
  return ended;
}

}  // namespace hyperflock::auth
