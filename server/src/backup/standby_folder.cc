// See standby_folder.h.
#include "backup/standby_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <set>

#include "backup/files.h"
#include "storage/sqlite/check/stopped_database.h"
#include "storage/sqlite/open.h"

namespace hyperflock::backup {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStandbyMarker = "hyperflock-standby";

// Copies files of a standby into a state folder.
class Copier {
 public:
  Copier(const StandbyFolder& from, const fs::path& to, Restored& restored)
      : from_(from), to_(to), restored_(restored) {}

  Status blobs(const char* store, const std::vector<std::string>& named) {
    for (const std::string& sha256 : named) {
      const fs::path name = fs::path(store) / sha256.substr(0, 2) / sha256.substr(2);
      const fs::path source = from_.path_of("") / name;
      std::error_code error;
      if (!fs::is_regular_file(source, error)) {
        note("blob_missing", name.string() + " had not been copied to the standby.");
        continue;
      }
      TRY(copy(source, name));
      TRY(const auto found, hash_of(to_ / name));
      if (found == sha256) continue;
      fs::remove(to_ / name, error);
      note("blob_damaged", name.string() + " is damaged in the standby.");
      --restored_.files;
    }
    return {};
  }
  Status runtimes() {
    const fs::path folder = from_.path_of("runtimes");
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
      std::error_code none;
      if (entry.is_regular_file(none) && !entry.is_symlink(none))
        TRY(copy(entry.path(), "runtimes" / fs::relative(entry.path(), folder)));
    }
    return {};
  }
  Status sync() const {
    for (const fs::path& folder : folders_) TRY(sync_folder(folder));
    return {};
  }

 private:
  Status copy(const fs::path& source, const fs::path& name) {
    const fs::path target = to_ / name;
    TRY(make_folder(target.parent_path()));
    TRY(place(source, target, How::copy));
    for (fs::path up = target.parent_path(); up != to_; up = up.parent_path()) folders_.insert(up);
    ++restored_.files;
    return {};
  }
  void note(const char* code, std::string text) {
    restored_.findings.push_back({code, std::move(text)});
  }

  const StandbyFolder& from_;
  const fs::path& to_;
  Restored& restored_;
  std::set<fs::path> folders_;
};

}  // namespace

Result<std::unique_ptr<StandbyFolder>> StandbyFolder::open(const fs::path& folder, Use use) {
  std::error_code error;
  const bool is_ours = fs::is_regular_file(folder / kStandbyMarker, error);
  if (use == Use::ship && !is_ours) {
    TRY(make_folder(folder));
    if (!is_free_for(folder, kStandbyMarker)) {
      return Error{"not_a_standby_folder", folder.string() +
                                               " has other files in it: name the folder of a "
                                               "standby, an empty folder or a new one."};
    }
    TRY(write_file(folder / kStandbyMarker, "A standby of hyperflock-server, format 1.\n"));
    TRY(sync_folder(folder));
  } else if (!is_ours) {
    return Error{"not_a_standby_folder",
                 folder.string() +
                     " is no folder of a standby: name the one that `serve --standby` was given."};
  }
  const int lock = ::open((folder / kStandbyMarker).c_str(), O_RDWR | O_CLOEXEC);
  if (lock < 0) return disk_error(folder / kStandbyMarker, errno);
  std::unique_ptr<StandbyFolder> opened(new StandbyFolder(folder, lock));
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    return Error{"standby_in_use",
                 "A server ships to " + folder.string() + " now: stop it before anything else."};
  }
  return opened;
}

StandbyFolder::~StandbyFolder() { ::close(lock_); }

bool StandbyFolder::is_complete() const {
  std::error_code error;
  return fs::is_regular_file(folder_ / "complete", error);
}

Status StandbyFolder::set_complete() const {
  if (is_complete()) return {};
  TRY(write_file(folder_ / "complete", "The database has a whole state.\n"));
  return sync_folder(folder_);
}

Result<Restored> promote(const std::string& folder, const std::string& state_dir,
                         std::int64_t now) {
  TRY(const auto standby, StandbyFolder::open(folder, StandbyFolder::Use::read));
  if (!standby->is_complete()) {
    return Error{"standby_incomplete",
                 "The standby in " + folder + " has never had a whole state: restore a backup."};
  }
  const fs::path state(state_dir);
  TRY(may_restore_to(state));
  TRY(make_folder(state));
  TRY(write_file(state / kUnfinished, "standby\n"));
  TRY(sync_folder(state));
  Restored restored;
  restored.name = "standby";
  restored.at = now;
  const std::string database = storage::database_of(state_dir);
  std::error_code error;
  // SQLite applies the log, and leaves out what was written only in part.
  for (const char* part : {"", "-wal"}) {
    const fs::path source = standby->database().string() + part;
    if (fs::exists(source, error)) TRY(place(source, database + part, How::copy));
  }
  TRY(storage::apply_log(database));
  TRY(auto checked, storage::check_database(database, storage::DatabaseState::resting));
  restored.findings = std::move(checked.findings);
  Copier copier(*standby, state, restored);
  TRY(copier.blobs("blobs", checked.owned));
  TRY(copier.blobs("checkpoints", checked.kept));
  TRY(copier.runtimes());
  TRY(storage::mark_restored(database, restored.name, now));
  TRY(copier.sync());
  fs::remove(state / kUnfinished, error);
  if (error) return disk_error(state / kUnfinished, error.value());
  TRY(sync_folder(state));
  return restored;
}

}  // namespace hyperflock::backup
