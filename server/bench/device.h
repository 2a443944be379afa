// Functions by which every emulator sends the first messages of an emulated device. Each throws
// std::runtime_error if the server gives an unexpected answer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/codec.h"
#include "tests/support/test_client.h"

namespace hyperflock::bench {

struct Device {
  std::string id;
  std::string secret;
};

protocol::ServerMessage parse(std::string_view text);
void send(net::TestWebSocket& socket, const protocol::ClientMessage& message);
// Opens a connection of the device, waits for `welcome` and sends `ready`. Returns the connection.
net::TestWebSocket open_session(std::uint16_t compute_port, const Device& device,
                                const std::string& agent);

}  // namespace hyperflock::bench
