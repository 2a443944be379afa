#include "acme/renewal.h"

#include <chrono>
#include <utility>

namespace hyperflock::acme {

bool is_due(const Validity& validity, std::int64_t now_s, std::int64_t days) {
  constexpr std::int64_t kDayS = 86'400;
  const std::int64_t left_s = validity.until_s - now_s;
  return days != 0 ? left_s < days * kDayS : left_s * 3 < validity.until_s - validity.from_s;
}

Renewal::Renewal(RenewalSettings settings)
    : settings_(std::move(settings)), thread_([this] { look(); }) {}

Renewal::~Renewal() {
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
  }
  stopping_.notify_all();
  settings_.cancel();
  thread_.join();
}

void Renewal::look() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    if (is_due(settings_.validity(), settings_.wall_s(), settings_.days)) {
      lock.unlock();
      const Status done = settings_.renew();
      lock.lock();
      if (stopped_) return;
      settings_.renewed(done);
    }
    stopping_.wait_for(lock, std::chrono::milliseconds(settings_.every_ms),
                       [this] { return stopped_; });
  }
}

}  // namespace hyperflock::acme
