// One emulated device's side of the wire, as every emulator begins it. Each throws
// std::runtime_error where the server answers otherwise than it must.
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
// A connection of the device's that was welcomed and has said that it is ready.
net::TestWebSocket open_session(std::uint16_t compute_port, const Device& device,
                                const std::string& agent);

}  // namespace hyperflock::bench
