// See shown_places.h.
#include "http/console/shown_places.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace hyperflock::http {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Looks at the values with the indices `begin` to `end` - 1. Appends the indices of the smallest
// one, of the largest one and of the first that is not finite, in order.
void add_part(const std::vector<double>& values, std::size_t begin, std::size_t end,
              std::vector<std::size_t>& places) {
  std::size_t least = kNone;
  std::size_t most = kNone;
  std::size_t gap = kNone;
  for (std::size_t i = begin; i < end; ++i) {
    if (!std::isfinite(values[i])) {
      if (gap == kNone) gap = i;
      continue;
    }
    if (least == kNone || values[i] < values[least]) least = i;
    if (most == kNone || values[i] > values[most]) most = i;
  }
  std::array<std::size_t, 3> found{least, most, gap};
  std::ranges::sort(found);
  for (std::size_t i = 0; i < found.size() && found[i] != kNone; ++i) {
    if (i == 0 || found[i] != found[i - 1]) places.push_back(found[i]);
  }
}

}  // namespace

std::vector<std::size_t> shown_places(const std::vector<double>& values, std::size_t most) {
  std::vector<std::size_t> places;
  if (values.size() <= most) {
    places.resize(values.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    return places;
  }
  const bool has_gaps = !std::ranges::all_of(values, [](double one) { return std::isfinite(one); });
  const std::size_t parts = (most - 2) / (has_gaps ? 3 : 2);
  const std::size_t inner = values.size() - 2;
  places.push_back(0);
  for (std::size_t part = 0; part < parts; ++part)
    add_part(values, 1 + inner * part / parts, 1 + inner * (part + 1) / parts, places);
  places.push_back(values.size() - 1);
  return places;
}

}  // namespace hyperflock::http
