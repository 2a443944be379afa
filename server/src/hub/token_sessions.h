// Knows the open connections of each token, and closes them when the token ends. Does not own the
// connections. Used only on the hub's strand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hub/peer.h"

namespace hyperflock::hub {

class TokenSessions {
 public:
  static constexpr int kCloseTokenEnded = 4004;

  // Adds a connection of the token. If the token has ended meanwhile, the connection is closed at
  // once.
  void add(std::int64_t token, const std::weak_ptr<Peer>& peer) {
    if (ended_.contains(token)) return close(peer);
    constexpr std::size_t kAddedBetweenSweeps = 1'000;
    if (++added_ % kAddedBetweenSweeps == 0) sweep();
    by_token_[token].push_back(peer);
  }

  // Closes the connections of a token that has ended. A connection that is added later is closed at
  // once.
  void end(std::int64_t token) {
    ended_.insert(token);
    drop(token);
  }

  // Closes the open connections of a token whose owner is suspended, and forgets them.
  void drop(std::int64_t token) {
    const auto found = by_token_.find(token);
    if (found == by_token_.end()) return;
    for (const std::weak_ptr<Peer>& peer : found->second) close(peer);
    by_token_.erase(found);
  }

  // Returns how many tokens have connections or had some recently.
  std::size_t tokens() const { return by_token_.size(); }

 private:
  static void close(const std::weak_ptr<Peer>& peer) {
    if (const auto open = peer.lock()) open->close(kCloseTokenEnded, "token_ended");
  }

  void sweep() {
    for (auto entry = by_token_.begin(); entry != by_token_.end();) {
      std::erase_if(entry->second, [](const auto& peer) { return peer.expired(); });
      entry = entry->second.empty() ? by_token_.erase(entry) : std::next(entry);
    }
  }

  std::unordered_map<std::int64_t, std::vector<std::weak_ptr<Peer>>> by_token_;
  std::unordered_set<std::int64_t> ended_;  // since this server started
  std::size_t added_ = 0;
};

}  // namespace hyperflock::hub
