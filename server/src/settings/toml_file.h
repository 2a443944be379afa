// Reads the configuration file: TOML, one key for each setting, no tables.
//
//   compute = "0.0.0.0:443"
//   min-free-bytes = "2 GiB"
//   trusted-proxy = ["127.0.0.1"]
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "settings/table.h"

namespace hyperflock::settings {

// Says what is wrong, and where: `/etc/hyperflock/server.toml:3`, `HYPERFLOCK_STATE` or `--state`.
struct Fault {
  std::string where;
  std::string what;  // one sentence

  // Returns one line for the operator, in which invisible characters are escaped.
  std::string line() const;
};

struct FileSettings {
  struct Entry {
    std::string where;  // FILE:LINE
    Value value;
  };
  std::map<std::string_view, Entry> entries;  // by the setting's name
  std::vector<Fault> faults;                  // in the order of the file
};

// Reads the text of a file. `path` is for messages.
FileSettings read_toml(std::string_view text, const std::string& path);

// Reads a file of at most 1 MiB.
FileSettings read_file(const std::string& path);

}  // namespace hyperflock::settings
