// Fuzzes parse_study_spec(), which reads the body of POST /api/studies.
#include "fuzz_support.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hyperflock;
  fuzz::check_text(
      data, size, [](std::string_view text) { return protocol::parse_study_spec(text); },
      [](const protocol::StudySpec& spec) { return protocol::serialize_study_spec(spec); });
  return 0;
}
