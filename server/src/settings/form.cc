#include "settings/form.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "settings/quantity.h"
#include "telemetry/utf8.h"

namespace hyperflock::settings {
namespace {

constexpr std::size_t kLongestBytes = 4'096;  // of a text

constexpr std::array<std::pair<std::string_view, telemetry::LogLevel>, 5> kLevels{{
    {"debug", telemetry::LogLevel::debug},
    {"info", telemetry::LogLevel::info},
    {"warning", telemetry::LogLevel::warning},
    {"error", telemetry::LogLevel::error},
    {"off", telemetry::LogLevel::off},
}};

constexpr std::array<std::pair<std::string_view, telemetry::LogFormat>, 3> kFormats{{
    {"auto", telemetry::LogFormat::automatic},
    {"json", telemetry::LogFormat::json},
    {"text", telemetry::LogFormat::text},
}};

Error bad(std::string message) { return {"bad_flag", std::move(message)}; }

// Returns why no setting may have this text; an empty text if a setting may have it.
std::string unreadable(const std::string& text) {
  if (text.size() > kLongestBytes) return "Give a text of at most 4096 bytes.";
  const auto is_control = [](char one) {
    return static_cast<unsigned char>(one) < 32 || one == 127;
  };
  if (!telemetry::is_utf8(text) || std::ranges::any_of(text, is_control))
    return "Give a text of UTF-8 without control characters.";
  return {};
}

std::string address_fault(const std::string& text) {
  const Result<Address> parsed = parse_address(text);
  return parsed ? std::string() : parsed.error().message;
}

// Returns why a setting that is one of `kNames` may not have this text; empty if it may.
template <const auto& kNames>
std::string name_fault(const std::string& text) {
  std::string all;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i].first == text) return {};
    if (i > 0) all += i + 1 < kNames.size() ? ", " : " or ";
    all += kNames[i].first;
  }
  return "Give " + all + '.';
}

// Returns the form of a setting that is one of a few names.
template <const auto& kNames, typename T>
Form one_of(T ServeConfig::* member, std::string placeholder) {
  return {.kind = Kind::text,
          .placeholder = std::move(placeholder),
          .fault = name_fault<kNames>,
          .get =
              [member](const ServeConfig& config) {
                const auto* found = std::ranges::find(kNames, config.*member,
                                                      [](const auto& one) { return one.second; });
                return Value(std::string(found->first));
              },
          .put =
              [member](ServeConfig& config, const Value& value) {
                const std::string& name = std::get<std::string>(value);
                config.*member =
                    std::ranges::find(kNames, std::string_view(name), [](const auto& one) {
                      return one.first;
                    })->second;
              }};
}

Result<bool> read_flag(const std::string& text) {
  for (const std::string_view yes : {"true", "1", "yes", "on"})
    if (text == yes) return true;
  for (const std::string_view no : {"false", "0", "no", "off"})
    if (text == no) return false;
  return bad("Give true or false.");
}

template <typename T>
Result<T> read_number(const std::string& text, const char* fault) {
  T number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc() || stop != end) return bad(fault);
  return number;
}

Result<std::int64_t> read_count(Kind kind, const std::string& text) {
  if (kind == Kind::size) return parse_quantity(text, Measure::bytes);
  if (kind == Kind::time) return parse_quantity(text, Measure::time);
  return read_number<std::int64_t>(text, "Give a whole number.");
}

}  // namespace

Result<Value> Form::read(const Words& words) const {
  for (const std::string& word : words) {
    if (const std::string why = unreadable(word); !why.empty()) return bad(why);
    if (const std::string why = fault == nullptr ? "" : fault(word); !why.empty()) return bad(why);
  }
  if (kind == Kind::list) return Value(words);
  if (words.size() != 1) return bad("Give one value.");
  const std::string& word = words.front();
  const auto in_range = [this](auto amount) -> Result<Value> {
    const auto as_number = static_cast<double>(amount);
    if (as_number >= least && as_number <= most) return Value(amount);
    return bad("Give " + range() + ".");
  };
  switch (kind) {
    case Kind::flag: {
      TRY(const bool on, read_flag(word));
      return Value(on);
    }
    case Kind::integer:
    case Kind::size:
    case Kind::time: {
      TRY(const std::int64_t count, read_count(kind, word));
      return in_range(count);
    }
    case Kind::number: {
      TRY(const double amount, read_number<double>(word, "Give a number."));
      return in_range(amount);
    }
    case Kind::text:
    case Kind::list:
      break;
  }
  return Value(word);
}

