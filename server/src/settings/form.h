// The form of a setting: which texts it accepts, its range, and the member of ServeConfig that has
// its value. Flags, the environment and the file give texts, which are all read here by the same
// rules. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "settings/serve_config.h"

namespace hyperflock::settings {

// A setting's value. A size counts bytes, and a time milliseconds.
using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>>;
// The texts of a setting. Only lists have more or fewer than one.
using Words = std::vector<std::string>;

enum class Kind { flag, integer, number, size, time, text, list };

struct Form {
  Kind kind = Kind::text;
  std::string placeholder{};  // what --help shows in place of a value, such as ADDR:PORT
  double least = 0;           // of integers, numbers, sizes and times
  double most = 0;
  // Returns why a text is wrong, in one sentence; an empty text if it is valid.
  std::string (*fault)(const std::string& text) = nullptr;
  std::function<Value(const ServeConfig&)> get{};
  std::function<void(ServeConfig&, Value)> put{};

  // Reads texts. Error: `bad_flag`, in one sentence.
  Result<Value> read(const Words& words) const;
  // Returns a value as a text that read() accepts. The texts of a list are separated by commas.
  std::string text(const Value& value) const;
  // Returns which values the setting accepts, such as `time, 1 s to 1 h`.
  std::string range() const;
};

// Returns the shortest text that is read as this number.
std::string number_text(double number);

// Each returns the form of one member of ServeConfig.
Form flag(bool ServeConfig::* member);
Form text(std::string ServeConfig::* member, std::string placeholder,
          std::string (*fault)(const std::string&) = nullptr);
Form list(std::vector<std::string> ServeConfig::* member, std::string placeholder,
          std::string (*fault)(const std::string&));
Form address(Address ServeConfig::* member);
Form log_level(telemetry::LogLevel ServeConfig::* member);
Form log_format(telemetry::LogFormat ServeConfig::* member);
Form number(double ServeConfig::* member, double least, double most);

namespace detail {
Form counted(Kind kind, std::int64_t least, std::int64_t most);
}

template <typename T>
Form counted(Kind kind, T ServeConfig::* member, std::int64_t least, std::int64_t most) {
  Form form = detail::counted(kind, least, most);
  form.get = [member](const ServeConfig& config) {
    return Value(static_cast<std::int64_t>(config.*member));
  };
  form.put = [member](ServeConfig& config, const Value& value) {
    config.*member = static_cast<T>(std::get<std::int64_t>(value));
  };
  return form;
}

template <typename T>
Form integer(T ServeConfig::* member, std::int64_t least, std::int64_t most) {
  return counted(Kind::integer, member, least, most);
}
template <typename T>
Form size(T ServeConfig::* member, std::int64_t least, std::int64_t most) {
  return counted(Kind::size, member, least, most);
}
template <typename T>
Form time(T ServeConfig::* member, std::int64_t least, std::int64_t most) {
  return counted(Kind::time, member, least, most);
}

}  // namespace hyperflock::settings
