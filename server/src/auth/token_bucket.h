// A rate limiter: one token bucket for each key (an address), for a limited number of keys. Pure:
// callers pass the time. One thread at a time.
//
// If there are too many keys, the limiter forgets the key that was unused for the longest time.
// That key then starts with a full bucket. So memory stays bounded, and only somebody with very
// many addresses gains an advantage. For an IPv6 address, pass its /64 network.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/instant.h"

namespace hyperflock::auth {

struct RateLimit {
  double burst = 10;      // tokens of a full bucket
  double per_second = 1;  // new tokens
  std::size_t max_keys = 10'000;
};

class RateLimiter {
 public:
  explicit RateLimiter(RateLimit limit) : limit_(limit) {}

  // Takes tokens from the key's bucket. If it has fewer, takes none and returns false.
  bool allow(std::string_view key, Instant now, double tokens = 1);
  // Takes tokens even if the bucket has fewer; its level may become negative. A negative number of
  // tokens gives tokens back, up to a full bucket.
  void take(std::string_view key, Instant now, double tokens);
  // Returns the time until allow() succeeds; 0 if it would succeed now.
  Millis wait_ms(std::string_view key, Instant now, double tokens = 1);

  std::size_t keys() const { return buckets_.size(); }

 private:
  struct Bucket {
    std::string key;
    double tokens = 0;
    Instant filled{};
  };

  double tokens_at(const Bucket& bucket, Instant now) const;
  void take_from(Bucket& bucket, Instant now, double tokens) const;
  Bucket& find(std::string_view key, Instant now);

  RateLimit limit_;
  std::list<Bucket> buckets_;  // the last used first
  std::unordered_map<std::string_view, std::list<Bucket>::iterator>
      by_key_;  // views of Bucket::key
};

}  // namespace hyperflock::auth
