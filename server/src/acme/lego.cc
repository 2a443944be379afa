#include "acme/lego.h"

#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "acme/child.h"

namespace hyperflock::acme {
namespace {

namespace fs = std::filesystem;

constexpr Millis kLimitMs = 600'000;
constexpr std::int64_t kPauseS = 900;
constexpr std::size_t kLongestReason = 600;
// lego renews if a certificate has fewer days left than this. The server decides when that is due.
constexpr const char* kAlways = "100000";

// Returns when the last attempt failed, in seconds since 1970; 0 if none did.
std::int64_t time_in(const std::string& file) {
  std::int64_t seconds = 0;
  std::ifstream(file) >> seconds;
  return seconds;
}

// Takes from everybody but the owner what lego's files let them do.
void keep_private(const std::string& folder) {
  std::error_code error;
  for (fs::recursive_directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error)) {
    std::error_code ignored;
    fs::permissions(each->path(), fs::perms::group_all | fs::perms::others_all,
                    fs::perm_options::remove | fs::perm_options::nofollow, ignored);
  }
}

}  // namespace

Lego::Lego(LegoSettings settings, std::function<std::int64_t()> wall_s)
    : settings_(std::move(settings)), wall_s_(std::move(wall_s)) {}

std::string Lego::chain_file() const {
  return (fs::path(settings_.folder) / "certificates" / (settings_.domain + ".crt")).string();
}

std::string Lego::key_file() const {
  return (fs::path(settings_.folder) / "certificates" / (settings_.domain + ".key")).string();
}

std::string Lego::failed_file() const {
  return (fs::path(settings_.folder) / "failed-at").string();
}

Status Lego::obtain() {
  const std::int64_t since_s = wall_s_() - time_in(failed_file());
  if (since_s >= 0 && since_s < kPauseS) {
    return Error{"acme_failed",
                 "No certificate could be had a moment ago, and the next attempt is " +
                     std::to_string((kPauseS - since_s) / 60 + 1) +
                     " minutes away, because authorities bar a domain that fails often. Remove " +
                     failed_file() + " to try at once."};
  }
  return run({"run"});
}

Status Lego::renew() { return run({"renew", "--days", kAlways, "--no-random-sleep"}); }

Status Lego::run(const std::vector<std::string>& command) {
  std::error_code error;
  fs::create_directories(settings_.folder, error);
  fs::permissions(settings_.folder, fs::perms::owner_all, fs::perm_options::replace, error);
  if (error)
    return Error{"acme_failed",
                 "The folder " + settings_.folder + " cannot be made: " + error.message() + "."};
  std::vector<std::string> words{
      settings_.program, "--accept-tos", "--path",        settings_.folder, "--domains",
      settings_.domain,  "--email",      settings_.email, "--server",       settings_.directory,
      "--http",          "--http.port",  settings_.listen};
  words.insert(words.end(), command.begin(), command.end());
  std::vector<std::string> variables;
  if (!settings_.ca_file.empty()) variables.push_back("LEGO_CA_CERTIFICATES=" + settings_.ca_file);
  const auto ended = run_program(words, variables, cancelled_, kLimitMs);
  keep_private(settings_.folder);
  if (!ended) {
    return Error{"no_acme_client",
                 "The program " + settings_.program +
                     " that gets certificates cannot be started (" + ended.error().message +
                     "): install it, on Debian by `apt install lego`, or name it by "
                     "--acme-client."};
  }
  if (ended->status == 0) {
    fs::remove(failed_file(), error);
    return {};
  }
  if (!cancelled_) std::ofstream(failed_file()) << wall_s_() << '\n';
  return Error{"acme_failed", "No certificate for " + settings_.domain + " from " +
                                  settings_.directory + ": " + reason_in(ended->output)};
}

std::string reason_in(const std::string& output) {
  // lego prints its progress first, and last the error, on one line or several.
  std::size_t begin = output.rfind("Could not ");
  if (begin == std::string::npos) begin = output.rfind("error: ");
  std::string text = output.substr(begin == std::string::npos ? 0 : begin);
  std::string line;
  for (const char each : text) {
    const bool printable = each >= ' ' && each <= '~';
    if (printable && !(each == ' ' && line.ends_with(' '))) line += each;
    if (!printable && !line.ends_with(' ')) line += ' ';
  }
  while (line.ends_with(' ')) line.pop_back();
  if (line.size() > kLongestReason) line.resize(kLongestReason);
  return line.empty() ? "lego printed no reason." : line;
}

}  // namespace hyperflock::acme
