// Tests TLS: servers with their own certificates, and clients with and without TLS. A problem with
// a certificate is reported at the start. A renewed certificate is loaded while the server runs.
#include "net/tls.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>

#include "base/testing/patience.h"
#include "cli/healthcheck.h"
#include "cli/http_client.h"
#include "tests/support/certificate.h"
#include "tests/support/test_program.h"
#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

std::function<void(ServeConfig&)> with_certificate(const ScratchFolder& folder) {
  return [&folder](ServeConfig& config) {
    config.tls_cert = folder.file("cert.pem");
    config.tls_key = folder.file("key.pem");
  };
}

// A connection over TLS that accepts every certificate.
class TlsClient {
 public:
  explicit TlsClient(std::uint16_t port)
      : socket_(port),
        context_(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free),
        ssl_(SSL_new(context_.get()), &SSL_free) {
    SSL_set_fd(ssl_.get(), socket_.descriptor());
    connected_ = SSL_connect(ssl_.get()) == 1;
  }
  // Returns the serial number of the server's certificate; 0 if the handshake has failed.
  long serial() const {
    const std::unique_ptr<X509, decltype(&X509_free)> shown(
        connected_ ? SSL_get1_peer_certificate(ssl_.get()) : nullptr, &X509_free);
    return shown ? ASN1_INTEGER_get(X509_get0_serialNumber(shown.get())) : 0;
  }
  // Sends a request over this connection and returns the first bytes of the answer.
  std::string get(const std::string& target) {
    const std::string request = "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    if (SSL_write(ssl_.get(), request.data(), static_cast<int>(request.size())) <= 0) return {};
    std::string answer(12, ' ');
    const int length = SSL_read(ssl_.get(), answer.data(), static_cast<int>(answer.size()));
    return answer.substr(0, static_cast<std::size_t>(std::max(length, 0)));
  }

 private:
  net::TestSocket socket_;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
  bool connected_ = false;
};

Status started(const ScratchFolder& folder, const std::string& public_url, bool insecure = false) {
  ServeConfig config;
  config.state_dir = folder.file("state");
  config.compute.port = 0;
  config.console.port = 0;
  config.public_url = public_url;
  config.insecure = insecure;
  with_certificate(folder)(config);
  TRY(Server::start(config));
  return {};
}

TEST(Tls, ServesBothOriginsOverTls) {
  const ScratchFolder folder;
  make_certificate(folder);
  const TestServer server(with_certificate(folder));
  const auto& running = const_cast<TestServer&>(server).server();
  EXPECT_TRUE(running.compute_origin().starts_with("https://127.0.0.1:"));
  EXPECT_TRUE(cli::check_health(running.compute_origin() + "/healthz", kTestLimitMs));
  EXPECT_TRUE(cli::check_health(running.console_origin() + "/readyz", kTestLimitMs));
  // A plain request gets no answer and does no harm.
  EXPECT_EQ(net::http_request(server.console(), "GET", "/healthz").status, 0);
  EXPECT_TRUE(cli::check_health(running.console_origin() + "/healthz", kTestLimitMs));
}

TEST(Tls, ACommandTrustsOnlyACertificateOfTheHost) {
  const ScratchFolder folder;
  const auto asked = [&folder](const std::string& ca_file) -> std::string {
    const TestServer server(with_certificate(folder));
    const auto url = "https://127.0.0.1:" + std::to_string(server.console()) + "/healthz";
    const auto reply = cli::ask({.method = "GET", .url = url, .authorization = {}, .body = {}},
                                {.limit_ms = kTestLimitMs, .ca_file = ca_file});
    return reply ? reply->status_line : reply.error().message;
  };
  make_certificate(folder);
  EXPECT_EQ(asked(folder.file("cert.pem")), "HTTP/1.1 200 OK");
  EXPECT_EQ(
      asked({}),
      "The server cannot be asked: its certificate is not trusted (self-signed certificate).");
  make_certificate(folder, {.names = "DNS:localhost"});
  EXPECT_EQ(asked(folder.file("cert.pem")),
            "The server cannot be asked: its certificate is not trusted (IP address mismatch).");
  EXPECT_EQ(asked(folder.file("none.pem")),
            "The server cannot be asked: no certificates of trusted authorities can be read.");
}

TEST(Tls, AKeyThatDoesNotFitIsOneSentence) {
  const ScratchFolder folder;
  make_certificate(folder);
  std::filesystem::rename(folder.file("key.pem"), folder.file("kept.pem"));
  make_certificate(folder);
  std::filesystem::rename(folder.file("kept.pem"), folder.file("key.pem"));
  const Status start = started(folder, "");
  ASSERT_FALSE(start);
  EXPECT_EQ(start.error().code, "bad_tls");
  EXPECT_TRUE(start.error().message.starts_with("The key in " + folder.file("key.pem")));
}

