// Whether the storage under test runs statements now, so that plans_test.cc collects them.
#pragma once

#include <atomic>

namespace hyperflock::storage {

inline std::atomic<bool> storage_runs = false;

}  // namespace hyperflock::storage
