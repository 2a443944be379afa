// See requests.h.
#include "backup/requests.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "backup/files.h"
#include "protocol/json/json_reader.h"
#include "protocol/json/json_writer.h"

namespace hyperflock::backup {
namespace {

namespace fs = std::filesystem;
using protocol::ObjectWriter;

constexpr const char* kRequest = "backup-request";
constexpr const char* kAnswer = "backup-answer-";
constexpr std::size_t kLongestPath = 4'096;
constexpr std::size_t kLongestText = 4'096;

fs::path request_in(const std::string& state_dir) { return fs::path(state_dir) / kRequest; }
fs::path answer_in(const std::string& state_dir, const std::string& id) {
  return fs::path(state_dir) / (kAnswer + id);
}

bool is_id(const std::string& text) {
  return text.size() == 32 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

void append_made(std::string& out, const Made& made) {
  ObjectWriter body(out);
  body.text("backup", made.name)
      .integer("files", made.files)
      .integer("bytes", made.bytes)
      .integer("new_files", made.new_files)
      .integer("removed", made.removed);
  protocol::append_list(body.begin("findings"), made.findings, [&out](const auto& one) {
    ObjectWriter(out).text("code", one.code).text("text", one.text).end();
  });
  body.end();
}

Result<Made> made_of(const std::string& text) {
  TRY(const auto json, protocol::parse_object(text));
  protocol::Problem problem;
  const protocol::Value in(json, problem);
  if (const protocol::Value error = in.find("error"); error.present()) {
    Error told{error["code"].as_text(), error["message"].as_text(kLongestText)};
    return problem.found() ? problem.error() : told;
  }
  Made made;
  made.name = in["backup"].as_text();
  made.files = in["files"].as_integer();
  made.bytes = in["bytes"].as_integer();
  made.new_files = in["new_files"].as_integer();
  made.removed = in["removed"].as_integer();
  in["findings"].each(protocol::kMaxFrameBytes, [&made](const protocol::Value& one) {
    made.findings.push_back({one["code"].as_text(), one["text"].as_text(kLongestText)});
  });
  if (problem.found()) return problem.error();
  return made;
}

}  // namespace

std::optional<BackupRequest> waiting_request(const std::string& state_dir) {
  const fs::path file = request_in(state_dir);
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return std::nullopt;
  const auto text = read_file(file);
  const auto json = text ? protocol::parse_object(*text) : text.error();
  BackupRequest request;
  if (json) {
    protocol::Problem problem;
    const protocol::Value in(*json, problem);
    request = {in["id"].as_text(), in["folder"].as_text(kLongestPath), in["keep"].as_integer()};
    if (!problem.found() && is_id(request.id) && fs::path(request.folder).is_absolute() &&
        request.keep >= 0)
      return request;
  }
  fs::remove(file, error);
  return std::nullopt;
}

void answer_request(const std::string& state_dir, const std::string& id, const Result<Made>& made) {
  std::string out;
  if (made) {
    append_made(out, *made);
  } else {
    ObjectWriter body(out);
    ObjectWriter(body.begin("error"))
        .text("code", made.error().code)
        .text("message", made.error().message)
        .end();
    body.end();
  }
  (void)write_file(answer_in(state_dir, id), out);
  std::error_code ignored;
  fs::remove(request_in(state_dir), ignored);
}

void forget_requests(const std::string& state_dir) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(state_dir, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kRequest) || name.starts_with(kAnswer)) found.push_back(entry.path());
  }
  for (const fs::path& file : found) fs::remove(file, error);
}

Result<Made> ask_server(const std::string& state_dir, const BackupRequest& request,
                        const std::function<Status()>& waits) {
  std::string text;
  ObjectWriter(text)
      .text("id", request.id)
      .text("folder", request.folder)
      .integer("keep", request.keep)
      .end();
  // The file gets its name with all of its content, and only if no other request has it.
  const fs::path file = request_in(state_dir);
  const fs::path own = file.string() + "-" + request.id;
  TRY(write_file(own, text));
  const bool named = ::link(own.c_str(), file.c_str()) == 0;
  const int failure = errno;
  std::error_code error;
  fs::remove(own, error);
  if (!named && failure == EEXIST)
    return Error{"backup_running", "The server makes a backup now: try again when it has ended."};
  if (!named) return disk_error(file, failure);
  const fs::path answer = answer_in(state_dir, request.id);
  while (!fs::exists(answer, error)) {
    if (const Status on = waits(); !on) {
      fs::remove(file, error);
      return on.error();
    }
  }
  TRY(const auto told, read_file(answer));
  fs::remove(answer, error);
  return made_of(told);
}

std::string to_text(const Made& made) {
  std::string out;
  append_made(out, made);
  return out;
}

}  // namespace hyperflock::backup