TEST(Tls, ACertificateForOtherHostsIsRefusedAtTheStart) {
  const ScratchFolder folder;
  make_certificate(folder, {.names = "DNS:a.example.org,DNS:*.b.example.org,IP:192.0.2.7"});
  const std::string begin = "The certificate in " + folder.file("cert.pem");
  for (const char* good : {"", "https://a.example.org", "https://A.example.org:8443",
                           "https://c.b.example.org", "https://192.0.2.7:443"})
    EXPECT_TRUE(started(folder, good)) << good;
  const Status start = started(folder, "https://flock.example.org:8443");
  ASSERT_FALSE(start);
  EXPECT_EQ(start.error().code, "bad_tls");
  EXPECT_EQ(start.error().message,
            begin +
                " is for a.example.org, *.b.example.org, 192.0.2.7, not for flock.example.org: "
                "browsers would refuse it.");
  for (const char* bad : {"https://b.example.org", "https://x.c.b.example.org", "https://192.0.2.8",
                          "https://[2001:db8::1]:8443"})
    EXPECT_FALSE(started(folder, bad)) << bad;
  // The host in the URL is that of a proxy in front of the server, so the server's certificate need
  // not be for this host.
  EXPECT_TRUE(started(folder, "https://flock.example.org", true));
}

TEST(Tls, ACommonNameAloneIsNoName) {
  const ScratchFolder folder;
  make_certificate(folder, {.names = "email:a@example.org"});
  const Status start = started(folder, "https://localhost");
  ASSERT_FALSE(start);
  EXPECT_NE(start.error().message.find(" is for no host, not for localhost"), std::string::npos);
}

TEST(Tls, ACertificateOutOfItsTimeIsRefused) {
  const ScratchFolder folder;
  make_certificate(folder, {.begins_s = -2 * kDayS, .ends_s = -60});
  const Status late = started(folder, "");
  ASSERT_FALSE(late);
  EXPECT_NE(late.error().message.find(" UTC: renew it."), std::string::npos);
  make_certificate(folder, {.begins_s = kDayS});
  const Status early = started(folder, "");
  ASSERT_FALSE(early);
  EXPECT_NE(early.error().message.find("set this machine's clock"), std::string::npos);
}

TEST(Tls, ARenewedCertificateIsForNewConnections) {
  const ScratchFolder folder;
  make_certificate(folder, {.serial = 1});
  TestServer server(with_certificate(folder));
  TlsClient before(server.compute());
  EXPECT_EQ(before.serial(), 1);
  make_certificate(folder, {.serial = 2, .ends_s = 90 * kDayS});
  EXPECT_EQ(TlsClient(server.compute()).serial(), 1);  // not before reload()
  ASSERT_TRUE(server.server().reload());
  EXPECT_EQ(TlsClient(server.compute()).serial(), 2);
  EXPECT_EQ(TlsClient(server.console()).serial(), 2);
  EXPECT_EQ(before.get("/healthz"), "HTTP/1.1 200");
}

TEST(Tls, ABrokenCertificateLeavesTheOneThatWasThere) {
  const ScratchFolder folder;
  make_certificate(folder, {.serial = 1});
  TestServer server(with_certificate(folder));
  std::ofstream(folder.file("cert.pem")) << "no certificate";
  const Status broken = server.server().reload();
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, "bad_tls");
  EXPECT_EQ(TlsClient(server.compute()).serial(), 1);
  make_certificate(folder, {.serial = 3, .begins_s = -2 * kDayS, .ends_s = -60});
  EXPECT_FALSE(server.server().reload());
  EXPECT_EQ(TlsClient(server.compute()).serial(), 1);
}

TEST(Tls, AServerWithoutOneHasNothingToReload) {
  TestServer server;
  EXPECT_TRUE(server.server().reload());
  EXPECT_EQ(server.metric("hyperflock_tls_certificate_expiry_timestamp_seconds"), 0);
}

TEST(Tls, HostsOfOrigins) {
  EXPECT_EQ(net::host_of("https://a.example.org"), "a.example.org");
  EXPECT_EQ(net::host_of("https://a.example.org:8443/x:y"), "a.example.org");
  EXPECT_EQ(net::host_of("https://[2001:db8::1]:8443"), "2001:db8::1");
  EXPECT_EQ(net::host_of("127.0.0.1:80"), "127.0.0.1");
}

TEST(Tls, TheProgramReadsItsCertificateAgainOnSighup) {
  const ScratchFolder folder;
  make_certificate(folder, {.serial = 1});
  Program program(folder.file("state"), folder.file("ready.json"),
                  {"--tls-cert", folder.file("cert.pem"), "--tls-key", folder.file("key.pem")});
  const std::uint16_t port = program.port();
  ASSERT_NE(port, 0);
  EXPECT_EQ(TlsClient(port).serial(), 1);
  make_certificate(folder, {.serial = 2});
  program.signal(SIGHUP);
  EXPECT_TRUE(until([port] { return TlsClient(port).serial() == 2; }));
  const int status = program.end();
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace hyperflock::app
