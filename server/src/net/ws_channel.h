// A WebSocket with one strand, one reader, one writer and a bounded outgoing queue. It transfers
// frames and does not parse their texts.
//
// The queue's limit is in bytes. At half of the limit, the channel stops reading from its slow
// peer. It closes with code 4002 at the whole limit, or if a write makes no progress for
// `stuck_ms`. So the server's memory does not grow with a slow peer.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/instant.h"
#include "hub/peer.h"
#include "net/connections.h"
#include "net/pace.h"
#include "telemetry/metrics.h"

namespace hyperflock::net {

struct Upgrade;

inline constexpr int kTryLater = 1013;  // WebSocket's close code "try again later"

struct ChannelLimits {
  std::size_t queue_bytes = std::size_t{4} << 20;  // of the outgoing queue
  std::size_t frame_bytes = std::size_t{1} << 20;  // incoming (R1)
  std::size_t greeting_bytes = 2'047;              // incoming, before trust()
  std::size_t unanswered_frames = 32;              // frames that may wait for a credit
  Millis idle_ms = 60'000;                         // of silence; pings are sent at half of it
  Millis stuck_ms = 20'000;                        // of a write without progress
  Pace pace{};                                     // of an incoming message
  Millis close_ms = 3'000;                         // for the closing handshake
};

class WsChannel;

// The owner of a channel. Every member is called on the channel's strand.
class ChannelUser {
 public:
  virtual ~ChannelUser() = default;
  virtual void on_open(const std::shared_ptr<WsChannel>& channel) = 0;
  // Receives a text frame. The user calls credit() when it has handled the frame. After
  // Reading::paused, the channel keeps the text and reads nothing more until resume().
  enum class Reading { goes_on, paused };
  virtual Reading on_text(std::string_view text) = 0;
  // Receives a frame that breaks R1: `frame_too_large` (the channel closes with 1009), `malformed`
  // for a binary frame, or `message_too_slow` (the channel closes with 4002).
  virtual void on_bad_frame(const char* code) = 0;
  // The ways in which a channel ends. clean: the peer closed with 1000. on_closed() is the last
  // call.
  enum class How { clean, lost };
  virtual void on_closed(How how) = 0;
};

class WsChannel : public hub::Peer, public Closable {
 public:
  // Accepts the WebSocket and calls on_open(), or on_closed() if that fails.
  static std::shared_ptr<WsChannel> start(std::shared_ptr<Upgrade> upgrade,
                                          const ChannelLimits& limits, telemetry::Metrics& metrics,
                                          std::shared_ptr<ChannelUser> user);

  // The peer has shown who it is: from now on messages may have `frame_bytes`, and no other
  // connection displaces this one. On the strand.
  virtual void trust() = 0;
  // Reads on after Reading::paused. On the strand.
  virtual void resume() = 0;
  // Runs `action` on the strand after `delay`, unless after() is called again or the channel closes
  // before that.
  virtual void after(Millis delay, std::function<void()> action) = 0;
  // Runs `action` on the strand.
  virtual void post(std::function<void()> action) = 0;
  // Returns the number of bytes that wait to be sent. Any thread.
  virtual std::size_t queued_bytes() const = 0;
  // Sets a function that the strand calls each time the outgoing queue becomes empty.
  virtual void on_drained(std::function<void()> action) = 0;
  virtual const std::string& address() const = 0;  // of the client
};

}  // namespace hyperflock::net
