// Keeps the identities in memory, to check tokens, device secrets and enrolment codes without a
// query. Storage fills it at the start; then it follows each committed change. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
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

// A part of a list that is sorted by id: at most `limit` rows with ids above `after`.
struct Piece {
  std::int64_t after = -1;
  std::size_t limit = std::numeric_limits<std::size_t>::max();
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
  // Returns the project of a device, even if the device is revoked; nullopt if the server does not
  // know it.
  std::optional<std::string> project_of_device(const std::string& id) const;
  // Returns whether the id and the secret are those of a revoked device.
  bool is_revoked(std::string_view id, std::string_view secret) const;
  // Returns the device with this id and secret, even if it is revoked, because a revoked device may
  // still request its erasure.
  std::optional<storage::Device> find_own(std::string_view id, std::string_view secret) const;
  // Returns the code's project; nullopt if the code is unknown or revoked.
  std::optional<CodeView> check_code(std::string_view code) const;

  // Each returns rows sorted by id, in a time proportional to their number. tokens() with a person
  // returns only that person's tokens. projects() returns only projects that the viewer may use,
  // and enrolments() only the enrolment codes of such projects.
  std::vector<storage::Principal> principals(Piece piece = {}) const;
  std::vector<storage::Token> tokens(std::optional<std::int64_t> principal = {},
                                     Piece piece = {}) const;
  std::vector<storage::Project> projects(const storage::Principal& viewer, Piece piece = {}) const;
  std::vector<storage::Enrolment> enrolments(const storage::Principal& viewer,
                                             Piece piece = {}) const;
  std::vector<storage::Principal> administrators() const;
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
  // Returns how many devices of the project have joined and are not revoked.
  std::int64_t devices(const std::string& project) const;
  // Returns how many devices the server has, with revoked ones.
  std::int64_t all_devices() const;

  // Returns names of the active researchers who may use the project, sorted, at most `limit`.
  std::vector<std::string> researchers(
      const std::string& project,
      std::size_t limit = std::numeric_limits<std::size_t>::max()) const;
  // Returns the project that is used if the person names no project. It is the oldest of the
  // person's projects, or empty without one.
  std::string first_project(const storage::Principal& principal) const;
  static bool may_use(const storage::Principal& principal, std::string_view project);
  bool has_project(const std::string& project) const;
  std::optional<std::int64_t> project_id(const std::string& name) const;
  std::optional<std::string> project_name(std::int64_t id) const;

  // Returns the rules that administrators have set (R67, R68, R70).
  storage::Rules rules() const;
  std::vector<storage::BarredBlob> barred() const;  // sorted by SHA-256
  // Returns the rule that stops all trials of a study with this owner, project and spec, if one
  // does.
  storage::Stop stop_of(const std::string& owner, const std::string& project,
                        const protocol::StudySpec& spec) const;
  bool is_barred(const std::string& sha256) const;
  // Returns the projects to which this one lends its idle devices (R70).
  std::vector<std::string> borrowers_of(const std::string& project) const;
  storage::StudyCeiling ceiling_of(const std::string& owner, const std::string& project) const;

  // Returns tokens that have expired since the last call, so that their connections are closed.
  std::vector<std::int64_t> take_expired();

  std::int64_t now() const { return clock_(); }
  static storage::WallClock system_clock();

 private:
  struct Follower;

  // Rows by id, and the ids by the hash of the secret.
  //
  // A search for a secret goes by its SHA-256, so it costs the same with one row and with 20,000.
  // It need not take constant time: its duration may depend on the hash of the guess, and on which
  // bucket of the table that hash falls into. A caller can compute the hash of a guess, but cannot
  // make a secret from bits of a stored hash. The shortest secret has 128 random bits, and no
  // person chooses a secret, so bits of its hash do not help to guess it.
  template <typename Row>
  struct SecretRows {
    std::map<std::int64_t, Row> rows;
    std::unordered_map<std::string, std::int64_t> by_hash;
  };

  // The callers of these functions hold mutex_.
  const storage::Device* find_device(std::string_view id, const std::string& secret_hash) const;
  const storage::Token* find_token(const std::string& hash) const;
  const storage::Enrolment* find_code(const std::string& hash) const;
  void put(storage::Principal principal);
  void put(storage::Token token);
  void put(storage::Project project);
  void put(storage::Enrolment code);
  void put(storage::Device device);
  void remove_device(const std::string& id);
  void set_expiry(storage::Token& token, std::int64_t expires_at);

  const storage::WallClock clock_;
  mutable std::shared_mutex mutex_;
  std::map<std::int64_t, storage::Principal> principals_;
  SecretRows<storage::Token> tokens_;
  std::map<std::int64_t, storage::Project> projects_;
  SecretRows<storage::Enrolment> codes_;
  std::vector<storage::BarredBlob> barred_;
  storage::Rules rules_;
  std::unordered_map<std::string, storage::Device> devices_;  // by id, revoked ones too
  // Indexes and counts of the rows above, so that no request walks through all rows.
  std::map<std::int64_t, std::set<std::int64_t>> tokens_of_;           // by person
  std::unordered_map<std::string, std::int64_t> project_ids_;          // by name
  std::unordered_map<std::string, std::set<std::int64_t>> codes_of_;   // by project
  std::unordered_map<std::string, std::set<std::string>> members_of_;  // active researchers
  std::unordered_map<std::string, std::int64_t> joined_;  // devices by project, not revoked
  std::set<std::int64_t> admins_;
  std::size_t pending_ = 0;
  std::set<std::pair<std::int64_t, std::int64_t>> expiring_;  // tokens as (expires_at, id)
  std::int64_t swept_at_ = 0;                                 // when take_expired() was last called
};

}  // namespace hyperflock::auth
