// The ring's back end in a browser (or Node): its executor is the gpu thread, reached by the
// loader.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "backend/backend.h"

namespace arraycore {

// Error: not_implemented "backend_missing" natively, and where the loader was given no gpu thread.
// `budget_bytes`: of all arrays; the buffers that hold them may take a little more.
Result<std::unique_ptr<Backend>> open_webgpu_backend(std::optional<std::int64_t> budget_bytes);

}  // namespace arraycore
