// See check.h.
#include "storage/sqlite/check/check.h"

#include <sqlite3.h>

#include <filesystem>
#include <map>

#include "protocol/codec.h"
#include "storage/sqlite/best.h"
#include "storage/sqlite/check/rules.h"
#include "storage/sqlite/db/db.h"
#include "storage/sqlite/readers.h"
#include "storage/sqlite/schema.h"
#include "storage/sqlite/storage.h"

namespace hyperflock::storage {
namespace {

using sqlite::Db;
using sqlite::Query;

constexpr std::size_t kShown = 3;  // rows that break a rule and are named

Error not_ours(const std::string& path, const std::string& why) {
  return Error{"storage_open", "Cannot check " + path + " (" + why +
                                   "): name a database of hyperflock-server, or restore a backup."};
}

// Counts what breaks a rule, and names the first.
class Breaches {
 public:
  void add(std::string_view what) {
    if (++count_ <= kShown) shown_ += (shown_.empty() ? "" : ", ") + std::string(what);
  }
  void end(std::vector<Finding>& findings, const char* code, const std::string& sentence) const {
    if (count_ == 0) return;
    std::string text = sentence + ": " + shown_;
    if (count_ > kShown) text += " and " + std::to_string(count_ - kShown) + " more";
    findings.push_back({code, text + "."});
  }

 private:
  std::size_t count_ = 0;
  std::string shown_;
};

void check_structure(Db& db, std::vector<Finding>& findings) {
  Breaches broken;
  {
    Query row = db.query("PRAGMA integrity_check");
    while (row.next()) {
      if (row.text(0) != "ok") broken.add(row.text(0));
    }
  }
  broken.end(findings, "integrity", "SQLite finds the file damaged");
  Breaches dangling;
  {
    Query row = db.query("PRAGMA foreign_key_check");
    while (row.next()) dangling.add("table " + std::string(row.text(0)));
  }
  dangling.end(findings, "foreign_keys", "rows name rows that are not there");
}

// Returns the text that made each table, index and trigger.
std::map<std::string, std::string> schema_of(Db& db) {
  std::map<std::string, std::string> found;
  Query row = db.query("SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'");
  while (row.next()) found.emplace(row.text(0), row.text(1));
  return found;
}

// Returns what the migrations make in an empty database.
std::map<std::string, std::string> migrated_schema() {
  Db made(":memory:", Db::Mode::read_write);
  for (const sqlite::Migration& migration : sqlite::migrations()) made.exec(migration.sql);
  return schema_of(made);
}

// Compares the schema with the one that the migrations make.
void check_schema(Db& db, std::vector<Finding>& findings) {
  static const std::map<std::string, std::string> wanted = migrated_schema();
  const auto has = schema_of(db);
  Breaches other;
  for (const auto& [name, sql] : wanted) {
    const auto found = has.find(name);
    if (found == has.end() || found->second != sql) other.add(name);
  }
  for (const auto& [name, sql] : has) {
    if (!wanted.contains(name)) other.add(name);
  }
  other.end(findings, "schema", "tables, indexes or triggers are not those of this version");
}

void check_rows(Db& db, std::vector<Finding>& findings) {
  for (const sqlite::RowRule& rule : sqlite::row_rules()) {
    Breaches broken;
    {
      Query row = db.query(rule.sql);
      while (row.next()) broken.add(row.text(0));
    }
    broken.end(findings, rule.code, rule.sentence);
  }
  Breaches unreadable;
  {
    Query row = db.query("SELECT id, spec FROM studies JOIN study_progress ON study = id");
    while (row.next()) {
      if (!protocol::parse_study_spec(row.text(1)))
        unreadable.add("study " + std::to_string(row.integer(0)));
    }
  }
  unreadable.end(findings, "specs", "the spec of a study cannot be read");
  Breaches best;
  for (const StudyId study : sqlite::studies_with_wrong_best(db))
    best.add("study " + std::to_string(to_int(study)));
  best.end(findings, "best_trials", "the best trials of a study are not those of its results");
}

Result<CheckedDatabase> check(Db& db, const std::string& path) {
  if (!sqlite::is_ours(db)) return not_ours(path, "it is a database of another program");
  CheckedDatabase checked;
  checked.version = std::stoll(db.single("PRAGMA user_version"));
  const std::int64_t newest = sqlite::migrations().back().version;
  if (checked.version > newest) return sqlite::too_new(path, checked.version);
  check_structure(db, checked.findings);
  if (checked.version < newest || !checked.findings.empty()) return checked;
  check_schema(db, checked.findings);
  if (!checked.findings.empty()) return checked;
  checked.rows_checked = true;
  check_rows(db, checked.findings);
  checked.owned = sqlite::owned_blobs(db);
  checked.kept = sqlite::kept_blobs(db);
  checked.runtimes = sqlite::running_runtimes(db);
  checked.studies = std::stoll(db.single("SELECT count(*) FROM study_progress"));
  checked.finished_trials = std::stoll(
      db.single("SELECT coalesce(sum(complete + pruned + failed), 0) FROM study_progress"));
  return checked;
}

}  // namespace

Result<CheckedDatabase> check_database(const std::string& path, DatabaseState state) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored))
    return not_ours(path, "there is no such file");
  std::unique_ptr<FileLock> lock;
  if (state == DatabaseState::stopped) {
    TRY(lock, FileLock::take(path + ".lock"));
  }
  try {
    Db db(path, state == DatabaseState::resting ? Db::Mode::immutable : Db::Mode::read_only);
    return check(db, path);
  } catch (const sqlite::SqliteError& error) {
    const int code = error.code() & 0xff;
    if (code != SQLITE_CORRUPT && code != SQLITE_NOTADB) return not_ours(path, error.what());
    CheckedDatabase checked;
    checked.findings.push_back(
        {"integrity", std::string("SQLite finds the file damaged: ") + error.what() + "."});
    return checked;
  }
}

}  // namespace hyperflock::storage
