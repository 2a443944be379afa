// The key of the links between the servers of one database. The server that has the database writes
// it into the database, new with each epoch, and those that wait read it there. A link is TLS 1.3
// with this key (PSK with an ephemeral exchange) and without certificates. So neither a client nor
// the network between the servers can forge or read it, and servers of different epochs refuse each
// other. Any thread.
#pragma once

#include <cstdint>
#include <string>

#include "net/tls_stream.h"

namespace hyperflock::net {

struct PeerKey {
  std::int64_t epoch = 0;  // both ends name it in the handshake
  std::string secret{};    // from auth::new_token()
};

// Returns the TLS context for one end of links with this key. After the handshake of an end that
// connects, ask TlsConnection::has_shared_key(). Throws std::runtime_error if OpenSSL has not what
// it needs.
TlsContext peer_context(const PeerKey& key, TlsEnd end);

}  // namespace hyperflock::net
