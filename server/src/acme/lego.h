// Gets certificates by ACME (RFC 8555). The program `lego` speaks the protocol; this class calls
// it. The authority connects to port 80 of the domain, where lego answers while it runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"

namespace hyperflock::acme {

struct LegoSettings {
  std::string program = "lego";
  std::string domain;
  std::string email;
  std::string directory;  // the authority's URL
  std::string ca_file;    // PEM, of the authority's own address; empty: the system's authorities
  std::string listen;     // where lego answers the authority, such as ":80"
  std::string folder;     // account, key and certificate; made with mode 700
};

class Lego {
 public:
  // `wall_s` returns the time in seconds since 1970.
  Lego(LegoSettings settings, std::function<std::int64_t()> wall_s);

  std::string chain_file() const;
  std::string key_file() const;

  // Gets the first certificate. If it failed less than 15 minutes ago, also before a restart, it is
  // not tried again: authorities bar a domain that fails often. Blocks, up to 10 minutes. Errors:
  // `no_acme_client`, `acme_failed`.
  Status obtain();
  // Gets another certificate for a new key. Errors as obtain().
  Status renew();
  // Ends a call that blocks, and lets later ones fail at once. Any thread.
  void cancel() { cancelled_ = true; }

 private:
  Status run(const std::vector<std::string>& command);
  std::string failed_file() const;

  const LegoSettings settings_;
  const std::function<std::int64_t()> wall_s_;
  std::atomic<bool> cancelled_{false};
};

// Returns the part of lego's output that says why it failed, on one line of printable text.
std::string reason_in(const std::string& output);

}  // namespace hyperflock::acme
