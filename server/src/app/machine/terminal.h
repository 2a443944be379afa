// The terminal in which the server was started, if there is one. Closing a terminal sends SIGHUP,
// and so do programs that want a reload. The server looks whether the terminal is still open, to
// distinguish the two.
#pragma once

#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

namespace hyperflock::app {

class Terminal {
 public:
  Terminal() {
    for (std::size_t i = 0; i < kStreams.size(); ++i) is_terminal_[i] = ::isatty(kStreams[i]) == 1;
  }

  // Returns whether there was a terminal at the start, and it was closed.
  bool closed() const {
    for (std::size_t i = 0; i < kStreams.size(); ++i) {
      termios ignored{};
      if (is_terminal_[i] && ::tcgetattr(kStreams[i], &ignored) != 0 && errno == EIO) return true;
    }
    return false;
  }

 private:
  static constexpr std::array kStreams{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  std::array<bool, kStreams.size()> is_terminal_{};
};

}  // namespace hyperflock::app
