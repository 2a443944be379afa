// The certificate that both listeners show, and how a new one takes its place while the server
// runs. Any thread.
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
  // A name or numeric address that the certificate must be for; "": any.
  std::string host;
};

// What a certificate says of itself.
struct CertificateFacts {
  std::vector<std::string> names;  // DNS names and addresses of the subject
  std::int64_t not_after_s = 0;    // seconds since 1970
};

// The host of an origin, as a certificate names it: without scheme, port and an address' brackets.
std::string host_of(const std::string& origin);

class Tls {
 public:
  // Error: `bad_tls`, for files that cannot be used, do not belong together, are not valid now, or
  // are for other hosts.
  static Result<std::unique_ptr<Tls>> open(const CertificateFiles& files);

  // For a new connection, which keeps it: one that is open stays with what it began with.
  TlsContext context() const;
  CertificateFacts facts() const;

  // Reads the files again. Error: `bad_tls`; the certificate that was there stays.
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
