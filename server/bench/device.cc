#include "device.h"

#include <stdexcept>
#include <utility>
#include <variant>

namespace hyperflock::bench {

protocol::ServerMessage parse(std::string_view text) {
  auto message = protocol::parse_server_message(text);
  if (!message)
    throw std::runtime_error("the server sent what is no message: " + std::string(text));
  return std::move(*message);
}

void send(net::TestWebSocket& socket, const protocol::ClientMessage& message) {
  socket.send(protocol::serialize(message));
}

net::TestWebSocket open_session(std::uint16_t compute_port, const Device& device,
                                const std::string& agent) {
  net::TestWebSocket socket(compute_port, "/ws/worker");
  protocol::Hello hello;
  hello.protocol = protocol::kProtocolVersion;
  hello.role = protocol::Role::device;
  hello.device = device.id;
  hello.secret = device.secret;
  hello.agent = agent;
  hello.capabilities = {{"cpu"}, 4096, 2, "bench", "node"};
  send(socket, hello);
  if (!std::holds_alternative<protocol::Welcome>(parse(socket.receive_text())))
    throw std::runtime_error("no welcome");
  send(socket, protocol::Ready{});
  return socket;
}

}  // namespace hyperflock::bench
