// The budgets: what a researcher may store and has stored, how much of this one device may upload,
// and the error message when a limit is exceeded. server/docs/limits.md lists what counts for whom.
// Pure; any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace hyperflock::storage {

// A researcher's limits; 0: no limit.
struct Quota {
  std::int64_t studies = 0;  // running ones
  std::int64_t trials = 0;   // of all running studies
  std::int64_t bytes = 0;    // of bundles and data (each blob counts once), artifacts, checkpoints
  bool operator==(const Quota&) const = default;
};

struct Usage {
  std::int64_t studies = 0;
  std::int64_t trials = 0;
  std::int64_t bytes = 0;
  bool operator==(const Usage&) const = default;
};

// What an owner has stored, in bytes. `records` are rows of the database: specs, attempts, points,
// series, attributes and errors. Their bytes are estimates.
struct StoredBytes {
  std::int64_t data = 0;  // bundles and data
  std::int64_t artifacts = 0;
  std::int64_t checkpoints = 0;
  std::int64_t records = 0;

  std::int64_t files() const { return data + artifacts + checkpoints; }
  bool operator==(const StoredBytes&) const = default;
};

// The bytes that each row counts in addition to its texts.
inline constexpr std::int64_t kStudyRecord = 512;
inline constexpr std::int64_t kAttemptRecord = 512;
inline constexpr std::int64_t kArtifactRecord = 512;
inline constexpr std::int64_t kSmallRecord = 64;  // of a report's series, or of a suggestion
inline constexpr std::int64_t kPointRecord = 24;

// A part of the quota is only for records, so that files cannot use up the room for curves. It is a
// quarter of the quota's bytes, but at least this many bytes.
inline constexpr std::int64_t kLeastRecords = std::int64_t{64} << 20;

// Returns how many bytes of records fit into a quota of `quota_bytes`; 0: no limit.
inline std::int64_t most_records(std::int64_t quota_bytes) {
  if (quota_bytes == 0) return 0;
  return std::max(kLeastRecords, quota_bytes / 4);
}

// Each device may always store this many bytes for an owner, if the owner's quota has room for
// them.
inline constexpr std::int64_t kLeastShare = std::int64_t{1} << 20;

// The kinds of files that attempts upload.
enum class UploadKind { artifact, checkpoint };

// Returns whether a device that keeps `kept` bytes would exceed its share if it stored `asked` more
// bytes. `free` is what the owner could still store. The share is half of what would be free
// without the device, so that one device cannot use up everything.
inline bool exceeds_share(std::int64_t free, std::int64_t kept, std::int64_t asked) {
  return kept + asked > std::max(kLeastShare, free / 2 + kept / 2);
}

// Usage::trials is at most this value, because the sum over very many large studies could exceed 64
// bits.
inline constexpr std::int64_t kManyTrials = 9'000'000'000'000'000;

struct Excess {
  enum class What { studies, trials, bytes, records } what = What::studies;
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

// Returns whether the records would exceed their part of the quota.
inline std::optional<Excess> excess_of_records(std::int64_t quota_bytes, std::int64_t used,
                                               std::int64_t asked) {
  const std::int64_t most = most_records(quota_bytes);
  if (most == 0 || asked <= 0 || asked <= most - used) return std::nullopt;
  return Excess{Excess::What::records, used, asked, most};
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
    case Excess::What::records:
      return {"quota_exceeded",
              "The specs, curves and results of your studies would take too many bytes (" +
                  figures + "): delete studies that are over, or ask an administrator for more.",
              "records"};
    case Excess::What::bytes:
      break;
  }
  return {"quota_exceeded",
          "Your bundles, data, artifacts and checkpoints would take too many bytes (" + figures +
              "): delete studies that are over, send less, or ask an administrator for more. GET "
              "/api/me says what takes how much.",
          "bytes"};
}

}  // namespace hyperflock::storage
