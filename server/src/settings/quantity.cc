#include "settings/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

namespace hyperflock::settings {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t factor;
};

// A number is shown with the first of these units that divides it without a remainder.
constexpr std::array kSizeUnits{Unit{"TiB", std::int64_t{1} << 40},
                                Unit{"GiB", std::int64_t{1} << 30},
                                Unit{"MiB", std::int64_t{1} << 20},
                                Unit{"KiB", std::int64_t{1} << 10},
                                Unit{"TB", 1'000'000'000'000},
                                Unit{"GB", 1'000'000'000},
                                Unit{"MB", 1'000'000},
                                Unit{"kB", 1'000},
                                Unit{"B", 1}};
constexpr std::array kTimeUnits{Unit{"d", 86'400'000}, Unit{"h", 3'600'000}, Unit{"min", 60'000},
                                Unit{"s", 1'000}, Unit{"ms", 1}};

std::span<const Unit> units_of(Measure measure) {
  if (measure == Measure::bytes) return kSizeUnits;
  return kTimeUnits;
}

}  // namespace

Result<std::int64_t> parse_quantity(std::string_view text, Measure measure) {
  const Error fault{"bad_flag", measure == Measure::bytes
                                    ? "Give a whole number and a unit, such as 512 MiB or 1 GiB; "
                                      "a number alone counts bytes."
                                    : "Give a whole number and a unit, such as 500 ms, 30 s or "
                                      "5 min; a number alone counts milliseconds."};
  std::int64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc() || text.starts_with('-')) return fault;
  std::string_view name(stop, static_cast<std::size_t>(end - stop));
  if (name.empty()) return count;
  if (name.starts_with(' ')) name.remove_prefix(1);
  const auto units = units_of(measure);
  const auto unit = std::ranges::find(units, name, &Unit::name);
  if (unit == units.end()) return fault;
  std::int64_t amount = 0;
  if (__builtin_mul_overflow(count, unit->factor, &amount)) return fault;
  return amount;
}

std::string quantity_text(std::int64_t amount, Measure measure) {
  if (amount == 0) return "0";
  const auto units = units_of(measure);
  const auto unit =
      std::ranges::find_if(units, [&](const Unit& one) { return amount % one.factor == 0; });
  return std::to_string(amount / unit->factor) + " " + std::string(unit->name);
}

}  // namespace hyperflock::settings
