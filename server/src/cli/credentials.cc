#include "cli/credentials.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "protocol/json/json_reader.h"
#include "protocol/json/json_writer.h"

namespace hyperflock::cli {
namespace {

constexpr std::size_t kLongestUrl = 4'096;

// Writes a file. Readers see the old file or the complete new one, even after a crash.
Status write_atomically(const std::string& path, const std::string& text, mode_t mode) {
  const std::string temporary = path + ".new";
  const auto fault = [&path] {
    return Error{"file_unwritable",
                 "Cannot write " + path + " (" + std::strerror(errno) + "); choose another path."};
  };
  ::unlink(temporary.c_str());
  const int file =
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
  if (file < 0) return fault();
  const bool written =
      ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      ::fsync(file) == 0;
  Status status = written ? Status() : Status(fault());
  ::close(file);
  if (!status) return status;
  if (std::rename(temporary.c_str(), path.c_str()) != 0) return fault();
  return {};
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
  return write_atomically(path, out + "\n", S_IRUSR | S_IWUSR);
}

Result<Credentials> read_credentials(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  if (!in.is_open()) return Error{"file_unreadable", "Cannot read " + path + "."};
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
  return write_atomically(path, out + "\n", S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
}

}  // namespace hyperflock::cli
