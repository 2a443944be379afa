#include "http/core/admission.h"

#include <algorithm>

#include "base/ip.h"
#include "base/steady_clock.h"

namespace hyperflock::http {
Admission::Admission(const AdmissionLimits& limits)
    : joins_({.burst = limits.joins_burst, .per_second = limits.joins_per_s}),
      strangers_({.burst = limits.strangers_burst, .per_second = limits.strangers_per_s}),
      reports_({.burst = limits.reports_burst, .per_second = limits.reports_per_s}),
      passphrases_({.burst = limits.passphrases_burst, .per_second = limits.passphrases_per_s}),
      checkpoints_({.burst = limits.checkpoints_burst, .per_second = limits.checkpoints_per_s}),
      artifacts_({.burst = limits.artifacts_burst, .per_second = limits.artifacts_per_s}),
      device_uploads_(
          {.burst = limits.device_uploads_burst, .per_second = limits.device_uploads_per_s}),
      study_uploads_(
          {.burst = limits.study_uploads_burst, .per_second = limits.study_uploads_per_s}),
      changes_({.burst = limits.changes_burst, .per_second = limits.changes_per_s}),
      proofs_({.burst = limits.proofs_burst, .per_second = limits.proofs_per_s}) {}

Admission::Verdict Admission::ask(auth::RateLimiter& limiter, const std::string& key,
                                  double tokens) {
  const std::lock_guard lock(mutex_);
  const Instant time = steady_now();
  if (limiter.allow(key, time, tokens)) return {};
  return {std::max<std::int64_t>(1, (limiter.wait_ms(key, time, tokens) + 999) / 1'000)};
}

Admission::Verdict Admission::admit_join(const std::string& address) {
  return ask(joins_, client_network(address));
}

Admission::Verdict Admission::admit_report(const std::string& address) {
  return ask(reports_, client_network(address));
}

Admission::Verdict Admission::admit_stranger(const std::string& address) {
  return ask(strangers_, client_network(address));
}

Admission::Verdict Admission::admit_passphrase(const std::string& device) {
  return ask(passphrases_, device);
}

// An upload that is refused takes no token of the other buckets.
Admission::Verdict Admission::ask(auth::RateLimiter& own, const Uploader& uploader) {
  const std::lock_guard lock(mutex_);
  const Instant time = steady_now();
  const std::int64_t wait_ms =
      std::max({own.wait_ms(uploader.attempt, time), device_uploads_.wait_ms(uploader.device, time),
                study_uploads_.wait_ms(uploader.study, time)});
  if (wait_ms > 0) return {(wait_ms + 999) / 1'000};
  own.allow(uploader.attempt, time);
  device_uploads_.allow(uploader.device, time);
  study_uploads_.allow(uploader.study, time);
  return {};
}

Admission::Verdict Admission::admit_checkpoint(const Uploader& uploader) {
  return ask(checkpoints_, uploader);
}

Admission::Verdict Admission::admit_artifact(const Uploader& uploader) {
  return ask(artifacts_, uploader);
}

Admission::Verdict Admission::admit_change(const std::string& researcher) {
  return ask(changes_, researcher);
}

Admission::Verdict Admission::admit_proof(const std::string& person, std::int64_t bytes) {
  constexpr std::int64_t kUnit = std::int64_t{8} << 20;
  return ask(proofs_, person, static_cast<double>(1 + bytes / kUnit));
}

}  // namespace hyperflock::http
