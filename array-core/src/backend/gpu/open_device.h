// Opens the ring's back end in a browser or in Node. Its executor is the gpu thread, which the
// loader connects.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "backend/backend.h"
#include "ring/commands.h"

namespace arraycore {

// Error: not_implemented, "backend_missing", in native builds and if the loader has no gpu thread.
// `wanted` is webgpu or webgl2. `budget_bytes` limits the arrays; the buffers that hold them may
// take a little more.
Result<std::unique_ptr<Backend>> open_device(ring::Backend wanted,
                                             std::optional<std::int64_t> budget_bytes);

}  // namespace arraycore
