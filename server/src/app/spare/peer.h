// Where a server takes the connections that spares pass on to it (--peer).
#pragma once

#include <optional>

#include "base/result.h"
#include "net/relay/bound_address.h"
#include "settings/serve_config.h"
#include "storage/postgres/open.h"

namespace hyperflock::app {

struct PeerPlace {
  net::BoundAddress bound;
  storage::ShardPeer published;  // with a new secret
};

// Binds the address of --peer, before the server takes the database; nullopt without --peer. Error:
// `bind_failed`.
Result<std::optional<PeerPlace>> bind_peer(const settings::ServeConfig& config);

}  // namespace hyperflock::app
