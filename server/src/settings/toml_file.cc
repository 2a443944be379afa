#include "settings/toml_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "names/names.h"
#include "telemetry/utf8.h"

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

namespace hyperflock::settings {
namespace {

constexpr std::uintmax_t kLongestFileBytes = std::uintmax_t{1} << 20;

// Returns the texts that Form::read() takes, or nothing if the node has another type than the
// setting.
std::optional<Words> words_of(const toml::node& node, Kind kind) {
  if (const auto* one = node.as_string()) {
    // Settings of other kinds refuse a string, because a number, a list or `true` in quotes is most
    // often a mistake.
    if (kind == Kind::text || kind == Kind::size || kind == Kind::time) return Words{one->get()};
  } else if (const auto* count = node.as_integer()) {
    if (kind == Kind::integer || kind == Kind::size || kind == Kind::time || kind == Kind::number)
      return Words{std::to_string(count->get())};
  } else if (const auto* amount = node.as_floating_point()) {
    if (kind == Kind::number) return Words{number_text(amount->get())};
  } else if (const auto* on = node.as_boolean()) {
    if (kind == Kind::flag) return Words{on->get() ? "true" : "false"};
  } else if (const auto* array = node.as_array(); array != nullptr && kind == Kind::list) {
    Words words;
    for (const toml::node& each : *array) {
      const auto* word = each.as_string();
      if (word == nullptr) return std::nullopt;
      words.push_back(word->get());
    }
    return words;
  }
  return std::nullopt;
}

std::string wanted_type(Kind kind) {
  switch (kind) {
    case Kind::flag:
      return "true or false";
    case Kind::integer:
      return "a whole number without quotes";
    case Kind::number:
      return "a number without quotes";
    case Kind::size:
      return "a size such as \"512 MiB\", or a number of bytes";
    case Kind::time:
      return "a time such as \"30 s\", or a number of milliseconds";
    case Kind::text:
      return "a text in quotes";
    case Kind::list:
      return "a list of texts such as [\"...\", \"...\"]";
  }
  std::unreachable();
}

// The value of an unknown key is never shown, because it may be a secret.
std::string unknown_key(const std::string& key, const toml::node& node) {
  if (node.is_table() || node.is_array_of_tables())
    return "The file has no tables; remove [" + key + "].";
  const std::string_view nearest = nearest_setting(key);
  if (nearest.empty()) return "There is no setting " + key + ".";
  return "There is no setting " + key + "; did you mean " + std::string(nearest) + "?";
}

}  // namespace

std::string Fault::line() const {
  return names::shown(telemetry::valid_utf8(where)) + ": " +
         names::shown(telemetry::valid_utf8(what)) + "\n";
}

FileSettings read_toml(std::string_view text, const std::string& path) {
  FileSettings read;
  const toml::parse_result parsed = toml::parse(text);
  const auto at = [&path](const toml::source_region& source) {
    return path + ":" + std::to_string(source.begin.line);
  };
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    read.faults.push_back(
        {at(error.source()), "This is no TOML: " + std::string(error.description()) + "."});
    return read;
  }
  std::vector<std::pair<toml::source_index, Fault>> faults;
  for (const auto& [key, node] : parsed.table()) {
    const std::string where = at(key.source());
    const auto line = key.source().begin.line;
    const auto fault = [&faults, &where, line](std::string what) {
      faults.emplace_back(line, Fault{where, std::move(what)});
    };
    const Setting* setting = find_setting(key.str());
    if (setting == nullptr) {
      fault(unknown_key(std::string(key.str()), node));
      continue;
    }
    const std::string name(setting->name);
    const auto words = words_of(node, setting->form.kind);
    if (!words) {
      fault(name + " takes " + wanted_type(setting->form.kind) + ".");
      continue;
    }
    auto value = setting->form.read(*words);
    if (!value) {
      fault(name + ": " + value.error().message);
      continue;
    }
    read.entries.emplace(setting->name, FileSettings::Entry{where, std::move(*value)});
  }
  // toml++ sorts by key.
  std::ranges::stable_sort(faults, {}, [](const auto& one) { return one.first; });
  for (auto& one : faults) read.faults.push_back(std::move(one.second));
  return read;
}

FileSettings read_file(const std::string& path) {
  const auto unreadable = [&path](std::string why) {
    return FileSettings{.entries = {}, .faults = {{path, std::move(why)}}};
  };
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return unreadable("This is a folder, not a file.");
  std::ifstream file(path, std::ios::binary);
  if (!file) return unreadable("This file does not exist or cannot be read.");
  std::string text(kLongestFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad()) return unreadable("This file cannot be read.");
  if (text.size() > kLongestFileBytes) return unreadable("This file has more than 1 MiB.");
  return read_toml(text, path);
}

}  // namespace hyperflock::settings
