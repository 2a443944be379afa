// May writing through one view change what another shows? Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "view/view.h"

namespace arraycore {

enum class Overlap : std::uint8_t {
  disjoint,  // no byte in common
  same,      // element by element the same bytes: safe to read and write in one pass
  partial,   // anything else, also where the search was given up
};

// Candidates that overlap() looks at before it says `partial`. Real programs need a handful.
inline constexpr std::int64_t kOverlapWork = 1000;

// Of two views of one storage. Exact up to `max_work`.
Overlap overlap(const View& a, std::size_t a_item_size, const View& b, std::size_t b_item_size,
                std::int64_t max_work = kOverlapWork);

}  // namespace arraycore
