// Asks a server for the program's commands (client/exchange.h). It blocks; any thread.
#pragma once

#include <string>

#include "base/instant.h"
#include "base/result.h"

namespace hyperflock::cli {

struct ClientRequest {
  std::string method = "GET";
  std::string url;            // http(s)://host[:port]/path
  std::string authorization;  // empty: no header
  std::string body;
  std::string accept_encoding{};  // empty: no header. An answer's body stays encoded.
};

struct ClientReply {
  int status = 0;
  std::string status_line;
  std::string body;
};

struct ClientSettings {
  Millis limit_ms = 15'000;  // for each network step
  // `identity`: the certificate must be trusted and valid for the host; requests with secrets need
  // this. `none`: any certificate is accepted.
  enum class Verify { identity, none } verify = Verify::identity;
  std::string ca_file;  // PEM file of trusted authorities; empty: those of the system
};

// Error: `unreachable` with one sentence.
Result<ClientReply> ask(const ClientRequest& request, const ClientSettings& settings = {});

}  // namespace hyperflock::cli
