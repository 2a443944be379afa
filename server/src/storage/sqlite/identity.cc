// Implements the guards of identity.h in SQL: people, projects, codes, devices and the audit log.
// Writer thread only.
#include <algorithm>
#include <set>

#include "storage/sqlite/contribution/contribution.h"
#include "storage/sqlite/contribution/passphrase.h"
#include "storage/sqlite/db/rows.h"
#include "storage/sqlite/readers.h"
#include "storage/sqlite/writer.h"
#include "storage/study_ledger.h"

namespace hyperflock::storage::sqlite {
namespace {

// At most this many versions of a device (class, engine, adapter) are kept, so that erasing the
// device is quick. Attempts with further versions have only the device's name.
constexpr std::int64_t kMostDeviceVersions = 16;

Outcome outcome(Applied applied, std::int64_t id = 0) {
  Outcome result;
  result.applied = applied;
  result.id = id;
  return result;
}

Outcome refused(const Excess& excess) {
  Outcome result = outcome(Applied::superseded);
  result.excess = excess;
  return result;
}

}  // namespace

Outcome Writer::apply_one(const CreatePrincipal& create) {
  const Principal& made = create.principal;
  if (!projects_exist(made.projects)) return outcome(Applied::conflict);
  const int inserted = db_->run(
      "INSERT OR IGNORE INTO principals (name, role, state, note, quota_studies, quota_trials,"
      " quota_bytes, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      made.name, made.role, made.state, made.note, made.quota.studies, made.quota.trials,
      made.quota.bytes, now_);
  if (inserted == 0) return outcome(Applied::conflict);
  Outcome result = outcome(Applied::applied, db_->last_id());
  set_projects(result.id, made.projects);
  owners_.clear();  // their quotas are read again
  result.token = add_token(result.id, create.token_hash, create.token_expires_at);
  return result;
}

Outcome Writer::apply_one(const UpdatePrincipal& update) {
  if (!has_principal(update.id)) return outcome(Applied::conflict);
  if (update.projects && !projects_exist(*update.projects)) return outcome(Applied::conflict);
  if (update.state) {
    db_->run("UPDATE principals SET state = ?, reason = ? WHERE id = ?", *update.state,
             update.reason, update.id);
  }
  if (update.quota) {
    db_->run(
        "UPDATE principals SET quota_studies = ?, quota_trials = ?, quota_bytes = ? WHERE id = ?",
        update.quota->studies, update.quota->trials, update.quota->bytes, update.id);
  }
  if (update.projects) set_projects(update.id, *update.projects);
  owners_.clear();  // their quotas are read again
  return outcome(Applied::applied, update.id);
}

Outcome Writer::apply_one(const CreateToken& create) {
  if (!has_principal(create.principal)) return outcome(Applied::conflict);
  if (create.retires != 0) {
    std::int64_t ends = create.retires_at;
    {
      Query old = db_->query(
          "SELECT expires_at, revoked_at FROM tokens WHERE id = ? AND"
          " principal = ?",
          create.retires, create.principal);
      if (!old.next()) return outcome(Applied::conflict);
      const std::int64_t ended = old.integer(0);
      if (old.integer(1) != 0 || (ended != 0 && ended <= now_)) return outcome(Applied::superseded);
      if (ended != 0) ends = std::min(ends, ended);
    }
    db_->run("UPDATE tokens SET expires_at = ? WHERE id = ?", ends, create.retires);
  }
  return outcome(Applied::applied, add_token(create.principal, create.hash, create.expires_at));
}

Outcome Writer::apply_one(const RevokeToken& revoke) {
  {
    Query known = db_->query("SELECT 1 FROM tokens WHERE id = ?", revoke.id);
    if (!known.next()) return outcome(Applied::conflict);
  }
  const int changed =
      db_->run("UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at = 0", now_, revoke.id);
  return outcome(changed > 0 ? Applied::applied : Applied::repeated, revoke.id);
}

Outcome Writer::apply_one(const CreateProject& create) {
  const int inserted = db_->run("INSERT OR IGNORE INTO projects (name, created_at) VALUES (?, ?)",
                                create.name, now_);
  return inserted > 0 ? outcome(Applied::applied, db_->last_id()) : outcome(Applied::conflict);
}

Outcome Writer::apply_one(const CreateEnrolment& create) {
  const Enrolment& code = create.enrolment;
  if (!projects_exist({code.project})) return outcome(Applied::conflict);
  const int inserted = db_->run(
      "INSERT OR IGNORE INTO codes (code_hash, project, label, created_by, created_at, expires_at,"
      " max_uses, uses, revoked_at) VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0)",
      code.code_hash, code.project, code.label, code.created_by, now_, code.expires_at,
      code.max_uses);
  return inserted > 0 ? outcome(Applied::applied, db_->last_id()) : outcome(Applied::repeated);
}

Outcome Writer::apply_one(const RevokeEnrolment& revoke) {
  {
    Query known = db_->query("SELECT 1 FROM codes WHERE id = ?", revoke.id);
    if (!known.next()) return outcome(Applied::conflict);
  }
  const int changed =
      db_->run("UPDATE codes SET revoked_at = ? WHERE id = ? AND revoked_at = 0", now_, revoke.id);
  return outcome(changed > 0 ? Applied::applied : Applied::repeated, revoke.id);
}

Outcome Writer::apply_one(const CreateDevice& create) {
  const Device& device = create.device;
  std::int64_t code_id = 0;
  if (!create.code_hash.empty()) {
    Query code = db_->query(
        "SELECT id FROM codes WHERE code_hash = ?1 AND revoked_at = 0 AND"
        " (expires_at = 0 OR expires_at > ?2) AND (max_uses = 0 OR uses < max_uses)",
        create.code_hash, now_);
    if (!code.next()) return outcome(Applied::superseded);
    code_id = code.integer(0);
  }
  std::int64_t all = 0;
  for (const auto& [project, devices] : joined()) all += devices;
  std::int64_t& own = joined()[device.project];
  if (!has_place(create.most_devices, own, all)) {
    Outcome refused = outcome(Applied::superseded);
    refused.refusal = Refusal::too_many_devices;
    return refused;
  }
  const int inserted = db_->run(
      "INSERT OR IGNORE INTO devices (id, project, secret_hash, device_class, engine,"
      " created_at, seen_at, code) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7)",
      device.id, device.project, device.secret_hash, device.device_class, device.engine, now_,
      code_id);
  if (inserted == 0) return outcome(Applied::conflict);
  ++own;
  if (!create.code_hash.empty())
    db_->run("UPDATE codes SET uses = uses + 1 WHERE code_hash = ?", create.code_hash);
  return outcome(Applied::applied);
}

Outcome Writer::apply_one(const RevokeDevice& revoke) {
  {
    Query known = db_->query("SELECT 1 FROM devices WHERE id = ?", revoke.device);
    if (!known.next()) return outcome(Applied::conflict);
  }
  const int changed = db_->run(
      "UPDATE devices SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", now_, revoke.device);
  return outcome(changed > 0 ? Applied::applied : Applied::repeated);
}

// The cost does not depend on the number of attempts. An attempt names its device by a row of
// device_versions, and only these rows are removed.
Outcome Writer::apply_one(const EraseDevice& erase) {
  std::string project;
  {
    Query gone = db_->query("DELETE FROM devices WHERE id = ? RETURNING project", erase.device);
    if (!gone.next()) return outcome(Applied::conflict);
    project = gone.text(0);
  }
  forget_device(erase.device, project);
  return outcome(Applied::applied);
}

Outcome Writer::apply_one(const JoinPassphrase& join) {
  {
    Query known = db_->query("SELECT 1 FROM devices WHERE id = ?", join.device);
    if (!known.next()) return outcome(Applied::conflict);
  }
  return join_passphrase(*db_, join);
}

Outcome Writer::apply_one(const SeeDevice& see) {
  const int seen = db_->run("UPDATE devices SET seen_at = ? WHERE id = ?", now_, see.device);
  return outcome(seen > 0 ? Applied::applied : Applied::conflict);
}

Outcome Writer::apply_one(const CollectDevice& collect) {
  {
    Query known = db_->query("SELECT 1 FROM devices WHERE id = ?", collect.device);
    if (!known.next()) return outcome(Applied::conflict);
  }
  std::string project;
  {
    Query gone = db_->query(
        "DELETE FROM devices WHERE id = ?1 AND revoked_at IS NULL AND seen_at < ?2"
        " AND NOT EXISTS (SELECT 1 FROM device_versions WHERE device = ?1 AND finished = 1)"
        " RETURNING project",
        collect.device, collect.before);
    if (!gone.next()) return outcome(Applied::superseded);
    project = gone.text(0);
  }
  forget_device(collect.device, project);
  return outcome(Applied::applied);
}

void Writer::forget_device(const std::string& device, const std::string& project) {
  if (joined_) --(*joined_)[project];
  db_->run("DELETE FROM device_use WHERE device = ?", device);
  forget_contributions(*db_, device);
  leave_passphrase(*db_, device);
  db_->run(kRevokeAttempts, AttemptState::revoked, now_, device);
  db_->run("DELETE FROM device_versions WHERE device = ?", device);
}

std::map<std::string, std::int64_t>& Writer::joined() {
  if (!joined_) {
    std::map<std::string, std::int64_t> counted;
    Query rows = db_->query("SELECT project, count(*) FROM devices GROUP BY project");
    while (rows.next()) counted.emplace(rows.text(0), rows.integer(1));
    joined_ = std::move(counted);
  }
  return *joined_;
}

std::int64_t Writer::device_version(const StartAttempt& start) {
  const sql::DeviceVersion version{start.device, start.device_class, start.engine, start.adapter};
  if (const auto known = rows_->find_version(version)) return *known;
  if (rows_->count_versions(start.device) < kMostDeviceVersions) return rows_->add_version(version);
  const sql::DeviceVersion plain{start.device};
  const auto known = rows_->find_version(plain);
  return known ? *known : rows_->add_version(plain);
}

Outcome Writer::apply_one(const OwnBlob& own) {
  {
    Query known = db_->query("SELECT 1 FROM owner_blobs WHERE owner = ? AND sha256 = ?", own.owner,
                             own.sha256);
    if (known.next()) return outcome(Applied::repeated);
  }
  write_changed_studies();  // including artifacts earlier in this batch
  if (const auto excess = excess_of(own.quota, used_by(own.owner), {0, 0, own.bytes}))
    return refused(*excess);
  add_blob(own.owner, own.sha256, own.bytes);
  return outcome(Applied::applied);
}

Outcome Writer::apply_one(const NoteAudit& note) {
  if (note.if_applied && !last_applied_) return outcome(Applied::repeated);
  const AuditEntry& entry = note.entry;
  db_->run(
      "INSERT INTO audit (at, actor, action, object, address, detail)"
      " VALUES (?, ?, ?, ?, ?, ?)",
      now_, entry.actor, entry.action, entry.object, entry.address, entry.detail);
  return outcome(Applied::applied, db_->last_id());
}

Outcome Writer::apply_one(const TrimAudit& trim) {
  const std::int64_t removed = trim_by_age(trim) + trim_by_size(trim);
  return outcome(removed > 0 ? Applied::applied : Applied::repeated);
}

Outcome Writer::apply_one(const KeepTime&) { return outcome(Applied::applied); }

// Reads only the oldest entries, so that the cost does not grow with the log.
std::int64_t Writer::trim_by_age(const TrimAudit& trim) {
  const std::int64_t most = std::min(trim.most, audit_size(*db_).entries - trim.kept);
  if (most <= 0) return 0;
  return db_->run(
      "DELETE FROM audit WHERE id IN (SELECT id FROM (SELECT id, at FROM audit ORDER BY id LIMIT ?)"
      " AS oldest WHERE at < ?)",
      most, trim.before);
}

std::int64_t Writer::trim_by_size(const TrimAudit& trim) {
  // The number of entries that are removed before the person with the most bytes is looked for
  // again.
  constexpr std::int64_t kAtOnce = 32;
  std::int64_t removed = 0;
  while (removed < trim.most) {
    const AuditSize size = audit_size(*db_);
    const std::int64_t too_many = trim.entries > 0 ? size.entries - trim.entries : 0;
    const bool too_large = trim.bytes > 0 && size.bytes > trim.bytes;
    if (too_many <= 0 && !too_large) break;
    const std::int64_t wanted = too_large ? kAtOnce : std::min(kAtOnce, too_many);
    const int gone = db_->run(
        "DELETE FROM audit WHERE id IN (SELECT id FROM audit INDEXED BY audit_by_actor"
        " WHERE actor = (SELECT actor FROM audit_totals ORDER BY bytes DESC LIMIT 1)"
        " ORDER BY id LIMIT ?)",
        std::min(wanted, trim.most - removed));
    if (gone == 0) break;
    removed += gone;
  }
  return removed;
}

std::optional<Excess> Writer::excess_of_study(const CreateStudy& create, std::int64_t spec_bytes) {
  if (create.quota == Quota{}) return std::nullopt;
  Usage asked{1, create.total, 0};
  if (create.quota.bytes > 0) {
    std::set<std::string> seen;
    for (const protocol::BlobRef& blob : protocol::blobs_of(create.spec)) {
      if (!seen.insert(blob.sha256).second) continue;
      Query known = db_->query("SELECT 1 FROM owner_blobs WHERE owner = ? AND sha256 = ?",
                               create.owner, blob.sha256);
      if (!known.next()) asked.bytes += blob.bytes;
    }
  }
  write_changed_studies();  // including studies that ended in this batch
  if (const auto excess = excess_of(create.quota, used_by(create.owner), asked)) return excess;
  return excess_of_records(create.quota.bytes, owner_of(create.owner).records,
                           kStudyRecord + spec_bytes);
}

std::optional<Excess> Writer::excess_of_reissue(const StudyRow& study, const Quota& quota,
                                                std::int64_t spec_bytes) {
  if (quota == Quota{}) return std::nullopt;
  if (!ledger::is_running(study)) {
    Usage asked{1, study.total, 0};
    {
      Query row = db_->query("SELECT total FROM studies WHERE id = ?", study.id);
      row.next();
      asked.trials += row.integer(0);
    }
    write_changed_studies();  // including studies that ended in this batch
    if (const auto excess = excess_of(quota, used_by(study.owner), asked)) return excess;
  }
  return excess_of_records(quota.bytes, owner_of(study.owner).records, spec_bytes);
}

std::optional<Excess> Writer::excess_of_extension(const StudyRow& study, const Quota& quota,
                                                  std::int64_t before, std::int64_t after,
                                                  std::int64_t more_spec_bytes) {
  if (quota == Quota{}) return std::nullopt;
  write_changed_studies();  // including studies that ended in this batch
  const Usage asked = ledger::is_running(study) ? Usage{0, after - before, 0} : Usage{1, after, 0};
  if (const auto excess = excess_of(quota, used_by(study.owner), asked)) return excess;
  return excess_of_records(quota.bytes, owner_of(study.owner).records,
                           std::max(kSmallRecord, more_spec_bytes));
}

Usage Writer::used_by(const std::string& owner) { return usage(*db_, owner); }

void Writer::add_blob(const std::string& owner, const std::string& sha256, std::int64_t bytes) {
  db_->run("INSERT OR IGNORE INTO owner_blobs (owner, sha256, bytes) VALUES (?, ?, ?)", owner,
           sha256, bytes);
}

std::int64_t Writer::add_token(std::int64_t principal, const std::string& hash,
                               std::int64_t expires_at) {
  db_->run(
      "INSERT INTO tokens (principal, token_hash, created_at, expires_at, revoked_at)"
      " VALUES (?, ?, ?, ?, 0)",
      principal, hash, now_, expires_at);
  return db_->last_id();
}

bool Writer::has_principal(std::int64_t id) {
  return db_->query("SELECT 1 FROM principals WHERE id = ?", id).next();
}

bool Writer::projects_exist(const std::vector<std::string>& names) {
  return std::all_of(names.begin(), names.end(), [this](const std::string& name) {
    return db_->query("SELECT 1 FROM projects WHERE name = ?", name).next();
  });
}

void Writer::set_projects(std::int64_t principal, const std::vector<std::string>& names) {
  db_->run("DELETE FROM members WHERE principal = ?", principal);
  for (const std::string& name : names) {
    db_->run(
        "INSERT OR IGNORE INTO members (principal, project)"
        " SELECT ?, id FROM projects WHERE name = ?",
        principal, name);
  }
}

// ---- what studies and devices have stored (quota.h); triggers keep the sums of owners

Writer::Owner& Writer::owner_of(const std::string& name) {
  const auto [found, is_new] = owners_.try_emplace(name);
  Owner& owner = found->second;
  if (!is_new) return owner;
  write_changed_studies();  // including changes earlier in this batch
  owner.records = stored(*db_, name).records;
  owner.quota_bytes = quota_bytes(*db_, name);
  return owner;
}

void Writer::charge_records(Study& study, std::int64_t bytes) {
  if (bytes == 0) return;
  if (const auto kept = owners_.find(study.row.owner); kept != owners_.end())
    kept->second.records += bytes;
  study.row.record_bytes += bytes;
  touch(study);
}

bool Writer::has_room_for_records(const Study& study, std::int64_t bytes) {
  const Owner& owner = owner_of(study.row.owner);
  return !excess_of_records(owner.quota_bytes, owner.records, bytes);
}

void Writer::charge_artifact(Study& study, AttemptId uploader, Charge how, std::int64_t bytes) {
  const std::int64_t sign = how == Charge::adds ? 1 : -1;
  charge_device(study.row.id, uploader, sign * bytes);
  charge_records(study, sign * kArtifactRecord);
}

void Writer::charge_checkpoint(Study& study, AttemptId uploader, std::int64_t bytes) {
  study.row.checkpoint_bytes += bytes;
  charge_device(study.row.id, uploader, bytes);
  touch(study);
}

// No bytes count for a device that was erased, because its attempts do not name it any more. A
// device that keeps no bytes of a study has no row.
void Writer::charge_device(StudyId study, AttemptId uploader, std::int64_t bytes) {
  if (bytes == 0) return;
  db_->run(
      "INSERT INTO device_use (device, study, bytes) SELECT device, ?2, ?3 FROM attempts"
      " JOIN device_versions ON device_versions.id = device_version WHERE attempts.id = ?1"
      " ON CONFLICT (device, study) DO UPDATE SET bytes = device_use.bytes + excluded.bytes",
      uploader, study, bytes);
  if (bytes > 0) return;
  db_->run(
      "DELETE FROM device_use WHERE device = (SELECT device FROM attempts"
      " JOIN device_versions ON device_versions.id = device_version WHERE attempts.id = ?)"
      " AND study = ? AND bytes <= 0",
      uploader, study);
}

}  // namespace hyperflock::storage::sqlite
