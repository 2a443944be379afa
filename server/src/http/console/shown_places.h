// Chooses the values of a series with which its line is drawn. Pure; any thread.
#pragma once

#include <cstddef>
#include <vector>

namespace hyperflock::http {

// The smallest valid `most` of shown_places().
inline constexpr std::size_t kFewestPlaces = 8;

// Returns the indices of at most `most` values, in order: the first, the last, and the smallest and
// the largest value in each of several equal parts between them. A part with values that are not
// finite keeps one of them, so that a gap in the line stays a gap. REQUIRES: most >= kFewestPlaces.
std::vector<std::size_t> shown_places(const std::vector<double>& values, std::size_t most);

}  // namespace hyperflock::http
