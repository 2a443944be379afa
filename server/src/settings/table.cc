#include "settings/table.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <numeric>

#include "base/instant.h"
#include "names/names.h"
#include "net/proxy/trusted_proxies.h"
#include "storage/postgres/open.h"
#include "traces/exporter.h"
#include "webhook/address_rules.h"

namespace hyperflock::settings {
namespace {

constexpr std::size_t kLongestNameBytes = 256;
constexpr std::int64_t kKiB = 1'024;
constexpr std::int64_t kGiB = std::int64_t{1} << 30;
constexpr std::int64_t kTiB = std::int64_t{1} << 40;

std::string folder_fault(const std::string& text) {
  std::error_code error;
  return std::filesystem::is_directory(text, error) ? std::string()
                                                    : "There is no folder " + text + ".";
}

std::string file_fault(const std::string& text) {
  std::error_code error;
  const bool found =
      std::filesystem::exists(text, error) && !std::filesystem::is_directory(text, error);
  return found ? std::string() : "There is no file " + text + ".";
}

// A folder that is made if it is missing.
std::string new_folder_fault(const std::string& text) {
  std::error_code error;
  const bool is_other =
      std::filesystem::exists(text, error) && !std::filesystem::is_directory(text, error);
  return is_other ? text + " is no folder." : std::string();
}

std::string peer_fault(const std::string& text) {
  const auto address = parse_address(text);
  return address ? std::string() : address.error().message;
}

// A name that is looked up, or a numeric address without brackets.
std::string peer_name_fault(const std::string& text) {
  constexpr std::size_t kLongest = 253;
  const bool is_host =
      !text.empty() && text.size() <= kLongest && std::ranges::all_of(text, [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' ||
               c == '_' || c == ':';
      });
  return is_host ? std::string()
                 : "Give a host name or an address without a port, such as server-1.internal.";
}

std::string name_fault(const std::string& text) {
  if (text.size() > kLongestNameBytes) return "Give a name of at most 256 bytes of UTF-8.";
  const auto name = names::plain_name(text, "the name");
  return name ? std::string() : name.error().message;
}

// A certificate can be had by ACME for a name only, and not for an address.
std::string domain_fault(const std::string& text) {
  constexpr std::size_t kLongest = 253;
  constexpr std::size_t kLongestLabel = 63;
  const std::string fault = "Give the host name that phones open, such as flock.example.org.";
  const auto is_of_label = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  if (text.size() > kLongest || text.find('.') == std::string::npos) return fault;
  std::size_t begin = 0;
  std::string label;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('.', begin), text.size());
    label = text.substr(begin, end - begin);
    if (label.empty() || label.size() > kLongestLabel || label.starts_with('-') ||
        label.ends_with('-') || !std::ranges::all_of(label, is_of_label))
      return fault;
    begin = end + 1;
  }
  // The last label of a name has a letter; that of an address has none.
  const bool has_letter = std::ranges::any_of(label, [](char c) { return c >= 'a' && c <= 'z'; });
  return has_letter ? std::string() : fault;
}

std::string directory_fault(const std::string& text) {
  return text.starts_with("https://") && text.size() > std::string_view("https://").size()
             ? std::string()
             : "Give the https URL of an authority's directory.";
}

std::string email_fault(const std::string& text) {
  const std::size_t at = text.find('@');
  const bool plain =
      std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~' && c != ','; });
  return plain && at != std::string::npos && at != 0 && at + 1 != text.size() && text[0] != '-'
             ? std::string()
             : "Give one address of e-mail.";
}

std::string client_fault(const std::string& text) {
  return text.starts_with('-') ? "Name a program." : std::string();
}

std::string proxy_fault(const std::string& text) {
  const auto proxies = net::TrustedProxies::make({text});
  return proxies ? std::string() : proxies.error().message;
}

std::string allow_fault(const std::string& text) {
  const auto rules = webhook::AddressRules::make({text});
  return rules ? std::string() : rules.error().message;
}

