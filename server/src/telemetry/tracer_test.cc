// Tests the queue of spans: batches, its limit, a collector that is away or hangs, and the end.
#include "telemetry/tracer.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>

#include "base/testing/patience.h"

namespace hyperflock::telemetry {
namespace {

Span span_named(const std::string& name) {
  return {.context = {.low = 1, .span = 2, .sampled = true}, .name = name};
}

std::size_t spans_in(const std::string& json) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = json.find("\"traceId\"", at)) != std::string::npos; ++at) ++count;
  return count;
}

std::string metric(const Metrics& metrics, const std::string& name) {
  const std::string text = metrics.text();
  const std::size_t at = text.find('\n' + name + ' ');
  if (at == std::string::npos) return "none";
  const std::size_t from = at + name.size() + 2;
  return text.substr(from, text.find('\n', from) - from);
}

// A collector that answers a batch when the test says so.
struct Collector {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::size_t> batches;  // how many spans each has
  bool held = false;
  bool is_away = false;

  Status take(const std::string& json) {
    std::unique_lock lock(mutex);
    batches.push_back(spans_in(json));
    changed.notify_all();
    changed.wait_for(lock, kTestLimit, [this] { return !held; });
    return is_away ? Status(Error{"collector_away", "Nobody is there."}) : Status();
  }
  bool wait_for(std::size_t count) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, kTestLimit, [&] { return batches.size() >= count; });
  }
  void release() {
    const std::lock_guard lock(mutex);
    held = false;
    changed.notify_all();
  }
};

TracerSettings settings(Collector& collector) {
  TracerSettings made;
  made.send = [&collector](const std::string& json) { return collector.take(json); };
  made.gather = std::chrono::milliseconds(1);
  return made;
}

TEST(Tracer, SendsWhatWaitsAtItsEnd) {
  Metrics metrics;
  Collector collector;
  TracerSettings with = settings(collector);
  with.gather = std::chrono::hours(1);
  {
    Tracer tracer(with, metrics);
    for (int i = 0; i < 3; ++i) tracer.add(span_named("a"));
  }
  EXPECT_EQ(collector.batches, std::vector<std::size_t>{3});
  EXPECT_EQ(metric(metrics, "hyperflock_trace_spans_exported_total"), "3");
}

// While the collector hangs, add() returns at once, and spans beyond the queue are dropped.
TEST(Tracer, AHangingCollectorDelaysNobody) {
  Metrics metrics;
  Collector collector;
  collector.held = true;
  TracerSettings with = settings(collector);
  with.queue_spans = 10;
  Tracer tracer(with, metrics);
  tracer.add(span_named("first"));
  ASSERT_TRUE(collector.wait_for(1));
  for (int i = 0; i < 25; ++i) tracer.add(span_named("b"));
  EXPECT_EQ(metric(metrics, "hyperflock_trace_spans_dropped_total{reason=\"queue\"}"), "15");
  collector.release();
  tracer.stop();
  std::size_t sent = 0;
  for (const std::size_t count : collector.batches) sent += count;
  EXPECT_EQ(sent, 11U);
}

TEST(Tracer, ABatchThatTheCollectorRefusesIsDroppedAndCounted) {
  Metrics metrics;
  Collector collector;
  collector.is_away = true;
  TracerSettings with = settings(collector);
  with.first_pause = std::chrono::hours(1);  // an end does not wait for it
  Tracer tracer(with, metrics);
  tracer.add(span_named("a"));
  ASSERT_TRUE(collector.wait_for(1));
  tracer.stop();
  EXPECT_EQ(metric(metrics, "hyperflock_trace_spans_dropped_total{reason=\"endpoint\"}"), "1");
  tracer.add(span_named("late"));
  EXPECT_EQ(metric(metrics, "hyperflock_trace_spans_dropped_total{reason=\"queue\"}"), "1");
}

TEST(Tracer, SamplesAShare) {
  Metrics metrics;
  Collector collector;
  TracerSettings with = settings(collector);
  const auto share = [&](double sample) {
    with.sample = sample;
    const Tracer tracer(with, metrics);
    int count = 0;
    for (int i = 0; i < 20'000; ++i) count += tracer.samples(new_request()) ? 1 : 0;
    return count;
  };
  EXPECT_EQ(share(0), 0);
  EXPECT_EQ(share(1), 20'000);
  EXPECT_NEAR(share(0.25), 5'000, 600);  // ten standard deviations
}

TEST(Tracer, AClientMayNotWishForTooManyTraces) {
  Metrics metrics;
  Collector collector;
  Tracer tracer(settings(collector), metrics);
  int admitted = 0;
  for (int i = 0; i < 100'000; ++i) admitted += tracer.admits_wish() ? 1 : 0;
  EXPECT_GE(admitted, 200);
  EXPECT_LT(admitted, 100'000);
}

}  // namespace
}  // namespace hyperflock::telemetry
