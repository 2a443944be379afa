// See pack_command.h.
#include "cli/pack_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include "names/names.h"
#include "packs/pack_folder.h"
#include "protocol/json/json_writer.h"
#include "protocol/runtime/runtime_index.h"
#include "telemetry/utf8.h"

namespace hyperflock::cli {
namespace {

namespace fs = std::filesystem;
using protocol::ObjectWriter;

// What running servers do, which add and remove say.
constexpr const char* kRestart = " A server that runs takes the new list when it starts again.\n";

// Texts of a list come from other people, and must not control the terminal.
std::string safe_text(const std::string& text) { return names::shown(telemetry::valid_utf8(text)); }

std::string megabytes(std::int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f MB", static_cast<double>(bytes) / 1e6);
  return text;
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

bool is_url(std::string_view text) { return text.find("://") != std::string_view::npos; }

// Returns whether the URL may be asked: the list has the hashes, so nobody on the way may change
// it.
bool is_safe(std::string_view url) {
  constexpr std::string_view kPlain = "http://";
  if (url.starts_with("https://")) return true;
  if (!url.starts_with(kPlain)) return false;
  url.remove_prefix(kPlain.size());
  const std::string_view host = url.substr(0, url.find('/'));
  for (const std::string_view own : {"127.0.0.1", "localhost", "[::1]"}) {
    if (host == own || host.starts_with(std::string(own) + ':')) return true;
  }
  return false;
}

// Fetches packs from a server, at `URL/packs.json` and `URL/<folder>/<file>`. A URL without a path
// is the origin of a Hyperflock server, which has them at /runtime/.
class ServerSource final : public packs::PackSource {
 public:
  ServerSource(const std::string& url, ClientSettings settings)
      : base_(url), settings_(std::move(settings)) {
    while (base_.ends_with('/')) base_.pop_back();
    if (base_.find('/', base_.find("://") + 3) == std::string::npos) base_ += "/runtime";
  }

  Result<std::string> list() const override {
    TRY(const auto reply, get("packs.json", "identity"));
    if (reply.status == 200) return reply.body;
    return Error{"not_found", "The server has no packs at " + base_ + "/packs.json (it answered " +
                                  std::to_string(reply.status) + ")."};
  }

  Result<std::string> file(const std::string& folder, const std::string& name,
                           packs::Form form) const override {
    const char* const coding = form == packs::Form::brotli ? "br"
                               : form == packs::Form::gzip ? "gzip"
                                                           : "identity";
    TRY(const auto reply, get(folder + '/' + name, coding));
    if (reply.status == 200) return reply.body;
    return Error{"pack_damaged", "The server has no " + folder + '/' + name +
                                     ", which its list of packs names (it answered " +
                                     std::to_string(reply.status) + ")."};
  }

 private:
  Result<ClientReply> get(const std::string& path, const std::string& coding) const {
    ClientRequest request;
    request.url = base_ + '/' + path;
    request.accept_encoding = coding;
    return ask(request, settings_);
  }

  std::string base_;
  ClientSettings settings_;
};

// Returns the version of Pyodide of the runtime in a folder; empty if there is none.
std::string pyodide_of(const std::string& runtime_dir) {
  if (runtime_dir.empty()) return {};
  std::ifstream file(fs::path(runtime_dir) / "index.json", std::ios::binary);
  const auto runtime = protocol::parse_runtime_index(
      std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()));
  if (!runtime) return {};
  const auto pyodide = runtime->pieces.find("pyodide");
  return pyodide == runtime->pieces.end() ? std::string() : pyodide->second;
}

}  // namespace

PackCommands::PackCommands(CLI::App& app)
    : group_(app.add_subcommand("packs",
                                "packages for browsers, such as scikit-learn: add, list, "
                                "remove")),
      add_(group_->add_subcommand("add", "add packs and all that they need")),
      list_(group_->add_subcommand("list", "list the packs with what a phone fetches for them")),
      remove_(group_->add_subcommand("remove", "remove packs")) {
  group_->require_subcommand(1);
  for (CLI::App* command : {add_, list_, remove_}) {
    command
        ->add_option("--packs", folder_,
                     "folder of the packs, as of serve; default: packs in the folder of --state")
        ->envname("HYPERFLOCK_PACKS")
        ->type_name("FOLDER");
    command->add_option("--state", state_dir_, "the server's state folder")
        ->envname("HYPERFLOCK_STATE")
        ->type_name("FOLDER");
  }
  add_->add_option("NAME", names_, "such as scikit-learn")->required();
  add_->add_option("--from", from_,
                   "a folder of packs, such as build/packs, or the address of a server that has "
                   "them (https://...)")
      ->required()
      ->type_name("FOLDER|URL");
  add_->add_option("--runtime", runtime_dir_,
                   "folder of the browser runtime, whose Pyodide the packs must be built for")
      ->envname("HYPERFLOCK_RUNTIME")
      ->type_name("FOLDER");
  add_->add_option("--ca-file", ca_file_, "PEM file of authorities to trust, for a URL")
      ->type_name("FILE");
  list_->add_flag("--json", json_, "print JSON");
  auto* const names = remove_->add_option("NAME", names_, "such as scikit-learn");
  remove_->add_flag("--all", all_, "remove all packs")->excludes(names);
}

bool PackCommands::parsed() const { return group_->parsed(); }

PackCommands::Result PackCommands::run() const {
  auto text = done();
  if (text) return {0, *std::move(text)};
  return {1, safe_text(text.error().message) + " (" + text.error().code + ")\n"};
}

Result<std::string> PackCommands::done() const {
  if (folder_.empty() && state_dir_.empty()) {
    return Error{
        "bad_flag",
        "Name the folder of the packs by --packs, or the server's state folder by --state."};
  }
  const std::string folder =
      folder_.empty() ? (fs::path(state_dir_) / packs::kStateFolder).string() : folder_;
  if (add_->parsed()) return add(folder);
  return list_->parsed() ? list(folder) : remove(folder);
}

Result<std::string> PackCommands::add(const std::string& folder) const {
  if (is_url(from_) && !is_safe(from_)) {
    return Error{"bad_flag",
                 "Take packs from a folder or over https://, because their list has their hashes; "
                 "http:// is taken from this machine only."};
  }
  std::unique_ptr<packs::PackSource> source;
  if (is_url(from_)) {
    source = std::make_unique<ServerSource>(from_, ClientSettings{.ca_file = ca_file_});
  } else {
    source = std::make_unique<packs::FolderSource>(from_);
  }
  TRY(const auto done, packs::add(folder, names_, *source, pyodide_of(runtime_dir_)));
  return joined(done.packs) + ": " +
         (done.bytes == 0 ? "there already"
                          : "added, " + megabytes(static_cast<std::int64_t>(done.bytes))) +
         "." + kRestart;
}

Result<std::string> PackCommands::list(const std::string& folder) const {
  TRY(const auto found, packs::read(folder));
  std::string out;
  if (json_) {
    ObjectWriter body(out);
    body.text("pyodide", found.pyodide);
    ObjectWriter all(body.begin("packs"));
    for (const auto& [name, pack] : found.packs) {
      ObjectWriter one(all.begin(name));
      one.text("version", pack.version).integer("bytes", pack.download.brotli);
      protocol::append_list(one.begin("needs"), pack.needs,
                            [&out](const auto& need) { protocol::append_string(out, need); });
      one.end();
    }
    all.end();
    body.end();
    return out + '\n';
  }
  if (found.packs.empty()) return std::string("There are no packs.\n");
  out = "Pyodide " + safe_text(found.pyodide) + '\n';
  for (const auto& [name, pack] : found.packs) {
    std::int64_t bytes = 0;
    for (const auto* one : protocol::with_needs(found, {{name, {}}})) bytes += one->download.brotli;
    out += "  " + name + ' ' + safe_text(pack.version) + ": " + megabytes(bytes);
    if (!pack.needs.empty()) out += " with " + joined(pack.needs);
    out += '\n';
  }
  return out;
}

Result<std::string> PackCommands::remove(const std::string& folder) const {
  if (names_.empty() && !all_) return Error{"bad_flag", "Name the packs to remove, or give --all."};
  TRY(const auto done, packs::remove(folder, names_));
  return (done.packs.empty() ? std::string("There are no packs.")
                             : joined(done.packs) + ": removed.") +
         kRestart;
}

}  // namespace hyperflock::cli
