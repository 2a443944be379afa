// Tests the command line: defaults, refusals, and which addresses can be reached from outside.
#include "app/config.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/testing/patience.h"
#include "base/testing/scratch_folder.h"
#include "cli/healthcheck.h"
#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

// Returns the error message for a command line, or "" if it is accepted.
std::string flag_refusal(const std::vector<std::string>& arguments) {
  const Command command = parse_command_line(arguments);
  const auto* stop = std::get_if<Stop>(&command);
  if (stop == nullptr) return "";
  EXPECT_EQ(stop->status, 2);
  return stop->text;
}

ServeConfig serve(std::vector<std::string> flags) {
  flags.insert(flags.begin(), {"serve", "--state", "/tmp"});
  const Command command = parse_command_line(flags);
  const auto* config = std::get_if<ServeConfig>(&command);
  EXPECT_NE(config, nullptr) << (config != nullptr ? "" : std::get<Stop>(command).text);
  return config != nullptr ? *config : ServeConfig{};
}

TEST(CommandLine, DefaultsAreSafe) {
  const ServeConfig config = serve({});
  EXPECT_EQ(to_text(config.compute), "127.0.0.1:8780");
  EXPECT_EQ(to_text(config.console), "127.0.0.1:8790");
  EXPECT_FALSE(config.insecure);
  EXPECT_FALSE(config.end_with_stdin);
  EXPECT_EQ(config.lease_ms, 45'000);
  EXPECT_EQ(config.max_blob_bytes, std::uint64_t{512} << 20);
}

TEST(CommandLine, TakesItsFlags) {
  const ServeConfig config = serve(
      {"--compute", "[::1]:0", "--console", "localhost:9", "--log-level", "warning", "--public-url",
       "https://x.example.org/", "--queue-limit-bytes", "2048", "--end-with-stdin"});
  EXPECT_EQ(to_text(config.compute), "[::1]:0");
  EXPECT_EQ(to_text(config.console), "127.0.0.1:9");
  EXPECT_EQ(config.log_level, telemetry::LogLevel::warning);
  EXPECT_EQ(config.public_url, "https://x.example.org");
  EXPECT_EQ(config.queue_limit_bytes, 2'048U);
  EXPECT_TRUE(config.end_with_stdin);
}

TEST(CommandLine, APeerNeedsADatabaseAndAnAddressThatOthersReach) {
  const std::vector<std::string> shared{"serve", "--state", "/tmp", "--database",
                                        "postgres://h@db/h"};
  const auto refusal = [&shared](const std::vector<std::string>& more) {
    std::vector<std::string> flags = shared;
    flags.insert(flags.end(), more.begin(), more.end());
    return flag_refusal(flags);
  };
  EXPECT_EQ(refusal({"--peer", "10.0.0.1:8791"}), "");
  EXPECT_EQ(refusal({"--peer", "[::]:8791", "--peer-name", "server-1.internal"}), "");
  EXPECT_NE(refusal({"--peer", "0.0.0.0:8791"}).find("--peer-name"), std::string::npos);
  EXPECT_NE(refusal({"--peer-name", "server-1"}).find("give both"), std::string::npos);
  EXPECT_NE(refusal({"--peer", "server-1:8791"}), "");
  EXPECT_NE(refusal({"--peer", "10.0.0.1:8791", "--peer-name", "a b"}), "");
  EXPECT_NE(
      flag_refusal({"serve", "--state", "/tmp", "--peer", "10.0.0.1:8791"}).find("--database"),
      std::string::npos);
}

TEST(CommandLine, TakesTrustedProxiesThatAreNetworks) {
  EXPECT_TRUE(serve({}).trusted_proxies.empty());
  const ServeConfig config = serve({"--trusted-proxy", "10.0.0.0/8", "fd00::/8", "--trusted-proxy",
                                    "127.0.0.1", "--max-console-connections", "50"});
  EXPECT_EQ(config.trusted_proxies,
            (std::vector<std::string>{"10.0.0.0/8", "fd00::/8", "127.0.0.1"}));
  EXPECT_EQ(config.max_console_connections, 50U);
  for (const char* bad : {"proxy.lan", "10.0.0.0/40", "0.0.0.0/0", "127.0.0.1:80"}) {
    const std::string refusal = flag_refusal({"serve", "--state", "/tmp", "--trusted-proxy", bad});
    EXPECT_NE(refusal.find(std::string("--trusted-proxy ") + bad), std::string::npos) << refusal;
  }
}

TEST(CommandLine, TakesTheFlagsOfWebhooks) {
  EXPECT_TRUE(serve({}).webhooks);
  EXPECT_FALSE(serve({"--no-webhooks"}).webhooks);
  EXPECT_EQ(serve({}).no_devices_ms, 300'000);
  const ServeConfig config = serve({"--webhook-allow", "10.0.0.0/8", "hooks.lan", "--webhook-allow",
                                    "fd00::/8", "--console-url", "https://flock.example/"});
  EXPECT_EQ(config.webhook_allow,
            (std::vector<std::string>{"10.0.0.0/8", "hooks.lan", "fd00::/8"}));
  EXPECT_EQ(config.console_url, "https://flock.example");
}

TEST(CommandLine, ADomainGivesWhatFollowsFromIt) {
  const ServeConfig plain = serve({"--domain", "flock.example.org"});
  EXPECT_EQ(plain.compute, (Address{"0.0.0.0", 443}));
  EXPECT_EQ(plain.public_url, "https://flock.example.org");
  EXPECT_EQ(plain.acme_email, "hostmaster@flock.example.org");
  EXPECT_TRUE(plain.tls());
  EXPECT_FALSE(plain.console_tls());  // on loopback
  EXPECT_EQ(plain.console_url, "");
  const ServeConfig more = serve({"--domain", "flock.example.org", "--compute", "127.0.0.1:8443",
                                  "--console", "0.0.0.0:8444", "--acme-email", "me@example.org"});
  EXPECT_EQ(more.compute, (Address{"127.0.0.1", 8443}));
  EXPECT_EQ(more.public_url, "https://flock.example.org:8443");
  EXPECT_TRUE(more.console_tls());
  EXPECT_EQ(more.console_url, "https://flock.example.org:8444");
  EXPECT_EQ(more.acme_email, "me@example.org");
  EXPECT_EQ(serve({"--domain", "a.example", "--public-url", "https://b.example"}).public_url,
            "https://b.example");
  for (const char* bad : {"flock", "192.0.2.7", "-a.example", "a..example", "a.example.", "../x.y",
                          "A.example", "a_b.example", "[::1]", "a.example:443"})
    EXPECT_NE(flag_refusal({"serve", "--state", "/tmp", "--domain", bad}), "") << bad;
  EXPECT_NE(flag_refusal({"serve", "--state", "/tmp", "--domain", "a.example", "--tls-cert",
                          "/dev/null", "--tls-key", "/dev/null"})
                .find("--domain, or --tls-cert"),
            std::string::npos);
  for (const auto& [flag, value] :
       std::vector<std::pair<std::string, std::string>>{{"--acme-email", "-x@y"},
                                                        {"--acme-email", "nobody"},
                                                        {"--acme-directory", "http://x"},
                                                        {"--acme-client", "--help"},
                                                        {"--acme-ca", "/nowhere"}})
    EXPECT_NE(flag_refusal({"serve", "--state", "/tmp", flag, value}), "") << flag;
}

TEST(CommandLine, TakesAFileTheEnvironmentAndUnits) {
  const ScratchFolder folder;
  const std::string file = folder.file("server.toml");
  std::ofstream(file) << "lease-ms = \"50 s\"\nio-threads = 3\nregistration = false\n";
  ::setenv("HYPERFLOCK_IO_THREADS", "2", 1);
  const ServeConfig config = serve({"--config", file, "--min-free-bytes", "2 GiB",
                                    "--trusted-proxy", "127.0.0.1", "--registration"});
  ::unsetenv("HYPERFLOCK_IO_THREADS");
  EXPECT_EQ(config.lease_ms, 50'000);
  EXPECT_EQ(config.io_threads, 2U);
  EXPECT_EQ(config.min_free_bytes, std::uint64_t{2} << 30);
  EXPECT_TRUE(config.open_registration);
}

TEST(CommandLine, ConfigChecksAndShowsAFile) {
  const ScratchFolder folder;
  const std::string file = folder.file("server.toml");
  std::ofstream(file) << "state = \"/tmp\"\nio-thread = 3\n";
  const std::string fault = file + ":2: There is no setting io-thread; did you mean io-threads?\n";
  const auto stop = [](const std::vector<std::string>& arguments) {
    return std::get<Stop>(parse_command_line(arguments));
  };
  for (const char* verb : {"check", "show"}) {
    EXPECT_EQ(stop({"config", verb, file}).status, 1);
    EXPECT_EQ(stop({"config", verb, file}).text, fault);
  }
  EXPECT_EQ(flag_refusal({"serve", "--config", file}), fault);
  EXPECT_EQ(stop({"config", "check", file, "--config", file}).status, 2);
  std::ofstream(file) << "state = \"/tmp\"\n";
  EXPECT_EQ(stop({"config", "check", file}).status, 0);
  EXPECT_NE(stop({"config", "show", "--config", file, "--io-threads", "4"})
                .text.find("= 4  # --io-threads"),
            std::string::npos);
  EXPECT_NE(stop({"config", "reference"}).text.find("| `io-threads` |"), std::string::npos);
}

TEST(CommandLine, EachBadFlagIsRefused) {
  const std::vector<std::string> base{"serve", "--state", "/tmp"};
  const std::vector<std::vector<std::string>> bad{
      {"--compute", "127.0.0.1"},
      {"--compute", "127.0.0.1:99999"},
      {"--compute", "host:1"},
      {"--compute", ":80"},
      {"--console", "[::1]"},
      {"--app", "/nowhere/at/all"},
      {"--log-level", "loud"},
      {"--log-format", "xml"},
      {"--lease-ms", "0"},
      {"--heartbeat-ms", "x"},
      {"--public-url", "ftp://x"},
      {"--public-url", "https://"},
      {"--public-url", "http://x/#a"},
      {"--queue-limit-bytes", "-1"},
      {"--nonsense"},
      {"--webhook-allow", "10/40"},
      {"--webhook-allow", "http://a.example"},
      {"--webhook-ca", "/nowhere"},
      {"--console-url", "ftp://x"},
      {"--data-url", "cdn.example"},
      {"--data-url", "https://"},
      {"--data-url", "https://cdn.example/flock"},
      {"--data-url", "https://cdn.example; script-src *"},
      {"--data-url", "https://*"},
      {"--tls-cert", "/nowhere"},
      {"--max-blob-bytes", "0"},
      {"--io-threads", "0"},
      {"--max-connections-per-address", "0"},
      {"--backup-keep", "0"},
      {"--backup-keep", "abc"},
      {"--backup-every", "10 s"},
      {"--backup-every", "soon"},
      {"--backup-to", "/dev/null"},
  };
  for (const auto& flags : bad) {
    std::vector<std::string> line = base;
    line.insert(line.end(), flags.begin(), flags.end());
    EXPECT_NE(flag_refusal(line), "") << flags.front();
  }
  std::vector<std::string> line = base;
  line.insert(line.end(),
              {"--database", "postgresql://db.example.org/flock", "--standby", "/nowhere"});
  EXPECT_NE(flag_refusal(line).find("PostgreSQL"), std::string::npos);
  EXPECT_NE(flag_refusal({"serve"}), "");
  EXPECT_NE(flag_refusal({"dance"}), "");
}

TEST(CommandLine, APublicAddressNeedsTlsOrInsecure) {
  const std::vector<std::string> open{"serve", "--state", "/tmp", "--compute", "0.0.0.0:1"};
  EXPECT_NE(flag_refusal(open).find("--tls-cert"), std::string::npos);
  auto insecure = open;
  insecure.emplace_back("--insecure");
  EXPECT_EQ(flag_refusal(insecure), "");
  EXPECT_NE(flag_refusal({"serve", "--state", "/tmp", "--console", "[::]:1"}), "");
}

TEST(CommandLine, CertificateAndKeyComeTogether) {
  ServeConfig config;
  config.tls_cert = "cert.pem";
  EXPECT_EQ(check(config).error().message, "Give --tls-cert and --tls-key together.");
  config.tls_key = "key.pem";
  config.compute.host = "0.0.0.0";
  EXPECT_TRUE(check(config));
}

TEST(CommandLine, ALeaseOutlivesTwoHeartbeats) {
  ServeConfig config;
  config.lease_ms = 19'999;
  EXPECT_FALSE(check(config));
  config.lease_ms = 20'000;
  EXPECT_TRUE(check(config));
}

TEST(CommandLine, AGroupWithoutACommandShowsItsHelp) {
  const auto shown = [](const std::vector<std::string>& arguments) {
    const Command command = parse_command_line(arguments);
    const auto* stop = std::get_if<Stop>(&command);
    return stop == nullptr ? "none" : std::to_string(stop->status) + " " + stop->text;
  };
  EXPECT_EQ(shown({}), shown({"--help"}));
  EXPECT_EQ(shown({"token"}), shown({"token", "--help"}));
  EXPECT_TRUE(shown({}).starts_with("0 ")) << shown({});
  EXPECT_TRUE(shown({"nonsense"}).starts_with("2 ")) << shown({"nonsense"});
  EXPECT_TRUE(shown({"token", "nonsense"}).starts_with("2 ")) << shown({"token", "nonsense"});
  EXPECT_TRUE(shown({"serve"}).starts_with("2 ")) << shown({"serve"});
}

TEST(CommandLine, HelpAndVersion) {
  const Command help = parse_command_line({"serve", "--help"});
  ASSERT_TRUE(std::holds_alternative<Stop>(help));
  EXPECT_EQ(std::get<Stop>(help).status, 0);
  EXPECT_NE(std::get<Stop>(help).text.find("--queue-limit-bytes"), std::string::npos);
  EXPECT_TRUE(std::holds_alternative<ShowVersion>(parse_command_line({"version"})));
  EXPECT_TRUE(std::holds_alternative<ShowVersion>(parse_command_line({"--version"})));
  const Command health = parse_command_line({"healthcheck"});
  EXPECT_EQ(std::get<HealthcheckConfig>(health).url, "http://127.0.0.1:8790/healthz");
}

TEST(Healthcheck, TellsARunningServerFromNone) {
  TestServer server;
  const std::string origin = server.server().console_origin();
  EXPECT_TRUE(cli::check_health(origin + "/healthz", kTestLimitMs));
  EXPECT_TRUE(cli::check_health(origin + "/readyz", kTestLimitMs));
  EXPECT_EQ(cli::check_health(origin + "/nothing", kTestLimitMs).error().code, "unhealthy");
  const net::ClosedPort closed;
  const std::string nobody = "http://127.0.0.1:" + std::to_string(closed.number());
  EXPECT_EQ(cli::check_health(nobody + "/healthz", kTestLimitMs).error().code, "unhealthy");
}

}  // namespace
}  // namespace hyperflock::app
