// Implements token buckets by key; see token_bucket.h.
#include "auth/token_bucket.h"

#include <algorithm>
#include <cmath>

namespace hyperflock::auth {

bool RateLimiter::allow(std::string_view key, Instant now, double tokens) {
  Bucket& bucket = find(key, now);
  if (tokens_at(bucket, now) < tokens) return false;
  take_from(bucket, now, tokens);
  return true;
}

void RateLimiter::take(std::string_view key, Instant now, double tokens) {
  take_from(find(key, now), now, tokens);
}

void RateLimiter::take_from(Bucket& bucket, Instant now, double tokens) const {
  bucket.tokens = std::min(limit_.burst, tokens_at(bucket, now) - tokens);
  bucket.filled = std::max(bucket.filled, now);
}

Millis RateLimiter::wait_ms(std::string_view key, Instant now, double tokens) {
  const double missing = tokens - tokens_at(find(key, now), now);
  return missing <= 0 ? 0 : static_cast<Millis>(std::ceil(missing / limit_.per_second * 1'000.0));
}

double RateLimiter::tokens_at(const Bucket& bucket, Instant now) const {
  const double seconds = static_cast<double>(std::max<Millis>(now - bucket.filled, 0)) / 1'000.0;
  return std::min(limit_.burst, bucket.tokens + seconds * limit_.per_second);
}

RateLimiter::Bucket& RateLimiter::find(std::string_view key, Instant now) {
  if (const auto known = by_key_.find(key); known != by_key_.end()) {
    buckets_.splice(buckets_.begin(), buckets_, known->second);
    return buckets_.front();
  }
  if (!buckets_.empty() && buckets_.size() >= limit_.max_keys) {
    by_key_.erase(buckets_.back().key);
    buckets_.pop_back();
  }
  buckets_.push_front({std::string(key), limit_.burst, now});
  by_key_.emplace(buckets_.front().key, buckets_.begin());
  return buckets_.front();
}

}  // namespace hyperflock::auth
