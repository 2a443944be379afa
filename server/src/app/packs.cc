// See packs.h.
#include "app/packs.h"

#include <filesystem>
#include <utility>

#include "packs/pack_folder.h"
#include "telemetry/log.h"

namespace hyperflock::app {

ServedPacks served_packs(const settings::ServeConfig& config) {
  const bool is_named = !config.packs_dir.empty();
  const std::string folder =
      is_named ? config.packs_dir
               : (std::filesystem::path(config.state_dir) / packs::kStateFolder).string();
  auto list = packs::read(folder);
  if (list && (!list->pyodide.empty() || !is_named)) return {*std::move(list), folder};
  telemetry::log(telemetry::LogLevel::warning, "packs_unusable",
                 {{"folder", folder},
                  {"code", list ? "not_found" : list.error().code},
                  {"reason", list ? "It has no packs.json." : list.error().message}});
  return {{}, folder};
}

}  // namespace hyperflock::app
