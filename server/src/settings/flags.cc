#include "settings/flags.h"

#include <CLI/CLI.hpp>
#include <cstdlib>

namespace hyperflock::settings {
namespace {

std::string help_of(const Setting& setting) {
  std::string help(setting.help);
  const Kind kind = setting.form.kind;
  if (kind == Kind::integer || kind == Kind::number || kind == Kind::size || kind == Kind::time)
    help += "; " + setting.form.range();
  if (kind == Kind::flag && setting.fallback() == "true") help += "; this is the default";
  return help;
}

CLI::Option* add_flag(CLI::App& command, const Setting& setting) {
  const std::string help = help_of(setting);
  // Only a setting that is on by default has a flag that turns it off.
  const std::string names = setting.fallback() == "true"
                                ? setting.flag() + ",!--no-" + std::string(setting.name)
                                : setting.flag();
  return command.add_flag(names, help)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

CLI::Option* add_option(CLI::App& command, const Setting& setting) {
  const std::string help = help_of(setting);
  CLI::Option* option = command.add_option(setting.flag(), help);
  option->type_name(setting.form.placeholder)->default_str(setting.fallback());
  if (setting.form.kind == Kind::list) option->expected(1, -1)->allow_extra_args();
  return option;
}

}  // namespace

Flags::Flags(CLI::App& command) {
  command
      .add_option("--config", file_,
                  "file with settings (TOML); the environment and flags replace what it says")
      ->type_name("FILE");
  for (const Setting& setting : table()) {
    CLI::Option* option =
        setting.form.kind == Kind::flag ? add_flag(command, setting) : add_option(command, setting);
    option->group(std::string(setting.group));
    options_[setting.name] = option;
  }
  command.footer(
      "A size may have a unit (512 MiB), and a time too (30 s). Each option is also a key of the "
      "file that --config names (lease-ms = \"45 s\") and a variable of the environment "
      "(HYPERFLOCK_LEASE_MS). A flag counts before the environment, and the environment before the "
      "file. `hyperflock-server config show` says what counts, and why.");
}

Given Flags::given() const {
  Given given;
  given.file = file_;
  for (const auto& [name, option] : options_) {
    if (option->count() == 0) continue;
    const bool is_flag = find_setting(name)->form.kind == Kind::flag;
    given.flags[name] = is_flag ? Words{option->results().back()} : option->results();
  }
  given.environment = [](const std::string& name) { return std::getenv(name.c_str()); };
  return given;
}

}  // namespace hyperflock::settings
