#include "program.h"

#include <filesystem>

namespace hyperflock::bench {

void add_options(CLI::App& app, ProgramOptions& options, const std::string& folder) {
  app.add_option("--server", options.server, "the release build's hyperflock-server")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--state", options.state,
                 "a folder on a real disk; a folder " + folder + " in it is made anew")
      ->required();
  app.add_option("--out", options.out, "the report")->required();
}

void make_state(ProgramOptions& options, const std::string& folder) {
  options.state += "/" + folder;
  std::filesystem::remove_all(options.state);
  std::filesystem::create_directories(options.state);
}

}  // namespace hyperflock::bench
