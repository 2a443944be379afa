// Which open connections a token opened, so that they end with it. Holds connections weakly; used
// on the hub's strand only.
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

  // A connection that was let in by the token; one whose token ended meanwhile is closed at once.
  void add(std::int64_t token, const std::weak_ptr<Peer>& peer) {
    if (ended_.contains(token)) return close(peer);
    constexpr std::size_t kAddedBetweenSweeps = 1'000;
    if (++added_ % kAddedBetweenSweeps == 0) sweep();
    by_token_[token].push_back(peer);
  }

  // The token opens nothing any more.
  void end(std::int64_t token) {
    ended_.insert(token);
    drop(token);
  }

  // Its owner may not come in at present: closes what is open, and forgets it.
  void drop(std::int64_t token) {
    const auto found = by_token_.find(token);
    if (found == by_token_.end()) return;
    for (const std::weak_ptr<Peer>& peer : found->second) close(peer);
    by_token_.erase(found);
  }

  // Tokens that have connections, or had some lately.
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
  std::unordered_set<std::int64_t> ended_;  // while this server runs
  std::size_t added_ = 0;
};

}  // namespace hyperflock::hub
