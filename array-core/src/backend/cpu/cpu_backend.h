// The back end that computes in this process's own memory.
#pragma once

#include <memory>

#include "backend/backend.h"

namespace arraycore {

std::unique_ptr<Backend> make_cpu_backend();

}  // namespace arraycore
