// Tests the sender with peers on loopback: plain, with TLS, and with answers of every kind.
#include "webhook/sender.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/testing/patience.h"
#include "base/testing/scratch_folder.h"

namespace hyperflock::webhook {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ::testing::HasSubstr;
using ErrorCode = boost::system::error_code;

constexpr const char* kOk = "HTTP/1.1 204 No Content\r\n\r\n";

// A self-signed certificate for these names, also as a file.
struct Certificate {
  explicit Certificate(const char* names = "DNS:localhost,IP:127.0.0.1")
      : key(EVP_EC_gen("P-256"), &EVP_PKEY_free), certificate(X509_new(), &X509_free) {
    X509_set_version(certificate.get(), X509_VERSION_3);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -60);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3'600);
    X509_set_pubkey(certificate.get(), key.get());
    X509_NAME* const name = X509_get_subject_name(certificate.get());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
    X509_set_issuer_name(certificate.get(), name);
    const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> extension(
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names), &X509_EXTENSION_free);
    X509_add_ext(certificate.get(), extension.get(), -1);
    X509_sign(certificate.get(), key.get(), EVP_sha256());
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path().c_str(), "wb"),
                                                               &std::fclose);
    PEM_write_X509(file.get(), certificate.get());
  }
  std::string path() const { return folder.file("ca.pem"); }

  ScratchFolder folder{ScratchFolder::Where::memory};
  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key;
  std::unique_ptr<X509, decltype(&X509_free)> certificate;
};

