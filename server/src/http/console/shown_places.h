// Chooses the values of a series that draw its line. Pure; any thread.
#pragma once

#include <cstddef>
#include <vector>

namespace hyperflock::http {

// The least `most` of shown_places().
inline constexpr std::size_t kFewestPlaces = 8;

// Returns the places of at most `most` values, in order: the first, the last and, of equal parts
// between them, the smallest and the largest value. If there are values that are not finite, each
// part with some keeps one of them, so that a gap stays a gap. REQUIRES: most >= kFewestPlaces.
std::vector<std::size_t> shown_places(const std::vector<double>& values, std::size_t most);

}  // namespace hyperflock::http
