// Defines the administrator's commands on the command line; see admin.h.
#include <CLI/CLI.hpp>

#include "cli/admin.h"
#include "storage/rules.h"

namespace hyperflock::cli {
namespace {

class Flags {
 public:
  Flags(CLI::App& app, AdminCommand& command) : app_(app), command_(command) {}

  // Starts a group of verbs. The verbs that are added next belong to it.
  void group(const std::string& name, const std::string& about) {
    group_ = app_.add_subcommand(name, about);
    group_->require_subcommand(1);
    name_ = name;
  }

  // Adds a verb that a running server answers.
  CLI::App& verb(const std::string& name, const std::string& about) {
    CLI::App& one = local_verb(name, about);
    one.add_option("--url", command_.url, "the console's address")
        ->envname("HYPERFLOCK_URL")
        ->capture_default_str();
    one.add_option("--token-file", command_.token_file,
                   "file with the token; else HYPERFLOCK_TOKEN of the environment")
        ->check(CLI::ExistingFile);
    credentials(one, "file that `serve --credentials-file` wrote; its administrator asks");
    one.add_option("--ca", command_.ca_file, "PEM of the authority that made the certificate")
        ->check(CLI::ExistingFile);
    return one;
  }

  // Adds a verb that needs no server.
  CLI::App& local_verb(const std::string& name, const std::string& about) {
    CLI::App* one = group_->add_subcommand(name, about);
    one->callback([&command = command_, group = name_, name] {
      command.group = group;
      command.verb = name;
    });
    one->add_flag("--json", command_.json, "print the answer as JSON");
    return *one;
  }

