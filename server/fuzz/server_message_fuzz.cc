// Fuzzes parse_server_message(), with which the load emulator reads a server's frames.
#include "fuzz_support.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hyperflock;
  fuzz::check_text(
      data, size, [](std::string_view text) { return protocol::parse_server_message(text); },
      [](const protocol::ServerMessage& message) { return protocol::serialize(message); });
  return 0;
}
