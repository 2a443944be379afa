#include "settings/command.h"

#include <algorithm>
#include <filesystem>

namespace hyperflock::settings {
namespace {

Given with_file(Given given) {
  const char* named = given.environment(kFileVariable);
  std::error_code error;
  if (given.file.empty() && (named == nullptr || *named == '\0') &&
      std::filesystem::exists(kPackagedFile, error))
    given.file = kPackagedFile;
  return given;
}

// Returns a TOML string. Control characters need no escapes, because Form::read() refuses them.
std::string quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char one : text) {
    if (one == '"' || one == '\\') quoted += '\\';
    quoted += one;
  }
  return quoted + '"';
}

std::string toml_of(const Form& form, const Value& value) {
  if (const Words* words = std::get_if<Words>(&value)) {
    std::string items;
    for (const std::string& word : *words) items += (items.empty() ? "" : ", ") + quoted(word);
    return "[" + items + "]";
  }
  const std::string text = form.text(value);
  const bool bare =
      form.kind == Kind::flag || form.kind == Kind::integer || form.kind == Kind::number;
  return bare ? text : quoted(text);
}

std::string lines(const std::vector<Fault>& faults) {
  std::string text;
  for (const Fault& fault : faults) text += fault.line();
  return text;
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

}  // namespace

Printed check_command(const Given& given) {
  const Effective made = put_together(with_file(given));
  if (!made.faults.empty()) return {1, lines(made.faults)};
  const std::string file = made.file.empty() ? "No file is read" : made.file;
  return {0, file + ": no faults; " + std::to_string(made.sources.size()) + " of " +
                 std::to_string(table().size()) + " settings are not defaults.\n"};
}

Printed show_command(const Given& given) {
  const Effective made = put_together(with_file(given));
  if (!made.faults.empty()) return {1, lines(made.faults)};
  std::size_t width = 0;
  for (const Setting& setting : table()) width = std::max(width, setting.name.size());
  std::string text;
  std::string_view group;
  for (const Setting& setting : table()) {
    if (setting.group != group)
      text += (text.empty() ? "# " : "\n# ") + std::string(setting.group) + "\n";
    group = setting.group;
    const auto source = made.sources.find(setting.name);
    const std::string where = source == made.sources.end() ? "default" : source->second;
    const std::string value = toml_of(setting.form, setting.form.get(made.config));
    const std::string name = padded(std::string(setting.name), width);
    // An empty text means that the setting was not set. It is shown as a comment, because most
    // settings cannot be set to an empty text.
    const bool unset = value == "\"\"" && source == made.sources.end();
    text += (unset ? "# " + name + " is not set" : name + " = " + value + "  # " + where) + "\n";
  }
  return {0, text};
}

std::string reference() {
  std::string text;
  std::string_view group;
  for (const Setting& setting : table()) {
    if (setting.group != group) {
      text += (text.empty() ? "### " : "\n### ") + std::string(setting.group) +
              "\n\n| key | takes | default | what it is |\n|---|---|---|---|\n";
    }
    group = setting.group;
    const std::string fallback = setting.fallback();
    std::string takes = setting.form.range();
    for (std::size_t bar = 0; (bar = takes.find('|', bar)) != std::string::npos; bar += 2)
      takes.insert(bar, "\\");
    text += "| `" + std::string(setting.name) + "` | " + takes + " | " +
            (fallback.empty() ? "" : "`" + fallback + "`") + " | " + std::string(setting.help) +
            " |\n";
  }
  return text;
}

}  // namespace hyperflock::settings
