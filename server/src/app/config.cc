#include "app/config.h"

#include <arpa/inet.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <map>

#include "app/version.h"
#include "names/names.h"
#include "net/proxy/trusted_proxies.h"
#include "telemetry/utf8.h"
#include "webhook/address_rules.h"

namespace hyperflock::app {
namespace {

constexpr std::size_t kLongestNameBytes = 256;

// Returns the error message of a wrong address, or an empty text for a right one. CLI11 calls this.
std::string address_fault(const std::string& text) {
  const Result<Address> parsed = parse_address(text);
  return parsed ? std::string() : parsed.error().message;
}

std::string url_fault(const std::string& text) {
  const bool http = text.starts_with("http://") || text.starts_with("https://");
  const std::size_t start = text.find("://");
  if (!http || start == std::string::npos || text.size() <= start + 3) {
    return "Give a URL that begins with http:// or https://, such as https://compute.example.org.";
  }
  if (text.find_first_of(" \"'<>\\#?", start) != std::string::npos) {
    return "Give a URL without a query, a fragment or quotes.";
  }
  return {};
}

std::string name_fault(const std::string& text) {
  if (text.size() > kLongestNameBytes || !telemetry::is_utf8(text))
    return "Give a name of at most 256 bytes of UTF-8.";
  const auto name = names::plain_name(text, "the name");
  return name ? std::string() : name.error().message;
}

std::string proxy_fault(const std::string& text) {
  const auto proxies = net::TrustedProxies::make({text});
  return proxies ? std::string() : proxies.error().message;
}

std::string allow_fault(const std::string& text) {
  const auto rules = webhook::AddressRules::make({text});
  return rules ? std::string() : rules.error().message;
}

const std::map<std::string, telemetry::LogLevel>& log_levels() {
  static const std::map<std::string, telemetry::LogLevel> levels{
      {"debug", telemetry::LogLevel::debug},
      {"info", telemetry::LogLevel::info},
      {"warning", telemetry::LogLevel::warning},
      {"error", telemetry::LogLevel::error},
      {"off", telemetry::LogLevel::off}};
  return levels;
}

const CLI::App& innermost(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

void add_serve_flags(CLI::App& serve, ServeConfig& config, std::string& compute,
                     std::string& console) {
  const CLI::Validator address(address_fault, "ADDR:PORT");
  const CLI::Validator url(url_fault, "URL");
  serve.add_option("--state", config.state_dir, "folder of the database and the blobs (created)")
      ->required();
  serve.add_option("--compute", compute, "where volunteers connect; port 0 is any free one")
      ->check(address)
      ->default_str("127.0.0.1:8780");
  serve
      .add_option("--console", console,
                  "where researchers and operators connect; port 0 is any free one")
      ->check(address)
      ->default_str("127.0.0.1:8790");
  serve.add_option("--app", config.app_dir, "folder of the built pages")
      ->check(CLI::ExistingDirectory)
      ->envname("HYPERFLOCK_APP");
  serve.add_option("--runtime", config.runtime_dir, "folder of the browser runtime")
      ->check(CLI::ExistingDirectory)
      ->envname("HYPERFLOCK_RUNTIME");
  serve.add_option("--public-url", config.public_url, "the compute origin as volunteers see it")
      ->check(url);
  serve
      .add_option("--console-url", config.console_url,
                  "the console origin as researchers see it; webhooks name it")
      ->check(url);
  serve.add_option("--tls-cert", config.tls_cert, "certificate chain, PEM")
      ->check(CLI::ExistingFile);
  serve.add_option("--tls-key", config.tls_key, "its private key, PEM")->check(CLI::ExistingFile);
  const CLI::Validator name(name_fault, "NAME");
  serve
      .add_option("--project", config.project,
                  "the project's name, as volunteers read it; taken at the first start")
      ->check(name)
      ->capture_default_str();
  serve
      .add_option("--researcher", config.researcher,
                  "who asks, as volunteers read it; taken at the first start")
      ->check(name)
      ->capture_default_str();
  serve.add_flag("--insecure", config.insecure,
                 "listen without TLS on an address that is not loopback");
  serve.add_option(
      "--credentials-file", config.credentials_file,
      "JSON with the first tokens and the join link (mode 0600), written at the first start; "
      "default: credentials.json in the folder of --state");
  serve.add_option("--ready-file", config.ready_file,
                   "JSON with the process id and the ports, written when listening");
  serve.add_flag("--end-with-stdin", config.end_with_stdin,
                 "end when standard input is closed, and so with the program that holds its pipe");
  serve.add_option("--log-level", config.log_level, "debug, info, warning, error or off")
      ->transform(CLI::CheckedTransformer(log_levels()))
      ->default_str("info");
  serve
      .add_option("--max-connections-per-address", config.max_connections_per_address,
                  "open connections of one address, for each origin")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  serve
      .add_option("--waiting-requests", config.waiting_requests,
                  "the most requests of one person, device or network that wait to be read")
      ->check(CLI::Range(std::size_t{1}, std::size_t{8'192}))
      ->capture_default_str();
  serve
      .add_option("--max-connections", config.max_connections,
                  "open connections of the compute origin")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  serve
      .add_option("--max-console-connections", config.max_console_connections,
                  "open connections of the console origin, which a full compute origin leaves free")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  serve
      .add_option("--trusted-proxy", config.trusted_proxies,
                  "networks and addresses of proxies in front of the server; only these may say "
                  "which client a request or a connection is from (X-Forwarded-For, "
                  "X-Forwarded-Proto, PROXY protocol 2)")
      ->check(CLI::Validator(proxy_fault, "CIDR|ADDR"));
  serve
      .add_option("--queue-limit-bytes", config.queue_limit_bytes,
                  "what may wait for one slow WebSocket")
      ->check(CLI::Range(std::int64_t{1'024}, std::int64_t{1} << 30))
      ->capture_default_str();
  serve.add_option("--max-blob-bytes", config.max_blob_bytes, "the largest upload")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
      ->capture_default_str();
  serve
      .add_option("--max-checkpoint-bytes", config.max_checkpoint_bytes,
                  "the largest checkpoint of a trial")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 32))
      ->capture_default_str();
  serve
      .add_option("--max-artifact-bytes", config.max_artifact_bytes,
                  "the largest artifact of a trial; devices send none above 64 MiB")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 32))
      ->capture_default_str();
  serve
      .add_option("--min-free-bytes", config.min_free_bytes,
                  "what guests leave of the disk: with less, nothing that grows is accepted")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 50))
      ->capture_default_str();
  serve
      .add_option("--reserve-bytes", config.reserve_bytes,
                  "kept on the disk for deletions, cancellations and revocations; 0 is none")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40))
      ->capture_default_str();
  serve
      .add_option("--lease-ms", config.lease_ms,
                  "how long an attempt lives without a sign of its device")
      ->check(CLI::Range(1'000, 3'600'000))
      ->capture_default_str();
  serve.add_option("--heartbeat-ms", config.heartbeat_ms, "how often a device gives a sign")
      ->check(CLI::Range(100, 600'000))
      ->capture_default_str();
  serve.add_option("--hello-ms", config.hello_ms, "how long a new WebSocket may stay silent")
      ->check(CLI::Range(10, 60'000))
      ->capture_default_str();
  serve
      .add_option("--slow-peer-ms", config.slow_peer_ms,
                  "how long a WebSocket may take nothing of what is sent")
      ->check(CLI::Range(100, 600'000))
      ->capture_default_str();
  serve.add_option("--drain-ms", config.drain_ms, "the longest wait for commits at the end")
      ->check(CLI::Range(0, 600'000))
      ->capture_default_str();
  serve.add_option("--io-threads", config.io_threads, "threads that serve connections")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  serve.add_option("--joins-burst", config.joins_burst, "devices that one address may add at once")
      ->check(CLI::Range(1.0, 1e9))
      ->capture_default_str();
  serve
      .add_option("--joins-per-s", config.joins_per_s,
                  "devices that one address may add in the long run")
      ->check(CLI::Range(0.001, 1e9))
      ->capture_default_str();
  // The longest message and what its session still owes must fit into it.
  serve
      .add_option("--message-kib-burst", config.message_kib_burst,
                  "KiB of messages that one device may send at once")
      ->check(CLI::Range(2'048.0, 1e9))
      ->capture_default_str();
  serve
      .add_option("--message-kib-per-s", config.message_kib_per_s,
                  "KiB of messages that one device may send in a second in the long run")
      ->check(CLI::Range(0.001, 1e9))
      ->capture_default_str();
  serve.add_flag("--registration,!--no-registration", config.open_registration,
                 "let people ask to become researchers; an administrator decides");
  serve.add_flag("--webhooks,!--no-webhooks", config.webhooks,
                 "let studies post what happens to them to an address of their owner");
  serve
      .add_option("--webhook-allow", config.webhook_allow,
                  "networks, addresses and host names that webhooks may have in addition to public "
                  "ones, also without TLS")
      ->check(CLI::Validator(allow_fault, "CIDR|HOST"));
  serve
      .add_option("--webhook-ca", config.webhook_ca,
                  "certificates of further authorities that hosts of webhooks may have, PEM")
      ->check(CLI::ExistingFile);
  serve
      .add_option("--no-devices-ms", config.no_devices_ms,
                  "how long a study has no device until its webhook hears of it")
      ->check(CLI::Range(100, 86'400'000))
      ->capture_default_str();
  serve
      .add_option("--audit-days", config.audit_days,
                  "how long the audit log is kept; 0 is for ever")
      ->check(CLI::Range(0, 36'500))
      ->capture_default_str();
  serve
      .add_option("--audit-entries", config.audit_entries,
                  "the most entries of the audit log; beyond them the person with the longest log "
                  "loses the oldest; 0 is any number")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000'000}))
      ->capture_default_str();
  serve
      .add_option("--audit-mib", config.audit_mib,
                  "the most MiB of the audit log, as --audit-entries; 0 is any number")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000}))
      ->capture_default_str();
  serve.add_flag(
      "--trust-clock", config.trust_clock,
      "believe this machine's clock although it is more than 90 days after the last time "
      "that the server knows");
}

}  // namespace

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

Command parse_command_line(const std::vector<std::string>& arguments) {
  CLI::App app{"Hyperflock's job server: leases the trials of studies to browsers.",
               "hyperflock-server"};
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string(kVersion), "print the version");
  ServeConfig serve_config;
  HealthcheckConfig health_config;
  std::string compute;
  std::string console;
  CLI::App* serve = app.add_subcommand("serve", "run the server");
  add_serve_flags(*serve, serve_config, compute, console);
  CLI::App* healthcheck =
      app.add_subcommand("healthcheck", "ask a running server whether it is well; exit 0 or 1");
  healthcheck->add_option("--url", health_config.url, "address to ask")
      ->check(CLI::Validator(url_fault, "URL"))
      ->capture_default_str();
  const CLI::App* version = app.add_subcommand("version", "print the version");
  cli::AdminCommand admin_command;
  cli::add_admin_commands(app, admin_command);

  // CLI11 expects the arguments in reverse order.
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    return Stop{0, innermost(app).help()};
  } catch (const CLI::CallForVersion&) {
    return ShowVersion{};
  } catch (const CLI::ParseError& error) {
    // A user who names a group of commands but none of its commands asks what the group contains.
    // This is answered with its help and is no error.
    const CLI::App& asked = innermost(app);
    const bool is_last = arguments.empty() || arguments.back() == asked.get_name();
    if (is_last && asked.get_require_subcommand_min() > 0) return Stop{0, asked.help()};
    return Stop{2, std::string(error.what()) + "\n"};
  }
  if (version->parsed()) return ShowVersion{};
  if (healthcheck->parsed()) return health_config;
  if (!admin_command.group.empty()) {
    if (const char* token = std::getenv("HYPERFLOCK_TOKEN")) admin_command.token = token;
    return admin_command;
  }
  if (!compute.empty()) serve_config.compute = *parse_address(compute);
  if (!console.empty()) serve_config.console = *parse_address(console);
  for (std::string* name : {&serve_config.project, &serve_config.researcher})
    *name = names::nfc(*name);
  for (std::string* url : {&serve_config.public_url, &serve_config.console_url})
    while (url->ends_with('/')) url->pop_back();
  const Status checked = check(serve_config);
  if (!checked) return Stop{2, checked.error().message + "\n"};
  return serve_config;
}

Status check(const ServeConfig& config) {
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
  if (config.heartbeat_ms * 2 > config.lease_ms) {
    return Error{
        "bad_flag",
        "--lease-ms must be at least twice --heartbeat-ms, or leases end between two signs."};
  }
  return {};
}

}  // namespace hyperflock::app
