// See kept_runtimes.h.
#include "app/kept_runtimes.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "telemetry/log.h"

namespace hyperflock::app {
namespace {

namespace fs = std::filesystem;

// The folder of a copy that is not complete yet. No runtime can have this name as its id.
constexpr const char* kPart = "part";

std::optional<protocol::Runtime> runtime_in(const fs::path& folder) {
  std::ifstream index(folder / "index.json", std::ios::binary);
  if (!index) return std::nullopt;
  return protocol::parse_runtime_index(
      std::string(std::istreambuf_iterator<char>(index), std::istreambuf_iterator<char>()));
}

}  // namespace

Result<std::vector<KeptRuntime>> keep_runtimes(const std::string& installed,
                                               const std::string& kept,
                                               const std::set<std::string>& wanted) {
  std::vector<KeptRuntime> found;
  const auto newest = installed.empty() ? std::nullopt : runtime_in(installed);
  if (newest) found.push_back({*newest, installed});
  std::error_code error;
  if (newest && !fs::exists(fs::path(kept) / newest->id, error)) {
    const fs::path part = fs::path(kept) / kPart;
    fs::remove_all(part, error);
    fs::create_directories(kept, error);
    if (!error) fs::copy(installed, part, fs::copy_options::recursive, error);
    // The folder gets the runtime's id as its name only when the copy is complete.
    if (!error) fs::rename(part, fs::path(kept) / newest->id, error);
    if (error == std::errc::no_space_on_device) {
      // The copy is needed only after an upgrade, for studies of this runtime. Until then the
      // server works without it.
      telemetry::log(telemetry::LogLevel::warning, "runtime_not_kept",
                     {{"reason", "The disk has no room for a copy of the runtime."}});
      std::error_code ignored;
      fs::remove_all(part, ignored);
    } else if (error) {
      return Error{"bad_state", "Cannot copy the runtime to " + kept + " (" + error.message() +
                                    "): check its rights and the room on its disk."};
    }
  }
  std::vector<fs::path> unwanted;
  for (const auto& entry : fs::directory_iterator(kept, error)) {
    const std::string id = entry.path().filename().string();
    if (newest && id == newest->id) continue;
    auto runtime = wanted.contains(id) ? runtime_in(entry.path()) : std::nullopt;
    const bool is_replaced = runtime && newest && protocol::replaces(*newest, *runtime);
    if (runtime && runtime->id == id && !is_replaced) {
      found.push_back({*std::move(runtime), entry.path().string()});
    } else {
      unwanted.push_back(entry.path());
    }
  }
  for (const fs::path& folder : unwanted) fs::remove_all(folder, error);
  return found;
}

}  // namespace hyperflock::app
