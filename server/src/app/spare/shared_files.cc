// See shared_files.h.
#include "app/spare/shared_files.h"

#include <charconv>
#include <fstream>
#include <optional>
#include <system_error>

#include "auth/blob_links.h"

namespace hyperflock::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHeld = "held-";
constexpr const char* kParts[] = {"blobs", "checkpoints", "runtimes"};

Error bad_files(const std::string& message) { return Error{"bad_state", message}; }

std::optional<std::int64_t> epoch_of(const std::string& name) {
  if (!name.starts_with(kHeld)) return std::nullopt;
  std::int64_t epoch = 0;
  const char* const end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + kHeld.size(), end, epoch);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return epoch;
}

fs::path folder_of(const fs::path& shared, std::int64_t epoch) {
  return shared / (std::string(kHeld) + std::to_string(epoch));
}

// Returns the newest epoch whose folder is there.
Result<std::optional<std::int64_t>> newest_epoch(const fs::path& shared) {
  std::optional<std::int64_t> newest;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(shared, error)) {
    const auto epoch = epoch_of(entry.path().filename().string());
    if (epoch && (!newest || *epoch > *newest)) newest = epoch;
  }
  if (error) return bad_files("Cannot read " + shared.string() + ": " + error.message() + ".");
  return newest;
}

// Checks that the files are this database's, or notes that they are from now on.
Status check_database(const fs::path& folder, const std::string& database) {
  const fs::path path = folder / "database";
  std::ifstream before(path);
  std::string known;
  if (before.is_open() && std::getline(before, known) && known != database)
    return bad_files(folder.string() +
                     " has the files of another database: give each database a folder "
                     "of its own in --shared-files.");
  if (known == database) return {};
  std::ofstream after(path);
  if (!(after << database << '\n' << std::flush))
    return bad_files("Cannot write " + path.string() + ": check the folder's permissions.");
  return {};
}

// Makes `link` a link to `target`, in place of an older link or of a folder without files.
Status link_to(const fs::path& target, const fs::path& link) {
  std::error_code error;
  const auto status = fs::symlink_status(link, error);
  if (fs::is_directory(status)) {
    fs::remove(link / "uploads", error);
    fs::remove(link / auth::kLinkKeyFile, error);
    fs::remove(link, error);
    if (error)
      return bad_files("With --shared-files, " + link.string() + " must be empty: move it to " +
                       target.parent_path().string() + " first.");
  } else if (fs::exists(status)) {
    fs::remove(link, error);
  }
  fs::create_directory_symlink(target, link, error);
  if (error)
    return bad_files("Cannot make the link " + link.string() + ": " + error.message() + ".");
  return {};
}

}  // namespace

Status take_shared_files(const fs::path& state, const fs::path& shared, std::int64_t epoch,
                         const std::string& database) {
  std::error_code error;
  const fs::path root = fs::absolute(shared, error);
  fs::create_directories(root, error);
  if (error)
    return bad_files("Cannot make the folder " + root.string() + ": " + error.message() + ".");
  TRY(const auto newest, newest_epoch(root));
  const fs::path own = folder_of(root, epoch);
  if (newest && *newest > epoch)
    return bad_files(
        folder_of(root, *newest).string() +
        " is newer than this server's start: another server has taken the files, or they are "
        "another database's.");
  if (newest) TRY(check_database(folder_of(root, *newest), database));
  if (newest && *newest != epoch) fs::rename(folder_of(root, *newest), own, error);
  for (const char* part : kParts)
    if (!error) fs::create_directories(own / part, error);
  if (error)
    return bad_files("Cannot take the files in " + root.string() + ": " + error.message() + ".");
  TRY(check_database(own, database));
  for (const char* part : kParts) TRY(link_to(own / part, state / part));
  return {};
}

}  // namespace hyperflock::app
