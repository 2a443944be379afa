// Posts to a webhook: resolves its host, connects to an address that the rules allow, and reads the
// head of the answer. It follows no redirect and reads no body, so that the answer of a host that
// only the server reaches is shown to nobody. Blocks; any thread.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/instant.h"
#include "base/result.h"
#include "webhook/address_rules.h"

namespace hyperflock::webhook {

struct Post {
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

// Returns the addresses of a host name. Error: `webhook_unresolved`.
using Lookup = std::function<Result<std::vector<boost::asio::ip::address>>(const std::string&)>;
// Looks the host up as the operating system does: in its file of hosts and at its name servers.
Result<std::vector<boost::asio::ip::address>> system_lookup(const std::string& host);

struct SenderSettings {
  AddressRules rules;
  Millis limit_ms = 15'000;  // for everything after the lookup
  std::string ca_file{};     // certificates of further authorities, PEM
  std::string agent{};       // the header User-Agent
  Lookup lookup = system_lookup;
};

class Sender {
 public:
  explicit Sender(SenderSettings settings) : settings_(std::move(settings)) {}

  // Returns the status of the answer. Errors: `bad_webhook`, `webhook_refused`,
  // `webhook_unresolved`, `webhook_unreachable`, `webhook_tls`, `webhook_timeout`,
  // `webhook_answer`.
  Result<int> post(const Post& post) const;

 private:
  const SenderSettings settings_;
};

// Returns whether a later attempt may succeed although this one failed with the error.
bool may_retry(const Error& error);

}  // namespace hyperflock::webhook
