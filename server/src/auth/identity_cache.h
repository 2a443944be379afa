// Keeps the identities in memory, to check tokens, device secrets and enrolment codes without a
// query. Storage fills it at the start; then it follows each committed change. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "storage/storage.h"
#include "storage/transition.h"

namespace hyperflock::auth {

// A person who sent a token, and the token's id.
struct Caller {
  storage::Principal principal;
  std::int64_t token = 0;
};

// The project of an enrolment code, and whether a device may join by it now.
struct CodeView {
  std::string project;
  bool open = false;
};

class IdentityCache {
 public:
  explicit IdentityCache(storage::WallClock clock = system_clock());

  // Replaces all identities by those from storage.
  void load(const storage::Identities& stored);

  // Applies a committed transition. Transitions that change no identity are ignored.
  void committed(const storage::Transition& transition, const storage::Outcome& outcome);

  // Returns the token's owner, even if that person is not active. Returns nullopt if the token is
  // unknown or has ended.
  std::optional<Caller> check_token(std::string_view token) const;
  // Returns the device if the secret is right and the device is not revoked.
  std::optional<storage::Device> check_device(std::string_view id, std::string_view secret) const;
  // Returns whether the id and the secret are those of a revoked device.
  bool is_revoked(std::string_view id, std::string_view secret) const;
  // Returns the device with this id and secret even if it is revoked, since it may still be erased.
  std::optional<storage::Device> find_own(std::string_view id, std::string_view secret) const;
  // Returns the code's project; nullopt if the code is unknown or revoked.
  std::optional<CodeView> check_code(std::string_view code) const;

  std::vector<storage::Principal> principals() const;  // sorted by id, like the next ones
  std::vector<storage::Token> tokens() const;
  std::vector<storage::Project> projects() const;
  std::vector<storage::Enrolment> enrolments() const;
  std::optional<storage::Principal> principal(std::int64_t id) const;
  std::optional<storage::Token> token(std::int64_t id) const;
  std::optional<storage::Enrolment> enrolment(std::int64_t id) const;
  // Returns the ids of the person's tokens that are valid now.
  std::vector<std::int64_t> live_tokens(std::int64_t principal) const;
  // Returns whether an active administrator has a token that never expires. The given token and all
  // tokens of the given person do not count (0 excludes nothing).
  bool others_administer(std::int64_t token, std::int64_t principal) const;
  // Returns how many people wait for an administrator's decision.
  std::size_t pending() const;
  // Returns how many devices of each project have joined and are not revoked.
  std::map<std::string, std::int64_t> devices_by_project() const;

  // Returns the names of the active researchers who may use the project, sorted.
  std::vector<std::string> researchers(std::string_view project) const;
  // Returns the project that is used if the person names no project. It is the oldest of the
  // person's projects, or empty without one.
  std::string first_project(const storage::Principal& principal) const;
  static bool may_use(const storage::Principal& principal, std::string_view project);
  bool has_project(std::string_view project) const;

  // Returns tokens that have expired since the last call, so that their connections are closed.
  std::vector<std::int64_t> take_expired();

  std::int64_t now() const { return clock_(); }
  static storage::WallClock system_clock();

 private:
  // Returns the device with this id and secret, even if revoked; or nullptr. REQUIRES: the lock is
  // held.
  const storage::Device* find_device(std::string_view id, const std::string& secret_hash) const;

  const storage::WallClock clock_;
  mutable std::shared_mutex mutex_;
  // These lists are short. A search compares every row and does not stop at a match, so its
  // duration reveals nothing about stored hashes.
  std::vector<storage::Principal> principals_;
  std::vector<storage::Token> tokens_;
  std::vector<storage::Project> projects_;
  std::vector<storage::Enrolment> enrolments_;
  std::unordered_map<std::string, storage::Device> devices_;  // by id, revoked ones too
  std::int64_t swept_at_ = 0;                                 // when take_expired() was last called
};

}  // namespace hyperflock::auth
