#include "cli/credentials.h"

#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "auth/replace_file.h"
#include "protocol/json/json_reader.h"
#include "protocol/json/json_writer.h"

namespace hyperflock::cli {
namespace {

constexpr std::size_t kLongestUrl = 4'096;

Status write_file(const std::string& path, const std::string& text, mode_t mode) {
  const int failed = auth::replace_file(path, text, mode);
  if (failed == 0) return {};
  return Error{"file_unwritable",
               "Cannot write " + path + " (" + std::strerror(failed) + "); choose another path."};
}

}  // namespace

Status write_credentials(const std::string& path, const Credentials& credentials) {
  std::string out;
  protocol::ObjectWriter(out)
      .text("admin_token", credentials.admin_token)
      .text("researcher_token", credentials.researcher_token)
      .text("join_url", credentials.join_url)
      .text("enrolment_code", credentials.enrolment_code)
      .text("compute", credentials.compute)
      .text("console", credentials.console)
      .end();
  return write_file(path, out + "\n", S_IRUSR | S_IWUSR);
}

Result<Credentials> read_credentials(const std::string& path) {
  const Error unreadable{"file_unreadable", "Cannot read " + path + "."};
  if (std::error_code none; std::filesystem::is_directory(path, none)) return unreadable;
  std::ifstream in(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  if (!in.is_open()) return unreadable;
  TRY(const auto json, protocol::parse_object(text));
  protocol::Problem problem;
  const protocol::Value file(json, problem);
  Credentials credentials;
  credentials.admin_token = file["admin_token"].as_text();
  credentials.researcher_token = file["researcher_token"].as_text();
  credentials.enrolment_code = file["enrolment_code"].as_text();
  credentials.join_url = file["join_url"].as_text(kLongestUrl);
  credentials.compute = file["compute"].as_text(kLongestUrl);
  credentials.console = file["console"].as_text(kLongestUrl);
  if (problem.found()) return problem.error();
  return credentials;
}

Status write_ready_file(const std::string& path, const ReadyFile& ready) {
  std::string out;
  protocol::ObjectWriter(out)
      .integer("pid", ready.pid)
      .integer("compute_port", ready.compute_port)
      .integer("console_port", ready.console_port)
      .text("compute", ready.compute)
      .text("console", ready.console)
      .end();
  return write_file(path, out + "\n", S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
}

}  // namespace hyperflock::cli
