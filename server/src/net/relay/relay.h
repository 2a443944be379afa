// The spare's side of links: passes its clients' connections on to the server that has the
// database.
//
//   Relay relay(io, metrics);
//   relay.set_target(PeerTarget{.key = {epoch, secret}, .address = "server-1:8791"});
//   http_context.onward = &relay.door(Door::compute);
//
// Each connection has a link of its own. When another server takes the database, the links to the
// one before end at once.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "net/onward.h"
#include "net/relay/carrier.h"
#include "net/relay/peer_key.h"
#include "net/relay/relay_header.h"

namespace hyperflock::net {

struct PeerTarget {
  PeerKey key{};
  std::string address{};  // HOST:PORT; a name is looked up
};

struct RelaySettings {
  Millis dial_ms = 5'000;  // for opening a link
  // More than these wait for their turn, for dial_ms. So a server is not flooded by links that
  // begin, and keeps room for those of other spares.
  std::size_t dials_at_once = 64;
  CarrierLimits carrier{};
};

class Relay {
 public:
  // `metrics` outlives the relay and what it carries.
  Relay(boost::asio::io_context& io, telemetry::Metrics& metrics,
        const RelaySettings& settings = {});
  // REQUIRES: no thread runs the I/O context any more.
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // Sets the server that has the database; nullopt if none takes connections. The same target again
  // changes nothing. Any thread.
  void set_target(const std::optional<PeerTarget>& target);
  // Ends all links. Then no connection is passed on any more. Any thread.
  void stop();
  Onward& door(Door door);
  // Returns the number of connections that are passed on now. Any thread.
  std::size_t carried() const;
  // Returns the number of connections that wait for their turn to get a link. Any thread.
  std::size_t waiting() const;

 private:
  class Impl;
  const std::shared_ptr<Impl> impl_;
};

}  // namespace hyperflock::net
