// Makes certificates for tests.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <memory>
#include <string>

#include "base/testing/scratch_folder.h"

namespace hyperflock {

inline constexpr int kDayS = 86'400;

struct PemFile {
  explicit PemFile(const std::string& path) : file(std::fopen(path.c_str(), "wb")) {}
  ~PemFile() { std::fclose(file); }
  PemFile(const PemFile&) = delete;
  PemFile& operator=(const PemFile&) = delete;
  std::FILE* file;
};

struct CertificateSpec {
  int serial = 1;
  int begins_s = 0;  // seconds from now
  int ends_s = 60 * kDayS;
  const char* names = "DNS:localhost,IP:127.0.0.1";
};

// Writes a key and a self-signed certificate to key.pem and cert.pem in a folder.
inline void make_certificate(const ScratchFolder& folder, const CertificateSpec& spec = {}) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"),
                                                                &EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), &X509_free);
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), spec.serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), spec.begins_s);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), spec.ends_s);
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME* name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> names(
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, spec.names),
      &X509_EXTENSION_free);
  X509_add_ext(certificate.get(), names.get(), -1);
  X509_sign(certificate.get(), key.get(), EVP_sha256());
  const PemFile certificate_file(folder.file("cert.pem"));
  PEM_write_X509(certificate_file.file, certificate.get());
  const PemFile key_file(folder.file("key.pem"));
  PEM_write_PrivateKey(key_file.file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
}

}  // namespace hyperflock
