// See backup.h.
#include "backup/backup.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "backup/files.h"
#include "blobs/blob_store.h"
#include "storage/sqlite/check/stopped_database.h"
#include "storage/sqlite/open.h"

namespace hyperflock::backup {
namespace {

namespace fs = std::filesystem;

constexpr int kTries = 3;

// Returns whether `inner` is `outer` or in it. Neither need exist.
bool is_inside(const fs::path& inner, const fs::path& outer) {
  std::error_code error;
  const fs::path one = fs::weakly_canonical(fs::absolute(inner), error);
  const fs::path other = fs::weakly_canonical(fs::absolute(outer), error);
  const auto [rest, ignored] = std::mismatch(other.begin(), other.end(), one.begin(), one.end());
  return rest == other.end() || (std::next(rest) == other.end() && rest->empty());
}

// Makes one backup in the folder part() of a repository.
class Maker {
 public:
  Maker(const Source& source, Repository& repository) : source_(source), repository_(repository) {}

  Result<Made> run() {
    std::error_code error;
    fs::remove_all(repository_.part(), error);
    TRY(make_folder(repository_.part()));
    const fs::path database = repository_.part() / "hyperflock.db";
    std::int64_t schema = 0;
    for (int tries = 1;; ++tries) {
      files_.clear();
      made_ = {};
      std::vector<std::shared_ptr<void>> held{source_.hold_blobs()};
      TRY(source_.copy_database(database.string(), [&] { held.push_back(source_.hold_blobs()); }));
      TRY(auto checked,
          storage::check_database(database.string(), storage::DatabaseState::resting));
      made_.findings = std::move(checked.findings);
      schema = checked.version;
      TRY(add_blobs("blobs", checked.rows_checked, checked.owned));
      TRY(add_blobs("checkpoints", checked.rows_checked, checked.kept));
      if (made_.findings.empty() || tries == kTries) break;
      fs::remove(database, error);
    }
    TRY(add_runtimes());
    for (const fs::path& folder : changed_) TRY(sync_folder(folder));
    TRY(sync_folder(repository_.part() / ".." / "blobs"));
    TRY(write_lists(database, schema));
    TRY(made_.name, repository_.complete(source_.now));
    return std::move(made_);
  }

 private:
  // Adds the blobs of a store; all of them if it is not known which ones rows name.
  Status add_blobs(const std::string& store, bool known, std::vector<std::string> wanted) {
    const fs::path folder = fs::path(source_.state_dir) / store;
    std::error_code error;
    if (!known && fs::is_directory(folder, error)) wanted = blobs_in(folder.string());
    for (const std::string& sha256 : wanted) {
      const std::string path = store + "/" + sha256.substr(0, 2) + "/" + sha256.substr(2);
      TRY(add(path, sha256));
    }
    return {};
  }

  Status add_runtimes() {
    const fs::path state(source_.state_dir);
    std::vector<std::string> paths;
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(state / "runtimes", error)) {
      std::error_code none;
      if (entry.is_regular_file(none) && !entry.is_symlink(none))
        // Not fs::relative(), because the folder may be a link (--shared-files).
        paths.push_back(entry.path().lexically_relative(state).string());
    }
    std::ranges::sort(paths);
    for (const std::string& path : paths) {
      if (path.find('\n') != std::string::npos) continue;  // no runtime has such a file
      TRY(const auto sha256, hash_of(state / path));
      TRY(add(path, sha256));
    }
    return {};
  }

  // Adds a file of the state folder with this hash. If it is missing or has another hash, the
  // backup goes on without it.
  Status add(const std::string& path, const std::string& sha256) {
    TRY(source_.may_go_on());
    const fs::path source = fs::path(source_.state_dir) / path;
    const fs::path target = repository_.content_of(sha256);
    std::error_code error;
    const auto bytes = fs::file_size(source, error);
    if (error) {
      note("blob_missing", path + " is missing, but rows of the database name it.");
      return {};
    }
    const auto has = fs::file_size(target, error);
    if (error || has != bytes) {
      TRY(make_folder(target.parent_path()));
      TRY(place(source, target, How::link));
      TRY(const auto found, hash_of(target));
      if (found != sha256) {
        fs::remove(target, error);
        note("blob_damaged", path + " has another SHA-256 than its name.");
        return {};
      }
      changed_.insert(target.parent_path());
      ++made_.new_files;
    }
    files_.push_back({sha256, static_cast<std::int64_t>(bytes), path});
    made_.bytes += static_cast<std::int64_t>(bytes);
    return {};
  }

  void note(const char* code, std::string text) {
    made_.findings.push_back({code, std::move(text)});
  }

  Status write_lists(const fs::path& database, std::int64_t schema) {
    Manifest manifest;
    std::error_code error;
    made_.files = std::ssize(files_);
    made_.bytes += static_cast<std::int64_t>(fs::file_size(database, error));
    const std::string list = to_text(files_);
    manifest.at = source_.now;
    manifest.server = source_.server_version;
    manifest.schema = schema;
    TRY(manifest.database_sha256, hash_of(database));
    manifest.files_sha256 = blobs::sha256_hex(list);
    manifest.files = made_.files;
    manifest.bytes = made_.bytes;
    TRY(write_file(repository_.part() / "files", list));
    return write_file(repository_.part() / "backup.json", to_text(manifest));
  }

  const Source& source_;
  Repository& repository_;
  std::vector<BackupFile> files_;
  std::set<fs::path> changed_;
  Made made_;
};

}  // namespace

std::vector<std::string> blobs_in(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& part : fs::directory_iterator(folder, error)) {
    std::error_code none;
    for (const auto& file : fs::directory_iterator(part, none)) {
      std::string name = part.path().filename().string() + file.path().filename().string();
      if (blobs::is_sha256(name)) found.push_back(std::move(name));
    }
  }
  std::ranges::sort(found);
  return found;
}

Status check_apart(const std::string& state_dir, const std::string& folder) {
  if (is_inside(folder, state_dir) || is_inside(state_dir, folder)) {
    return Error{"backup_inside_state", folder + " and " + state_dir +
                                            " must not contain each other: name another folder, "
                                            "best on another disk."};
  }
  return {};
}

Result<Made> make_backup(const Source& source, const std::string& folder, std::int64_t keep) {
  TRY(check_apart(source.state_dir, folder));
  TRY(const auto repository, Repository::open(folder, Repository::Use::change));
  auto made = Maker(source, *repository).run();
  if (!made) {
    std::error_code error;
    fs::remove_all(repository->part(), error);
    return made;
  }
  TRY(made->removed, repository->prune(keep));
  return made;
}

Result<Made> back_up_stopped(const std::string& state_dir, const std::string& server_version,
                             std::int64_t now, const std::string& folder, std::int64_t keep) {
  TRY(const auto database, storage::StoppedDatabase::open(storage::database_of(state_dir)));
  Source source;
  source.state_dir = state_dir;
  source.server_version = server_version;
  source.now = now;
  source.copy_database = [&](const std::string& target, const std::function<void()>&) {
    return database->copy_to(target);
  };
  return make_backup(source, folder, keep);
}

}  // namespace hyperflock::backup
