// Every setting of `serve`, in one table. --help, the configuration file, the environment, the
// documentation (server/docs/settings.md) and the checks all use this table. To add a setting, add
// a member to ServeConfig and a row here, and run `hyperflock-server config reference`. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "settings/form.h"

namespace hyperflock::settings {

struct Setting {
  std::string_view group;  // the heading under which it is shown
  std::string_view name;   // `lease-ms`: the key in the file; its flag is --lease-ms
  Form form;
  std::string_view help;

  std::string flag() const;         // such as --lease-ms
  std::string environment() const;  // such as HYPERFLOCK_LEASE_MS
  std::string fallback() const;     // the default value as a text; empty: there is none
};

const std::vector<Setting>& table();

// Returns the row with this name, or nullptr.
const Setting* find_setting(std::string_view name);

// Returns the name that is most like a wrong one, or an empty text if none is like it.
std::string_view nearest_setting(std::string_view wrong);

// Returns why a text is not the URL of an origin; an empty text if it is one.
std::string url_fault(const std::string& text);

}  // namespace hyperflock::settings
