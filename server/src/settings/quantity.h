// Sizes and times as people write them: `1 GiB`, `30 s`. A number alone counts bytes, or
// milliseconds. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hyperflock::settings {

enum class Measure { bytes, time };

// Reads a whole number and perhaps a unit: B, KiB, MiB, GiB, TiB, kB, MB, GB, TB; ms, s, min, h, d.
// Error: `bad_flag`.
Result<std::int64_t> parse_quantity(std::string_view text, Measure measure);

// Returns the shortest text that parse_quantity() reads as this number, such as `512 MiB`.
// REQUIRES: amount >= 0.
std::string quantity_text(std::int64_t amount, Measure measure);

}  // namespace hyperflock::settings
