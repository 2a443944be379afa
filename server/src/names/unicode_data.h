// The data of Unicode 15.0 that names.cc needs. generate.py writes unicode_data.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hyperflock::names {

// Adjacent code points with the same value. Lists of ranges are in ascending order.
struct Range {
  char32_t first;
  char32_t last;
  std::uint8_t value;
};
// The first step of a code point's canonical decomposition, into one or two code points. `composes`
// is 1 if NFC composes the two again.
struct Step {
  char32_t point;
  char32_t first;
  char32_t second;  // 0: there is none
  std::uint8_t composes;
};
// Replaces `point` by the `length` code points of a pool that begin at index `place`.
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
// The decompositions, in ascending order of `point`. Hangul syllables are not listed, because
// names.cc computes their decompositions.
std::span<const Step> decompositions();
// Replacements that make texts equal if they look the same (UTS 39 and NFKD).
Mapping lookalikes();
// Full case folding. The results are canonically decomposed (NFD).
Mapping case_folds();
// The SHA-256 of many texts after ICU has normalized them to NFC. names_test.cc compares it with
// the hash of the same texts, normalized by names.cc.
std::string_view nfc_digest();

}  // namespace hyperflock::names
