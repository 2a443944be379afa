// A hyperflock-server as a child process, with its own state folder and free ports.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace hyperflock::bench {

// Starts a program with its arguments, its output on standard error. Returns its process, or -1. It
// ends with the benchmark.
pid_t spawn(const std::vector<std::string>& command);

class ServerProcess {
 public:
  // Starts the program and waits (at most 30 s) until it listens. Throws std::runtime_error.
  ServerProcess(const std::string& program, const std::string& state_folder,
                const std::vector<std::string>& flags);
  ~ServerProcess();  // kills it
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  std::uint16_t compute_port() const { return compute_port_; }
  std::uint16_t console_port() const { return console_port_; }
  const std::string& researcher_token() const { return researcher_token_; }
  const std::string& enrolment_code() const { return enrolment_code_; }

  pid_t pid() const { return pid_; }

  // Sends SIGKILL to the server and waits until its process has ended.
  void kill();

 private:
  pid_t pid_ = -1;
  std::uint16_t compute_port_ = 0;
  std::uint16_t console_port_ = 0;
  std::string researcher_token_;
  std::string enrolment_code_;
};

}  // namespace hyperflock::bench
