// See peer.h.
#include "app/spare/peer.h"

#include <utility>

#include "auth/tokens.h"

namespace hyperflock::app {

Result<std::optional<PeerPlace>> bind_peer(const settings::ServeConfig& config) {
  if (config.peer.empty()) return std::optional<PeerPlace>();
  TRY(settings::Address address, settings::parse_address(config.peer));
  TRY(auto bound, net::BoundAddress::bind(address.host, address.port));
  address.port = bound.port();
  if (!config.peer_name.empty()) address.host = config.peer_name;
  storage::ShardPeer published{.address = to_text(address),
                               .secret = auth::new_token(auth::TokenKind::peer_secret)};
  return std::optional<PeerPlace>(PeerPlace{std::move(bound), std::move(published)});
}

}  // namespace hyperflock::app
