// Ends a fuzzer that has found a fault.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace hyperflock::fuzz {

inline void require(bool holds, const char* what, const std::string& detail = {}) {
  if (holds) return;
  std::fprintf(stderr, "%s: %s\n", what, detail.c_str());
  std::abort();
}

}  // namespace hyperflock::fuzz
