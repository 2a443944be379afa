// Fuzzes read_toml(), which reads the configuration file. A file may have any faults. The message
// about a fault is one line without control characters, and names an existing line of the file.
// Each setting that is read is a known one.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "require.h"
#include "settings/toml_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using hyperflock::fuzz::require;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const hyperflock::settings::FileSettings read = hyperflock::settings::read_toml(text, "f");
  // The parser counts lines by \n only. A fault may also name the line after the last one, because
  // it can be at the end of the text.
  const auto lines = static_cast<unsigned long>(std::ranges::count(text, '\n')) + 2;
  for (const hyperflock::settings::Fault& fault : read.faults) {
    const std::string line = fault.line();
    require(line.starts_with("f:"), "a fault without its place");
    const unsigned long number = std::stoul(line.substr(2));
    require(number >= 1 && number <= lines, "a line that the file does not have");
    require(line.find('\n') == line.size() - 1, "a fault of several lines");
    require(line.find('\x1b') == std::string::npos, "a fault that controls the terminal");
  }
  hyperflock::settings::ServeConfig config;
  for (const auto& [name, entry] : read.entries) {
    const hyperflock::settings::Setting* setting = hyperflock::settings::find_setting(name);
    require(setting != nullptr, "an unknown setting was read");
    setting->form.put(config, entry.value);
  }
  return 0;
}
