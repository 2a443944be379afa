// Fuzzes the reader of users' WGSL with any text. It must return a module, or an error with a
// message. The fields of the module's uniform block must be inside the block and must not overlap.
// The reader must also accept the text that it has rewritten. (raw_module_test.cc tests that a
// valid text gives the same module when it is read again.)
//
// An input is a line with the entry point's name, and then the text.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "wgsl/raw_module.h"

namespace {

using namespace arraycore;  // NOLINT(google-build-using-namespace): one target, one file

void require(bool holds, const char* message) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", message);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = input.find('\n');
  if (end == std::string_view::npos) return 0;
  const auto module = wgsl::read_raw_module(input.substr(0, end), input.substr(end + 1));
  if (!module) {
    require(module.error().code == "raw_text" && !module.error().message.empty(), "a bare error");
    return 0;
  }
  std::uint32_t free = 0;
  for (const wgsl::UniformSlot& slot : module->uniforms) {
    require(slot.offset >= free, "numbers of the uniform block overlap");
    free = slot.offset + static_cast<std::uint32_t>(size_of(slot.dtype));
  }
  require(free <= module->uniform_bytes && module->uniform_bytes <= 1024, "outside of the block");
  const auto again = wgsl::read_raw_module("main", module->text);
  require(again.ok() || !again.error().message.empty(), "a bare error after rewriting");
  return 0;
}
