// See packs.h.
#include "app/packs.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "telemetry/log.h"

namespace hyperflock::app {

protocol::PackList read_packs(const std::string& folder) {
  if (folder.empty()) return {};
  const auto path = std::filesystem::path(folder) / "packs.json";
  std::ifstream file(path, std::ios::binary);
  // A file that cannot be opened gives an empty text, which is no list.
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  auto list = protocol::parse_pack_list(text);
  if (list) return *std::move(list);
  telemetry::log(telemetry::LogLevel::warning, "packs_unusable",
                 {{"file", path.string()},
                  {"code", list.error().code},
                  {"reason", file.is_open() ? list.error().message : "It cannot be opened."}});
  return {};
}

}  // namespace hyperflock::app