// Accepts connections on loopback, reads a request on each, and sends `answer`. With `silent` it
// sends nothing and waits for the client to close.
class Peer {
 public:
  explicit Peer(std::string answer, const Certificate* certificate = nullptr, bool silent = false)
      : answer_(std::move(answer)), silent_(silent) {
    if (certificate != nullptr) {
      tls_.emplace(asio::ssl::context::tls_server);
      SSL_CTX_use_certificate(tls_->native_handle(), certificate->certificate.get());
      SSL_CTX_use_PrivateKey(tls_->native_handle(), certificate->key.get());
    }
    thread_ = std::thread([this] { serve(); });
  }
  ~Peer() {
    stopped_ = true;
    tcp::socket wake(io_);
    ErrorCode ignored;
    wake.connect(acceptor_.local_endpoint(), ignored);
    thread_.join();
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  std::string url(const std::string& host = "127.0.0.1", const std::string& path = "/hook") const {
    return (tls_ ? "https://" : "http://") + host + ":" +
           std::to_string(acceptor_.local_endpoint().port()) + path;
  }
  int connections() const { return connections_; }
  std::string request() const {
    const std::lock_guard lock(mutex_);
    return request_;
  }

 private:
  void serve() {
    for (;;) {
      tcp::socket socket(io_);
      acceptor_.accept(socket);
      if (stopped_) return;
      ++connections_;
      if (!tls_) {
        answer(socket);
        continue;
      }
      asio::ssl::stream<tcp::socket&> stream(socket, *tls_);
      ErrorCode refused;
      stream.handshake(asio::ssl::stream_base::server, refused);
      if (!refused) answer(stream);
    }
  }

  template <typename Stream>
  void answer(Stream& stream) {
    asio::streambuf buffer;
    ErrorCode error;
    // The bodies of the requests in these tests end with "end".
    const std::size_t size = asio::read_until(stream, buffer, "end", error);
    const std::string whole(asio::buffers_begin(buffer.data()),
                            asio::buffers_begin(buffer.data()) + static_cast<std::ptrdiff_t>(size));
    {
      const std::lock_guard lock(mutex_);
      request_ = whole;
    }
    if (silent_) {
      asio::read_until(stream, buffer, "never", error);
    } else {
      asio::write(stream, asio::buffer(answer_), error);
    }
  }

  const std::string answer_;
  const bool silent_;
  asio::io_context io_;
  tcp::acceptor acceptor_{io_, {asio::ip::address_v4::loopback(), 0}};
  std::optional<asio::ssl::context> tls_;
  std::atomic<bool> stopped_{false};
  std::atomic<int> connections_{0};
  mutable std::mutex mutex_;
  std::string request_;
  std::thread thread_;
};

SenderSettings settings(const std::vector<std::string>& allowed = {"127.0.0.0/8"}) {
  SenderSettings settings{.rules = AddressRules::make(allowed).value()};
  settings.limit_ms = kTestLimitMs;
  settings.agent = "Hyperflock/test";
  return settings;
}

Result<int> post(const std::string& url, const SenderSettings& with = settings()) {
  return Sender(with).post({url, {{"Hyperflock-Event", "finished"}}, "body end"});
}

std::string fault(const std::string& url, const SenderSettings& with = settings()) {
  const auto status = post(url, with);
  return status ? "status " + std::to_string(*status) : status.error().code;
}

TEST(Sender, PostsTheBodyWithItsHeaders) {
  const Peer peer(kOk);
  EXPECT_EQ(post(peer.url("127.0.0.1", "/a?b=c")).value(), 204);
  EXPECT_THAT(peer.request(), HasSubstr("POST /a?b=c HTTP/1.1\r\n"));
  EXPECT_THAT(peer.request(), HasSubstr("Hyperflock-Event: finished\r\n"));
  EXPECT_THAT(peer.request(), HasSubstr("User-Agent: Hyperflock/test\r\n"));
  EXPECT_THAT(peer.request(), HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(peer.request(), HasSubstr("Content-Length: 8\r\n"));
  EXPECT_THAT(peer.request(), testing::EndsWith("\r\n\r\nbody end"));
}

TEST(Sender, TrustsTheNamedAuthority) {
  const Certificate certificate;
  const Peer peer(kOk, &certificate);
  SenderSettings with = settings();
  with.ca_file = certificate.path();
  EXPECT_EQ(post(peer.url(), with).value(), 204);
  EXPECT_EQ(post(peer.url("localhost"), with).value(), 204);
}

TEST(Sender, RefusesACertificateThatIsNotTrustedOrIsForAnotherHost) {
  const Certificate certificate("DNS:other.example");
  const Peer peer(kOk, &certificate);
  const auto untrusted = post(peer.url());
  ASSERT_FALSE(untrusted);
  EXPECT_EQ(untrusted.error().code, "webhook_tls");
  EXPECT_THAT(untrusted.error().message, HasSubstr("certificate"));
  SenderSettings with = settings();
  with.ca_file = certificate.path();
  EXPECT_EQ(fault(peer.url(), with), "webhook_tls");
  EXPECT_EQ(fault(peer.url("localhost"), with), "webhook_tls");
  EXPECT_EQ(peer.request(), "") << "nothing is sent before the certificate is checked";
}

TEST(Sender, RefusesAnAddressBeforeItConnects) {
  const Peer peer(kOk);
  EXPECT_EQ(fault(peer.url(), settings({})), "webhook_refused");
  EXPECT_EQ(fault(peer.url("localhost"), settings({})), "webhook_refused");
  EXPECT_EQ(peer.connections(), 0);
}

// The name is looked up once, and the connection uses the address that was checked. So a name
// server that changes its answer gains nothing.
TEST(Sender, ConnectsToTheAddressThatItJudged) {
  const Peer peer(kOk);
  int lookups = 0;
  SenderSettings with = settings({"127.0.0.1", "rebinding.example"});
  with.lookup = [&lookups](const std::string& host) -> Result<std::vector<asio::ip::address>> {
    EXPECT_EQ(host, "rebinding.example");
    ++lookups;
    return std::vector<asio::ip::address>{asio::ip::make_address("127.0.0.1")};
  };
  EXPECT_EQ(post(peer.url("rebinding.example"), with).value(), 204);
  EXPECT_EQ(lookups, 1);
  EXPECT_THAT(peer.request(), HasSubstr("Host: rebinding.example:"));
}

TEST(Sender, LeavesOutTheRefusedAddressesOfAHost) {
  const Peer peer(kOk);
  SenderSettings with = settings({"127.0.0.1"});
  std::vector<asio::ip::address> found{asio::ip::make_address("10.0.0.1"),
                                       asio::ip::make_address("::1"),
                                       asio::ip::make_address("127.0.0.1")};
  with.lookup = [&found](const std::string&) { return found; };
  EXPECT_EQ(fault(peer.url("two.example"), with), "status 204");
  found.pop_back();
  EXPECT_EQ(fault(peer.url("two.example"), with), "webhook_refused");
  found.clear();
  EXPECT_EQ(fault(peer.url("two.example"), with), "webhook_unresolved");
}

TEST(Sender, FindsNamesAsTheSystemDoes) {
  const auto found = system_lookup("localhost");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(std::ranges::all_of(*found, [](const auto& one) { return one.is_loopback(); }));
  const auto missing = system_lookup("no-such-host.invalid");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, "webhook_unresolved");
}

TEST(Sender, FollowsNoRedirect) {
  const Peer target(kOk);
  const Peer peer("HTTP/1.1 307 Moved\r\nLocation: " + target.url() + "\r\n\r\n");
  EXPECT_EQ(fault(peer.url()), "status 307");
  EXPECT_EQ(target.connections(), 0);
}

TEST(Sender, ReadsOnlyTheHeadOfAnAnswer) {
  const Peer endless("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n" +
                     std::string(4 << 20, 'x'));
  EXPECT_EQ(fault(endless.url()), "status 200");
  const Peer long_head("HTTP/1.1 200 OK\r\nX: " + std::string(1 << 20, 'x') + "\r\n\r\n");
  EXPECT_EQ(fault(long_head.url()), "webhook_answer");
}

TEST(Sender, SaysWhatIsWrongWithAnAnswer) {
  EXPECT_EQ(fault(Peer("HTTP/1.1 500 No\r\n\r\n").url()), "status 500");
  EXPECT_EQ(fault(Peer("hello\r\n\r\n").url()), "webhook_answer");
  EXPECT_EQ(fault(Peer("").url()), "webhook_answer");
}

TEST(Sender, SaysThatNobodyListens) {
  std::string url;
  {
    const Peer peer(kOk);
    url = peer.url();
  }
  EXPECT_EQ(fault(url), "webhook_unreachable");
}

TEST(Sender, WaitsForALimitedTime) {
  const Peer peer(kOk, nullptr, true);
  SenderSettings with = settings();
  with.limit_ms = 50;
  EXPECT_EQ(fault(peer.url(), with), "webhook_timeout");
}

TEST(Sender, ARefusalIsFinal) {
  EXPECT_FALSE(may_retry({"webhook_refused", ""}));
  EXPECT_FALSE(may_retry({"bad_webhook", ""}));
  EXPECT_TRUE(may_retry({"webhook_unresolved", ""}));
  EXPECT_TRUE(may_retry({"webhook_tls", ""}));
}

}  // namespace
}  // namespace hyperflock::webhook
