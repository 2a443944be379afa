// What the programs that start a server share: their options, the server's folder, and how an error
// ends them.
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

// Adds --server, --state and --out. `folder` names the folder that the program makes in --state.
void add_options(CLI::App& app, ProgramOptions& options, const std::string& folder);
// Makes this folder anew and sets `options.state` to it. It removes nothing else in --state.
void make_state(ProgramOptions& options, const std::string& folder);

// Returns the exit status of `run`. If it throws, prints the error and returns 1.
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
