// The beginning of a link: which client's connection a spare passes on. It is a PROXY header of
// version 2 with the client's address, its TLS, and an extension of Hyperflock's own (type 0xE0,
// one byte of flags). Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/ip.h"
#include "net/proxy/forwarded.h"

namespace hyperflock::net {

// The listener to which the client has connected.
enum class Door { compute, console };

struct RelayedClient {
  Client client{};     // the client, or the last proxy before the spare
  bool named = false;  // a PROXY header named it
  Door door = Door::compute;
  bool operator==(const RelayedClient&) const = default;
};

std::string write_relay_header(const RelayedClient& client);

struct RelayRead {
  enum class State { more, complete, bad } state = State::more;
  std::size_t missing = 0;  // bytes that are needed; none after them belongs to the header
  RelayedClient client{};
};

// Parses the first bytes of a link, which are the whole header when it is complete.
RelayRead read_relay_header(std::string_view bytes);

}  // namespace hyperflock::net
