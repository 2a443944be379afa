#include "telemetry/tracer.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/steady_clock.h"
#include "telemetry/log.h"

namespace hyperflock::telemetry {

Tracer::Tracer(TracerSettings settings, Metrics& metrics)
    : settings_(std::move(settings)), metrics_(metrics), thread_([this] { run(); }) {}

Tracer::~Tracer() { stop(); }

bool Tracer::samples(const RequestContext& request) const {
  // The ids of traces are random in their last bits.
  constexpr double kRange = 0x1p53;
  return static_cast<double>(request.low >> 11) < settings_.sample * kRange;
}

bool Tracer::admits_wish() { return wishes_.admit(steady_now()).has_value(); }

void Tracer::add(Span span) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopped_ && waiting_.size() < settings_.queue_spans) {
      waiting_.push_back(std::move(span));
      if (waiting_.size() != 1 && waiting_.size() != settings_.batch_spans) return;
    } else {
      metrics_.count(Counter::spans_dropped, "queue");
      return;
    }
  }
  changed_.notify_all();
}

void Tracer::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

// Waits for a full batch, for `gather` after its first span, or for the end.
std::vector<Span> Tracer::next_batch() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
  changed_.wait_for(lock, settings_.gather,
                    [this] { return stopped_ || waiting_.size() >= settings_.batch_spans; });
  const auto count = static_cast<std::ptrdiff_t>(std::min(waiting_.size(), settings_.batch_spans));
  std::vector<Span> batch(std::make_move_iterator(waiting_.begin()),
                          std::make_move_iterator(waiting_.begin() + count));
  waiting_.erase(waiting_.begin(), waiting_.begin() + count);
  return batch;
}

bool Tracer::send(const std::vector<Span>& batch) {
  const auto count = static_cast<double>(batch.size());
  const Status sent = settings_.send(otlp_json(batch, settings_.version));
  metrics_.count(sent ? Counter::spans_exported : Counter::spans_dropped,
                 sent ? std::string_view() : "endpoint", count);
  if (sent && std::exchange(failing_, false)) telemetry::log(LogLevel::info, "traces_exported");
  if (!sent && !std::exchange(failing_, true)) {
    telemetry::log(LogLevel::warning, "traces_dropped",
                   {{"code", sent.error().code}, {"reason", sent.error().message}});
  }
  return sent.has_value();
}

void Tracer::run() {
  auto pause = settings_.first_pause;
  for (;;) {
    const std::vector<Span> batch = next_batch();
    if (batch.empty()) return;  // stopped, and nothing waits
    const bool sent = send(batch);
    std::unique_lock lock(mutex_);
    if (sent) {
      pause = settings_.first_pause;
      continue;
    }
    // An end does not wait for a collector that is away.
    if (changed_.wait_for(lock, pause, [this] { return stopped_; })) return;
    pause = std::min(2 * pause, settings_.longest_pause);
  }
}

}  // namespace hyperflock::telemetry
