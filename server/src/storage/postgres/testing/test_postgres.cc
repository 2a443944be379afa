// See test_postgres.h.
#include "storage/postgres/testing/test_postgres.h"

#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <vector>

namespace hyperflock::storage {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kStartTimeout{5};

// PostgreSQL refuses to run as root.
const passwd* other_user() {
  if (::getuid() != 0) return nullptr;
  for (const char* name : {"postgres", "nobody"})
    if (const passwd* user = ::getpwnam(name)) return user;
  throw std::runtime_error("there is no user postgres or nobody to run PostgreSQL as");
}

std::string newest_programs() {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& version : fs::directory_iterator("/usr/lib/postgresql", error))
    if (fs::exists(version.path() / "bin/initdb")) found.push_back(version.path() / "bin");
  if (found.empty())
    throw std::runtime_error(
        "PostgreSQL is missing (/usr/lib/postgresql/*/bin): install postgresql-15");
  return *std::ranges::max_element(found);
}

// The words of a command that runs as the other user and ends with this process.
std::vector<std::string> as_other_user(std::vector<std::string> command) {
  std::vector<std::string> words{"setpriv"};
  if (const passwd* user = other_user()) {
    words.push_back("--reuid=" + std::to_string(user->pw_uid));
    words.push_back("--regid=" + std::to_string(user->pw_gid));
    words.emplace_back("--clear-groups");
  }
  words.emplace_back("--pdeathsig=QUIT");
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

pid_t spawn(const std::vector<std::string>& words, const std::string& output) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0 || ::dup2(file, 1) < 0 || ::dup2(file, 2) < 0) ::_exit(126);
  ::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Runs a command to its end. Returns what it printed. Throws if it failed.
std::string run(const std::vector<std::string>& words, const std::string& output) {
  std::error_code error;
  fs::remove(output, error);
  int status = 0;
  ::waitpid(spawn(words, output), &status, 0);
  std::string printed = contents_of(output);
  if (status != 0) throw std::runtime_error(words[0] + " failed: " + printed);
  return printed;
}

}  // namespace

TestPostgres& TestPostgres::instance() {
  static TestPostgres server;
  return server;
}

TestPostgres::TestPostgres() : programs_(newest_programs()) {
  // A Unix socket's path must be short.
  std::string pattern = "/tmp/hyperflock-pg.XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  folder_ = pattern;
  if (const passwd* user = other_user()) {
    if (::chown(folder_.c_str(), user->pw_uid, user->pw_gid) != 0)
      throw std::runtime_error("chown failed");
  }
  run(as_other_user({programs_ + "/initdb", "-D", folder_ + "/data", "-U", "hyperflock", "-A",
                     "trust", "-E", "UTF8", "--locale=C"}),
      folder_ + ".initdb");
  std::ofstream(folder_ + "/data/pg_hba.conf") << "local guarded ada scram-sha-256\n"
                                                  "local all hyperflock trust\n";
  restart_stopped();
  sql("CREATE ROLE ada LOGIN PASSWORD 'right:word'");
  sql("CREATE DATABASE guarded OWNER ada");
}

void TestPostgres::restart_stopped() {
  server_ = spawn(as_other_user({programs_ + "/postgres", "-D", folder_ + "/data", "-c",
                                 "listen_addresses=", "-c", "unix_socket_directories=" + folder_}),
                  folder_ + ".log");
  const auto give_up = std::chrono::steady_clock::now() + kStartTimeout;
  while (std::chrono::steady_clock::now() < give_up) {
    int status = 0;
    if (::waitpid(server_, &status, WNOHANG) == server_)
      throw std::runtime_error("PostgreSQL did not start: " + contents_of(folder_ + ".log"));
    try {
      run({programs_ + "/pg_isready", "-q", "-h", folder_}, folder_ + ".ready");
      return;
    } catch (const std::runtime_error&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  throw std::runtime_error("PostgreSQL did not start in time");
}

TestPostgres::~TestPostgres() {
  ::kill(server_, SIGQUIT);
  ::waitpid(server_, nullptr, 0);
  std::error_code error;
  fs::remove_all(folder_, error);
  for (const char* suffix : {".log", ".initdb", ".ready", ".sql"})
    fs::remove(folder_ + suffix, error);
}

void TestPostgres::crash() {
  run(as_other_user({programs_ + "/pg_ctl", "-D", folder_ + "/data", "-m", "immediate", "stop"}),
      folder_ + ".ready");
  ::waitpid(server_, nullptr, 0);
}

void TestPostgres::restart() {
  crash();
  restart_stopped();
}

std::string TestPostgres::new_schema() {
  const std::string name = "test" + std::to_string(++schemas_);
  sql("CREATE SCHEMA " + name);
  return "postgresql://hyperflock@/postgres?host=" + folder_ + "&options=-csearch_path%3D" + name;
}

std::string TestPostgres::url_with_password() const {
  return "postgresql://ada@/guarded?host=" + folder_;
}

std::string TestPostgres::sql(const std::string& statement, const std::string& url) {
  const std::string place = url.empty() ? "postgresql://hyperflock@/postgres?host=" + folder_ : url;
  std::string printed = run({programs_ + "/psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1",
                             "-c", statement, place},
                            folder_ + ".sql");
  return printed.substr(0, printed.find('\n'));
}

}  // namespace hyperflock::storage
