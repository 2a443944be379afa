// Code for programs that start a server: their options, the server's folder, and the exit after an
// error.
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
// Empties the folder `folder` in --state and sets `options.state` to it. Keeps everything else.
void make_state(ProgramOptions& options, const std::string& folder);

// Calls `run` and returns its exit status. If it throws, prints the error and returns 1.
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
