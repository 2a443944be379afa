// The flags of the settings, for a command that takes them: `serve`, `config check`, `config show`.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "settings/layers.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hyperflock::settings {

class Flags {
 public:
  // Adds --config and a flag for each setting. REQUIRES: `command` outlives this object.
  explicit Flags(CLI::App& command);

  // Returns what the command line gave, with the environment of this process. REQUIRES: the command
  // line was parsed.
  Given given() const;

 private:
  std::string file_;
  std::map<std::string_view, CLI::Option*> options_;
};

}  // namespace hyperflock::settings
