#include "app/machine/service_manager.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "telemetry/log.h"

namespace hyperflock::app {
namespace {

std::string_view variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::string_view() : text;
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::int64_t monotonic_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

std::string send_datagram(std::string_view socket, std::string_view text) {
  const auto fault = [](const char* what) {
    return std::string(what) + ": " + std::strerror(errno);
  };
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket.size() < 2 || socket.size() >= sizeof address.sun_path ||
      (socket[0] != '/' && socket[0] != '@'))
    return "NOTIFY_SOCKET is neither a path nor an abstract address.";
  socket.copy(address.sun_path, socket.size());
  // An abstract address begins with a zero byte and has exactly its length.
  if (socket[0] == '@') address.sun_path[0] = '\0';
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket.size() +
                                             (socket[0] == '@' ? 0 : 1));
  const int sender = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (sender < 0) return fault("socket");
  // A manager that does not read must not hold the server for ever.
  const timeval limit{.tv_sec = 5, .tv_usec = 0};
  (void)::setsockopt(sender, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  const ssize_t sent = ::sendto(sender, text.data(), text.size(), MSG_NOSIGNAL,
                                reinterpret_cast<const sockaddr*>(&address), length);
  std::string why = sent < 0 ? fault("sendto") : std::string();
  ::close(sender);
  return why;
}

ServiceManager::ServiceManager() : socket_(variable("NOTIFY_SOCKET")) {
  const std::string_view process = variable("WATCHDOG_PID");
  if (socket_.empty() || (!process.empty() && number(process) != ::getpid())) return;
  watchdog_ms_ = number(variable("WATCHDOG_USEC")).value_or(0) / 1'000;
  if (watchdog_ms_ < 0) watchdog_ms_ = 0;
}

void ServiceManager::ready() const { send("READY=1"); }

void ServiceManager::reloading() const {
  send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(monotonic_us()));
}

void ServiceManager::stopping(Millis longest) const {
  send("STOPPING=1\nEXTEND_TIMEOUT_USEC=" + std::to_string(longest * 1'000));
}

void ServiceManager::alive() const { send("WATCHDOG=1"); }

void ServiceManager::send(const std::string& state) const {
  if (socket_.empty()) return;
  const std::string why = send_datagram(socket_, state);
  if (!why.empty()) telemetry::log(telemetry::LogLevel::error, "notify_failed", {{"reason", why}});
}

}  // namespace hyperflock::app
