// Who may come in, in memory: checks tokens, device secrets and enrolment codes at the edge without
// a query. Filled from storage at the start, then told of each committed change. Any thread.
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

// Who sent a token, and by which one.
struct Caller {
  storage::Principal principal;
  std::int64_t token = 0;
};

// What a code opens, and whether a device may join by it now.
struct CodeView {
  std::string project;
  bool open = false;
};

class IdentityBook {
 public:
  explicit IdentityBook(storage::WallClock clock = system_clock());

  // Replaces everything by what is stored.
  void load(const storage::Identities& stored);

  // A transition has been committed with this outcome; those that change no identity are ignored.
  void committed(const storage::Transition& transition, const storage::Outcome& outcome);

  // Whose token this is, whatever their state; nothing when nobody's, or when it has ended.
  std::optional<Caller> check_token(std::string_view token) const;
  // The device, when the secret is its own and it is not revoked.
  std::optional<storage::Device> check_device(std::string_view id, std::string_view secret) const;
  // Whether the secret is that of a device that was revoked.
  bool is_revoked(std::string_view id, std::string_view secret) const;
  // The device of this secret, revoked or not: erasing is everybody's right.
  std::optional<storage::Device> find_own(std::string_view id, std::string_view secret) const;
  // What the code opens; nothing for none, and for one that was revoked.
  std::optional<CodeView> check_code(std::string_view code) const;

  std::vector<storage::Principal> principals() const;  // these by id
  std::vector<storage::Token> tokens() const;
  std::vector<storage::Project> projects() const;
  std::vector<storage::Enrolment> enrolments() const;
  std::optional<storage::Principal> principal(std::int64_t id) const;
  std::optional<storage::Token> token(std::int64_t id) const;
  std::optional<storage::Enrolment> enrolment(std::int64_t id) const;
  // Tokens of a person that open something now.
  std::vector<std::int64_t> live_tokens(std::int64_t principal) const;
  // Whether an administrator could still come in, for good, without this token and without this
  // person (0: nobody).
  bool others_administer(std::int64_t token, std::int64_t principal) const;
  // People whose request waits for an administrator.
  std::size_t pending() const;
  // Devices that have joined and are not revoked, by project.
  std::map<std::string, std::int64_t> devices_by_project() const;

  // Names of the active researchers who may use the project, sorted.
  std::vector<std::string> researchers(std::string_view project) const;
  // The project that somebody uses who names none: the oldest of theirs. Empty where there is none.
  std::string first_project(const storage::Principal& principal) const;
  static bool may_use(const storage::Principal& principal, std::string_view project);
  bool has_project(std::string_view project) const;

  // Tokens whose time ended since the last call, for what was opened by them.
  std::vector<std::int64_t> take_expired();

  std::int64_t now() const { return clock_(); }
  static storage::WallClock system_clock();

 private:
  // The device of this id and secret, revoked or not; null where there is none. Needs the lock.
  const storage::Device* find_device(std::string_view id, const std::string& secret_hash) const;

  const storage::WallClock clock_;
  mutable std::shared_mutex mutex_;
  // Few, and compared one by one with no early end, so that timing tells nothing about stored
  // hashes.
  std::vector<storage::Principal> principals_;
  std::vector<storage::Token> tokens_;
  std::vector<storage::Project> projects_;
  std::vector<storage::Enrolment> enrolments_;
  std::unordered_map<std::string, storage::Device> devices_;  // by id, revoked ones too
  std::int64_t swept_at_ = 0;                                 // take_expired()'s last time
};

}  // namespace hyperflock::auth
