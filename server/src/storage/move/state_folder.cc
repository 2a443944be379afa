// See state_folder.h.
#include "storage/move/state_folder.h"

#include <filesystem>
#include <fstream>

#include "storage/sqlite/open.h"

namespace hyperflock::storage {
namespace {

namespace fs = std::filesystem;

constexpr const char* kServerName = "server-name";
constexpr const char* kMoved = "moved-to-postgres";

Status write_line(const fs::path& path, const std::string& line) {
  std::ofstream file(path);
  if (file << line << '\n' << std::flush) return {};
  return Error{"bad_state", "Cannot write " + path.string() + ": check the folder's permissions."};
}

}  // namespace

Result<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file.is_open() || !(std::getline(file, line) || file.eof()))
    return Error{"file_unreadable", "Cannot read " + path + "."};
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

Result<PostgresPlace> postgres_place(const std::string& url, const std::string& password_file) {
  PostgresPlace place{.url = url};
  if (!password_file.empty()) {
    TRY(place.password, first_line(password_file));
  }
  return place;
}

Result<std::string> server_name(const std::string& state_dir,
                                const std::function<std::string()>& new_name) {
  const fs::path path = fs::path(state_dir) / kServerName;
  std::error_code ignored;
  if (fs::exists(path, ignored)) {
    TRY(std::string name, first_line(path.string()));
    if (!name.empty()) return name;
  }
  const std::string name = new_name();
  TRY(write_line(path, name));
  return name;
}

Status note_moved(const std::string& state_dir, const std::string& place) {
  return write_line(fs::path(state_dir) / kMoved, place);
}

Status check_not_moved(const std::string& state_dir) {
  const fs::path note = fs::path(state_dir) / kMoved;
  std::error_code ignored;
  if (!fs::exists(note, ignored)) return {};
  const auto place = first_line(note.string());
  return Error{"state_moved", "The rows of " + database_of(state_dir) +
                                  " were moved to PostgreSQL (" + place.value_or("?") +
                                  "): give --database. To go back to the file as it was then, "
                                  "remove " +
                                  note.string() + "."};
}

Status check_has_file(const std::string& state_dir) {
  const fs::path name = fs::path(state_dir) / kServerName;
  std::error_code ignored;
  if (fs::is_regular_file(database_of(state_dir), ignored) || !fs::exists(name, ignored)) return {};
  return Error{"database_needed",
               "The server of " + state_dir +
                   " keeps its rows in PostgreSQL: give --database, as `serve` was given it. If it "
                   "never came so far, remove " +
                   name.string() + "."};
}

}  // namespace hyperflock::storage
