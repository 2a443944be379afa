// `hyperflock-server config check|show|reference`: what the settings are, and whether they are
// right.
#pragma once

#include <string>

#include "settings/layers.h"

namespace hyperflock::settings {

// The file of the Debian package, which `config check` and `config show` read if none is named.
inline constexpr const char* kPackagedFile = "/etc/hyperflock/server.toml";

// What a command prints, and its exit status. A status other than 0 goes to standard error.
struct Printed {
  int status = 0;
  std::string text;
};

// Prints one line for each fault. Exit status 1: there are faults.
Printed check_command(const Given& given);

// Prints every setting as TOML, each with its source. The output may be used as a file.
Printed show_command(const Given& given);

// Returns the table as Markdown, for server/docs/settings.md.
std::string reference();

}  // namespace hyperflock::settings
