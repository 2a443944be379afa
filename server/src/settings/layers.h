// Puts the settings together: a default is replaced by the file, the file by the environment, and
// the environment by a flag. It reads the configuration file, and checks that files which settings
// name exist; otherwise pure. One thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "settings/toml_file.h"

namespace hyperflock::settings {

// The environment variable that names the configuration file, as the flag --config does.
inline constexpr const char* kFileVariable = "HYPERFLOCK_CONFIG";

// The flags, the file's name and the environment, as texts that were not checked yet.
struct Given {
  std::map<std::string_view, Words> flags;  // by the setting's name
  std::string file;                         // empty: the one that the environment names, or none
  // Returns the value of an environment variable, or nullptr.
  std::function<const char*(const std::string& name)> environment = [](const auto&) {
    return static_cast<const char*>(nullptr);
  };
};

struct Effective {
  ServeConfig config;
  std::string file;  // which was read; empty: none
  // Where each setting that is not a default came from: FILE:LINE, HYPERFLOCK_NAME or --name.
  std::map<std::string_view, std::string> sources;
  // If there are no faults, `config` can be used. A wrong setting is a fault even if a source with
  // priority replaces the setting.
  std::vector<Fault> faults;
};

Effective put_together(const Given& given);

}  // namespace hyperflock::settings
