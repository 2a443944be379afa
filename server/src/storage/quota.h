// A researcher's quota and usage, and the error message when a limit is exceeded. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace hyperflock::storage {

// A researcher's limits; 0: no limit.
struct Quota {
  std::int64_t studies = 0;  // running ones
  std::int64_t trials = 0;   // of all running studies
  std::int64_t bytes = 0;    // of bundles and data (each blob counts once) and of all artifacts
  bool operator==(const Quota&) const = default;
};

struct Usage {
  std::int64_t studies = 0;
  std::int64_t trials = 0;
  std::int64_t bytes = 0;
  bool operator==(const Usage&) const = default;
};

// Usage::trials is at most this value, because the sum over very many large studies could exceed 64
// bits.
inline constexpr std::int64_t kManyTrials = 9'000'000'000'000'000;

struct Excess {
  enum class What { studies, trials, bytes } what = What::studies;
  std::int64_t used = 0;
  std::int64_t asked = 0;  // what a request would add
  std::int64_t limit = 0;
  bool operator==(const Excess&) const = default;
};

// Returns the first limit that the usage would exceed with `asked` added to it.
inline std::optional<Excess> excess_of(const Quota& quota, const Usage& used, const Usage& asked) {
  using What = Excess::What;
  const auto over = [](std::int64_t limit, std::int64_t has, std::int64_t more) {
    return limit > 0 && more > 0 && (has >= limit || more > limit - has);
  };
  if (over(quota.studies, used.studies, asked.studies))
    return Excess{What::studies, used.studies, asked.studies, quota.studies};
  if (over(quota.trials, used.trials, asked.trials))
    return Excess{What::trials, used.trials, asked.trials, quota.trials};
  if (over(quota.bytes, used.bytes, asked.bytes))
    return Excess{What::bytes, used.bytes, asked.bytes, quota.bytes};
  return std::nullopt;
}

inline Error quota_error(const Excess& excess) {
  const std::string figures = std::to_string(excess.used) + " in use, " +
                              std::to_string(excess.asked) + " more asked for, " +
                              std::to_string(excess.limit) + " allowed";
  switch (excess.what) {
    case Excess::What::studies:
      return {"quota_exceeded",
              "Too many of your studies run (" + figures +
                  "): wait for one to end, cancel one, or ask an administrator for more.",
              "studies"};
    case Excess::What::trials:
      return {"quota_exceeded",
              "Your running studies would have too many trials (" + figures +
                  "): wait for one to end, submit a smaller one, or ask an administrator for more.",
              "trials"};
    case Excess::What::bytes:
      break;
  }
  return {"quota_exceeded",
          "Your bundles, data and artifacts would take too many bytes (" + figures +
              "): send less, or ask an administrator for more.",
          "bytes"};
}

}  // namespace hyperflock::storage
