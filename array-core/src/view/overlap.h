// Decides whether a write through one view can change what another view shows. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "view/view.h"

namespace arraycore {

enum class Overlap : std::uint8_t {
  disjoint,  // they have no byte in common
  same,      // element by element the same bytes: one pass may read and write them
  partial,   // anything else, and undecided cases
};

// The number of candidates that overlap() tries before it answers `partial`. Most calls try few.
inline constexpr std::int64_t kOverlapWork = 1000;

// Compares two views of one storage. The answer is exact unless the search exceeds `max_work`.
Overlap overlap(const View& a, std::size_t a_item_size, const View& b, std::size_t b_item_size,
                std::int64_t max_work = kOverlapWork);

}  // namespace arraycore
