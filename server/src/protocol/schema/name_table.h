// Converts between enumerations and names with the tables of names.h. Pure; any thread.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace hyperflock::protocol {

template <typename Enum>
struct Names;  // kTable: the names in the order of the enumerators, which count from 0

template <typename Enum>
constexpr std::string_view name_of(Enum value) {
  return Names<Enum>::kTable[static_cast<std::size_t>(value)];
}

template <typename Enum>
constexpr std::optional<Enum> from_name(std::string_view name) {
  for (std::size_t i = 0; i < Names<Enum>::kTable.size(); ++i) {
    if (Names<Enum>::kTable[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace hyperflock::protocol
