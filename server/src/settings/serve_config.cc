#include "settings/serve_config.h"

#include <arpa/inet.h>

#include <array>
#include <charconv>

namespace hyperflock::settings {

Result<Address> parse_address(const std::string& text) {
  const Error fault{
      "bad_flag", "Give an address and a port, such as 127.0.0.1:8780, [::1]:8780 or localhost:0."};
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return fault;
  Address address;
  address.host = text.substr(0, colon);
  if (address.host == "localhost") address.host = "127.0.0.1";
  const char* digits = text.data() + colon + 1;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(digits, end, address.port);
  if (error != std::errc() || stop != end) return fault;
  std::array<unsigned char, sizeof(in6_addr)> binary{};
  if (address.host.starts_with('[') && address.host.ends_with(']')) {
    address.host = address.host.substr(1, address.host.size() - 2);
    if (inet_pton(AF_INET6, address.host.c_str(), binary.data()) != 1) return fault;
  } else if (inet_pton(AF_INET, address.host.c_str(), binary.data()) != 1) {
    return fault;
  }
  return address;
}

bool is_loopback(const Address& address) {
  return address.host.starts_with("127.") || address.host == "::1";
}

std::string to_text(const Address& address) {
  const bool v6 = address.host.find(':') != std::string::npos;
  return (v6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

void apply_domain(ServeConfig& config, const OfDomain& given) {
  constexpr std::uint16_t kHttps = 443;
  const auto url = [&config](const Address& address) {
    const bool usual = address.port == kHttps || address.port == 0;
    return "https://" + config.domain + (usual ? "" : ":" + std::to_string(address.port));
  };
  if (!given.compute) config.compute = {.host = "0.0.0.0", .port = kHttps};
  if (!given.public_url) config.public_url = url(config.compute);
  if (!given.console_url && config.console_tls()) config.console_url = url(config.console);
  if (!given.acme_email) config.acme_email = "hostmaster@" + config.domain;
}

namespace {

Status check_peer(const ServeConfig& config) {
  if (config.peer.empty()) {
    if (config.peer_name.empty()) return {};
    return Error{"bad_flag", "--peer-name is the host of --peer: give both."};
  }
  if (config.database.empty()) {
    return Error{"bad_flag",
                 "--peer is for the spares of a server with --database: they find it in the "
                 "database."};
  }
  TRY(const Address address, parse_address(config.peer));
  const bool is_everywhere = address.host == "0.0.0.0" || address.host == "::";
  if (is_everywhere && config.peer_name.empty()) {
    return Error{"bad_flag", "--peer " + config.peer +
                                 " is every address of this machine: give --peer-name, the host by "
                                 "which the other servers reach it."};
  }
  return {};
}

}  // namespace

Status check(const ServeConfig& config) {
  if (!config.domain.empty() && !config.tls_cert.empty()) {
    return Error{"bad_flag", "Give --domain, or --tls-cert and --tls-key, and not both."};
  }
  if (config.tls_cert.empty() != config.tls_key.empty()) {
    return Error{"bad_flag", "Give --tls-cert and --tls-key together."};
  }
  if (!config.tls() && !config.insecure) {
    for (const Address& address : {config.compute, config.console}) {
      if (is_loopback(address)) continue;
      return Error{
          "bad_flag",
          to_text(address) +
              " can be reached from other machines: give --tls-cert and --tls-key, or --insecure "
              "where something in front of the server does TLS."};
    }
  }
  if (!config.database.empty() && !config.standby.empty()) {
    return Error{"bad_flag",
                 "--standby ships the database of SQLite: with --database, use PostgreSQL's own "
                 "standbys."};
  }
  if (!config.shared_files.empty() && config.database.empty()) {
    return Error{
        "bad_flag",
        "--shared-files is for the servers of one --database: without it, the files are in "
        "the folder of --state."};
  }
  if (config.wait_for_shard && config.shared_files.empty()) {
    return Error{"bad_flag",
                 "--wait-for-shard needs --database and --shared-files: a server that takes over "
                 "must find the rows and the files."};
  }
  if (config.wait_for_shard && !config.domain.empty()) {
    return Error{"bad_flag",
                 "--domain gets a certificate for one server: with --wait-for-shard, give all of "
                 "them --tls-cert and --tls-key."};
  }
  TRY(check_peer(config));
  if (config.heartbeat_ms * 2 > config.lease_ms) {
    return Error{
        "bad_flag",
        "--lease-ms must be at least twice --heartbeat-ms, or leases end between two signs."};
  }
  return {};
}

}  // namespace hyperflock::settings
