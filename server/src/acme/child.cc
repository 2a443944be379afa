#include "acme/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/steady_clock.h"

extern char** environ;

namespace hyperflock::acme {
namespace {

constexpr std::size_t kMostOutput = 64 * 1'024;
constexpr int kLookMs = 100;  // how often `cancelled` is looked at

// The two ends of a pipe.
struct Pipe {
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) ends = {-1, -1};
  }
  ~Pipe() {
    close_write();
    if (ends[0] >= 0) ::close(ends[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_write() {
    if (ends[1] >= 0) ::close(std::exchange(ends[1], -1));
  }
  std::array<int, 2> ends{-1, -1};
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> found;
  found.reserve(texts.size() + 1);
  for (std::string& text : texts) found.push_back(text.data());
  found.push_back(nullptr);
  return found;
}

// Starts the program with the pipe as its output. Returns its process id, or the system's error.
Result<pid_t> spawn(std::vector<std::string> words, const std::vector<std::string>& variables,
                    const Pipe& pipe) {
  std::vector<std::string> environment(variables);
  for (char** each = environ; *each != nullptr; ++each) environment.emplace_back(*each);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, pipe.ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, pipe.ends[1], STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigaddset(&signals, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  const int failed = posix_spawnp(&pid, words.front().c_str(), &files, &attributes,
                                  pointers(words).data(), pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) return Error{"no_acme_client", std::generic_category().message(failed)};
  return pid;
}

// Appends what can be read. Returns whether more may come.
bool read_some(int end, std::string& output) {
  std::array<char, 4'096> piece{};
  const ssize_t count = ::read(end, piece.data(), piece.size());
  if (count < 0) return errno == EINTR;
  output.append(piece.data(), static_cast<std::size_t>(count));
  if (output.size() > kMostOutput) output.erase(0, output.size() - kMostOutput);
  return count > 0;
}

}  // namespace

Result<Ended> run_program(const std::vector<std::string>& words,
                          const std::vector<std::string>& variables,
                          const std::atomic<bool>& cancelled, Millis limit_ms) {
  Pipe pipe;
  if (pipe.ends[0] < 0) return Error{"no_acme_client", std::generic_category().message(errno)};
  TRY(const pid_t pid, spawn(words, variables, pipe));
  pipe.close_write();
  Ended ended;
  const Instant last = steady_now() + limit_ms;
  for (;;) {
    if (cancelled || steady_now() >= last) ::kill(pid, SIGKILL);
    pollfd waiting{.fd = pipe.ends[0], .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiting, 1, kLookMs);
    if (ready > 0 && !read_some(pipe.ends[0], ended.output)) break;
  }
  // Whoever closed the pipe may still run for a moment.
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended;
}

}  // namespace hyperflock::acme
