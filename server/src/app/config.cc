#include "app/config.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <utility>

#include "app/machine/version.h"
#include "cli/backup_command.h"
#include "cli/migrate_command.h"
#include "cli/pack_command.h"
#include "settings/command.h"
#include "settings/flags.h"
#include "settings/table.h"

namespace hyperflock::app {
namespace {

const CLI::App& innermost(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

// The group of commands `config`, which check, show and document the settings.
class ConfigCommands {
 public:
  explicit ConfigCommands(CLI::App& app)
      : group_(*app.add_subcommand("config", "settings: check, show, reference")),
        check_(*group_.add_subcommand("check", "say what is wrong in the settings; exit 0 or 1")),
        show_(*group_.add_subcommand("show", "print every setting and where it comes from")),
        reference_(*group_.add_subcommand("reference", "print a table of all settings, Markdown")),
        check_flags_(check_),
        show_flags_(show_) {
    group_.require_subcommand(1);
    for (CLI::App* command : {&check_, &show_}) {
      command
          ->add_option("FILE", file_,
                       "as --config; the one of the Debian package by default: " +
                           std::string(settings::kPackagedFile))
          ->excludes(command->get_option("--config"));
    }
  }

  bool parsed() const { return group_.parsed(); }

  Stop run() const {
    if (reference_.parsed()) return {0, settings::reference()};
    settings::Given given = (check_.parsed() ? check_flags_ : show_flags_).given();
    if (!file_.empty()) given.file = file_;
    const settings::Printed printed =
        check_.parsed() ? settings::check_command(given) : settings::show_command(given);
    return {printed.status, printed.text};
  }

 private:
  CLI::App& group_;
  CLI::App& check_;
  CLI::App& show_;
  CLI::App& reference_;
  settings::Flags check_flags_;
  settings::Flags show_flags_;
  std::string file_;
};

Command serve_command(const settings::Flags& flags) {
  settings::Effective made = settings::put_together(flags.given());
  if (made.faults.empty()) return std::move(made.config);
  std::string text;
  for (const settings::Fault& fault : made.faults) text += fault.line();
  return Stop{2, std::move(text)};
}

}  // namespace

Command parse_command_line(const std::vector<std::string>& arguments) {
  CLI::App app{"Hyperflock's job server: leases the trials of studies to browsers.",
               "hyperflock-server"};
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string(kVersion), "print the version");
  HealthcheckConfig health_config;
  CLI::App* serve = app.add_subcommand("serve", "run the server");
  const settings::Flags serve_flags(*serve);
  const ConfigCommands config(app);
  const cli::BackupCommands backups(app);
  const cli::MigrateCommand migrate(app);
  const cli::PackCommands packs(app);
  CLI::App* healthcheck =
      app.add_subcommand("healthcheck", "ask a running server whether it is well; exit 0 or 1");
  healthcheck->add_option("--url", health_config.url, "address to ask")
      ->check(CLI::Validator(settings::url_fault, "URL"))
      ->capture_default_str();
  const CLI::App* version = app.add_subcommand("version", "print the version");
  cli::AdminCommand admin_command;
  cli::add_admin_commands(app, admin_command);

  // CLI11 expects the arguments in reverse order.
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    return Stop{0, innermost(app).help()};
  } catch (const CLI::CallForVersion&) {
    return ShowVersion{};
  } catch (const CLI::ParseError& error) {
    // A user who names a group of commands but none of its commands asks what the group contains.
    // This is answered with its help and is no error.
    const CLI::App& asked = innermost(app);
    const bool is_last = arguments.empty() || arguments.back() == asked.get_name();
    if (is_last && asked.get_require_subcommand_min() > 0) return Stop{0, asked.help()};
    return Stop{2, std::string(error.what()) + "\n"};
  }
  if (version->parsed()) return ShowVersion{};
  if (healthcheck->parsed()) return health_config;
  if (!admin_command.group.empty()) {
    if (const char* token = std::getenv("HYPERFLOCK_TOKEN")) admin_command.token = token;
    return admin_command;
  }
  if (backups.parsed()) {
    auto done = backups.run(std::string(kVersion));
    return Stop{done.status, std::move(done.text)};
  }
  if (migrate.parsed()) {
    auto done = migrate.run();
    return Stop{done.status, std::move(done.text)};
  }
  if (packs.parsed()) {
    auto done = packs.run();
    return Stop{done.status, std::move(done.text)};
  }
  if (config.parsed()) return config.run();
  return serve_command(serve_flags);
}

}  // namespace hyperflock::app
