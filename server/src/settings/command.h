// `hyperflock-server config check|show|reference`: checks the settings, shows their values, and
// writes their documentation.
#pragma once

#include <string>

#include "settings/layers.h"

namespace hyperflock::settings {

// The file of the Debian package, which `config check` and `config show` read if none is named.
inline constexpr const char* kPackagedFile = "/etc/hyperflock/server.toml";

// What a command prints, and its exit status. If the status is not 0, the text is written to
// standard error.
struct Printed {
  int status = 0;
  std::string text;
};

// Prints one line for each fault. The exit status is 1 if there are faults.
Printed check_command(const Given& given);

// Prints every setting as TOML, each with its source. The output may be used as a file.
Printed show_command(const Given& given);

// Returns the table of all settings as Markdown, for server/docs/settings.md.
std::string reference();

}  // namespace hyperflock::settings
