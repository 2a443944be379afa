#include "app/idle_devices.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <memory>
#include <utility>

#include "base/instant.h"

namespace hyperflock::app {
namespace {

constexpr std::int64_t kPage = 100;
// The pause between two pages. Their commit takes less time.
constexpr std::chrono::milliseconds kGap{20};

}  // namespace

IdleDevices::IdleDevices(storage::Storage& storage, hub::ReaderPool& readers, hub::Hub& hub,
                         auth::IdentityCache& identities, const hub::Strand& strand,
                         Settings settings)
    : storage_(storage),
      readers_(readers),
      hub_(hub),
      identities_(identities),
      strand_(strand),
      settings_(settings),
      pause_(strand) {}

void IdleDevices::tick(std::int64_t now) {
  if (settings_.days == 0 || collecting_) return;
  const bool crowded =
      settings_.most_devices > 0 && identities_.all_devices() * 2 > settings_.most_devices;
  if (now - begun_at_ < (crowded ? kMinuteMs : kHourMs)) return;
  begun_at_ = now;
  before_ = now - (crowded ? kDayMs : settings_.days * kDayMs);
  after_ = {};
  read();
}

void IdleDevices::read() {
  collecting_ = readers_.post([this, before = before_, after = after_] {
    auto page = std::make_shared<Result<std::vector<storage::SeenDevice>>>(
        storage_.devices_seen_before(before, after, kPage));
    boost::asio::post(strand_, [this, page] { on_page(*page); });
  });
}

void IdleDevices::on_page(const Result<std::vector<storage::SeenDevice>>& page) {
  collecting_ = page && std::ssize(*page) == kPage;
  if (!page) return;
  std::vector<std::string> idle;
  for (const storage::SeenDevice& one : *page) {
    if (one.idle) idle.push_back(one.id);
  }
  hub_.collect_devices(std::move(idle), before_,
                       [&identities = identities_](const storage::Transition& change,
                                                   const storage::Outcome& outcome) {
                         identities.committed(change, outcome);
                       });
  if (!collecting_) return;
  after_ = page->back();
  pause_.expires_after(kGap);
  pause_.async_wait([this](const boost::system::error_code& error) {
    if (!error) read();
  });
}

}  // namespace hyperflock::app
