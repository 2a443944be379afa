// The interface between the hub and a connection. Every member may be called on any thread and
// returns at once.
#pragma once

#include <string>

namespace hyperflock::hub {

// Codes with which a connection is closed; protocol.md has all.
inline constexpr int kCloseClean = 1000;
inline constexpr int kCloseTryLater = 1013;

// The part of a connection that the hub uses: it sends frames and can be closed. A peer is owned by
// its connection and not by the hub.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual void send(std::string frame) = 0;
  // Closes the connection after everything that was sent before. The codes are those of
  // protocol.md.
  virtual void close(int code, std::string reason) = 0;
  // Lets the peer send another message, because one was handled.
  virtual void credit() = 0;
};

// An object that is woken when rows of a study have changed. It then reads the new rows by itself.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void wake() = 0;
};

}  // namespace hyperflock::hub
