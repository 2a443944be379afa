#include "webhook/deliverer.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "protocol/names.h"
#include "telemetry/log.h"
#include "webhook/payload.h"
#include "webhook/url.h"

namespace hyperflock::webhook {
namespace {

using std::chrono::milliseconds;
using storage::DeliveryState;

// The most deliveries that run at once. Storage returns at most two of each owner.
constexpr std::size_t kMostRunning = 16;
// The longest time between two looks at the outbox when no event causes an earlier look.
constexpr std::int64_t kLongestSleepMs = 60'000;
// How long the server waits before it sends a delivery again whose outcome could not be stored.
constexpr std::int64_t kUnstoredMs = 10'000;
constexpr milliseconds kLongestStop{2'000};

Post post_of(const storage::DueDelivery& due, const DelivererSettings& settings) {
  std::string body = body_of(due, settings.console);
  const auto& clock = settings.signing_clock ? settings.signing_clock : settings.clock;
  std::string signature = signature_of(due.secret, clock() / 1'000, body);
  return {.url = due.url,
          .headers = {{"Hyperflock-Delivery", due.delivery.key},
                      {"Hyperflock-Event", std::string(name_of(due.delivery.event))},
                      {"Hyperflock-Signature", std::move(signature)}},
          .body = std::move(body)};
}

// Returns the delivery with the outcome of one more attempt.
storage::Delivery judged(storage::Delivery delivery, const Result<int>& answer, std::int64_t now) {
  ++delivery.attempts;
  delivery.status = answer.value_or(0);
  if (answer && *answer >= 200 && *answer < 300) {
    delivery.state = DeliveryState::delivered;
    delivery.code.clear();
    delivery.message.clear();
    return delivery;
  }
  const bool redirect = answer && *answer >= 300 && *answer < 400;
  const Error error =
      !answer ? answer.error()
              : Error{"webhook_status", "The webhook's host answered with the status " +
                                            std::to_string(*answer) +
                                            (redirect ? "; the server follows no redirect." : ".")};
  delivery.code = error.code;
  delivery.message = error.message;
  const auto wait = back_off_ms(delivery.attempts);
  // With the status 410 (gone), the host says that it wants no more deliveries.
  const bool over = !wait || !may_retry(error) || delivery.status == 410;
  delivery.state = over ? DeliveryState::failed : DeliveryState::waiting;
  delivery.next_at = over ? 0 : now + *wait;
  return delivery;
}

void log(const storage::Delivery& delivery, const std::string& url) {
  const auto parsed = parse_url(url);  // the rest of the address may be a secret
  const bool failed = delivery.state == DeliveryState::failed;
  telemetry::log(failed ? telemetry::LogLevel::warning : telemetry::LogLevel::info,
                 failed ? "webhook_failed" : "webhook_attempt",
                 {{"study", to_int(delivery.study)},
                  {"host", parsed ? parsed->host : std::string()},
                  {"event", std::string(name_of(delivery.event))},
                  {"attempt", delivery.attempts},
                  {"status", delivery.status},
                  {"code", delivery.code}});
}

void trace(telemetry::Tracer& tracer, const telemetry::RequestContext& context,
           const storage::Delivery& delivery, const std::string& url, std::int64_t start_ns) {
  const auto parsed = parse_url(url);
  tracer.add({.context = context,
              .kind = telemetry::Span::Kind::client,
              .name = "POST webhook",
              .start_ns = start_ns,
              .end_ns = telemetry::wall_ns(),
              .attributes = {{"http.request.method", "POST"},
                             {"server.address", parsed ? parsed->host : std::string()},
                             {"http.response.status_code", std::int64_t{delivery.status}},
                             {"hyperflock.study", to_int(delivery.study)},
                             {"hyperflock.event", std::string(name_of(delivery.event))},
                             {"hyperflock.delivery.attempt", std::int64_t{delivery.attempts}}},
              .error = delivery.code});
}

}  // namespace

// The part of a Deliverer that its threads share. They may end after the Deliverer.
class Deliverer::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(storage::Storage& storage, DelivererSettings settings)
      : storage_(storage), settings_(std::move(settings)) {}

  void start() {
    loop_ = std::thread([this] { run(); });
  }

  void wake() {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    changed_.notify_all();
  }

  void stop() {
    {
      std::unique_lock lock(mutex_);
      stopped_ = true;
      changed_.notify_all();
      changed_.wait_for(lock, kLongestStop, [this] { return running_ == 0; });
    }
    if (loop_.joinable()) loop_.join();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (!stopped_) {
      woken_ = false;
      const std::uint64_t noted = noted_;
      lock.unlock();
      const std::int64_t now = settings_.clock();
      const Result<storage::Outbox> box = storage_.outbox(now);
      lock.lock();
      // An outcome may have been stored after the read and before now. Then the delivery is in hand
      // no more, and what was read would send it again.
      if (noted != noted_) continue;
      if (box) begin(box->due, now);
      const std::int64_t next = box && box->next_at ? *box->next_at - now : kLongestSleepMs;
      const milliseconds sleep(std::clamp<std::int64_t>(next, 1, kLongestSleepMs));
      changed_.wait_for(lock, sleep, [this] { return stopped_ || woken_; });
    }
  }

  // REQUIRES: mutex_ is locked.
  void begin(const std::vector<storage::DueDelivery>& due, std::int64_t now) {
    std::erase_if(unstored_, [now](const auto& one) { return one.second <= now; });
    for (const storage::DueDelivery& one : due) {
      const std::int64_t id = one.delivery.id;
      const auto held =
          std::ranges::find(unstored_, id, &std::pair<std::int64_t, std::int64_t>::first);
      if (stopped_ || running_ >= kMostRunning || held != unstored_.end()) continue;
      if (!in_hand_.insert(id).second) continue;
      try {
        std::thread([self = shared_from_this(), one, request = new_request()] {
          self->deliver(one, request);
        }).detach();
        ++running_;
      } catch (const std::system_error&) {  // the system gives no thread now
        in_hand_.erase(id);
        return;
      }
    }
  }

  // Each delivery is a request of its own. The tracer may be gone once this object has stopped.
  telemetry::RequestContext new_request() const {
    telemetry::RequestContext context = telemetry::new_request();
    context.sampled = settings_.tracer != nullptr && settings_.tracer->samples(context);
    return context;
  }

  void deliver(const storage::DueDelivery& due, const telemetry::RequestContext& context) {
    const telemetry::RequestScope scope(context);
    const std::int64_t start_ns = context.sampled ? telemetry::wall_ns() : 0;
    Result<int> answer = Error{"internal", "The server could not send to the webhook."};
    try {
      answer = settings_.send(post_of(due, settings_));
    } catch (const std::exception& error) {
      telemetry::log(telemetry::LogLevel::error, "webhook_fault", {{"reason", error.what()}});
    }
    const std::lock_guard lock(mutex_);
    --running_;
    changed_.notify_all();
    if (stopped_) return;
    const storage::Delivery after = judged(due.delivery, answer, settings_.clock());
    if (context.sampled) trace(*settings_.tracer, context, after, due.url, start_ns);
    log(after, due.url);
    settings_.note({after}, [weak = weak_from_this(), id = after.id](const auto& noted) {
      if (const auto self = weak.lock()) self->noted(id, noted.has_value());
    });
  }

  void noted(std::int64_t id, bool stored) {
    const std::lock_guard lock(mutex_);
    in_hand_.erase(id);
    ++noted_;
    if (!stored) unstored_.emplace_back(id, settings_.clock() + kUnstoredMs);
    woken_ = true;
    changed_.notify_all();
  }

  storage::Storage& storage_;
  const DelivererSettings settings_;
  std::thread loop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  bool woken_ = false;
  bool stopped_ = false;
  std::size_t running_ = 0;
  std::uint64_t noted_ = 0;         // outcomes that were stored or could not be
  std::set<std::int64_t> in_hand_;  // deliveries that run, or whose outcome is not stored yet
  // Deliveries whose outcome could not be stored, and until when they are not sent again.
  std::vector<std::pair<std::int64_t, std::int64_t>> unstored_;
};

Deliverer::Deliverer(storage::Storage& storage, DelivererSettings settings)
    : core_(std::make_shared<Core>(storage, std::move(settings))) {}

Deliverer::~Deliverer() { stop(); }

void Deliverer::start() { core_->start(); }
void Deliverer::wake() { core_->wake(); }
void Deliverer::stop() { core_->stop(); }

}  // namespace hyperflock::webhook
