// `hyperflock-server packs add|list|remove`: changes the folder of packs, packages that browsers
// fetch only for studies that need them (packs/pack_folder.h). They need no server: a server that
// runs takes the new list when it starts again. One thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/http_client.h"

namespace CLI {
class App;
}

namespace hyperflock::cli {

class PackCommands {
 public:
  // Adds the commands to the program.
  explicit PackCommands(CLI::App& app);

  // Returns whether the user gave one of them.
  bool parsed() const;

  // The text is for standard output if the status is 0, or else for standard error.
  struct Result {
    int status = 0;
    std::string text;
  };
  Result run() const;

 private:
  hyperflock::Result<std::string> done() const;
  hyperflock::Result<std::string> add(const std::string& folder) const;
  hyperflock::Result<std::string> list(const std::string& folder) const;
  hyperflock::Result<std::string> remove(const std::string& folder) const;

  std::vector<std::string> names_;
  std::string folder_;
  std::string state_dir_;
  std::string runtime_dir_;
  std::string from_;
  std::string ca_file_;
  bool all_ = false;
  bool json_ = false;
  CLI::App* group_;
  CLI::App* add_;
  CLI::App* list_;
  CLI::App* remove_;
};

}  // namespace hyperflock::cli
