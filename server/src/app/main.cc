// The program hyperflock-server: reads its command line and runs the command.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "app/config.h"
#include "app/server.h"
#include "app/service_manager.h"
#include "app/terminal.h"
#include "app/version.h"
#include "base/steady_clock.h"
#include "cli/admin.h"
#include "cli/healthcheck.h"
#include "storage/sqlite/open.h"
#include "telemetry/log.h"

#ifdef HYPERFLOCK_STATIC
#include <nss.h>
#endif

namespace hyperflock::app {
namespace {

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

void introduce(const Server& server) {
  print("Hyperflock listens on " + server.compute_origin() + " (volunteers) and " +
        server.console_origin() + " (researchers).\n");
  if (!server.first_start()) return;
  const FirstStart& made = *server.first_start();
  print("\nThis is the first start.\n  tokens     " + made.credentials_file +
        " (only you can read this file; keep it)\n  join link  " + server.compute_origin() +
        "/join#" + made.enrolment_code + "\n\n");
}

// Sends SIGTERM to this process when standard input is closed. If the program that started the
// server is killed, the kernel closes its pipe, so the server does not outlive that program.
void watch_stdin() {
  std::thread([] {
    char discarded[4096];
    for (;;) {
      const ssize_t count = ::read(STDIN_FILENO, discarded, sizeof discarded);
      if (count == 0 || (count < 0 && errno != EINTR)) break;
    }
    telemetry::log(telemetry::LogLevel::info, "stdin_closed", {});
    ::kill(::getpid(), SIGTERM);
  }).detach();
}

// Waits for a signal, at most until `until`. Returns 0 if none came.
int next_signal(const sigset_t& signals, Instant until) {
  const Millis left = std::max<Millis>(0, until - steady_now());
  const timespec limit{.tv_sec = static_cast<std::time_t>(left / 1'000),
                       .tv_nsec = static_cast<long>(left % 1'000) * 1'000'000};
  const int received = sigtimedwait(&signals, nullptr, &limit);
  return std::max(received, 0);
}

// Serves until a signal ends it: SIGTERM, SIGINT, or SIGHUP of a closed terminal. Any other SIGHUP
// reloads. Meanwhile it gives the service manager's watchdog a sign whenever all threads answer.
void serve_until_signal(Server& server, const sigset_t& signals, const ServiceManager& manager,
                        const Terminal& terminal) {
  constexpr Millis kNever = 3'600'000;
  const Millis every = manager.watchdog_ms() == 0 ? kNever : manager.watchdog_ms() / 4 + 1;
  Instant next = steady_now();
  for (;;) {
    if (manager.watchdog_ms() != 0 && steady_now() >= next) {
      if (server.threads_answered()) {
        manager.alive();
        server.ask_threads();
      }
    }
    if (steady_now() >= next) next = steady_now() + every;
    const int received = next_signal(signals, next);
    if (received == 0) continue;
    telemetry::log(telemetry::LogLevel::info, "signal", {{"number", received}});
    if (received != SIGHUP || terminal.closed()) return;
    manager.reloading();
    (void)server.reload();  // reload() logs any error
    manager.ready();
  }
}

int serve(ServeConfig config) {
  telemetry::start_logging(config.log_level);
  // Every thread inherits the signal mask, so signals are handled only here.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  const Terminal terminal;
  const ServiceManager manager;
  if (config.end_with_stdin) watch_stdin();
  if (manager.watchdog_ms() != 0)
    config.answer_ms = std::clamp<Millis>(manager.watchdog_ms() / 8, 1, 1'000);

  Result<std::unique_ptr<Server>> server = Server::start(config);
  if (!server) {
    std::fprintf(stderr, "%s\n", server.error().message.c_str());
    return 1;
  }
  introduce(**server);
  manager.ready();
  serve_until_signal(**server, signals, manager, terminal);
  // A second signal ends the program at once.
  std::thread([signals] {
    int again = SIGHUP;
    while (again == SIGHUP) sigwait(&signals, &again);
    ::_exit(128 + again);
  }).detach();
  manager.stopping(config.drain_ms + kLongestCloseMs);
  (*server)->stop();
  return 0;
}

struct Run {
  int operator()(const ServeConfig& config) const { return serve(config); }
  int operator()(const HealthcheckConfig& config) const {
    constexpr Millis kLimitMs = 5'000;
    const Status healthy = cli::check_health(config.url, kLimitMs);
    if (healthy) return 0;
    std::fprintf(stderr, "%s\n", healthy.error().message.c_str());
    return 1;
  }
  int operator()(const cli::AdminCommand& command) const {
    const cli::AdminResult result = cli::run_admin(command);
    std::fputs(result.error.c_str(), stderr);
    print(result.output);
    return result.status;
  }
  int operator()(const ShowVersion&) const {
    print(std::string(kVersion) + " (SQLite " + storage::sqlite_version() + ")\n");
    return 0;
  }
  int operator()(const Stop& stop) const {
    std::fputs(stop.text.c_str(), stop.status == 0 ? stdout : stderr);
    return stop.status;
  }
};

// A static program must not load the name services that its system configures, because they need
// the C library with which they were built. The program itself contains the code that reads the
// hosts file and asks the DNS.
void use_own_name_services() {
#ifdef HYPERFLOCK_STATIC
  __nss_configure_lookup("hosts", "files dns");
#endif
}

}  // namespace
}  // namespace hyperflock::app

int main(int argc, char** argv) {
  hyperflock::app::use_own_name_services();
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return std::visit(hyperflock::app::Run{}, hyperflock::app::parse_command_line(arguments));
}