std::string Form::text(const Value& value) const {
  if (const bool* on = std::get_if<bool>(&value)) return *on ? "true" : "false";
  if (const double* amount = std::get_if<double>(&value)) return number_text(*amount);
  if (const std::string* word = std::get_if<std::string>(&value)) return *word;
  if (const Words* words = std::get_if<Words>(&value)) {
    std::string joined;
    for (const std::string& word : *words) joined += (joined.empty() ? "" : ",") + word;
    return joined;
  }
  const std::int64_t count = std::get<std::int64_t>(value);
  if (kind == Kind::integer) return std::to_string(count);
  return quantity_text(count, kind == Kind::size ? Measure::bytes : Measure::time);
}

std::string Form::range() const {
  const auto between = [this](const std::string& what) {
    if (kind == Kind::number)
      return what + " from " + number_text(least) + " to " + number_text(most);
    return what + " from " + text(Value(static_cast<std::int64_t>(least))) + " to " +
           text(Value(static_cast<std::int64_t>(most)));
  };
  switch (kind) {
    case Kind::flag:
      return "true or false";
    case Kind::integer:
      return between("a whole number");
    case Kind::number:
      return between("a number");
    case Kind::size:
      return between("a size");
    case Kind::time:
      return between("a time");
    case Kind::text:
      return placeholder;
    case Kind::list:
      return "a list of " + placeholder;
  }
  std::unreachable();
}

std::string number_text(double number) {
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  return {digits.data(), end};
}

Form flag(bool ServeConfig::* member) {
  return {.kind = Kind::flag,
          .get = [member](const ServeConfig& config) { return Value(config.*member); },
          .put = [member](ServeConfig& config,
                          const Value& value) { config.*member = std::get<bool>(value); }};
}

Form text(std::string ServeConfig::* member, std::string placeholder,
          std::string (*fault)(const std::string&)) {
  return {
      .kind = Kind::text,
      .placeholder = std::move(placeholder),
      .fault = fault,
      .get = [member](const ServeConfig& config) { return Value(config.*member); },
      .put = [member](ServeConfig& config,
                      Value value) { config.*member = std::get<std::string>(std::move(value)); }};
}

Form list(std::vector<std::string> ServeConfig::* member, std::string placeholder,
          std::string (*fault)(const std::string&)) {
  return {.kind = Kind::list,
          .placeholder = std::move(placeholder),
          .fault = fault,
          .get = [member](const ServeConfig& config) { return Value(config.*member); },
          .put = [member](ServeConfig& config,
                          Value value) { config.*member = std::get<Words>(std::move(value)); }};
}

Form address(Address ServeConfig::* member) {
  return {.kind = Kind::text,
          .placeholder = "ADDR:PORT",
          .fault = address_fault,
          .get = [member](const ServeConfig& config) { return Value(to_text(config.*member)); },
          .put =
              [member](ServeConfig& config, const Value& value) {
                config.*member = *parse_address(std::get<std::string>(value));
              }};
}

Form log_level(telemetry::LogLevel ServeConfig::* member) {
  return one_of<kLevels>(member, "LEVEL");
}

Form log_format(telemetry::LogFormat ServeConfig::* member) {
  return one_of<kFormats>(member, "FORMAT");
}

Form number(double ServeConfig::* member, double least, double most) {
  return {.kind = Kind::number,
          .placeholder = "NUMBER",
          .least = least,
          .most = most,
          .get = [member](const ServeConfig& config) { return Value(config.*member); },
          .put = [member](ServeConfig& config,
                          const Value& value) { config.*member = std::get<double>(value); }};
}

Form detail::counted(Kind kind, std::int64_t least, std::int64_t most) {
  const char* placeholder = "N";
  if (kind == Kind::size) placeholder = "SIZE";
  if (kind == Kind::time) placeholder = "TIME";
  return {.kind = kind,
          .placeholder = placeholder,
          .least = static_cast<double>(least),
          .most = static_cast<double>(most)};
}

}  // namespace hyperflock::settings
