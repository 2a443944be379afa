// `hyperflock-server token|project|enrol|researcher|device|audit ...`: an administrator's commands.
// They send REST requests to a running server, except `token recover` (recover.h). One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/http_client.h"
#include "cli/postgres_flags.h"

namespace CLI {
class App;
}

namespace hyperflock::cli {

struct AdminCommand {
  std::string group;  // such as token
  std::string verb;   // such as list

  // The address of the server, and the credential to use.
  std::string url = "http://127.0.0.1:8790";
  std::string token;  // from the environment, because other users can read a command line
  std::string token_file;
  std::string credentials_file;  // what `serve --credentials-file` wrote
  std::string ca_file;
  std::string state_dir;  // for `token recover`, which uses no server
  PostgresFlags postgres;
  bool json = false;  // prints the server's JSON

  // The arguments of the verbs, such as `create` in `token create`. Each verb uses some of them.
  std::string name;
  std::int64_t id = 0;
  std::string project;
  std::string label;
  bool admin = false;
  std::vector<std::string> projects;
  std::optional<std::int64_t> studies;
  std::optional<std::int64_t> trials;
  std::optional<std::int64_t> bytes;
  double expires_hours = 0;  // 0: never
  double grace_hours = 24;
  std::int64_t max_uses = 0;
  std::string reason;      // of a stop, a refusal or a rejection
  bool reject = false;     // what the device has sent
  std::string researcher;  // whose ceiling
  std::optional<double> time_limit_s;
  std::optional<std::int64_t> devices;
  std::string approval;  // yes or no; empty: it stays
  std::optional<std::int64_t> weight;
  std::optional<std::int64_t> guaranteed;
  std::vector<std::string> lends;  // names of projects
  bool lends_nothing = false;
  std::int64_t after = 0;
  std::int64_t limit = 100;
};

// Adds the command groups to the program. Parsing fills in `command`. `command.group` stays empty
// if the user gave no administrator's command.
void add_admin_commands(CLI::App& app, AdminCommand& command);

// The texts that the program prints, and its exit status.
struct AdminResult {
  int status = 0;
  std::string output;  // standard output
  std::string error;   // standard error, one sentence with its code
};

using Asker = std::function<Result<ClientReply>(const ClientRequest&, const ClientSettings&)>;
AdminResult run_admin(const AdminCommand& command, const Asker& asker = ask);

}  // namespace hyperflock::cli
