#include "names/names.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <span>
#include <utility>

#include "names/unicode_data.h"

namespace hyperflock::names {
namespace {

// Hangul syllables are composed by arithmetic (Unicode, section 3.12).
constexpr char32_t kSyllables = 0xAC00;
constexpr char32_t kLeads = 0x1100;
constexpr char32_t kVowels = 0x1161;
constexpr char32_t kTails = 0x11A7;
constexpr char32_t kVowelCount = 21;
constexpr char32_t kTailCount = 28;
constexpr char32_t kLeadCount = 19;
constexpr char32_t kSyllableCount = kLeadCount * kVowelCount * kTailCount;

constexpr char32_t kSpace = ' ';
constexpr char32_t kIdeographicSpace = 0x3000;

std::u32string decoded(std::string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const int more = lead < 0x80 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    constexpr std::array<unsigned char, 4> kLeadBits{0x7F, 0x1F, 0x0F, 0x07};
    char32_t point = lead & kLeadBits[static_cast<std::size_t>(more)];
    ++at;
    for (int i = 0; i < more && at < text.size(); ++i, ++at)
      point = point << 6 | (static_cast<unsigned char>(text[at]) & 0x3F);
    out += point;
  }
  return out;
}

void append_utf8(std::string& out, char32_t point) {
  const auto byte = [&out](char32_t value) {
    out += static_cast<char>(static_cast<unsigned char>(value));
  };
  if (point < 0x80) {
    byte(point);
  } else if (point < 0x800) {
    byte(0xC0 | point >> 6);
    byte(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    byte(0xE0 | point >> 12);
    byte(0x80 | (point >> 6 & 0x3F));
    byte(0x80 | (point & 0x3F));
  } else {
    byte(0xF0 | point >> 18);
    byte(0x80 | (point >> 12 & 0x3F));
    byte(0x80 | (point >> 6 & 0x3F));
    byte(0x80 | (point & 0x3F));
  }
}

std::string encoded(std::u32string_view text) {
  std::string out;
  for (const char32_t point : text) append_utf8(out, point);
  return out;
}

// Returns the value of the range that contains the point; 0 if there is none.
int value_of(std::span<const Range> ranges, char32_t point) {
  const auto found = std::ranges::lower_bound(ranges, point, {}, &Range::last);
  return found != ranges.end() && found->first <= point ? found->value : 0;
}

bool is_forbidden(char32_t point) { return value_of(forbidden_ranges(), point) != 0; }
int class_of(char32_t point) { return value_of(combining_classes(), point); }

void append_decomposed(std::u32string& out, char32_t point) {
  if (point >= kSyllables && point < kSyllables + kSyllableCount) {
    const char32_t index = point - kSyllables;
    out += kLeads + index / (kVowelCount * kTailCount);
    out += kVowels + index / kTailCount % kVowelCount;
    if (index % kTailCount != 0) out += kTails + index % kTailCount;
    return;
  }
  const auto steps = decompositions();
  const auto found = std::ranges::lower_bound(steps, point, {}, &Step::point);
  if (found == steps.end() || found->point != point) {
    out += point;
    return;
  }
  append_decomposed(out, found->first);
  if (found->second != 0) append_decomposed(out, found->second);
}

// Sorts each run of combining marks by their combining classes.
void order_marks(std::u32string& text) {
  for (std::size_t begin = 0; begin < text.size();) {
    if (class_of(text[begin]) == 0) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (end < text.size() && class_of(text[end]) != 0) ++end;
    std::stable_sort(text.begin() + static_cast<std::ptrdiff_t>(begin),
                     text.begin() + static_cast<std::ptrdiff_t>(end),
                     [](char32_t a, char32_t b) { return class_of(a) < class_of(b); });
    begin = end;
  }
}

std::u32string decomposed(std::u32string_view text) {
  std::u32string out;
  for (const char32_t point : text) append_decomposed(out, point);
  order_marks(out);
  return out;
}

// Returns the character that NFC makes of these two; 0 if there is none.
char32_t composite(char32_t first, char32_t second) {
  if (first >= kLeads && first < kLeads + kLeadCount && second >= kVowels &&
      second < kVowels + kVowelCount)
    return kSyllables + ((first - kLeads) * kVowelCount + (second - kVowels)) * kTailCount;
  if (first >= kSyllables && first < kSyllables + kSyllableCount &&
      (first - kSyllables) % kTailCount == 0 && second > kTails && second < kTails + kTailCount)
    return first + (second - kTails);
  static const auto pairs = [] {
    std::map<std::pair<char32_t, char32_t>, char32_t> made;
    for (const Step& step : decompositions())
      if (step.composes != 0) made[{step.first, step.second}] = step.point;
    return made;
  }();
  const auto found = pairs.find({first, second});
  return found == pairs.end() ? 0 : found->second;
}

std::u32string composed(std::u32string_view text) {
  std::u32string out;
  std::size_t starter = std::u32string::npos;
  int last_class = 0;  // of the mark before, if it stays between the starter and this character
  for (const char32_t point : text) {
    const int own = class_of(point);
    const bool adjacent = starter != std::u32string::npos && out.size() == starter + 1;
    const bool reaches = starter != std::u32string::npos && (adjacent || last_class < own);
    if (reaches) {
      if (const char32_t one = composite(out[starter], point)) {
        out[starter] = one;
        continue;
      }
    }
    if (own == 0) {
      starter = out.size();
      last_class = 0;
    } else {
      last_class = own;
    }
    out += point;
  }
  return out;
}

std::u32string mapped(std::u32string_view text, const Mapping& mapping) {
  std::u32string out;
  for (const char32_t point : text) {
    const auto found = std::ranges::lower_bound(mapping.entries, point, {}, &Entry::point);
    if (found == mapping.entries.end() || found->point != point) {
      out += point;
      continue;
    }
    const auto part = mapping.pool.subspan(found->place, found->length);
    out.append(part.begin(), part.end());
  }
  return out;
}

// Returns the same text for texts that look the same. It has no invisible characters and no spaces,
// because people hardly see how many spaces there are.
// REQUIRES: `text` is decomposed.
std::u32string looks_of(std::u32string_view text) {
  std::u32string out = decomposed(mapped(text, lookalikes()));
  std::erase_if(out, [](char32_t point) { return point == kSpace || is_forbidden(point); });
  return out;
}

bool is_space(char32_t point) { return point == kSpace || point == kIdeographicSpace; }

std::string code_of(char32_t point, const char* format) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), format, static_cast<unsigned>(point));
  return text.data();
}