// Returns how many letters have to be added, removed or replaced to make one text of another.
std::size_t distance(std::string_view one, std::string_view other) {
  std::vector<std::size_t> row(other.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < one.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < other.size(); ++j) {
      const std::size_t replaced = diagonal + (one[i] == other[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

// An origin is part of a Content-Security-Policy, so it has neither a path nor odd characters.
std::string origin_fault(const std::string& text) {
  const std::string fault = "Give an origin without a path, such as https://cdn.example.org.";
  std::string_view host = text;
  const bool known = host.starts_with("https://") || host.starts_with("http://");
  if (!known) return fault;
  host.remove_prefix(host.find("://") + 3);
  while (host.ends_with('/')) host.remove_suffix(1);
  const bool plain = !host.empty() && std::ranges::all_of(host, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == ':' ||
           c == '[' || c == ']';
  });
  return plain ? std::string() : fault;
}

std::vector<Setting> make_table() {
  using C = ServeConfig;
  constexpr std::string_view kFolders = "Folders and files";
  constexpr std::string_view kAddresses = "Addresses and TLS";
  constexpr std::string_view kFirst = "First start";
  constexpr std::string_view kConnections = "Connections";
  constexpr std::string_view kSizes = "Sizes and the disk";
  constexpr std::string_view kBackups = "Backups";
  constexpr std::string_view kTimes = "Times of the protocol";
  constexpr std::string_view kPeople = "Joins, researchers and webhooks";
  constexpr std::string_view kAudit = "Audit log";
  constexpr std::string_view kProcess = "Process";
  return {
      {kFolders, "state", text(&C::state_dir, "FOLDER"),
       "folder of the database and the blobs (created)"},
      {kFolders, "database", text(&C::database, "URL", storage::postgres_url_fault),
       "PostgreSQL in place of SQLite in the folder of --state: "
       "postgres://USER@HOST:PORT/DATABASE"},
      {kFolders, "database-password-file", text(&C::database_password_file, "FILE", file_fault),
       "its first line is the password of the database's user; default: as libpq finds one "
       "(PGPASSFILE, PGPASSWORD)"},
      {kFolders, "shared-files", text(&C::shared_files, "FOLDER", new_folder_fault),
       "folder, on a disk that all servers of --database share, of blobs, checkpoints and "
       "runtimes; default: each has its own in the folder of --state"},
      {kFolders, "wait-for-shard", flag(&C::wait_for_shard),
       "while another server has the database, wait as a spare, and take over within 15 s when it "
       "ends or does not answer; give it to all servers of the database"},
      {kFolders, "app", text(&C::app_dir, "FOLDER", folder_fault), "folder of the built pages"},
      {kFolders, "runtime", text(&C::runtime_dir, "FOLDER", folder_fault),
       "folder of the browser runtime"},
      {kFolders, "packs", text(&C::packs_dir, "FOLDER", folder_fault),
       "folder of the packs: packages such as scikit-learn, which a phone fetches only for a study "
       "that imports them; default: packs in the folder of --state, to which `packs add` adds "
       "some"},
      {kFolders, "credentials-file", text(&C::credentials_file, "FILE"),
       "JSON with the first tokens and the join link (mode 0600), written at the first start; "
       "default: credentials.json in the folder of --state"},
      {kFolders, "ready-file", text(&C::ready_file, "FILE"),
       "JSON with the process id and the ports, written when listening"},

      {kAddresses, "compute", address(&C::compute),
       "where volunteers connect; port 0 is any free one"},
      {kAddresses, "console", address(&C::console),
       "where researchers and operators connect; port 0 is any free one"},
      {kAddresses, "public-url", text(&C::public_url, "URL", url_fault),
       "the compute origin as volunteers see it"},
      {kAddresses, "console-url", text(&C::console_url, "URL", url_fault),
       "the console origin as researchers see it; webhooks and the credentials file name it"},
      {kAddresses, "data-url", text(&C::data_url, "ORIGIN", origin_fault),
       "the origin of a CDN or proxy that fetches from the compute origin and stores answers; "
       "phones "
       "then fetch large data from it; default: from the compute origin"},
      {kAddresses, "tls-cert", text(&C::tls_cert, "FILE", file_fault), "certificate chain, PEM"},
      {kAddresses, "tls-key", text(&C::tls_key, "FILE", file_fault), "its private key, PEM"},
      {kAddresses, "domain", text(&C::domain, "NAME", domain_fault),
       "host name that phones open; its certificate comes by ACME and is renewed; --compute is "
       "then "
       "0.0.0.0:443"},
      {kAddresses, "acme-email", text(&C::acme_email, "ADDRESS", email_fault),
       "whom the authority may write to; default: hostmaster at the domain"},
      {kAddresses, "acme-directory", text(&C::acme_directory, "URL", directory_fault),
       "the authority that gives the certificate"},
      {kAddresses, "acme-ca", text(&C::acme_ca, "FILE", file_fault),
       "certificates of further authorities that --acme-directory itself may have, PEM"},
      {kAddresses, "acme-client", text(&C::acme_client, "PROGRAM", client_fault),
       "the program lego, which speaks ACME"},
      {kAddresses, "acme-listen", address(&C::acme_listen),
       "where lego answers the authority, which asks port 80 of the domain"},
      {kAddresses, "acme-renew-days", integer(&C::acme_renew_days, 0, 3'650),
       "renew when fewer days are left; 0 is when a third of the certificate's time is left"},
      {kAddresses, "acme-every-ms", time(&C::acme_every_ms, 100, 24 * kHourMs),
       "how often the server looks whether the certificate is to be renewed"},
      {kAddresses, "insecure", flag(&C::insecure),
       "listen without TLS on an address that is not loopback"},
      {kAddresses, "trusted-proxy", list(&C::trusted_proxies, "CIDR|ADDR", proxy_fault),
       "networks and addresses of proxies in front of the server; only these may say which client "
       "a "
       "request or a connection is from (X-Forwarded-For, X-Forwarded-Proto, PROXY protocol 2)"},
      {kAddresses, "proxy-traceparent", flag(&C::proxy_traceparent),
       "take the ids of requests from the header traceparent of a trusted proxy, which must remove "
       "this header from the requests of its clients"},

      {kAddresses, "peer", text(&C::peer, "ADDR:PORT", peer_fault),
       "where a server of --database takes the connections that its spares pass on, on the network "
       "between the servers; give it to all of them"},
      {kAddresses, "peer-name", text(&C::peer_name, "HOST", peer_name_fault),
       "host name or address by which the other servers reach --peer; default: its address"},

      {kFirst, "project", text(&C::project, "NAME", name_fault),
       "the project's name, as volunteers read it; taken at the first start"},
      {kFirst, "researcher", text(&C::researcher, "NAME", name_fault),
       "who asks, as volunteers read it; taken at the first start"},

      {kConnections, "max-connections-per-address",
       integer(&C::max_connections_per_address, 1, 1'000'000),
       "open connections of one address, for each origin"},
      {kConnections, "max-connections", integer(&C::max_connections, 1, 1'000'000),
       "open connections of the compute origin"},
      {kConnections, "max-workers", integer(&C::max_workers, 1, 1'000'000),
       "devices that may be connected; more are told to come later"},
      {kConnections, "max-console-connections", integer(&C::max_console_connections, 1, 1'000'000),
       "open connections of the console origin, which a full compute origin leaves free"},
      {kConnections, "waiting-requests", integer(&C::waiting_requests, 1, 8'192),
       "the most requests of one person, device or network that wait to be read"},
      {kConnections, "queue-limit-bytes", size(&C::queue_limit_bytes, kKiB, kGiB),
       "what may wait for one slow WebSocket"},

      {kSizes, "max-blob-bytes", size(&C::max_blob_bytes, 1, kTiB), "the largest upload"},
      {kSizes, "max-checkpoint-bytes", size(&C::max_checkpoint_bytes, 1, 4 * kGiB),
       "the largest checkpoint of a trial"},
      {kSizes, "max-artifact-bytes", size(&C::max_artifact_bytes, 1, 4 * kGiB),
       "the largest artifact of a trial; devices send none above 64 MiB"},
      {kSizes, "min-free-bytes", size(&C::min_free_bytes, 0, 1'024 * kTiB),
       "what guests leave of the disk: with less, nothing that grows is accepted"},
      {kSizes, "reserve-bytes", size(&C::reserve_bytes, 0, kTiB),
       "kept on the disk for deletions, cancellations and revocations; 0 keeps nothing"},

      {kBackups, "backup-to", text(&C::backup_to, "FOLDER", new_folder_fault),
       "folder in which the server makes backups of --state by itself (created), best on another "
       "disk; without it, it makes none"},
      {kBackups, "backup-every", time(&C::backup_every_ms, kMinuteMs, 31 * kDayMs),
       "how old the newest backup becomes before the server makes the next one"},
      {kBackups, "backup-keep", integer(&C::backup_keep, 1, 100'000),
       "how many backups are kept; older ones are removed"},
      {kBackups, "standby", text(&C::standby, "FOLDER", new_folder_fault),
       "folder to which each commit is shipped within a second (created), best on another "
       "machine's "
       "disk"},

      {kTimes, "lease-ms", time(&C::lease_ms, 1'000, kHourMs),
       "how long an attempt lives without a sign of its device"},
      {kTimes, "heartbeat-ms", time(&C::heartbeat_ms, 100, 600'000),
       "how often a device gives a sign"},
      {kTimes, "hello-ms", time(&C::hello_ms, 10, 60'000),
       "how long a new WebSocket may stay silent"},
      {kTimes, "slow-peer-ms", time(&C::slow_peer_ms, 100, 600'000),
       "how long a WebSocket may take nothing of what is sent"},
      {kTimes, "drain-ms", time(&C::drain_ms, 0, 600'000),
       "the longest wait for commits at the end"},

      {kPeople, "joins-burst", number(&C::joins_burst, 1, 1e9),
       "devices that one address may add at once"},
      {kPeople, "joins-per-s", number(&C::joins_per_s, 0.001, 1e9),
       "devices that one address may add in the long run"},
      {kPeople, "max-devices", integer(&C::max_devices, 0, 1'000'000'000),
       "devices that may have joined; a project gets half of what others leave; 0 is any number"},
      {kPeople, "idle-device-days", integer(&C::idle_device_days, 0, 36'500),
       "how long a device that has sent no result is kept after its last connection; 0 is for "
       "ever"},
      // The least value is large enough for the longest message together with the bytes that a
      // session has not counted yet.
      {kPeople, "message-kib-burst", number(&C::message_kib_burst, 2'048, 1e9),
       "KiB of messages that one device may send at once"},
      {kPeople, "message-kib-per-s", number(&C::message_kib_per_s, 0.001, 1e9),
       "KiB of messages that one device may send in a second in the long run"},
      {kPeople, "messages-per-s", integer(&C::messages_per_s, 20, 1'000'000'000),
       "messages of one device that are read in a second; what comes faster waits"},
      {kPeople, "registration", flag(&C::open_registration),
       "let people ask to become researchers; an administrator decides"},
      {kPeople, "webhooks", flag(&C::webhooks),
       "let studies post what happens to them to an address of their owner"},
      {kPeople, "webhook-allow", list(&C::webhook_allow, "CIDR|HOST", allow_fault),
       "networks, addresses and host names that webhooks may have in addition to public ones, also "
       "without TLS"},
      {kPeople, "webhook-ca", text(&C::webhook_ca, "FILE", file_fault),
       "certificates of further authorities that hosts of webhooks may have, PEM"},
      {kPeople, "no-devices-ms", time(&C::no_devices_ms, 100, 24 * kHourMs),
       "how long a study has no device until its webhook hears of it"},

      {kAudit, "audit-days", integer(&C::audit_days, 0, 36'500),
       "how long the audit log is kept; 0 is for ever"},
      {kAudit, "audit-entries", integer(&C::audit_entries, 0, 1'000'000'000),
       "the most entries of the audit log; beyond them the person with the longest log loses the "
       "oldest; 0 is any number"},
      {kAudit, "audit-mib", integer(&C::audit_mib, 0, 1'000'000),
       "the most MiB of the audit log, as --audit-entries; 0 is any number"},

      {kProcess, "log-level", log_level(&C::log_level), "debug, info, warning, error or off"},
      {kProcess, "log-format", log_format(&C::log_format),
       "auto, json or text; auto is text on a terminal, and JSON anywhere else"},
      {kProcess, "otlp-endpoint", text(&C::otlp_endpoint, "URL", traces::endpoint_fault),
       "a collector of OpenTelemetry to which traces are posted (OTLP over HTTP), such as "
       "http://127.0.0.1:4318; default: no traces"},
      {kProcess, "trace-sample", number(&C::trace_sample, 0, 1),
       "the share of requests, attempts and webhooks that are traced"},
      {kProcess, "io-threads", integer(&C::io_threads, 1, 64), "threads that serve connections"},
      {kProcess, "end-with-stdin", flag(&C::end_with_stdin),
       "end when standard input is closed, and so with the program that holds its pipe"},
      {kProcess, "trust-clock", flag(&C::trust_clock),
       "believe this machine's clock although it is more than 90 days after the last time that the "
       "server knows"},
  };
}

}  // namespace

std::string url_fault(const std::string& text) {
  const bool http = text.starts_with("http://") || text.starts_with("https://");
  const std::size_t start = text.find("://");
  if (!http || start == std::string::npos || text.size() <= start + 3) {
    return "Give a URL that begins with http:// or https://, such as https://compute.example.org.";
  }
  // A URL with a password would be shown in join links and by `config show`.
  if (text.find_first_of(" \"'<>\\#?@", start) != std::string::npos) {
    return "Give a URL without a user, a query, a fragment or quotes.";
  }
  return {};
}

std::string Setting::flag() const { return "--" + std::string(name); }

std::string Setting::environment() const {
  std::string text = "HYPERFLOCK_";
  for (const char one : name)
    text += one == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(one)));
  return text;
}

std::string Setting::fallback() const { return form.text(form.get(ServeConfig{})); }

const std::vector<Setting>& table() {
  static const std::vector<Setting> rows = make_table();
  return rows;
}

const Setting* find_setting(std::string_view name) {
  const auto found = std::ranges::find(table(), name, &Setting::name);
  return found == table().end() ? nullptr : &*found;
}

std::string_view nearest_setting(std::string_view wrong) {
  // Names of settings are short, so a much longer text is no mistyped name. Computing its distance
  // could take long.
  if (wrong.size() > 64) return {};
  const auto nearest = std::ranges::min_element(
      table(), {}, [wrong](const Setting& one) { return distance(wrong, one.name); });
  const std::size_t allowed = std::max<std::size_t>(1, nearest->name.size() / 3);
  return distance(wrong, nearest->name) <= allowed ? nearest->name : std::string_view();
}

}  // namespace hyperflock::settings
