// How the hub reaches a connection. Every member may be called from any thread and returns at once.
#pragma once

#include <string>

namespace hyperflock::hub {

// Takes frames and closes; owned by its connection.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual void send(std::string frame) = 0;
  // What was sent before leaves first. Codes are protocol.md's.
  virtual void close(int code, std::string reason) = 0;
  // One of the peer's messages has been dealt with: it may bring another.
  virtual void credit() = 0;
};

// Wants to know that rows of a study changed. Carries no data: the watcher reads rows after its own
// cursor.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void wake() = 0;
};

}  // namespace hyperflock::hub
