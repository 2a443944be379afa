// Writes and reads what administrators set: frozen projects, barred blobs, ceilings, shares, and
// studies that await approval (R67, R68, R70).
#include <algorithm>

#include "protocol/codec.h"
#include "storage/sqlite/readers.h"
#include "storage/sqlite/writer.h"

namespace hyperflock::storage::sqlite {
namespace {

Outcome of_rule(Applied applied) {
  Outcome result;
  result.applied = applied;
  return result;
}

Applied if_changed(int changed_rows) {
  return changed_rows > 0 ? Applied::applied : Applied::repeated;
}

constexpr Sql kSelectCeilings =
    "SELECT scope, name, time_limit_ms, devices, data_bytes, approval FROM ceilings";

Ceiling read_ceiling(const Query& row) {
  Ceiling ceiling{.time_limit_ms = row.maybe_integer(2),
                  .devices = row.maybe_integer(3),
                  .data_bytes = row.maybe_integer(4)};
  if (const auto approval = row.maybe_integer(5)) ceiling.approval = *approval != 0;
  return ceiling;
}

}  // namespace

Outcome Writer::apply_one(const FreezeProject& freeze) {
  if (!projects_exist({freeze.name})) return of_rule(Applied::conflict);
  if (!freeze.frozen) {
    return of_rule(
        if_changed(db_->run("UPDATE projects SET frozen_at = 0, frozen_reason = '' WHERE name = ?"
                            " AND frozen_at != 0",
                            freeze.name)));
  }
  return of_rule(
      if_changed(db_->run("UPDATE projects SET frozen_at = ?2, frozen_reason = ?3 WHERE name = ?1"
                          " AND (frozen_at = 0 OR frozen_reason != ?3)",
                          freeze.name, std::max<std::int64_t>(now_, 1), freeze.reason)));
}

Outcome Writer::apply_one(const BarBlob& bar) {
  if (!bar.barred)
    return of_rule(if_changed(db_->run("DELETE FROM barred_blobs WHERE sha256 = ?", bar.sha256)));
  return of_rule(
      if_changed(db_->run("INSERT INTO barred_blobs (sha256, reason, barred_by, barred_at)"
                          " VALUES (?1, ?2, ?3, ?4) ON CONFLICT (sha256) DO UPDATE SET reason = ?2,"
                          " barred_by = ?3, barred_at = ?4 WHERE barred_blobs.reason != ?2",
                          bar.sha256, bar.reason, bar.by, now_)));
}

Outcome Writer::apply_one(const SetCeiling& set) {
  const bool known = set.scope == CeilingScope::server ||
                     (set.scope == CeilingScope::project
                          ? projects_exist({set.name})
                          : db_->query("SELECT 1 FROM principals WHERE name = ?", set.name).next());
  if (!known) return of_rule(Applied::conflict);
  Ceiling before;
  {
    Query row = db_->query(
        "SELECT scope, name, time_limit_ms, devices, data_bytes, approval FROM ceilings"
        " WHERE scope = ? AND name = ?",
        set.scope, set.name);
    if (row.next()) before = read_ceiling(row);
  }
  if (before == set.ceiling) return of_rule(Applied::repeated);
  db_->run("DELETE FROM ceilings WHERE scope = ? AND name = ?", set.scope, set.name);
  if (set.ceiling.empty()) return of_rule(Applied::applied);
  std::optional<std::int64_t> approval;
  if (set.ceiling.approval) approval = *set.ceiling.approval ? 1 : 0;
  db_->run(
      "INSERT INTO ceilings (scope, name, time_limit_ms, devices, data_bytes, approval)"
      " VALUES (?, ?, ?, ?, ?, ?)",
      set.scope, set.name, set.ceiling.time_limit_ms, set.ceiling.devices, set.ceiling.data_bytes,
      approval);
  return of_rule(Applied::applied);
}

Outcome Writer::apply_one(const SetShare& set) {
  std::vector<std::string> projects;
  for (const std::string& one : set.share.lends) {
    if (one != kEveryProject) projects.push_back(one);
  }
  if (set.scope == CeilingScope::project) projects.push_back(set.name);
  const bool known = projects_exist(projects) &&
                     (set.scope == CeilingScope::project ||
                      (set.scope == CeilingScope::researcher && set.share.lends.empty() &&
                       db_->query("SELECT 1 FROM principals WHERE name = ?", set.name).next()));
  if (!known) return of_rule(Applied::conflict);
  const Rules before = rules(*db_);
  const auto& all =
      set.scope == CeilingScope::project ? before.shares_of_projects : before.shares_of_researchers;
  const auto found = all.find(set.name);
  if ((found == all.end() ? Share{} : found->second) == set.share)
    return of_rule(Applied::repeated);
  db_->run("DELETE FROM shares WHERE scope = ? AND name = ?", set.scope, set.name);
  if (set.scope == CeilingScope::project)
    db_->run("DELETE FROM lending WHERE lender = ?", set.name);
  if (set.share.empty()) return of_rule(Applied::applied);
  db_->run("INSERT INTO shares (scope, name, weight, guaranteed) VALUES (?, ?, ?, ?)", set.scope,
           set.name, set.share.weight, set.share.guaranteed);
  for (const std::string& one : set.share.lends)
    db_->run("INSERT INTO lending (lender, borrower) VALUES (?, ?)", set.name, one);
  return of_rule(Applied::applied);
}

std::vector<BarredBlob> barred_blobs(Connection& db) {
  std::vector<BarredBlob> barred;
  Query rows =
      db.query("SELECT sha256, reason, barred_by, barred_at FROM barred_blobs ORDER BY sha256");
  while (rows.next()) {
    barred.push_back({std::string(rows.text(0)), std::string(rows.text(1)),
                      std::string(rows.text(2)), rows.integer(3)});
  }
  return barred;
}

Rules rules(Connection& db) {
  Rules all;
  Query owners =
      db.query("SELECT name, reason FROM principals WHERE state != ?", PrincipalState::active);
  while (owners.next()) all.owners.emplace(owners.text(0), owners.text(1));
  Query projects = db.query("SELECT name, frozen_reason FROM projects WHERE frozen_at != 0");
  while (projects.next()) all.projects.emplace(projects.text(0), projects.text(1));
  for (const BarredBlob& one : barred_blobs(db)) all.blobs.emplace(one.sha256, one.reason);
  Query ceilings = db.query(kSelectCeilings);
  while (ceilings.next()) {
    const std::string name(ceilings.text(1));
    switch (static_cast<CeilingScope>(ceilings.integer(0))) {
      case CeilingScope::server:
        all.server = read_ceiling(ceilings);
        break;
      case CeilingScope::researcher:
        all.of_researchers.emplace(name, read_ceiling(ceilings));
        break;
      case CeilingScope::project:
        all.of_projects.emplace(name, read_ceiling(ceilings));
        break;
    }
  }
  Query shares = db.query("SELECT scope, name, weight, guaranteed FROM shares");
  while (shares.next()) {
    const bool of_project = static_cast<CeilingScope>(shares.integer(0)) == CeilingScope::project;
    (of_project ? all.shares_of_projects : all.shares_of_researchers)
        .emplace(shares.text(1),
                 Share{.weight = shares.maybe_integer(2), .guaranteed = shares.integer(3)});
  }
  Query lending = db.query("SELECT lender, borrower FROM lending");
  while (lending.next())
    all.shares_of_projects[std::string(lending.text(0))].lends.emplace(lending.text(1));
  return all;
}

std::vector<std::string> earlier_blobs(Connection& db, const StudyRow& study) {
  std::vector<std::string> earlier;
  if (study.code == 1) return earlier;
  const auto now_named = protocol::blobs_of(study.spec);
  Query rows = db.query("SELECT sha256 FROM study_blobs WHERE study = ? ORDER BY sha256", study.id);
  while (rows.next()) {
    std::string blob(rows.text(0));
    if (std::ranges::find(now_named, blob, &protocol::BlobRef::sha256) == now_named.end())
      earlier.push_back(std::move(blob));
  }
  return earlier;
}

std::vector<std::string> not_owned(Connection& db, const std::string& owner,
                                   const std::vector<std::string>& blobs) {
  std::vector<std::string> others;
  for (const std::string& blob : blobs) {
    Query own = db.query("SELECT 1 FROM owner_blobs WHERE owner = ? AND sha256 = ?", owner, blob);
    if (!own.next()) others.push_back(blob);
  }
  return others;
}

StudyPage awaiting_approval(Connection& db, std::int64_t after, std::int64_t limit) {
  const Transaction view(db, Transaction::Kind::read);
  const std::int64_t most = std::max<std::int64_t>(limit, 0);
  std::vector<std::int64_t> ids;
  {
    Query rows = db.query(
        "SELECT study FROM study_progress WHERE approval = 1 AND study > ? ORDER BY study LIMIT ?",
        after, most + 1);
    while (rows.next()) ids.push_back(rows.integer(0));
  }
  StudyPage page;
  std::size_t bytes = 0;
  for (const std::int64_t id : ids) {
    if (std::ssize(page.studies) == most || bytes >= kPageSpecBytes) {
      page.more = true;
      break;
    }
    auto row = study(db, StudyId{id});
    if (!row) continue;
    bytes += protocol::serialize_study_spec(row->spec).size();
    page.studies.push_back(*std::move(row));
  }
  return page;
}

}  // namespace hyperflock::storage::sqlite
