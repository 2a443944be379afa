// Opens a link to the server that has the database: connects, proves the key and sends the header.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/instant.h"
#include "hub/executor.h"
#include "net/tls.h"

namespace hyperflock::net {

class Stream;

struct DialSettings {
  std::vector<boost::asio::ip::tcp::endpoint> endpoints{};  // tried in this order
  TlsContext context{};                                     // of peer_context()
  std::string header{};                                     // of write_relay_header()
  Millis limit_ms = 5'000;                                  // for all of it
};

struct Dialled {
  enum class End {
    opened,
    unreachable,
    wrong_key,  // the other end does not have the key
  };
  End end = End::unreachable;
  std::unique_ptr<Stream> link{};  // its next bytes are the client's
  std::string reason{};            // of a failure
};

// Calls `done` once, on the strand.
void dial(const hub::Strand& strand, DialSettings settings, std::function<void(Dialled)> done);

}  // namespace hyperflock::net
