#include "cli/admin.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/credentials.h"
#include "cli/recover.h"
#include "names/names.h"
#include "protocol/json/json_reader.h"
#include "protocol/json/json_writer.h"
#include "telemetry/utf8.h"

namespace hyperflock::cli {
namespace {

// The listings change rows and print values of any kind, so they need a tree that can be changed.
using Json = nlohmann::ordered_json;
using protocol::ObjectWriter;

// The layout of a list that is shown as a table: the columns are keys of each row.
struct Listing {
  std::string_view path;
  std::string_view key;
  std::vector<std::string_view> columns;
};

const std::map<std::string, Listing>& listings() {
  static const std::map<std::string, Listing> all{
      {"token",
       {"/api/tokens", "tokens", {"token", "name", "created_at", "expires_at", "revoked_at"}}},
      {"project",
       {"/api/projects", "projects", {"id", "project", "devices", "researchers", "frozen"}}},
      {"enrol",
       {"/api/enrolment",
        "enrolments",
        {"enrolment", "project", "state", "uses", "max_uses", "expires_at", "label"}}},
      {"researcher",
       {"/api/researchers",
        "researchers",
        {"researcher", "name", "role", "state", "reason", "projects", "quota", "used", "note"}}},
      {"bundle", {"/api/barred", "barred", {"sha256", "reason", "barred_by", "barred_at"}}},
      {"ceiling",
       {"/api/ceilings",
        "ceilings",
        {"scope", "name", "time_limit_ms", "devices", "data_bytes", "approval"}}},
      {"share", {"/api/shares", "shares", {"scope", "name", "weight", "guaranteed", "lends"}}},
      {"approval",
       {"/api/approvals",
        "studies",
        {"study", "name", "owner", "project", "total", "entry", "created_at"}}},
      {"audit", {"/api/audit", "entries", {"id", "at", "actor", "action", "object", "address"}}},
  };
  return all;
}

// Returns a text with its invisible characters as numbers. Texts come from other people, and must
// neither control the terminal nor look like something else.
std::string plain(std::string_view text) { return names::shown(telemetry::valid_utf8(text)); }

std::string time_text(std::int64_t unix_ms) {
  const std::time_t seconds = unix_ms / 1'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%SZ", &parts);
  return text.data();
}

Result<Json> parse_answer(std::string_view text) {
  auto json = Json::parse(text, nullptr, false);
  if (json.is_object()) return json;
  return Error{"malformed", "The server's answer is not a JSON object."};
}

std::string cell(std::string_view key, const Json& row) {
  const auto found = row.find(std::string(key));
  if (found == row.end() || found->is_null()) return "-";
  if (found->is_string()) return plain(found->get_ref<const std::string&>());
  if (found->is_array()) {
    std::string out;
    for (const Json& one : *found)
      out += (out.empty() ? "" : ", ") + (one.is_string() ? plain(one.get<std::string>()) : "");
    return out.empty() ? "-" : out;
  }
  if (found->is_number_integer() && (key == "at" || key.ends_with("_at"))) {
    const auto value = found->get<std::int64_t>();
    return value == 0 ? "-" : time_text(value);
  }
  if (found->is_object()) {
    std::string out;
    for (const auto& [name, value] : found->items())
      out += (out.empty() ? "" : " ") + plain(name) + "=" + plain(value.dump());
    return out;
  }
  return found->dump();
}

std::string table(const Listing& listing, const Json& answer) {
  std::vector<std::vector<std::string>> rows(1);
  for (const std::string_view column : listing.columns) rows[0].emplace_back(column);
  const auto list = answer.find(std::string(listing.key));
  if (list != answer.end() && list->is_array()) {
    for (const Json& row : *list) {
      rows.emplace_back();
      for (const std::string_view column : listing.columns)
        rows.back().push_back(cell(column, row));
    }
  }
  std::vector<std::size_t> widths(listing.columns.size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += row[i] + std::string(widths[i] + 2 - row[i].size(), ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string lines_of(const Json& answer) {
  std::string out;
  for (const auto& [key, value] : answer.items()) out += key + "  " + cell(key, answer) + "\n";
  return out;
}

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
    text.pop_back();
  return text;
}

Result<std::string> token_of(const AdminCommand& command) {
  if (!command.credentials_file.empty()) {
    TRY(const auto credentials, read_credentials(command.credentials_file));
    return credentials.admin_token;
  }
  if (!command.token_file.empty()) {
    std::ifstream in(command.token_file);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    if (!in.is_open()) return Error{"file_unreadable", "Cannot read " + command.token_file + "."};
    return trimmed(text);
  }
  if (!command.token.empty()) return command.token;
  return Error{"bad_flag",
               "Say who asks: set HYPERFLOCK_TOKEN, or give --token-file or --credentials-file."};
}

// The requests of one command to the server.
class Conversation {
 public:
  Conversation(const AdminCommand& command, const Asker& asker, std::string token)
      : command_(command), asker_(asker), token_(std::move(token)) {}

  Result<std::string> get(const std::string& path) { return ask_for("GET", path, {}); }
  // Returns one list made of the rows of all pages.
  Result<Json> whole_list(const std::string& path, const std::string& key) {
    TRY(const auto first, get(path));
    TRY(auto all, parse_answer(first));
    bool more = has_more(all, key);
    if (!more) return all;
    while (more) {
      const std::int64_t after = all.value("cursor", std::int64_t{0});
      TRY(const auto text, get(path + "?after=" + std::to_string(after)));
      TRY(const auto page, parse_answer(text));
      more = has_more(page, key) && page.value("cursor", after) > after;
      if (const auto rows = page.find(key); rows != page.end() && rows->is_array())
        all.at(key).insert(all.at(key).end(), rows->begin(), rows->end());
      all["cursor"] = page.value("cursor", after);
    }
    all["more"] = false;
    return all;
  }

  Result<std::string> post(const std::string& path, const std::string& body = "{}") {
    return ask_for("POST", path, body);
  }

  // Returns the id of the person whom the command names.
  Result<std::string> person() {
    TRY(const auto id, find("/api/researchers", "researchers", "name", "researcher"));
    if (!id.empty()) return id;
    return Error{"unknown_researcher", "Nobody has this name; see `researcher list`."};
  }

  // Returns the id of the project that the command names.
  Result<std::string> project() {
    TRY(const auto id, find("/api/projects", "projects", "project", "id"));
    if (!id.empty()) return id;
    return Error{"unknown_project", "No project has this name; see `project list`."};
  }

 private:
  static bool has_more(const Json& page, const std::string& key) {
    const auto more = page.find("more");
    const auto rows = page.find(key);
    return more != page.end() && more->is_boolean() && more->get<bool>() && rows != page.end() &&
           rows->is_array();
  }

  // Returns the id of the row that has the name given in the command; empty if there is none.
  Result<std::string> find(const std::string& path, const std::string& list,
                           const std::string& name, const std::string& id) {
    TRY(const auto all, whole_list(path, list));
    const auto rows = all.find(list);
    if (rows != all.end() && rows->is_array()) {
      for (const Json& row : *rows) {
        if (row.value(name, "") == command_.name)
          return std::to_string(row.value(id, std::int64_t{0}));
      }
    }
    return std::string();
  }

  Result<std::string> ask_for(const std::string& method, const std::string& path,
                              const std::string& body) {
    std::string url = command_.url;
    while (url.ends_with('/')) url.pop_back();
    ClientSettings settings;
    settings.ca_file = command_.ca_file;
    TRY(auto reply, asker_({.method = method,
                            .url = url + path,
                            .authorization = "Bearer " + token_,
                            .body = body},
                           settings));
    if (reply.status >= 200 && reply.status < 300) return std::move(reply.body);
    return refusal(reply);
  }

  static Error refusal(const ClientReply& reply) {
    Error error{"unreachable", "The server answered \"" + plain(reply.status_line) + "\"."};
    const auto json = protocol::parse_object(reply.body);
    if (!json) return error;
    protocol::Problem problem;
    const protocol::Value told = protocol::Value(*json, problem)["error"];
    std::string code = told["code"].as_text();
    std::string message = told["message"].as_text(4'096);
    if (problem.found()) return error;
    error.code = std::move(code);
    error.message = std::move(message);
    return error;
  }

  const AdminCommand& command_;
  const Asker& asker_;
  const std::string token_;
};

std::int64_t seconds_of(double hours) { return static_cast<std::int64_t>(hours * 3'600); }

void append_quota(ObjectWriter& body, const AdminCommand& command) {
  if (!command.studies && !command.trials && !command.bytes) return;
  ObjectWriter quota(body.begin("quota"));
  if (command.studies) quota.integer("studies", *command.studies);
  if (command.trials) quota.integer("trials", *command.trials);
  if (command.bytes) quota.integer("bytes", *command.bytes);
  quota.end();
}

void append_projects(ObjectWriter& body, std::string& out, const AdminCommand& command) {
  if (command.projects.empty()) return;
  protocol::append_list(body.begin("projects"), command.projects,
                        [&out](const std::string& name) { protocol::append_string(out, name); });
}

std::string person_body(const AdminCommand& command, std::string_view state) {
  std::string out;
  ObjectWriter body(out);
  if (command.verb == "create") {
    body.text("name", command.name).text("role", command.admin ? "admin" : "researcher");
  }
  if (!state.empty()) body.text("state", state);
  if (!command.reason.empty()) body.text("reason", command.reason);
  append_quota(body, command);
  append_projects(body, out, command);
  body.end();
  return out;
}

std::string code_body(const AdminCommand& command) {
  std::string out;
  ObjectWriter body(out);
  if (!command.project.empty()) body.text("project", command.project);
  if (!command.label.empty()) body.text("label", command.label);
  body.integer("expires_s", seconds_of(command.expires_hours))
      .integer("max_uses", command.max_uses)
      .end();
  return out;
}

Result<std::string> answer_person(const AdminCommand& command, Conversation& server) {
  if (command.verb == "create") return server.post("/api/researchers", person_body(command, ""));
  TRY(const auto id, server.person());
  std::string_view state;
  if (command.verb == "approve") state = "active";
  if (command.verb == "refuse") state = "refused";
  if (command.verb == "suspend") state = "suspended";
  return server.post("/api/researchers/" + id, person_body(command, state));
}

Result<std::string> answer_token(const AdminCommand& command, Conversation& server) {
  if (command.verb == "revoke")
    return server.post("/api/tokens/" + std::to_string(command.id) + "/revoke");
  std::string out;
  if (command.verb == "rotate") {
    ObjectWriter(out).integer("grace_s", seconds_of(command.grace_hours)).end();
    return server.post("/api/tokens/rotate", out);
  }
  TRY(const auto id, server.person());
  ObjectWriter(out)
      .raw("researcher", id)
      .integer("expires_s", seconds_of(command.expires_hours))
      .end();
  return server.post("/api/tokens", out);
}

std::string reason_body(const AdminCommand& command) {
  std::string out;
  ObjectWriter body(out);
  if (!command.reason.empty()) body.text("reason", command.reason);
  body.end();
  return out;
}

// Asks for a revocation, and for the rejection of what was sent if the command says so.
Result<std::string> revoke(const AdminCommand& command, Conversation& server,
                           const std::string& path) {
  if (!command.reject) return server.post(path);
  std::string out;
  ObjectWriter body(out);
  body.boolean("reject", true);
  if (!command.reason.empty()) body.text("reason", command.reason);
  body.end();
  return server.post(path, out);
}

std::string ceiling_body(const AdminCommand& command) {
  std::string out;
  ObjectWriter body(out);
  const bool of_project = !command.project.empty();
  const bool of_researcher = !command.researcher.empty();
  body.text("scope", of_project ? "project" : of_researcher ? "researcher" : "server");
  if (of_project) body.text("name", command.project);
  if (of_researcher) body.text("name", command.researcher);
  if (command.verb == "remove") {
    for (const char* key : {"time_limit_ms", "devices", "data_bytes", "approval"})
      body.raw(key, "null");
  }
  if (command.time_limit_s)
    body.integer("time_limit_ms", static_cast<std::int64_t>(*command.time_limit_s * 1'000));
  if (command.devices) body.integer("devices", *command.devices);
  if (command.bytes) body.integer("data_bytes", *command.bytes);
  if (!command.approval.empty()) body.boolean("approval", command.approval == "yes");
  body.end();
  return out;
}

std::string share_body(const AdminCommand& command) {
  std::string out;
  ObjectWriter body(out);
  const bool of_project = !command.project.empty();
  body.text("scope", of_project ? "project" : "researcher");
  body.text("name", of_project ? command.project : command.researcher);
  if (command.verb == "remove") {
    body.raw("weight", "null").raw("guaranteed", "null");
    if (of_project) body.raw("lends", "null");
  }
  if (command.weight) body.integer("weight", *command.weight);
  if (command.guaranteed) body.integer("guaranteed", *command.guaranteed);
  if (command.lends_nothing) body.raw("lends", "[]");
  if (!command.lends.empty()) {
    protocol::append_list(body.begin("lends"), command.lends,
                          [&out](const std::string& one) { protocol::append_string(out, one); });
  }
  body.end();
  return out;
}

Result<std::string> answer_project(const AdminCommand& command, Conversation& server) {
  if (command.verb != "create") {
    TRY(const auto id, server.project());
    return server.post("/api/projects/" + id + "/" + command.verb, reason_body(command));
  }
  std::string body;
  ObjectWriter(body).text("project", command.name).end();
  return server.post("/api/projects", body);
}

// Reads page after page, so that no answer has to hold the whole log.
Result<std::string> export_audit(const AdminCommand& command, Conversation& server) {
  std::string all;
  std::int64_t after = command.after;
  for (;;) {
    const auto page = server.get("/api/audit/export?limit=10000&after=" + std::to_string(after));
    if (!page || page->empty()) return page ? Result<std::string>(all) : page.error();
    all += *page;
    const std::size_t last = page->find_last_of('\n', page->size() - 2);
    TRY(const auto json,
        parse_answer(std::string_view(*page).substr(last == std::string::npos ? 0 : last + 1)));
    after = json.value("id", after + 1);
  }
}

Result<std::string> answer_of(const AdminCommand& command, Conversation& server) {
  const std::string id = std::to_string(command.id);
  if (command.verb == "list") {  // of the audit log, which may be too long to be read as a whole
    const std::string path(listings().at(command.group).path);
    return server.get(path + "?after=" + std::to_string(command.after) +
                      "&limit=" + std::to_string(command.limit));
  }
  if (command.group == "token") return answer_token(command, server);
  if (command.group == "researcher") return answer_person(command, server);
  if (command.group == "audit") return export_audit(command, server);
  if (command.group == "device")
    return revoke(command, server, "/api/devices/" + command.name + "/" + command.verb);
  if (command.group == "enrol") {
    return command.verb == "create" ? server.post("/api/enrolment", code_body(command))
                                    : revoke(command, server, "/api/enrolment/" + id + "/revoke");
  }
  if (command.group == "bundle") {
    return server.post("/api/barred/" + command.name + (command.verb == "lift" ? "/lift" : ""),
                       reason_body(command));
  }
  if (command.group == "ceiling") return server.post("/api/ceilings", ceiling_body(command));
  if (command.group == "share") return server.post("/api/shares", share_body(command));
  if (command.group == "approval") {
    return server.post("/api/studies/" + id + (command.verb == "give" ? "/approve" : "/refuse"),
                       reason_body(command));
  }
  return answer_project(command, server);
}

Result<std::string> answer(const AdminCommand& command, const Asker& asker) {
  if (command.verb == "recover")
    return recover_admin(command.state_dir, command.name, command.postgres);
  TRY(const auto token, token_of(command));
  Conversation server(command, asker, token);
  return answer_of(command, server);
}

Result<Json> whole_list(const AdminCommand& command, const Asker& asker) {
  TRY(const auto token, token_of(command));
  const Listing& listing = listings().at(command.group);
  return Conversation(command, asker, token)
      .whole_list(std::string(listing.path), std::string(listing.key));
}

// Writes the new token to the credentials file of the administrator.
Status keep_new(const AdminCommand& command, const Json& answer) {
  const bool is_kept = command.verb == "rotate" || command.verb == "recover";
  if (!is_kept || command.credentials_file.empty()) return {};
  TRY(auto credentials, read_credentials(command.credentials_file));
  credentials.admin_token = answer.value("token", "");
  return write_credentials(command.credentials_file, credentials);
}

}  // namespace

AdminResult run_admin(const AdminCommand& command, const Asker& asker) {
  const auto failed = [](const Error& error) {
    return AdminResult{1, {}, plain(error.message) + " (" + plain(error.code) + ")\n"};
  };
  if (command.verb == "list" && command.group != "audit") {
    const auto all = whole_list(command, asker);
    if (!all) return failed(all.error());
    return {0, command.json ? all->dump() + "\n" : table(listings().at(command.group), *all), {}};
  }
  const auto text = answer(command, asker);
  if (!text) return failed(text.error());
  if (command.group == "audit" && command.verb == "export") return {0, *text, {}};
  const auto json = parse_answer(*text);
  if (!json && !command.json) return failed(json.error());
  AdminResult result;
  // A new token is shown even if the file cannot be written, because the server never sends it
  // again.
  const Status kept = json ? keep_new(command, *json) : Status();
  if (!kept) result = failed(kept.error());
  if (command.json) {
    result.output = *text + "\n";
  } else if (command.verb == "list") {
    result.output = table(listings().at(command.group), *json);
  } else {
    result.output = lines_of(*json);
  }
  return result;
}

}  // namespace hyperflock::cli
