// Chooses how many random cases a test runs: all of them with `./run test --whole`, else a sample.
#pragma once

#include <cstdlib>

namespace hyperflock {

// Returns `all` with --whole, else `sample`.
inline int cases(int all, int sample) {
  return std::getenv("HYPERFLOCK_WHOLE") != nullptr ? all : sample;
}

}  // namespace hyperflock
