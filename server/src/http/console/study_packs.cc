// See study_packs.h.
#include "http/console/study_packs.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "protocol/runtime/packs.h"

namespace hyperflock::http {
namespace {

// Returns the last bytes of a blob, at most `most`; nothing if it cannot be read.
std::string end_of(const SiteContext& context, const std::string& sha256, std::size_t most) {
  const auto path = context.blobs.path_of(sha256);
  if (!path) return {};
  std::ifstream file(*path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const auto size = static_cast<std::size_t>(file.tellg());
  std::string end(std::min(size, most), '\0');
  file.seekg(-static_cast<std::streamoff>(end.size()), std::ios::end);
  file.read(end.data(), static_cast<std::streamsize>(end.size()));
  return file ? end : std::string();
}

// Returns the version of Pyodide with which the study's trials run; empty if it is not known.
std::string pyodide_of(const SiteContext& context, const protocol::StudySpec& spec) {
  const auto runtime =
      std::ranges::find(context.runtimes, spec.runtime_index, &protocol::Runtime::id);
  if (runtime == context.runtimes.end()) return {};
  const auto pyodide = runtime->pieces.find("pyodide");
  return pyodide == runtime->pieces.end() ? std::string() : pyodide->second;
}

}  // namespace

Result<std::vector<protocol::PackRef>> packs_of_study(const SiteContext& context,
                                                      const protocol::StudySpec& spec,
                                                      const std::string& above) {
  const auto named =
      protocol::packs_of_bundle(end_of(context, spec.bundle.sha256, protocol::kMaxBundleComment));
  auto packs = protocol::choose_packs(spec.packs, named, context.packs, pyodide_of(context, spec));
  if (packs) return packs;
  Error error = packs.error();
  error.field = above + error.field;
  return error;
}

}  // namespace hyperflock::http
