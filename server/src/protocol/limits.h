// The limits of server/docs/protocol.md and rest.md, checked once at the edge.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hyperflock::protocol {

inline constexpr std::size_t kMaxFrameBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxDepth = 16;

// Characters (Unicode code points).
inline constexpr std::size_t kMaxText = 256;
inline constexpr std::size_t kMaxEntry = 512;
inline constexpr std::size_t kMaxMessage = 1024;
inline constexpr std::size_t kMaxCode = 64;
inline constexpr std::size_t kMaxLine = 2000;
inline constexpr std::size_t kMaxLabel = 128;

// Bytes of UTF-8.
inline constexpr std::size_t kMaxParamsBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMaxTracebackBytes = std::size_t{16} << 10;
inline constexpr std::size_t kMaxProvenanceBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMaxDistributionBytes = std::size_t{16} << 10;
inline constexpr std::size_t kMaxAnswerBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMaxAttrsBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMaxSuggestedBytes = std::size_t{256} << 10;

// Counts.
inline constexpr std::size_t kMaxPoints = 1000;
inline constexpr std::size_t kMaxValues = 8;
inline constexpr std::size_t kMaxBackends = 8;
inline constexpr std::size_t kMaxHeldAttempts = 16;
inline constexpr std::size_t kMaxData = 64;
inline constexpr std::size_t kMaxDimensions = 64;
inline constexpr std::size_t kMaxLines = 200;
inline constexpr std::size_t kMaxOwnerItems = 1000;  // of each list of an owner's `reply` or `call`

}  // namespace hyperflock::protocol
