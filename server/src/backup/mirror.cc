// See mirror.h.
#include "backup/mirror.h"

#include <chrono>
#include <set>

#include "backup/files.h"
#include "blobs/blob_store.h"

namespace hyperflock::backup {
namespace {

namespace fs = std::filesystem;

// File systems note the time of a change by ticks. A folder that was changed this recently may
// change again without a new time.
constexpr std::chrono::seconds kTick{2};

bool is_part(const std::string& name) {
  return name.size() == 2 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    names.insert(entry.path().filename().string());
  return names;
}

}  // namespace

Status Mirror::update(const std::function<Status()>& may_go_on) {
  TRY(make_folder(target_));
  std::set<std::string> folders = names_in(source_);
  folders.merge(names_in(target_));
  for (const std::string& name : folders) {
    if (!is_part(name)) continue;
    std::error_code error;
    auto changed = fs::last_write_time(source_ / name, error);
    if (error) changed = {};
    const auto seen = seen_.find(name);
    if (seen != seen_.end() && seen->second == changed) continue;
    TRY(update_folder(name, may_go_on));
    const bool is_old = fs::file_time_type::clock::now() - changed > kTick;
    if (is_old) seen_.insert_or_assign(name, changed);
  }
  return {};
}

Status Mirror::update_folder(const std::string& name, const std::function<Status()>& may_go_on) {
  const std::set<std::string> wanted = names_in(source_ / name);
  const std::set<std::string> had = names_in(target_ / name);
  bool changed = false;
  std::error_code error;
  for (const std::string& file : wanted) {
    if (had.contains(file) || !blobs::is_sha256(name + file)) continue;
    TRY(may_go_on());
    TRY(make_folder(target_ / name));
    const Status placed = place(source_ / name / file, target_ / name / file, How::link);
    // It may be gone by now, with the rows that named it.
    if (!placed && fs::exists(source_ / name / file, error)) return placed;
    changed = true;
  }
  for (const std::string& file : had) {
    if (wanted.contains(file)) continue;
    fs::remove(target_ / name / file, error);
    changed = true;
  }
  if (changed && fs::is_directory(target_ / name, error)) TRY(sync_folder(target_ / name));
  return {};
}

}  // namespace hyperflock::backup
