// A user's compute shader: WGSL with bindings, a uniform block and an entry point of its own ->
// what the command ring runs (entry point `main`, the uniform block at binding 0 of group 0,
// storage bindings from 1 on). Only numbers of bindings and the name `main` are rewritten, so a
// message of the device's compiler names the user's own lines.
//
// Only declarations are understood, function bodies are left to that compiler. Pure; any thread.
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
  bool written = false;  // `read_write`, else `read`
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
  std::vector<StorageBinding> bindings;  // in the order of the text's numbers
  std::vector<UniformSlot> uniforms;     // in the order of the text's members
  std::uint32_t uniform_bytes = 0;       // of WGSL's layout; 0: there is no block
};

// `entry`: the entry point's name; messages call the kernel by it.
// Error: compile, "raw_text", with line, column and a caret.
Result<RawModule> read_raw_module(std::string_view entry, std::string_view text);

}  // namespace arraycore::wgsl
