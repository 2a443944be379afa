// Reads and writes the small JSON files that contain a server's addresses and tokens. They are
// written atomically.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace hyperflock::cli {

struct Credentials {
  std::string admin_token;
  std::string researcher_token;
  std::string enrolment_code;
  std::string join_url;
  std::string compute;  // origins, such as http://127.0.0.1:8780
  std::string console;
};

// Writes the file with mode 0600. Error: `file_unwritable`.
Status write_credentials(const std::string& path, const Credentials& credentials);
// Errors: `file_unreadable`, or an error about its JSON.
Result<Credentials> read_credentials(const std::string& path);

struct ReadyFile {
  std::int64_t pid = 0;
  std::uint16_t compute_port = 0;
  std::uint16_t console_port = 0;
  std::string compute;
  std::string console;
};
Status write_ready_file(const std::string& path, const ReadyFile& ready);

}  // namespace hyperflock::cli
