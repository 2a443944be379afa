// Fuzzes parse_client_message(), which reads the messages of devices and researchers.
#include "fuzz_support.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hyperflock;
  fuzz::check_text(
      data, size, [](std::string_view text) { return protocol::parse_client_message(text); },
      [](const protocol::ClientMessage& message) { return protocol::serialize(message); });
  return 0;
}
