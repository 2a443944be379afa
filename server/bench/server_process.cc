#include "server_process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "cli/credentials.h"
#include "protocol/json/json_reader.h"

namespace hyperflock::bench {
namespace {

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

pid_t spawn(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // it must not outlive the benchmark
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

ServerProcess::ServerProcess(const std::string& program, const std::string& state_folder,
                             const std::vector<std::string>& flags) {
  const std::string ready = state_folder + "/ready.json";
  const std::string credentials = state_folder + "/credentials.json";
  std::filesystem::remove(ready);
  std::vector<std::string> command{
      program,     "serve",       "--state",      state_folder, "--compute",          "127.0.0.1:0",
      "--console", "127.0.0.1:0", "--ready-file", ready,        "--credentials-file", credentials};
  command.insert(command.end(), flags.begin(), flags.end());
  pid_ = spawn(command);
  if (pid_ < 0) throw std::runtime_error("cannot start a process");
  for (int tries = 0; !std::filesystem::exists(ready); ++tries) {
    int status = 0;
    if (tries == 3'000 || ::waitpid(pid_, &status, WNOHANG) == pid_)
      throw std::runtime_error(program + " did not start");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const Result<protocol::Json> json = protocol::parse_object(contents(ready));
  if (!json) throw std::runtime_error("the ready file cannot be read");
  protocol::Problem problem;
  const protocol::Value ports(*json, problem);
  compute_port_ = static_cast<std::uint16_t>(ports["compute_port"].as_integer());
  console_port_ = static_cast<std::uint16_t>(ports["console_port"].as_integer());
  const auto known = cli::read_credentials(credentials);
  if (problem.found() || !known)
    throw std::runtime_error("the ready or credentials file is incomplete");
  researcher_token_ = known->researcher_token;
  enrolment_code_ = known->enrolment_code;
}

ServerProcess::~ServerProcess() { kill(); }

void ServerProcess::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

}  // namespace hyperflock::bench
