// Limits rates: joins, wrong credentials and self-tests by address, passphrases by device,
// checkpoints and artifacts by attempt, device and study, changes by researcher. Any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "auth/token_bucket.h"

namespace hyperflock::http {

struct AdmissionLimits {
  double joins_burst = 300;
  double joins_per_s = 2;
  double strangers_burst = 20;  // wrong tokens, secrets and codes
  double strangers_per_s = 0.2;
  double reports_burst = 20;  // self-tests
  double reports_per_s = 0.05;
  double passphrases_burst = 10;  // changes of a device's passphrase
  double passphrases_per_s = 0.05;
  double checkpoints_burst = 10;
  double checkpoints_per_s = 0.5;
  double artifacts_burst = 20;
  double artifacts_per_s = 1;
  double proofs_burst = 200;  // proofs of possession: one for each, and one for each 8 MiB
  double proofs_per_s = 4;
  // Uploads of checkpoints and artifacts together: by one device, which may begin many attempts one
  // after the other, and to one study.
  double device_uploads_burst = 60;
  double device_uploads_per_s = 1;
  double study_uploads_burst = 2'000;
  double study_uploads_per_s = 100;
  double changes_burst = 5'000;
  double changes_per_s = 10;
};

class Admission {
 public:
  explicit Admission(const AdmissionLimits& limits);

  // Is false if the limit is exceeded; the next request is then admitted in `wait_s` seconds.
  struct Verdict {
    std::int64_t wait_s = 0;
    explicit operator bool() const { return wait_s == 0; }
  };

  // Counts a device that joins from this address, if the limit allows it.
  Verdict admit_join(const std::string& address);
  // Counts a self-test from this address.
  Verdict admit_report(const std::string& address);
  // Counts a wrong credential from this address. Call it only for wrong credentials: many people
  // may share an address (a proxy, a school), and one person's wrong credentials must not lock the
  // others out. The secrets are too long to be guessed at any rate.
  Verdict admit_stranger(const std::string& address);
  // Counts a request of this device to get a passphrase.
  Verdict admit_passphrase(const std::string& device);
  // The attempt, device and study of an upload.
  struct Uploader {
    std::string attempt;
    std::string device;
    std::string study;
  };
  // Counts a checkpoint, or an artifact.
  Verdict admit_checkpoint(const Uploader& uploader);
  Verdict admit_artifact(const Uploader& uploader);
  // Counts a change that a researcher makes on the console.
  Verdict admit_change(const std::string& researcher);
  // Counts a proof of possession of this person. It takes more tokens if the blob has more bytes.
  Verdict admit_proof(const std::string& person, std::int64_t bytes);

 private:
  Verdict ask(auth::RateLimiter& limiter, const std::string& key, double tokens = 1);
  Verdict ask(auth::RateLimiter& own, const Uploader& uploader);

  std::mutex mutex_;
  auth::RateLimiter joins_;
  auth::RateLimiter strangers_;
  auth::RateLimiter reports_;
  auth::RateLimiter passphrases_;
  auth::RateLimiter checkpoints_;
  auth::RateLimiter artifacts_;
  auth::RateLimiter device_uploads_;
  auth::RateLimiter study_uploads_;
  auth::RateLimiter changes_;
  auth::RateLimiter proofs_;
};

}  // namespace hyperflock::http
