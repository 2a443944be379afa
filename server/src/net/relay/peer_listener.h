// The side of links of the server that has the database: takes connections of spares, checks that
// they know the key, reads which client each one is for, and serves it as if the client had come
// directly. It runs on the I/O context's threads; stop() may be called on any thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <memory>

#include "net/connections.h"
#include "net/http_connection.h"
#include "net/relay/bound_address.h"
#include "net/relay/peer_key.h"
#include "telemetry/metrics.h"

namespace hyperflock::net {

struct PeerLimits {
  Millis begin_ms = 5'000;      // for the handshake and the header
  std::size_t beginning = 256;  // connections that have not shown the key and the header yet
};

class PeerListener {
 public:
  // What a client's connection gets behind each door.
  struct Origin {
    Connections& connections;
    const HttpContext& context;
  };

  // All references must outlive the run of the I/O context. Error: `bind_failed`.
  static Result<std::unique_ptr<PeerListener>> open(boost::asio::io_context& io,
                                                    BoundAddress address, const PeerKey& key,
                                                    const Origin& compute, const Origin& console,
                                                    telemetry::Metrics& metrics,
                                                    const PeerLimits& limits = {});
  virtual ~PeerListener() = default;

  virtual void start() = 0;
  // Takes no further connections, and ends those that have not shown the key yet.
  virtual void stop() = 0;
  // Forgets connections that are still open. REQUIRES: no connection runs any more.
  virtual void clear() = 0;
};

}  // namespace hyperflock::net
