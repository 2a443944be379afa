// Who may try how often: joins and wrong credentials, by address. Any thread.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include "auth/token_bucket.h"

namespace hyperflock::http {

struct AdmissionLimits {
  double joins_burst = 300;
  double joins_per_s = 2;
  double strangers_burst = 20;  // wrong tokens, secrets and codes
  double strangers_per_s = 0.2;
};

class Admission {
 public:
  explicit Admission(const AdmissionLimits& limits);

  // One more device of this address. False: too many came.
  bool admit_join(const std::string& address);
  // True when so many wrong credentials came from this address that none is looked at for now.
  bool strangers_tired_of(const std::string& address);
  void note_stranger(const std::string& address);

 private:
  std::mutex mutex_;
  auth::RateLimiter joins_;
  auth::RateLimiter strangers_;
};

}  // namespace hyperflock::http
