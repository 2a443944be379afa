// The settings of `hyperflock-server serve` as the server uses them. settings/table.h has one row
// for each that people can set, with its name, range and help.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/instant.h"
#include "base/result.h"
#include "telemetry/log.h"

namespace hyperflock::settings {

struct Address {
  std::string host;
  std::uint16_t port = 0;  // 0: any free port
  bool operator==(const Address&) const = default;
};

// Parses `1.2.3.4:80`, `[::1]:80` or `localhost:80`. Names are not resolved. Error: `bad_flag`.
Result<Address> parse_address(const std::string& text);
bool is_loopback(const Address& address);
std::string to_text(const Address& address);

struct ServeConfig {
  std::string state_dir;
  std::string database;  // the URL of a PostgreSQL database; empty: SQLite in the state folder
  std::string database_password_file;
  std::string shared_files;     // folder of the files of all servers of the database; empty: none
  bool wait_for_shard = false;  // while another server has the database
  std::string peer;             // ADDR:PORT where spares pass connections on to; empty: nowhere
  std::string peer_name;        // the host by which spares reach it; empty: the address of `peer`
  Address compute{"127.0.0.1", 8780};
  Address console{"127.0.0.1", 8790};
  std::string project = "First project";  // created at the first start
  std::string researcher = "researcher";
  std::string app_dir;
  std::string runtime_dir;
  std::string packs_dir;    // packages for studies that need them; empty: none
  std::string public_url;   // empty: http(s)://<compute address>
  std::string console_url;  // the console's origin for researchers; empty: unknown
  std::string data_url;     // the origin of a cache of studies' data; empty: the compute origin
  std::string tls_cert;
  std::string tls_key;
  std::string domain;  // whose certificate the server gets by ACME; empty: by files or none
  std::string acme_email;
  std::string acme_directory = "https://acme-v02.api.letsencrypt.org/directory";
  std::string acme_ca;                 // authorities of the directory's own address
  std::string acme_client = "lego";    // the program that speaks ACME
  Address acme_listen{"0.0.0.0", 80};  // where it answers the authority
  std::int64_t acme_renew_days = 0;    // see acme::is_due()
  Millis acme_every_ms = 12 * 3'600'000;
  bool insecure = false;
  std::string credentials_file;
  std::string ready_file;
  bool end_with_stdin = false;
  telemetry::LogLevel log_level = telemetry::LogLevel::info;
  telemetry::LogFormat log_format = telemetry::LogFormat::automatic;
  std::string otlp_endpoint;   // of a collector of traces; empty: no traces
  double trace_sample = 0.01;  // the share of traces that are exported
  std::size_t max_connections_per_address = 512;
  std::size_t max_connections = 12'000;         // of the compute origin
  std::size_t max_workers = 10'000;             // devices that are connected
  std::size_t max_console_connections = 1'000;  // of the console origin
  std::vector<std::string> trusted_proxies;     // checked; see net::TrustedProxies
  bool proxy_traceparent = false;               // see net::HttpContext::proxies_name_requests
  std::size_t waiting_requests = 256;           // of one caller; see hub::FairLimits
  std::size_t queue_limit_bytes = std::size_t{4} << 20;
  std::uint64_t max_blob_bytes = std::uint64_t{512} << 20;
  std::uint64_t max_checkpoint_bytes = std::uint64_t{64} << 20;
  std::uint64_t max_artifact_bytes = std::uint64_t{64} << 20;
  // If fewer bytes than this would stay free on the disk, the server accepts nothing that needs
  // more space.
  std::uint64_t min_free_bytes = std::uint64_t{1} << 30;
  // This many bytes are reserved for deletions, cancellations and revocations on a full disk.
  std::uint64_t reserve_bytes = std::uint64_t{64} << 20;
  std::string backup_to;  // folder of the server's own backups; empty: it makes none
  std::string standby;    // folder of a standby; empty: there is none
  Millis backup_every_ms = 6 * kHourMs;
  std::int64_t backup_keep = 28;
  Millis lease_ms = 45'000;
  Millis heartbeat_ms = 10'000;
  Millis call_ms = 60'000;  // how long a device's call waits for a study's owner (R43)
  Millis hello_ms = 5'000;
  Millis slow_peer_ms = 20'000;
  Millis slow_message_ms = 30'000;  // of a WebSocket's message; see net::Pace
  Millis drain_ms = 10'000;
  Millis answer_ms = 0;     // how often threads answer Server::ask_threads(); 0: they are not asked
  Millis fold_ms = 10'000;  // how often what devices contributed is added up
  Millis hung_writer_ms = 30'000;  // a commit that takes longer makes the server not ready
  std::size_t io_threads = 1;
  double joins_burst = 300;
  double joins_per_s = 2;
  std::int64_t max_devices = 100'000;  // that may have joined; 0: any number
  std::int64_t idle_device_days = 30;  // see app::IdleDevices; 0: they are kept
  double message_kib_burst = 16'384;   // of a device; see hub::MessageLimits
  double message_kib_per_s = 1'024;
  std::size_t messages_per_s = 2'000;  // of a device; it is read more slowly
  bool open_registration = true;
  bool webhooks = true;
  std::vector<std::string> webhook_allow;  // checked; see webhook::AddressRules
  std::string webhook_ca;
  Millis no_devices_ms = 300'000;  // how long a study has no device until its webhook hears of it
  std::int64_t audit_days = 365;   // how long entries are kept; 0: for ever
  std::int64_t audit_entries = 1'000'000;  // the most that are kept; 0: any number
  std::int64_t audit_mib = 256;            // the most MiB that they may have; 0: any number
  bool trust_clock = false;  // believe the machine's clock at the start; see auth::TrustedTime

  bool tls() const { return !tls_cert.empty() || !domain.empty(); }
  // A certificate by ACME is for the domain only, so a console on loopback does without TLS.
  bool console_tls() const { return domain.empty() ? tls() : !is_loopback(console); }
  bool operator==(const ServeConfig&) const = default;
};

// The settings that --domain gives, if they are not given themselves.
struct OfDomain {
  bool compute = false;  // whether they are given
  bool public_url = false;
  bool console_url = false;
  bool acme_email = false;
};
// Sets them from config.domain.
void apply_domain(ServeConfig& config, const OfDomain& given);

// Checks settings that depend on each other. Each single setting is checked when it is read
// (settings/form.h). Error: `bad_flag`.
Status check(const ServeConfig& config);

}  // namespace hyperflock::settings
