// See restore.h.
#include "backup/restore.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "backup/files.h"
#include "backup/repository.h"
#include "storage/sqlite/check/stopped_database.h"
#include "storage/sqlite/open.h"

namespace hyperflock::backup {
namespace fs = std::filesystem;

Status may_restore_to(const fs::path& state) {
  std::error_code error;
  if (fs::exists(state / kUnfinished, error)) return {};
  for (const auto& entry : fs::directory_iterator(state, error)) {
    if (entry.path().filename() == "lost+found") continue;
    return Error{"not_empty", state.string() +
                                  " is not empty: restore to a new folder, and start the server "
                                  "with it."};
  }
  return {};
}

Result<Restored> restore(const std::string& folder, const std::string& name,
                         const std::string& state_dir, std::int64_t now) {
  TRY(const auto repository, Repository::open(folder, Repository::Use::read));
  const auto names = repository->names();
  Restored restored;
  restored.name = name.empty() && !names.empty() ? names.back() : name;
  if (std::ranges::find(names, restored.name) == names.end()) {
    return Error{"unknown_backup", names.empty() ? "There is no complete backup in " + folder + "."
                                                 : "There is no backup of this name in " + folder +
                                                       "; the newest is " + names.back() + "."};
  }
  TRY(const auto manifest, repository->manifest(restored.name));
  TRY(const auto files, repository->files(restored.name));
  const fs::path from = repository->path_of(restored.name) / "hyperflock.db";
  TRY(auto checked, storage::check_database(from.string(), storage::DatabaseState::resting));
  const auto broken = std::ranges::find(checked.findings, "integrity", &storage::Finding::code);
  if (broken != checked.findings.end()) {
    return Error{"backup_damaged", "The database of the backup " + restored.name + " is damaged (" +
                                       broken->text + "): restore another one with --backup."};
  }
  restored.at = manifest.at;
  restored.findings = std::move(checked.findings);

  const fs::path state(state_dir);
  TRY(may_restore_to(state));
  TRY(make_folder(state));
  TRY(write_file(state / kUnfinished, restored.name + "\n"));
  TRY(sync_folder(state));
  std::set<fs::path> folders{state};
  for (const BackupFile& one : files) {
    const fs::path target = state / one.path;
    TRY(make_folder(target.parent_path()));
    std::error_code error;
    const fs::path content = repository->content_of(one.sha256);
    if (!fs::is_regular_file(content, error)) {
      restored.findings.push_back({"blob_missing", one.path + " is missing in the backup."});
      continue;
    }
    TRY(place(content, target, How::copy));
    TRY(const auto found, hash_of(target));
    if (found != one.sha256) {
      fs::remove(target, error);
      restored.findings.push_back({"blob_damaged", one.path + " is damaged in the backup."});
      continue;
    }
    for (fs::path up = target.parent_path(); up != state; up = up.parent_path()) folders.insert(up);
    ++restored.files;
  }
  // The database comes last: without it, the folder is no state folder.
  const fs::path database = storage::database_of(state_dir);
  TRY(place(from, database, How::copy));
  TRY(storage::mark_restored(database.string(), restored.name, now));
  for (const fs::path& one : folders) TRY(sync_folder(one));
  std::error_code error;
  fs::remove(state / kUnfinished, error);
  if (error) return disk_error(state / kUnfinished, error.value());
  TRY(sync_folder(state));
  return restored;
}

}  // namespace hyperflock::backup
