// Puts the settings together: a default is replaced by the file, the file by the environment, and
// the environment by a flag. Pure except for the file and for what a setting names; one thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "settings/toml_file.h"

namespace hyperflock::settings {

// The variable that names the file, as --config does.
inline constexpr const char* kFileVariable = "HYPERFLOCK_CONFIG";

// What somebody has given, before it is read.
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
  // Without faults, `config` can be used. A wrong setting is a fault even if another one replaces
  // it.
  std::vector<Fault> faults;
};

Effective put_together(const Given& given);

}  // namespace hyperflock::settings
