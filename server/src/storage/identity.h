// People, tokens, projects, enrolment codes, devices and the audit log: rows as storage keeps them,
// and the guarded transitions that change them. Plain data. Storage writes wall times (`*_at`, Unix
// ms) by its injected clock, and assigns ids (Outcome::id). transition.h explains guards.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/quota.h"
#include "storage/rules.h"

namespace hyperflock::storage {

// ---- rows

enum class PrincipalRole { admin, researcher };
// Only tokens of an active person are valid. `pending`: the person has registered, and no
// administrator has decided.
enum class PrincipalState { active, pending, refused, suspended };

struct Principal {
  std::int64_t id = 0;
  std::string name;
  PrincipalRole role = PrincipalRole::researcher;
  PrincipalState state = PrincipalState::active;
  std::string note{};    // the text that the person wrote when they registered
  std::string reason{};  // why an administrator refused or suspended the person
  Quota quota{};
  // Names of the projects that a researcher may use, sorted. An administrator may use all.
  std::vector<std::string> projects{};
  std::int64_t created_at = 0;
};

// A person may have several tokens, so that a new one can be used before the old one ends.
struct Token {
  std::int64_t id = 0;
  std::int64_t principal = 0;
  std::string hash;             // hex SHA-256
  std::int64_t created_at = 0;  // 0: not known (older rows)
  std::int64_t expires_at = 0;  // 0: never
  std::int64_t revoked_at = 0;  // 0: not revoked
};

struct Project {
  std::int64_t id = 0;
  std::string name;
  std::int64_t created_at = 0;
  std::int64_t frozen_at = 0;  // 0: not frozen (R67)
  std::string reason{};        // why it is frozen
};

// A barred blob: no study that names it may run (R67).
struct BarredBlob {
  std::string sha256;
  std::string reason{};
  std::string barred_by{};  // a principal's name
  std::int64_t barred_at = 0;
};

struct Device {
  std::string id;
  std::string project;
  std::string secret_hash;  // hex SHA-256
  std::string device_class;
  std::string engine;
  bool revoked = false;
  std::int64_t seen_at = 0;  // when it was connected last, to about an hour
};

// A row of a list by the time at which devices were seen.
struct SeenDevice {
  std::string id;
  std::int64_t seen_at = 0;
  bool idle = false;  // whether it has sent no result and is not revoked
  bool operator==(const SeenDevice&) const = default;
};

// The places that a project may use, as long as the server has any.
inline constexpr std::int64_t kLeastPlaces = 100;

// Returns whether a project that has `own` devices may get another one, if the server has `all` and
// takes at most `most` (0: any number). A project may use half of the places that other projects
// leave, so that no join link can use up all places.
inline bool has_place(std::int64_t most, std::int64_t own, std::int64_t all) {
  if (most == 0) return true;
  return all < most && own < std::max(kLeastPlaces, (most - (all - own)) / 2);
}

struct Enrolment {
  std::string code_hash;  // hex SHA-256
  std::string project;
  std::int64_t id = 0;
  std::string label{};       // for people: where the link was posted
  std::string created_by{};  // a principal's name
  std::int64_t created_at = 0;
  std::int64_t expires_at = 0;  // 0: never
  std::int64_t max_uses = 0;    // devices that may join by it; 0: any number
  std::int64_t uses = 0;        // devices that have joined by it
  std::int64_t revoked_at = 0;  // 0: not revoked
};

// Returns whether a device may join with the code now.
inline bool admits(const Enrolment& code, std::int64_t now) {
  return code.revoked_at == 0 && (code.expires_at == 0 || now < code.expires_at) &&
         (code.max_uses == 0 || code.uses < code.max_uses);
}

// An entry of the audit log: the actor, the action, its object and the address. It never changes;
// only TrimAudit removes it.
struct AuditEntry {
  std::int64_t id = 0;
  std::int64_t at = 0;
  std::string actor;   // a principal's name; "device" for a volunteer; "server" for the server
  std::string action;  // such as token.revoke
  std::string object{};
  std::string address{};  // of a researcher or an administrator; not stored for volunteers
  std::string detail{};   // JSON text of an object, or empty
};

// ---- transitions

// Creates a person and their first token, if the name is new (else `conflict`). Outcome::id is the
// person's id, Outcome::token the token's.
struct CreatePrincipal {
  Principal principal;
  std::string token_hash;
  std::int64_t token_expires_at = 0;
};
// Changes a person. The person must exist, and so must each project (else `conflict`). Fields that
// are not given do not change.
struct UpdatePrincipal {
  std::int64_t id = 0;
  std::optional<PrincipalState> state{};
  std::optional<Quota> quota{};
  std::optional<std::vector<std::string>> projects{};
  std::string reason{};  // of a new state, which replaces the old one's
};
// Adds a token of a person who exists (else `conflict`). If `retires` is given, it must be a token
// of this person (else `conflict`) that is neither revoked nor expired (else `superseded`). That
// token then expires at `retires_at`, unless it expires earlier anyway.
struct CreateToken {
  std::int64_t principal = 0;
  std::string hash;
  std::int64_t expires_at = 0;
  std::int64_t retires = 0;  // 0: none
  std::int64_t retires_at = 0;
};
// Revokes a token that exists (else `conflict`) and is not revoked yet (else `repeated`).
struct RevokeToken {
  std::int64_t id = 0;
};
// Creates a project, if no project has this name (else `conflict`).
struct CreateProject {
  std::string name;
};
// Freezes a project or lifts the freeze. The project must exist (else `conflict`), and its state
// must change (else `repeated`).
struct FreezeProject {
  std::string name;
  bool frozen = true;
  std::string reason{};
};
// Bars a blob or lifts the bar, if this changes anything (else `repeated`). The blob need not
// exist.
struct BarBlob {
  std::string sha256;
  bool barred = true;
  std::string reason{};
  std::string by{};  // a principal's name
};
// Replaces the ceiling of the server, of a researcher or of a project, if it changes (else
// `repeated`). The researcher or project must exist (else `conflict`). An empty ceiling is removed.
struct SetCeiling {
  CeilingScope scope = CeilingScope::server;
  std::string name{};  // empty for the server
  Ceiling ceiling{};
};
// Replaces the share of a researcher or of a project, if it changes (else `repeated`). The
// researcher or project must exist, and so must the projects that the share names (else
// `conflict`). An empty share is removed.
struct SetShare {
  CeilingScope scope = CeilingScope::researcher;  // not `server`
  std::string name{};
  Share share{};
};
// Adds an enrolment code, if its project exists (else `conflict`) and no code is the same (else
// `repeated`).
struct CreateEnrolment {
  Enrolment enrolment;
};
// Revokes a code that exists (else `conflict`) and is not revoked yet (else `repeated`).
struct RevokeEnrolment {
  std::int64_t id = 0;
};
// Adds a device and counts one use of the code, if a code is given. The code must admit a device
// (else `superseded`), there must be a place for it (has_place(), else `superseded` with
// Refusal::too_many_devices), and the device's id must be new (else `conflict`).
struct CreateDevice {
  Device device;
  std::string code_hash{};
  std::int64_t most_devices = 0;
};
// Notes that a device that exists (else `conflict`) is connected now.
struct SeeDevice {
  std::string device;
};
// Removes a device as EraseDevice does, if it exists (else `conflict`), has sent no result, is not
// revoked, and was not seen since `before` (else `superseded`).
struct CollectDevice {
  std::string device;
  std::int64_t before = 0;
};
// Adds a device to those of a passphrase, and takes it from those of another one (R81). The device
// must exist (else `conflict`) and not be there yet (else `repeated`). A new passphrase must have
// no device (else `conflict` with Refusal::passphrase_taken); another one must have some (else
// `superseded`), but fewer than kMostTogether (else `superseded` with Refusal::too_many_devices).
struct JoinPassphrase {
  std::string device;
  std::string key_hash;  // SHA-256, in hex, of the passphrase's key
  bool is_new = false;
};
inline constexpr std::int64_t kMostTogether = 64;
// Revokes a device that exists (else `conflict`) and is not revoked yet (else `repeated`).
struct RevokeDevice {
  std::string device;
};
// Removes the row of a device that exists (else `conflict`). Its attempts become those of
// kErasedDevice and lose their class, engine and adapter. Its live attempts become revoked, because
// a server that stops right after this transaction would otherwise wait until each lease ends. The
// cost does not depend on the number of attempts.
struct EraseDevice {
  std::string device;
};
inline constexpr const char* kErasedDevice = "erased";

// Records that a researcher has uploaded a blob. Their quota must have room (else `superseded`,
// with Outcome::excess), and the blob must not count for them yet (else `repeated`).
struct OwnBlob {
  std::string owner;
  std::string sha256;
  std::int64_t bytes = 0;
  Quota quota{};
};

// Adds an audit entry. With `if_applied`, the entry is added only if the previous transition of the
// batch was applied (else `repeated`). Use it in the same group as the change that it describes.
struct NoteAudit {
  AuditEntry entry;
  bool if_applied = true;
};
// The bytes that an entry of the audit log counts in addition to its texts.
inline constexpr std::int64_t kAuditEntryBytes = 64;
// The newest kAuditKept entries stay, however old they are, and at most kAuditTrimmed entries are
// removed at once. So even a wrong clock removes few entries, and never the newest ones.
inline constexpr std::int64_t kAuditKept = 10'000;
inline constexpr std::int64_t kAuditTrimmed = 10'000;

// Removes entries of the audit log: those older than `before` except the newest `kept`, and, while
// the log has more than `entries` entries or `bytes` bytes (0: any number), the oldest entries of
// the person who has most bytes in it. Removes at most `most` entries. `repeated` if it removes
// none.
struct TrimAudit {
  std::int64_t before = 0;
  std::int64_t entries = 0;
  std::int64_t bytes = 0;
  std::int64_t kept = kAuditKept;
  std::int64_t most = kAuditTrimmed;
};

// Makes storage keep the current time (Storage::kept_time), although nothing else changes.
struct KeepTime {};

}  // namespace hyperflock::storage
