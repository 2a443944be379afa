// A user's compute shader. It is WGSL with bindings, a uniform block and an entry point of its own.
// It becomes what the command ring runs: the entry point `main`, the uniform block at binding 0 of
// group 0, and storage bindings from 1 on. Only binding numbers and the name `main` are rewritten,
// so messages of the device's compiler name the user's own lines.
//
// Only declarations are parsed; the device's compiler checks the function bodies. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dtype/dtype.h"

namespace arraycore::wgsl {

struct StorageBinding {
  std::string name;
  bool written = false;  // `read_write`, otherwise `read`
  bool operator==(const StorageBinding&) const = default;
};

// One number of the uniform block.
struct UniformSlot {
  std::uint32_t offset = 0;      // bytes
  DType dtype = DType::float32;  // int32, uint32, float32, float16
  bool operator==(const UniformSlot&) const = default;
};

struct RawModule {
  std::string text;
  std::vector<StorageBinding> bindings;  // in the order of the numbers in the text
  std::vector<UniformSlot> uniforms;     // in the order of the members in the text
  std::uint32_t uniform_bytes = 0;       // by WGSL's layout; 0: there is no block
};

// `entry` is the name of the entry point; messages name the kernel by it. Error: compile,
// "raw_text", with line, column and a caret.
Result<RawModule> read_raw_module(std::string_view entry, std::string_view text);

}  // namespace arraycore::wgsl
