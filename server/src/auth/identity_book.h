// Who may come in, in memory: checks tokens, device secrets and enrolment codes at the edge without
// a query. Filled from storage at the start, then told of each committed change. Any thread.
#pragma once

#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "storage/storage.h"
#include "storage/transition.h"

namespace hyperflock::auth {

class IdentityBook {
 public:
  // Replaces everything by what is stored.
  void load(const storage::Identities& stored);

  // A transition has been committed with this outcome; those that change no identity are ignored.
  void committed(const storage::Transition& transition, const storage::Outcome& outcome);

  // Whose token this is; nothing when nobody's.
  std::optional<storage::Principal> check_token(std::string_view token) const;
  // The device, when the secret is its own and it is not revoked.
  std::optional<storage::Device> check_device(std::string_view id, std::string_view secret) const;
  // Whether the secret is that of a device that was revoked.
  bool is_revoked(std::string_view id, std::string_view secret) const;
  // The project that the code lets devices join.
  std::optional<std::string> check_code(std::string_view code) const;

  // Names of the researchers, sorted.
  std::vector<std::string> researchers() const;
  // The project of every study: a server has one, made at its first start. Empty before.
  std::string first_project() const;
  bool has_project(std::string_view project) const;

 private:
  // The device of this id and secret, revoked or not; null where there is none. Needs the lock.
  const storage::Device* find_device(std::string_view id, const std::string& secret_hash) const;

  mutable std::shared_mutex mutex_;
  // Few, and compared one by one with no early end, so that timing tells nothing about stored
  // hashes.
  std::vector<storage::Principal> principals_;
  std::vector<storage::Enrolment> enrolments_;
  std::unordered_map<std::string, storage::Device> devices_;  // by id, revoked ones too
};

}  // namespace hyperflock::auth
