// See verify.h.
#include "backup/verify.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "backup/files.h"
#include "backup/repository.h"
#include "backup/restore.h"
#include "storage/sqlite/open.h"

namespace hyperflock::backup {
namespace {

namespace fs = std::filesystem;
using storage::CheckedDatabase;

std::string path_in(const std::string& store, const std::string& sha256) {
  return store + "/" + sha256.substr(0, 2) + "/" + sha256.substr(2);
}

class Verifier {
 public:
  Result<Verified> backups(const std::string& folder, const std::string& name) {
    TRY(const auto repository, Repository::open(folder, Repository::Use::read));
    done_.names = repository->names();
    if (!name.empty()) {
      if (std::ranges::find(done_.names, name) == done_.names.end())
        return Error{"unknown_backup", "There is no backup of this name in " + folder + "."};
      done_.names = {name};
    }
    if (done_.names.empty())
      return Error{"unknown_backup", "There is no complete backup in " + folder + "."};
    for (const std::string& one : done_.names) {
      about_ = one;
      if (const Status verified = backup(*repository); !verified)
        note(verified.error().code, verified.error().message);
    }
    return std::move(done_);
  }

  Result<Verified> state(const std::string& folder) {
    std::error_code error;
    if (fs::exists(fs::path(folder) / kUnfinished, error))
      note("unfinished", "the restoration of this folder was interrupted; restore again.");
    TRY(const auto checked,
        storage::check_database(storage::database_of(folder), storage::DatabaseState::stopped));
    take(checked);
    for (const auto& [store, wanted] : named_by(checked)) {
      for (const std::string& sha256 : wanted)
        content(fs::path(folder) / path_in(store, sha256), sha256, path_in(store, sha256));
    }
    for (const std::string& runtime : checked.runtimes) {
      if (!fs::is_directory(fs::path(folder) / "runtimes" / runtime, error))
        note("runtime_missing", "running studies need the runtime " + runtime + ".");
    }
    return std::move(done_);
  }

 private:
  Status backup(const Repository& repository) {
    TRY(const auto manifest, repository.manifest(about_));
    TRY(const auto files, repository.files(about_));
    const fs::path database = repository.path_of(about_) / "hyperflock.db";
    TRY(const auto sha256, hash_of(database));
    if (sha256 != manifest.database_sha256)
      note("database_damaged", "the database has another SHA-256 than when it was written.");
    TRY(const auto checked,
        storage::check_database(database.string(), storage::DatabaseState::resting));
    take(checked);
    std::set<std::string> paths;
    for (const BackupFile& one : files) {
      paths.insert(one.path);
      content(repository.content_of(one.sha256), one.sha256, one.path);
    }
    for (const auto& [store, wanted] : named_by(checked)) {
      for (const std::string& one : wanted) {
        if (!paths.contains(path_in(store, one)))
          note("blob_missing", path_in(store, one) + " is not in the backup, but rows name it.");
      }
    }
    for (const std::string& runtime : checked.runtimes) {
      if (!paths.contains("runtimes/" + runtime + "/index.json"))
        note("runtime_missing", "running studies need the runtime " + runtime + ".");
    }
    return {};
  }

  static std::map<std::string, std::vector<std::string>> named_by(const CheckedDatabase& checked) {
    return {{"blobs", checked.owned}, {"checkpoints", checked.kept}};
  }

  void take(const CheckedDatabase& checked) {
    for (const storage::Finding& one : checked.findings) note(one.code, one.text);
  }

  // Backups share content, so each file is read once.
  void content(const fs::path& file, const std::string& sha256, const std::string& shown) {
    const auto [known, is_new] = hashes_.try_emplace(file);
    if (is_new) {
      std::error_code error;
      if (fs::is_regular_file(file, error)) {
        const auto hash = hash_of(file);
        known->second = hash ? *hash : std::string("unreadable");
        ++done_.files;
      }
    }
    if (!known->second) {
      note("blob_missing", shown + " is missing.");
    } else if (*known->second != sha256) {
      note("blob_damaged",
           shown + " is damaged: remove " + file.string() + "; the next backup copies it again.");
    }
  }

  void note(const std::string& code, const std::string& text) {
    done_.findings.push_back({code, about_.empty() ? text : about_ + ": " + text});
  }

  std::string about_;  // the backup
  Verified done_;
  std::map<fs::path, std::optional<std::string>> hashes_;
};

}  // namespace

Result<Verified> verify(const std::string& folder, const std::string& name) {
  std::error_code error;
  if (name.empty() && fs::is_regular_file(storage::database_of(folder), error))
    return Verifier().state(folder);
  return Verifier().backups(folder, name);
}

}  // namespace hyperflock::backup