  void credentials(CLI::App& verb, const std::string& about) {
    verb.add_option("--credentials-file", command_.credentials_file, about)
        ->check(CLI::ExistingFile);
  }
  void id(CLI::App& verb, const std::string& about) {
    verb.add_option("ID", command_.id, about)->required()->check(CLI::PositiveNumber);
  }
  void name(CLI::App& verb, const std::string& about) {
    verb.add_option("NAME", command_.name, about)->required();
  }
  void rejects(CLI::App& verb, const std::string& about) {
    CLI::Option* reject = verb.add_flag("--reject", command_.reject, about);
    verb.add_option("--reason", command_.reason, "why they are rejected, for the researchers")
        ->needs(reject);
  }
  void reason(CLI::App& verb) {
    verb.add_option("--reason", command_.reason, "why, for the researchers");
  }
  void sha256(CLI::App& verb) {
    verb.add_option("SHA256", command_.name, "64 hex digits, as the study's row shows them")
        ->required();
  }
  void scope(CLI::App& verb) {
    CLI::Option* one = verb.add_option("--researcher", command_.researcher, "whose");
    verb.add_option("--project", command_.project, "of which project")->excludes(one);
  }
  void share_of(CLI::App& verb) {
    auto* one = verb.add_option_group("whose");
    one->add_option("--researcher", command_.researcher, "whose");
    one->add_option("--project", command_.project, "of which project");
    one->require_option(1);
  }
  static void hours(CLI::App& verb, const std::string& flag, double& to, const std::string& about) {
    verb.add_option(flag, to, about)->check(CLI::Range(0.0, 87'600.0));
  }
  void projects(CLI::App& verb) {
    verb.add_option("--project", command_.projects, "a project that they may use; repeatable");
  }
  void quota(CLI::App& verb) {
    const auto limit = [&verb](const std::string& flag, std::optional<std::int64_t>& to,
                               const std::string& about) {
      verb.add_option(flag, to, about + "; 0 is no limit")->check(CLI::NonNegativeNumber);
    };
    limit("--studies", command_.studies, "studies that may run at a time");
    limit("--trials", command_.trials, "trials of running studies, together");
    limit("--bytes", command_.bytes, "bytes of bundles, data and artifacts");
  }

 private:
  CLI::App& app_;
  AdminCommand& command_;
  CLI::App* group_ = nullptr;
  std::string name_;
};

}  // namespace

void add_admin_commands(CLI::App& app, AdminCommand& command) {
  Flags flags(app, command);

  flags.group("token", "tokens: list, create, rotate, revoke, recover");
  flags.verb("list", "who has which tokens");
  CLI::App& create = flags.verb("create", "another token for somebody");
  flags.name(create, "whose");
  Flags::hours(create, "--expires-hours", command.expires_hours,
               "it ends after so long; never by default");
  CLI::App& rotate = flags.verb("rotate", "a new token in place of the one that asks");
  Flags::hours(rotate, "--grace-hours", command.grace_hours,
               "the old one still opens for so long; 24 by default");
  flags.id(flags.verb("revoke", "ends a token at once, and what it opened"),
           "as `token list` shows it");
  CLI::App& recover = flags.local_verb(
      "recover",
      "where every administrator's token is lost: a new one, from the state folder of a server "
      "that is stopped");
  recover.add_option("NAME", command.name, "whose; the oldest active administrator's by default");
  recover.add_option("--state", command.state_dir, "folder that `serve --state` was given")
      ->required()
      ->check(CLI::ExistingDirectory);
  add_postgres_flags(recover, command.postgres);
  flags.credentials(recover,
                    "file that `serve --credentials-file` wrote; it keeps the new token too");

  flags.group("project", "projects: list, create, freeze, unfreeze");
  flags.verb("list", "all projects");
  flags.name(flags.verb("create", "a project that devices can join"), "as volunteers read it");
  CLI::App& freeze = flags.verb("freeze", "ends what runs in a project, and starts nothing there");
  flags.name(freeze, "which");
  flags.reason(freeze);
  flags.name(flags.verb("unfreeze", "lets the project go on"), "which");

  flags.group("bundle", "code and data that nobody may run: list, bar, lift");
  flags.verb("list", "what is barred, and why");
  CLI::App& bar = flags.verb("bar", "ends what runs of it, and refuses new studies of it");
  flags.sha256(bar);
  flags.reason(bar);
  flags.sha256(flags.verb("lift", "lets its studies go on"));

  flags.group("ceiling", "limits that no study may exceed: list, set, remove");
  flags.verb("list", "the server's, and those of projects and researchers");
  CLI::App& set = flags.verb("set", "sets limits; the others stay; without a name the server's");
  flags.scope(set);
  set.add_option("--time-limit-s", command.time_limit_s, "of a trial, in seconds; 0 is no limit")
      ->check(CLI::NonNegativeNumber);
  set.add_option("--devices", command.devices,
                 "that compute at the same time; 0 is any number; the server's is one for each "
                 "researcher")
      ->check(CLI::NonNegativeNumber);
  set.add_option("--bytes", command.bytes, "of the code and the data of a study; 0 is no limit")
      ->check(CLI::NonNegativeNumber);
  set.add_option("--approval", command.approval, "whether an administrator approves new studies")
      ->check(CLI::IsMember({"yes", "no"}));
  flags.scope(flags.verb("remove", "removes these limits; those of the server count again"));

  flags.group("share", "who gets how much of the devices: list, set, remove");
  flags.verb("list", "the shares of projects and researchers");
  CLI::App& share = flags.verb("set", "sets a share; what is not named stays");
  flags.share_of(share);
  share
      .add_option("--weight", command.weight,
                  "in proportion to the weights of others, which are 100 if they are not set")
      ->check(CLI::Range(std::int64_t{1}, storage::kMostWeight));
  share
      .add_option("--guaranteed", command.guaranteed,
                  "devices that come before the weights; 0 is none; a project gets them of those "
                  "that others lend")
      ->check(CLI::NonNegativeNumber);
  CLI::Option* lends = share.add_option(
      "--lends", command.lends, "a project that may use its idle devices, or *; repeatable");
  share.add_flag("--lends-nothing", command.lends_nothing, "no other project may use them")
      ->excludes(lends);
  flags.share_of(flags.verb("remove", "removes a share; the usual weight counts again"));

  flags.group("approval", "studies that wait for an administrator: list, give, refuse");
  flags.verb("list", "the studies that wait");
  flags.id(flags.verb("give", "lets the study begin"), "the study's number");
  CLI::App& refuse_study = flags.verb("refuse", "cancels the study");
  flags.id(refuse_study, "the study's number");
  flags.reason(refuse_study);

  flags.group("enrol", "enrolment codes of join links: list, create, revoke");
  flags.verb("list", "all codes and how often they were used");
  CLI::App& code = flags.verb("create", "a new join link");
  code.add_option("--project", command.project, "the first project by default");
  code.add_option("--label", command.label, "where the link will stand, for the list");
  Flags::hours(code, "--expires-hours", command.expires_hours,
               "it takes devices for so long; for ever by default");
  code.add_option("--max-uses", command.max_uses, "so many devices may join by it; 0 is any number")
      ->check(CLI::NonNegativeNumber);
  CLI::App& close =
      flags.verb("revoke", "no device joins by it any more; those that did stay, unless rejected");
  flags.id(close, "as `enrol list` shows it");
  flags.rejects(close, "revokes the devices that joined by it, and rejects their results");

  flags.group("researcher", "people: list, create, approve, refuse, suspend, quota, projects");
  flags.verb("list", "everybody, with their state, projects and limits");
  CLI::App& person = flags.verb("create", "a new researcher, who needs no approval");
  flags.name(person, "as volunteers read it");
  person.add_flag("--admin", command.admin, "an administrator instead");
  flags.projects(person);
  flags.quota(person);
  CLI::App& approve = flags.verb("approve", "lets somebody in who asked, or was suspended");
  flags.name(approve, "who");
  flags.projects(approve);
  flags.quota(approve);
  CLI::App& refuse = flags.verb("refuse", "turns a request down");
  flags.name(refuse, "who");
  flags.reason(refuse);
  CLI::App& suspend = flags.verb(
      "suspend",
      "ends what somebody has open and what runs of theirs, until they are approved again");
  flags.name(suspend, "who");
  flags.reason(suspend);
  CLI::App& quota = flags.verb("quota", "sets limits of somebody; the others stay");
  flags.name(quota, "who");
  flags.quota(quota);
  CLI::App& projects = flags.verb("projects", "sets the projects that somebody may use");
  flags.name(projects, "who");
  flags.projects(projects);

  flags.group("device", "volunteers' devices: revoke, erase");
  CLI::App& ban = flags.verb("revoke", "the device computes no more");
  flags.name(ban, "the device's id");
  flags.rejects(ban, "its results do not count any more, and their trials run again elsewhere");
  flags.name(flags.verb("erase", "forgets the device; its results stay, without its name"),
             "the device's id");

  flags.group("audit", "the audit log: list, export");
  CLI::App& list = flags.verb("list", "who did what, oldest first");
  list.add_option("--after", command.after, "entries behind this number")
      ->check(CLI::NonNegativeNumber);
  list.add_option("--limit", command.limit, "at most so many")->check(CLI::Range(1, 5'000));
  CLI::App& lines = flags.verb("export", "one JSON object a line, to the end");
  lines.add_option("--after", command.after, "entries behind this number")
      ->check(CLI::NonNegativeNumber);
}

}  // namespace hyperflock::cli
