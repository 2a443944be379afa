// TLS: the server with a certificate of its own, seen by a client that speaks TLS and by one that
// does not.
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cstdio>
#include <memory>

#include "ops/healthcheck.h"
#include "ops/test_server.h"

namespace hyperflock::ops {
namespace {

struct File {
  explicit File(const std::string& path) : file(std::fopen(path.c_str(), "wb")) {}
  ~File() { std::fclose(file); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::FILE* file;
};

// A key and a certificate for localhost, signed by itself.
void make_certificate(const std::string& certificate_path, const std::string& key_path) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"),
                                                                &EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), &X509_free);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3'600);
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME* name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  X509_sign(certificate.get(), key.get(), EVP_sha256());
  const File certificate_file(certificate_path);
  PEM_write_X509(certificate_file.file, certificate.get());
  const File key_file(key_path);
  PEM_write_PrivateKey(key_file.file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
}

TEST(Tls, ServesBothOriginsOverTls) {
  ScratchFolder folder;
  make_certificate(folder.file("cert.pem"), folder.file("key.pem"));
  TestServer server([&folder](ServeConfig& config) {
    config.tls_cert = folder.file("cert.pem");
    config.tls_key = folder.file("key.pem");
  });
  EXPECT_TRUE(server.server().compute_origin().starts_with("https://127.0.0.1:"));
  EXPECT_TRUE(check_health(server.server().compute_origin() + "/healthz", 5'000));
  EXPECT_TRUE(check_health(server.server().console_origin() + "/readyz", 5'000));
  // A plain request gets no answer, and no harm is done.
  EXPECT_EQ(net::http_request(server.console(), "GET", "/healthz").status, 0);
  EXPECT_TRUE(check_health(server.server().console_origin() + "/healthz", 5'000));
}

TEST(Tls, AKeyThatDoesNotFitIsOneSentence) {
  ScratchFolder folder;
  make_certificate(folder.file("cert.pem"), folder.file("key.pem"));
  make_certificate(folder.file("other.pem"), folder.file("other-key.pem"));
  ServeConfig config;
  config.state_dir = folder.file("state");
  config.compute.port = 0;
  config.console.port = 0;
  config.tls_cert = folder.file("cert.pem");
  config.tls_key = folder.file("other-key.pem");
  const auto started = Server::start(config);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, "bad_tls");
}

}  // namespace
}  // namespace hyperflock::ops
