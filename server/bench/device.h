// The first messages of an emulated device, which all emulators share. Each function throws
// std::runtime_error if the server gives an unexpected answer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/codec.h"
#include "tests/test_client.h"

namespace hyperflock::bench {

struct Device {
  std::string id;
  std::string secret;
};

protocol::ServerMessage parse(std::string_view text);
void send(net::TestWebSocket& socket, const protocol::ClientMessage& message);
// Returns a connection of the device that got its welcome and has sent ready.
net::TestWebSocket open_session(std::uint16_t compute_port, const Device& device,
                                const std::string& agent);

}  // namespace hyperflock::bench
