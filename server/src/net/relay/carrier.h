// Carries bytes both ways between a client and a link, until one of them ends. A direction has no
// buffer while it is idle, and at most 16 KiB while its receiver is slow; then it reads no more.
//
// The server at the other end of the link judges how slow its client may be. Carrier only ends what
// that server cannot see: a client that does not take what was sent before the server ended.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/instant.h"
#include "net/connections.h"
#include "net/pace.h"
#include "net/stream.h"
#include "telemetry/metrics.h"

namespace hyperflock::net {

struct CarrierLimits {
  // How slowly the client may take what waits for it. Its grace is longer than that of a server, so
  // that the server decides while it can.
  Pace pace{.grace_ms = 60'000};
  Millis linger_ms = 5'000;  // how long the client may go on after the server has ended
};

class Carrier final : public Closable, public std::enable_shared_from_this<Carrier> {
 public:
  // Both streams have one strand. `kept` is destroyed together with this object, which `metrics`
  // outlives.
  Carrier(std::unique_ptr<Stream> client, std::unique_ptr<Stream> link, ConnectionSlot slot,
          std::string begun, const CarrierLimits& limits, std::shared_ptr<void> kept,
          telemetry::Metrics& metrics);

  // On the strand.
  void start();
  // Ends both connections at once. Any thread.
  void end();

  void shut(int) override { end(); }
  void displace() override { end(); }
  void check_progress(Instant now) override;

 private:
  struct Direction {
    Stream& from;
    Stream& to;
    std::string waiting{};  // what the receiver did not take yet
    bool from_ended = false;
    bool done = false;
  };

  void pump(Direction& direction);
  // Moves some bytes. Returns whether the direction may go on at once.
  bool step(Direction& direction);
  bool send(Direction& direction, boost::asio::const_buffer bytes);
  void wait(Direction& direction, Stream& stream, StreamStep::Next what);
  void finish(Direction& direction);
  void note_client(Direction& direction, std::size_t taken);
  void close();

  const CarrierLimits limits_;
  const std::shared_ptr<void> kept_;
  telemetry::Metrics& metrics_;
  std::unique_ptr<Stream> client_;
  std::unique_ptr<Stream> link_;
  ConnectionSlot slot_;
  Direction up_;    // from the client
  Direction down_;  // to the client
  bool closed_ = false;
  bool is_slow_ = false;  // bytes wait for the client
  PacedTransfer taking_{{}, {}};
  std::atomic<Millis> due_{0};  // when the client must have taken more; 0: no limit
};

}  // namespace hyperflock::net
