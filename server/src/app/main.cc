// The program hyperflock-server: reads its command line and runs the command.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "app/config.h"
#include "app/database.h"
#include "app/machine/descriptors.h"
#include "app/machine/service_manager.h"
#include "app/machine/terminal.h"
#include "app/machine/version.h"
#include "app/server.h"
#include "app/spare/listening.h"
#include "app/spare/spare.h"
#include "base/steady_clock.h"
#include "cli/admin.h"
#include "cli/healthcheck.h"
#include "net/connections.h"
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

enum class End { signal, lost };

// What a serving process has from its start to its end.
struct Process {
  sigset_t signals{};
  const Terminal& terminal;
  const ServiceManager& manager;
};

// Set when another server has taken the database over. SIGUSR1 wakes the thread that waits for
// signals.
std::atomic<bool> shard_lost{false};

// Serves until a signal ends it: SIGTERM, SIGINT, or SIGHUP of a closed terminal. Any other SIGHUP
// reloads. Meanwhile it gives the service manager's watchdog a sign whenever all threads answer.
End serve_until_end(Server& server, const Process& process) {
  const ServiceManager& manager = process.manager;
  constexpr Millis kNever = 3'600'000;
  const Millis every = manager.watchdog_ms() == 0 ? kNever : manager.watchdog_ms() / 4 + 1;
  Instant next = steady_now();
  while (!shard_lost) {
    if (manager.watchdog_ms() != 0 && steady_now() >= next) {
      if (server.threads_answered()) {
        manager.alive();
        server.ask_threads();
      }
    }
    if (steady_now() >= next) next = steady_now() + every;
    const int received = next_signal(process.signals, next);
    if (received == 0 || received == SIGUSR1) continue;
    telemetry::log(telemetry::LogLevel::info, "signal", {{"number", received}});
    if (received != SIGHUP || process.terminal.closed()) return End::signal;
    manager.reloading();
    (void)server.reload();  // reload() logs any error
    manager.ready();
  }
  telemetry::log(telemetry::LogLevel::warning, "shard_lost",
                 {{"reason", "Another server has taken the database over."}});
  return End::lost;
}

Result<std::unique_ptr<Server>> start_server(const ServeConfig& config,
                                             std::function<void()> before_listening) {
  Turn turn{.before_listening = std::move(before_listening)};
  if (config.wait_for_shard) {
    turn.lost = [] {
      shard_lost = true;
      ::kill(::getpid(), SIGUSR1);
    };
  }
  shard_lost = false;
  return Server::start(config, nullptr, turn);
}

// Returns whether a spare goes on waiting after this error of a start: another spare was faster, or
// the database went away.
bool may_wait(const Error& error) {
  return error.code == "shard_held" || error.code == "postgres_unreachable" ||
         error.code == "storage_unavailable";
}

// Returns the settings of a spare. A connection that is passed on needs two open files. The server
// that has the database decides which connections are too many, so a spare takes some more, which
// are beginning. Error: `few_descriptors`.
Result<ServeConfig> settings_of_spare(ServeConfig config) {
  constexpr std::size_t kBeginning = net::Connections::kDisplacedAtOnce;
  TRY(const auto fitted,
      fit_budgets(raise_descriptor_limit() / 2, {config.max_connections + kBeginning,
                                                 config.max_console_connections + kBeginning}));
  config.max_connections = fitted.compute;
  config.max_console_connections = fitted.console;
  return config;
}

// Waits as a spare until this server has the database. Returns nullptr after a signal. Sets the
// ports, so that the server listens where the spare did.
Result<std::unique_ptr<Server>> wait_for_turn(ServeConfig& config, const Process& process) {
  constexpr Millis kLookMs = 250;
  TRY(auto settings, postgres_settings(config));
  TRY(const ServeConfig of_spare, settings_of_spare(config));
  TRY(const auto spare, Spare::start(of_spare, storage::watch_shard(std::move(settings))));
  config.compute.port = spare->compute_port();
  config.console.port = spare->console_port();
  TRY(tell_ready(config, config.compute.port, config.console.port));
  process.manager.ready();
  for (;;) {
    const int received = next_signal(process.signals, steady_now() + kLookMs);
    if (process.manager.watchdog_ms() != 0) process.manager.alive();
    if (received != 0 && received != SIGUSR1) {
      telemetry::log(telemetry::LogLevel::info, "signal", {{"number", received}});
      if (received != SIGHUP || process.terminal.closed()) return std::unique_ptr<Server>();
      spare->reload();
    }
    if (!spare->may_take()) continue;
    bool stopped = false;
    auto server = start_server(config, [&] {
      spare->stop();
      stopped = true;
    });
    if (server || stopped || !may_wait(server.error())) return server;
  }
}

int fail(const Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return 1;
}

int serve(ServeConfig config) {
  telemetry::start_logging(config.log_level, config.log_format);
  const Terminal terminal;
  const ServiceManager manager;
  Process process{.terminal = terminal, .manager = manager};
  // Every thread inherits the signal mask, so signals are handled only here.
  sigset_t& signals = process.signals;
  sigemptyset(&signals);
  for (const int one : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) sigaddset(&signals, one);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  if (config.end_with_stdin) watch_stdin();
  if (manager.watchdog_ms() != 0)
    config.answer_ms = std::clamp<Millis>(manager.watchdog_ms() / 8, 1, 1'000);

  Result<std::unique_ptr<Server>> server = start_server(config, {});
  bool waits = config.wait_for_shard && !server && server.error().code == "shard_held";
  for (;;) {
    while (waits && !server && may_wait(server.error())) {
      server = wait_for_turn(config, process);
      if (server && *server == nullptr) return 0;
    }
    if (!server) return fail(server.error());
    introduce(**server);
    manager.ready();
    if (serve_until_end(**server, process) == End::signal) break;
    // The restart of a server that lost the database is the start of a spare.
    waits = true;
    config.compute.port = (*server)->compute_port();
    config.console.port = (*server)->console_port();
    server = Error{"shard_held", ""};
  }
  // A second signal ends the program at once.
  std::thread([signals] {
    int again = SIGHUP;
    while (again == SIGHUP || again == SIGUSR1) sigwait(&signals, &again);
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