Error fault(std::string_view field, const std::string& what_to_do) {
  return {"bad_name", std::string(field) + " is plain text: " + what_to_do, std::string(field)};
}

}  // namespace

std::string nfc(std::string_view text) {
  if (std::ranges::all_of(text, [](unsigned char c) { return c < 0x80; })) return std::string(text);
  return encoded(composed(decomposed(decoded(text))));
}

Result<std::string> plain_text(std::string_view text, std::string_view field) {
  const std::u32string points = decoded(text);
  if (const auto found = std::ranges::find_if(points, is_forbidden); found != points.end()) {
    return fault(field, "leave out the character " + code_of(*found, "U+%04X") +
                            ", which is invisible or changes how others are shown.");
  }
  return nfc(text);
}

Result<std::string> plain_name(std::string_view text, std::string_view field) {
  const std::u32string points = decoded(text);
  if (points.empty()) return fault(field, "give at least one character.");
  if (is_space(points.front()) || is_space(points.back()))
    return fault(field, "leave out the spaces at its ends.");
  if (class_of(points.front()) != 0) return fault(field, "begin it with a character of its own.");
  return plain_text(text, field);
}

bool confusable(std::string_view one, std::string_view other) {
  const std::u32string a = decomposed(decoded(one));
  const std::u32string b = decomposed(decoded(other));
  // The texts are compared as they are, and then in lower case. A capital I looks like a small l.
  // Only the first comparison notices this, because the second one turns the I into a small i.
  return looks_of(a) == looks_of(b) || looks_of(decomposed(mapped(a, case_folds()))) ==
                                           looks_of(decomposed(mapped(b, case_folds())));
}

std::string shown(std::string_view text) {
  std::string out;
  for (const char32_t point : decoded(text)) {
    if (is_forbidden(point)) {
      out += code_of(point, "\\u{%04X}");
    } else {
      append_utf8(out, point);
    }
  }
  return out;
}

}  // namespace hyperflock::names
