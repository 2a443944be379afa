// See pack_folder.h.
#include "packs/pack_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <set>
#include <utility>

#include "auth/replace_file.h"
#include "blobs/sha256.h"

namespace hyperflock::packs {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kList = "packs.json";
// A folder of a pack that is not complete yet begins with it.
constexpr const char* kPart = ".part-";
constexpr mode_t kMode = 0644;

struct Kind {
  Form form;
  const char* key;     // of the form's size in the list
  const char* suffix;  // of its file
};
constexpr Kind kKinds[] = {
    {Form::plain, "bytes", ""}, {Form::brotli, "br", ".br"}, {Form::gzip, "gz", ".gz"}};

Error unwritable(const fs::path& path, const std::string& why) {
  return {"file_unwritable", "Cannot write " + path.string() + " (" + why +
                                 "): check its rights and the room on its disk."};
}

std::optional<std::string> text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file.is_open() || file.bad()) return std::nullopt;
  return text;
}

// Keeps other commands away from the folder until it is destroyed.
class Lock {
 public:
  static Result<std::unique_ptr<Lock>> take(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    const fs::path path = folder / ".lock";
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) return unwritable(path, std::strerror(errno));
    std::unique_ptr<Lock> lock(new Lock(descriptor));
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      return Error{"packs_busy", "Another command changes the packs in " + folder.string() +
                                     ": wait until it has ended."};
    }
    return lock;
  }
  ~Lock() { ::close(descriptor_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  explicit Lock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

// A list with all that it says of each pack, in its order.
struct Listed {
  protocol::PackList packs;
  Json json{{"pyodide", ""}, {"packs", Json::object()}};
};

Result<Listed> parsed(const std::string& text) {
  Listed listed;
  TRY(listed.packs, protocol::parse_pack_list(text));
  listed.json = Json::parse(text);
  return listed;
}

Result<Listed> list_in(const fs::path& folder) {
  const auto text = text_of(folder / kList);
  if (!text) return Listed();
  auto listed = parsed(*text);
  if (listed) return listed;
  return Error{listed.error().code, (folder / kList).string() + ": " + listed.error().message};
}

// Returns a text of an object; empty if it is missing or no text.
std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Returns the name of a pack's folder, such as `scipy-0123456789abcdef`; empty if it is not safe.
std::string folder_of(const Json& entry) {
  static const std::regex kFolder("/runtime/([a-z0-9.-]+-[0-9a-f]{16})/");
  std::smatch found;
  const std::string base = text_in(entry, "base");
  return std::regex_match(base, found, kFolder) ? found[1].str() : std::string();
}

bool is_file_name(const std::string& name) {
  static const std::regex kName("[A-Za-z0-9_][A-Za-z0-9_.-]*");
  return std::regex_match(name, kName);
}

Error damaged(const std::string& pack, const std::string& file, const std::string& why) {
  return {"pack_damaged", "The file " + file + " of the pack " + pack + ' ' + why +
                              ": take the packs from another source."};
}

// One file of a pack as the list describes it, in one form.
struct Wanted {
  std::string name;
  std::string sha256;  // of the plain form; empty for the others
  Form form{};
  std::string suffix;
  std::uint64_t bytes = 0;
};

Result<std::vector<Wanted>> files_of(const std::string& pack, const Json& entry) {
  std::vector<Wanted> files;
  const auto listed = entry.find("files");
  if (listed == entry.end() || !listed->is_array())
    return Error{"packs_malformed", "The list does not name the files of " + pack + '.'};
  for (const Json& file : *listed) {
    const std::string name = text_in(file, "name");
    const std::string sha256 = text_in(file, "sha256");
    if (!is_file_name(name) || !blobs::is_sha256(sha256) || !file.contains("bytes"))
      return Error{"packs_malformed", "The list does not describe the files of " + pack + '.'};
    for (const Kind& kind : kKinds) {
      const auto size = file.find(kind.key);
      if (size == file.end() || !size->is_number_unsigned()) continue;
      files.push_back({name, kind.form == Form::plain ? sha256 : std::string(), kind.form,
                       kind.suffix, size->get<std::uint64_t>()});
    }
  }
  return files;
}

bool is_complete(const fs::path& folder, const std::vector<Wanted>& files) {
  return std::ranges::all_of(files, [&](const Wanted& file) {
    const auto bytes = text_of(folder / (file.name + file.suffix));
    return bytes && bytes->size() == file.bytes &&
           (file.sha256.empty() || blobs::sha256_hex(*bytes) == file.sha256);
  });
}

Status sync_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return unwritable(folder, std::strerror(errno));
  const int failed = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  if (failed != 0) return unwritable(folder, std::strerror(failed));
  return {};
}

// Fetches a pack's files into a folder of their own, and gives it its name when they are complete.
Result<std::uint64_t> fetch(const fs::path& into, const std::string& pack, const std::string& name,
                            const std::vector<Wanted>& files, const PackSource& source) {
  const fs::path part = into / (kPart + name);
  std::error_code error;
  fs::remove_all(part, error);
  fs::create_directories(part, error);
  if (error) return unwritable(part, error.message());
  std::uint64_t written = 0;
  for (const Wanted& file : files) {
    TRY(const auto bytes, source.file(name, file.name, file.form));
    const std::string shown = file.name + file.suffix;
    if (bytes.size() != file.bytes) {
      return damaged(pack, shown,
                     "has " + std::to_string(bytes.size()) + " bytes in place of " +
                         std::to_string(file.bytes));
    }
    if (!file.sha256.empty() && blobs::sha256_hex(bytes) != file.sha256)
      return damaged(pack, shown, "has another hash than the list names");
    const fs::path path = part / shown;
    if (const int failed = auth::replace_file(path.string(), bytes, kMode); failed != 0)
      return unwritable(path, std::strerror(failed));
    written += bytes.size();
  }
  fs::remove_all(into / name, error);  // one that is damaged
  fs::rename(part, into / name, error);
  if (error) return unwritable(into / name, error.message());
  return written;
}

Status replace_list(const fs::path& folder, const Json& list) {
  TRY(sync_folder(folder));
  const fs::path path = folder / kList;
  const std::string text = list.dump(1) + '\n';
  if (const int failed = auth::replace_file(path.string(), text, kMode); failed != 0)
    return unwritable(path, std::strerror(failed));
  return {};
}

// Removes what no list names: what a killed command left, and packs that were replaced or removed.
void clean(const fs::path& folder, const Json& list) {
  std::set<std::string> kept;
  for (const Json& entry : list.at("packs")) kept.insert(folder_of(entry));
  static const std::regex kOwn("[a-z0-9.-]+-[0-9a-f]{16}|\\.part-.*");
  std::vector<fs::path> unwanted;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory(error) && !kept.contains(name) && std::regex_match(name, kOwn))
      unwanted.push_back(entry.path());
  }
  for (const fs::path& path : unwanted) fs::remove_all(path, error);
}

