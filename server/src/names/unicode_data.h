// What names.cc needs of Unicode 15.0. generate.py writes unicode_data.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hyperflock::names {

// Code points with the same value, in ascending order.
struct Range {
  char32_t first;
  char32_t last;
  std::uint8_t value;
};
// A canonical decomposition of one step into one or two code points. `composes`: NFC makes the two
// one again.
struct Step {
  char32_t point;
  char32_t first;
  char32_t second;  // 0: there is none
  std::uint8_t composes;
};
// What replaces a code point: `length` code points of a pool from `place` on.
struct Entry {
  char32_t point;
  std::uint16_t place;
  std::uint8_t length;
};
struct Mapping {
  std::span<const Entry> entries;  // in ascending order of their points
  std::span<const char32_t> pool;
};

// The characters that a name must not have.
std::span<const Range> forbidden_ranges();
std::span<const Range> combining_classes();
// In ascending order of their points. Hangul syllables are not among them.
std::span<const Step> decompositions();
// What a character looks like (UTS 39), also in its compatible form.
Mapping lookalikes();
// Full case folding. The values are decomposed.
Mapping case_folds();
// The SHA-256 over texts in NFC, for the test.
std::string_view nfc_digest();

}  // namespace hyperflock::names
