// The certificate of both listeners. It can be replaced while the server runs. Any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"

namespace boost::asio::ssl {
class context;
}

namespace hyperflock::net {

using TlsContext = std::shared_ptr<boost::asio::ssl::context>;

struct CertificateFiles {
  std::string chain;  // PEM
  std::string key;    // PEM
  // The name or numeric address that the certificate must contain; "" accepts any.
  std::string host;
};

// The facts that are read from a certificate.
struct CertificateFacts {
  std::vector<std::string> names;  // DNS names and addresses of the subject
  std::int64_t not_before_s = 0;   // seconds since 1970
  std::int64_t not_after_s = 0;
  bool key_is_open = false;  // every user of the machine can read the key's file
};

// Returns the host of an origin without the scheme, the port and the brackets of an IPv6 address.
// Certificates contain hosts in this form.
std::string host_of(const std::string& origin);

class Tls {
 public:
  // Error: `bad_tls` if a file cannot be used, if the files do not belong together, or if the
  // certificate is not valid now or is for other hosts.
  static Result<std::unique_ptr<Tls>> open(const CertificateFiles& files);

  // Returns the TLS context for a new connection. Open connections keep theirs.
  TlsContext context() const;
  CertificateFacts facts() const;

  // Reads the certificate's files again. Error: `bad_tls`; the old certificate stays.
  Status reload();

 private:
  struct Loaded {
    TlsContext context;
    CertificateFacts facts;
  };
  explicit Tls(CertificateFiles files) : files_(std::move(files)) {}
  Result<Loaded> load() const;

  const CertificateFiles files_;
  mutable std::mutex mutex_;
  Loaded loaded_;
};

}  // namespace hyperflock::net