Error missing(const std::string& where, const std::string& name) {
  return {"missing_pack", where + " has no pack " + name + '.'};
}

}  // namespace

Result<std::string> FolderSource::list() const {
  const fs::path path = folder_ / kList;
  if (auto text = text_of(path)) return *std::move(text);
  return Error{"not_found", "There is no " + path.string() +
                                ": name a folder of packs, such as build/packs after ./run build."};
}

Result<std::string> FolderSource::file(const std::string& folder, const std::string& name,
                                       Form form) const {
  const auto* const kind = std::ranges::find(kKinds, form, &Kind::form);
  const fs::path path = folder_ / folder / (name + kind->suffix);
  if (auto bytes = text_of(path)) return *std::move(bytes);
  return Error{"pack_damaged", "There is no " + path.string() + ", which the list of packs names."};
}

Result<protocol::PackList> read(const fs::path& folder) {
  TRY(auto listed, list_in(folder));
  return std::move(listed.packs);
}

Result<Done> add(const fs::path& folder, const std::vector<std::string>& names,
                 const PackSource& source, std::string_view pyodide) {
  TRY(const auto text, source.list());
  TRY(const auto offered, parsed(text));
  const auto differs = [&](const std::string& whose, std::string_view version) {
    return Error{"runtime_mismatch", "The packs are built for Pyodide " + offered.packs.pyodide +
                                         ", and " + whose + ' ' + std::string(version) + '.'};
  };
  if (!pyodide.empty() && pyodide != offered.packs.pyodide)
    return differs("the server's runtime has", pyodide);
  std::vector<protocol::PackRef> named;
  for (const std::string& name : names) {
    if (!offered.packs.packs.contains(name)) return missing("The source", name);
    named.push_back({name, {}});
  }
  TRY(const auto lock, Lock::take(folder));
  TRY(auto here, list_in(folder));
  if (!here.packs.packs.empty() && here.packs.pyodide != offered.packs.pyodide)
    return differs("those that are here (remove --all) for", here.packs.pyodide);
  clean(folder, here.json);

  Done done;
  here.json["pyodide"] = offered.packs.pyodide;
  for (const protocol::Pack* pack : protocol::with_needs(offered.packs, named)) {
    const auto listed = std::ranges::find_if(
        offered.packs.packs, [pack](const auto& one) { return &one.second == pack; });
    const std::string& name = listed->first;
    const Json& entry = offered.json.at("packs").at(name);
    const std::string own = folder_of(entry);
    if (own.empty())
      return Error{"packs_malformed", "The list names no folder for the pack " + name + '.'};
    TRY(const auto files, files_of(name, entry));
    if (!is_complete(folder / own, files)) {
      TRY(const auto bytes, fetch(folder, name, own, files, source));
      done.bytes += bytes;
    }
    here.json["packs"][name] = entry;
    done.packs.push_back(name);
  }
  TRY(replace_list(folder, here.json));
  return done;
}

Result<Done> remove(const fs::path& folder, const std::vector<std::string>& names) {
  TRY(const auto lock, Lock::take(folder));
  TRY(auto here, list_in(folder));
  const std::set<std::string> unwanted(names.begin(), names.end());
  for (const std::string& name : unwanted) {
    if (!here.packs.packs.contains(name)) return missing(folder.string(), name);
  }
  Done done;
  for (const auto& [name, pack] : here.packs.packs) {
    if (names.empty() || unwanted.contains(name)) {
      done.packs.push_back(name);
      here.json["packs"].erase(name);
      continue;
    }
    for (const std::string& need : pack.needs) {
      if (!unwanted.contains(need)) continue;
      return Error{"pack_needed", "The pack " + name + " needs " + need + ": remove both."};
    }
  }
  TRY(replace_list(folder, here.json));
  clean(folder, here.json);
  return done;
}

}  // namespace hyperflock::packs
