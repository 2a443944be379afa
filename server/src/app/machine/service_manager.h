// Reports to the program that started this one, such as systemd, by the protocol of sd_notify(3):
// the server is ready, reloads, stops, and is alive. Without such a program nothing happens. One
// thread.
//
//   NOTIFY_SOCKET   where to send: a path, or an abstract address that begins with @
//   WATCHDOG_USEC   the longest time without a sign from the server, which is then restarted
//   WATCHDOG_PID    the process from which the signs must come; if it is not set, this process
#pragma once

#include <string>
#include <string_view>

#include "base/instant.h"

namespace hyperflock::app {

class ServiceManager {
 public:
  // Reads the environment.
  ServiceManager();

  // The longest time between two calls of alive() that the watchdog allows; 0 without a watchdog.
  Millis watchdog_ms() const { return watchdog_ms_; }

  // Each sends one message. If that fails, it logs the error and returns.
  void ready() const;
  void reloading() const;
  // The manager waits at least `longest` for the end of this process.
  void stopping(Millis longest) const;
  void alive() const;

 private:
  void send(const std::string& state) const;

  std::string socket_;
  Millis watchdog_ms_ = 0;
};

// Sends one datagram to a Unix socket: a path, or an abstract address that begins with @. Returns
// why it was not sent, or an empty text.
std::string send_datagram(std::string_view socket, std::string_view text);

}  // namespace hyperflock::app
