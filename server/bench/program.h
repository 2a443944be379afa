// What the programs that start a server of their own have alike: their options, the server's folder
// and how an error ends them.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>

namespace hyperflock::bench {

struct ProgramOptions {
  std::string server;
  std::string state;
  std::string out;
};

// --server, --state and --out. `folder`: the name of the one in --state that the program makes.
void add_options(CLI::App& app, ProgramOptions& options, const std::string& folder);
// Makes that folder anew, and `options.state` it: only what the program made is removed.
void make_state(ProgramOptions& options, const std::string& folder);

// The exit status: of `run`, or 1 behind the error that it threw.
template <typename Run>
int exit_status(Run run) {
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace hyperflock::bench
