// Runs the server as a separate process, which a test controls by signals.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/patience.h"
#include "paths.h"

extern char** environ;

namespace hyperflock::app {

class Program {
 public:
  // Serves the folder `state` on free ports. The program writes its addresses to the file `ready`,
  // and what it prints and logs to the file `printed`. If a terminal is given, it is the program's
  // standard input and its controlling terminal.
  Program(const std::string& state, std::string ready, const std::vector<std::string>& more = {},
          const std::string& printed = "/dev/null", const std::string& terminal = {})
      : ready_(std::move(ready)) {
    std::vector<std::string> words{kServerProgram, "serve",       "--state",   state,
                                   "--compute",    "127.0.0.1:0", "--console", "127.0.0.1:0",
                                   "--ready-file", ready_};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
      posix_spawn_file_actions_addopen(&quiet, stream, printed.c_str(),
                                       O_WRONLY | O_CREAT | O_APPEND, S_IRUSR | S_IWUSR);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    if (!terminal.empty()) {
      posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
      posix_spawn_file_actions_addopen(&quiet, STDIN_FILENO, terminal.c_str(), O_RDWR, 0);
    }
    if (posix_spawn(&pid_, kServerProgram, &quiet, &attributes, arguments.data(), environ) != 0)
      pid_ = -1;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&quiet);
  }
  ~Program() {
    if (pid_ > 0) end();
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Returns the compute port, or 0 if the program ends before it listens.
  std::uint16_t port() const {
    std::uint16_t port = 0;
    until([&] {
      std::ifstream file(ready_);
      std::stringstream text;
      text << file.rdbuf();
      const auto json = nlohmann::json::parse(text.str(), nullptr, false);
      if (json.is_object()) port = json.at("compute_port").get<std::uint16_t>();
      return port != 0 || has_ended();
    });
    return port;
  }
  bool has_ended() const {
    siginfo_t ended{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           ended.si_pid != 0;
  }
  void signal(int number) const { ::kill(pid_, number); }
  // Sends the signal and waits for the end. Returns the status from waitpid.
  int end(int number = SIGTERM) {
    signal(number);
    int status = -1;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return status;
  }

 private:
  std::string ready_;
  pid_t pid_ = -1;
};

}  // namespace hyperflock::app
