// One WebSocket: one strand, one reader, one writer, an outgoing queue bounded in bytes. Knows
// frames, not messages.
//
// A peer that is slow to take what it asked for is first not read from any more (half of the
// queue's limit), then closed with 4002 (the whole limit, or nothing taken for `stuck_ms`). The
// server's memory never grows with it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/instant.h"
#include "hub/peer.h"
#include "net/connections.h"
#include "telemetry/metrics.h"

namespace hyperflock::net {

struct Upgrade;

struct ChannelLimits {
  std::size_t queue_bytes = std::size_t{4} << 20;  // outgoing, waiting
  std::size_t frame_bytes = std::size_t{1} << 20;  // incoming (R1)
  std::size_t unanswered_frames = 32;              // handed up without a credit back
  Millis idle_ms = 60'000;                         // silence; pings go out at half of it
  Millis stuck_ms = 20'000;                        // a write that makes no progress
  Millis close_ms = 3'000;                         // for the closing handshake
};

class WsChannel;

// What a session does with its channel. Every member is called on the channel's strand.
class ChannelUser {
 public:
  virtual ~ChannelUser() = default;
  virtual void on_open(const std::shared_ptr<WsChannel>& channel) = 0;
  // One text frame; answered by a credit() when it has been dealt with.
  virtual void on_text(std::string_view text) = 0;
  // A frame that breaks R1: `frame_too_large` (the channel closes with 1009) or `malformed`
  // (binary).
  virtual void on_bad_frame(const char* code) = 0;
  // After this the channel forgets its user. clean: the peer closed with 1000.
  enum class How { clean, lost };
  virtual void on_closed(How how) = 0;
};

class WsChannel : public hub::Peer, public Closable {
 public:
  // Answers the upgrade; then on_open(), or on_closed() where that fails.
  static std::shared_ptr<WsChannel> start(std::shared_ptr<Upgrade> upgrade,
                                          const ChannelLimits& limits, telemetry::Metrics& metrics,
                                          std::shared_ptr<ChannelUser> user);

  // Runs `action` on the strand after `delay`, unless another call came before or the channel
  // closed.
  virtual void after(Millis delay, std::function<void()> action) = 0;
  // Runs `action` on the strand.
  virtual void post(std::function<void()> action) = 0;
  // Bytes that wait to be sent. Any thread.
  virtual std::size_t queued_bytes() const = 0;
  // Called on the strand each time the outgoing queue has run empty.
  virtual void on_drained(std::function<void()> action) = 0;
  virtual const std::string& address() const = 0;
};

}  // namespace hyperflock::net
