// Renews a certificate in time, on a thread of its own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "base/instant.h"
#include "base/result.h"

namespace hyperflock::acme {

// From when until when a certificate is valid, in seconds since 1970.
struct Validity {
  std::int64_t from_s = 0;
  std::int64_t until_s = 0;
};

// Returns whether a certificate should be renewed: if it has fewer than `days` left, or, with 0
// days, if less than a third of its time is left.
bool is_due(const Validity& validity, std::int64_t now_s, std::int64_t days);

struct RenewalSettings {
  Millis every_ms = 0;    // how often it looks; the first time at once
  std::int64_t days = 0;  // see is_due()
  std::function<std::int64_t()> wall_s;
  std::function<Validity()> validity;  // of the certificate in use
  std::function<Status()> renew;       // may block until `cancel`
  std::function<void()> cancel;
  std::function<void(const Status&)> renewed;  // after each attempt
};

class Renewal {
 public:
  explicit Renewal(RenewalSettings settings);
  // Cancels what runs and waits for its end.
  ~Renewal();
  Renewal(const Renewal&) = delete;
  Renewal& operator=(const Renewal&) = delete;

 private:
  void look();

  const RenewalSettings settings_;
  std::mutex mutex_;
  std::condition_variable stopping_;
  bool stopped_ = false;
  std::thread thread_;  // the last member, because it uses the others
};

}  // namespace hyperflock::acme
