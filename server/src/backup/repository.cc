// See repository.h.
#include "backup/repository.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <set>

#include "backup/files.h"
#include "blobs/sha256.h"
#include "protocol/json/json_reader.h"
#include "protocol/json/json_writer.h"

namespace hyperflock::backup {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMarker = "hyperflock-backups";

// Returns whether the text is a time such as 20261127T040506Z, perhaps with -2 behind it.
bool is_name(const std::string& text) {
  constexpr std::string_view kForm = "00000000T000000Z";
  if (text.size() < kForm.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (i < kForm.size() && (kForm[i] == '0' ? !digit : text[i] != kForm[i])) return false;
    if (i == kForm.size() && text[i] != '-') return false;
    if (i > kForm.size() && !digit) return false;
  }
  return text.size() != kForm.size() + 1;
}

std::string name_at(std::int64_t unix_ms) {
  const std::time_t seconds = unix_ms / 1'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &parts);
  return text.data();
}

Error damaged(const fs::path& file, const std::string& why) {
  return Error{"backup_damaged", file.string() + " is damaged (" + why + "): use another backup."};
}

// Orders `...Z-2` behind `...Z`, and `-10` behind `-9`.
bool is_older(const std::string& one, const std::string& other) {
  static constexpr std::size_t form = std::string_view("00000000T000000Z").size();
  const auto key = [](const std::string& name) {
    std::int64_t count = 1;
    if (name.size() > form)
      std::from_chars(name.data() + form + 1, name.data() + name.size(), count);
    return std::pair(name.substr(0, form), count);
  };
  return key(one) < key(other);
}

}  // namespace

Result<std::unique_ptr<Repository>> Repository::open(const fs::path& folder, Use use) {
  std::error_code error;
  const bool is_ours = fs::is_regular_file(folder / kMarker, error);
  if (use == Use::change && !is_ours) {
    TRY(make_folder(folder));
    if (!is_free_for(folder, kMarker, "blobs")) {
      return Error{"not_a_backup_folder", folder.string() +
                                              " has other files in it: name a folder of backups, "
                                              "an empty folder or a new one."};
    }
    ::chmod(folder.c_str(), 0700);
    TRY(make_folder(folder / "blobs"));
    TRY(write_file(folder / kMarker, "A folder of backups of hyperflock-server, format 1.\n"));
    TRY(sync_folder(folder));
  } else if (!is_ours) {
    return Error{
        "not_a_backup_folder",
        folder.string() + " is no folder of backups: name the one that `backup` was given."};
  }
  // A reader needs no right to write, so that a disk that is mounted for reading will do.
  const int flags = use == Use::change ? O_RDWR : O_RDONLY;
  const int lock = ::open((folder / kMarker).c_str(), flags | O_CLOEXEC);
  if (lock < 0) return disk_error(folder / kMarker, errno);
  std::unique_ptr<Repository> opened(new Repository(folder, lock));
  if (::flock(lock, (use == Use::change ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0) {
    return Error{"backup_running", "Another command or server uses " + folder.string() +
                                       " now: try again when it has ended."};
  }
  return opened;
}

Repository::~Repository() { ::close(lock_); }

std::vector<std::string> Repository::names() const {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    std::string name = entry.path().filename().string();
    if (is_name(name)) found.push_back(std::move(name));
  }
  std::ranges::sort(found, is_older);
  return found;
}

Result<Manifest> Repository::manifest(const std::string& name) const {
  const fs::path file = path_of(name) / "backup.json";
  TRY(const auto text, read_file(file));
  const auto json = protocol::parse_object(text);
  if (!json) return damaged(file, "no JSON");
  protocol::Problem problem;
  const protocol::Value in(*json, problem);
  Manifest out;
  out.at = in["at"].as_integer();
  out.server = in["server"].as_text();
  out.schema = in["schema"].as_integer();
  out.database_sha256 = in["database_sha256"].as_text();
  out.files_sha256 = in["files_sha256"].as_text();
  out.files = in["files"].as_integer();
  out.bytes = in["bytes"].as_integer();
  if (problem.found()) return damaged(file, problem.error().message);
  return out;
}

Result<std::vector<BackupFile>> Repository::files(const std::string& name) const {
  const fs::path file = path_of(name) / "files";
  TRY(const auto about, manifest(name));
  TRY(const auto text, read_file(file));
  if (blobs::sha256_hex(text) != about.files_sha256) return damaged(file, "another SHA-256");
  std::vector<BackupFile> found;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    const std::size_t second = line.find(' ', 65);
    BackupFile one;
    if (end == std::string::npos || second == std::string::npos) return damaged(file, "a line");
    one.sha256 = line.substr(0, 64);
    one.path = line.substr(second + 1);
    const auto [stop, error] = std::from_chars(line.data() + 65, line.data() + second, one.bytes);
    // A path must not lead out of the folder that is restored.
    const fs::path path(one.path);
    const bool leaves = path.is_absolute() || std::ranges::find(path, "..") != path.end();
    if (!blobs::is_sha256(one.sha256) || error != std::errc() || leaves || one.path.empty())
      return damaged(file, "a line");
    found.push_back(std::move(one));
    at = end + 1;
  }
  return found;
}

Result<std::string> Repository::complete(std::int64_t at) {
  const std::string base = name_at(at);
  std::string name = base;
  std::error_code error;
  for (int i = 2; fs::exists(path_of(name), error); ++i) name = base + "-" + std::to_string(i);
  TRY(sync_folder(part()));
  if (::rename(part().c_str(), path_of(name).c_str()) != 0) return disk_error(part(), errno);
  TRY(sync_folder(folder_));
  return name;
}

Result<std::int64_t> Repository::prune(std::int64_t keep) {
  std::error_code error;
  fs::remove_all(part(), error);
  auto all = names();
  std::int64_t removed = 0;
  while (keep > 0 && std::ssize(all) > keep) {
    // Without its name, an interrupted removal is no backup any more.
    if (::rename(path_of(all.front()).c_str(), part().c_str()) != 0)
      return disk_error(path_of(all.front()), errno);
    TRY(sync_folder(folder_));
    fs::remove_all(part(), error);
    all.erase(all.begin());
    ++removed;
  }
  std::set<std::string> named;
  for (const std::string& name : all) {
    TRY(const auto listed, files(name));  // if a list cannot be read, no content is removed
    for (const BackupFile& one : listed) named.insert(one.sha256);
  }
  std::vector<fs::path> unnamed;
  for (const auto& folder : fs::directory_iterator(folder_ / "blobs", error)) {
    std::error_code none;
    for (const auto& file : fs::directory_iterator(folder, none)) {
      const std::string sha256 =
          folder.path().filename().string() + file.path().filename().string();
      if (!named.contains(sha256)) unnamed.push_back(file.path());
    }
  }
  for (const fs::path& file : unnamed) fs::remove(file, error);
  return removed;
}

std::string to_text(const Manifest& manifest) {
  std::string out;
  protocol::ObjectWriter(out)
      .integer("format", 1)
      .integer("at", manifest.at)
      .text("server", manifest.server)
      .integer("schema", manifest.schema)
      .text("database_sha256", manifest.database_sha256)
      .text("files_sha256", manifest.files_sha256)
      .integer("files", manifest.files)
      .integer("bytes", manifest.bytes)
      .end();
  return out + "\n";
}

std::string to_text(const std::vector<BackupFile>& files) {
  std::string out;
  for (const BackupFile& one : files)
    out += one.sha256 + " " + std::to_string(one.bytes) + " " + one.path + "\n";
  return out;
}

}  // namespace hyperflock::backup
