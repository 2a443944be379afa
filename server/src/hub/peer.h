// The interface between the hub and a connection. Every member may be called on any thread and
// returns at once.
#pragma once

#include <string>

namespace hyperflock::hub {

// A connection as the hub sees it: it takes frames and can be closed. The connection owns it.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual void send(std::string frame) = 0;
  // Closes the connection after everything that was sent before. The codes are those of
  // protocol.md.
  virtual void close(int code, std::string reason) = 0;
  // A message of the peer has been handled, so it may send another.
  virtual void credit() = 0;
};

// An object that is woken when rows of a study change. It then reads the rows after its own cursor.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void wake() = 0;
};

}  // namespace hyperflock::hub
