// Implements runtime_index.h.
#include "protocol/runtime/runtime_index.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "protocol/runtime/piece_json.h"

namespace hyperflock::protocol {
namespace {

bool is_sha256(std::string_view text) {
  return text.size() == 64 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

// Returns an integer of the file's description, or `otherwise` if it has none.
std::int64_t bytes_of(const nlohmann::json& file, const char* key, std::int64_t otherwise) {
  const auto found = file.find(key);
  return found != file.end() && found->is_number_integer() ? found->get<std::int64_t>() : otherwise;
}

// Checks that the study's trials can run on this runtime. The error says why they cannot.
Status check(const StudySpec& spec, const Runtime& runtime) {
  if (!runtime.pieces.contains("chainer-" + spec.chainer)) {
    return Error{
        "runtime_mismatch",
        "This server's browsers have no Chainer " + spec.chainer + ": take another runtime.",
        "runtime.chainer"};
  }
  const std::array<std::pair<const char*, const std::string*>, 2> wanted{{
      {"pyodide", &spec.versions.pyodide},
      {"numpy", &spec.versions.numpy},
  }};
  for (const auto& [name, version] : wanted) {
    const auto there = runtime.pieces.find(name);
    if (version->empty() || there == runtime.pieces.end() || there->second == *version) continue;
    return Error{"runtime_mismatch",
                 std::string("The code was made for ") + name + ' ' + *version +
                     ", and this server's browsers have " + there->second +
                     ": submit it with the hyperflock package of this server's version.",
                 std::string("versions.") + name};
  }
  return {};
}

}  // namespace

std::string text_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<Runtime::Download> download_of(const nlohmann::json& piece) {
  const auto files = piece.find("files");
  const std::string base = text_of(piece, "base");
  if (files == piece.end() || !files->is_array() || base.empty()) return std::nullopt;
  Runtime::Download all;
  std::int64_t largest = 0;
  for (const auto& file : *files) {
    if (!file.is_object()) continue;
    const std::string name = text_of(file, "name");
    // A browser fetches one of array-core's two modules, which have nearly the same size.
    if (name.empty() || name == "arraycore-relaxed.wasm") continue;
    const std::int64_t bytes = bytes_of(file, "bytes", 0);
    all.brotli += bytes_of(file, "br", bytes);
    all.gzip += bytes_of(file, "gz", bytes);
    if (bytes <= largest) continue;
    largest = bytes;
    all.path = base + name;
  }
  if (all.path.empty()) return std::nullopt;
  return all;
}

std::optional<Runtime> parse_runtime_index(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("pieces") || !json["pieces"].is_object())
    return std::nullopt;
  Runtime runtime;
  if (const auto id = json.find("runtime"); id != json.end() && id->is_string())
    runtime.id = id->get<std::string>();
  // The id is used in paths, so it must be a SHA-256.
  if (!is_sha256(runtime.id)) return std::nullopt;
  for (const auto& [name, piece] : json["pieces"].items()) {
    if (!piece.is_object() || !piece.contains("version") || !piece["version"].is_string()) continue;
    runtime.pieces.emplace(name, piece["version"].get<std::string>());
    if (auto download = download_of(piece)) runtime.downloads.emplace(name, *std::move(download));
  }
  return runtime;
}

bool replaces(const Runtime& newer, const Runtime& older) {
  return std::ranges::all_of(older.pieces, [&](const auto& piece) {
    const auto& [name, version] = piece;
    if (name != "pyodide" && name != "numpy" && !name.starts_with("chainer-")) return true;
    const auto there = newer.pieces.find(name);
    return there != newer.pieces.end() && there->second == version;
  });
}

Result<std::string> choose_runtime(const StudySpec& spec, const std::vector<Runtime>& runtimes) {
  for (const Runtime& runtime : runtimes) {
    if (check(spec, runtime).has_value()) return runtime.id;
  }
  if (runtimes.empty()) return std::string();
  return check(spec, runtimes.front()).error();
}

}  // namespace hyperflock::protocol
