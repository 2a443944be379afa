// See device_budget.h.
#include "hub/device_budget.h"

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "storage/quota.h"

namespace hyperflock::hub {
namespace {

using protocol::Cause;

// Budgets are kept for this many devices. A device whose budget was forgotten starts with a full
// one.
constexpr std::size_t kMostDevices = 50'000;
constexpr double kKiB = 1'024;
// One value of a series counts as this many bytes: a step and a value. A missing value counts, too.
constexpr double kValueBytes = 16;

// Returns the size, in KiB, with which points and series count against the budget.
double kib_of(const std::vector<protocol::Point>& points,
              const std::optional<protocol::Series>& series = {}) {
  double bytes = static_cast<double>(points.size()) * storage::kPointRecord;
  if (!series) return bytes / kKiB;
  for (const protocol::SeriesColumn& column : series->columns)
    bytes += storage::kSmallRecord + static_cast<double>(column.values.size()) * kValueBytes;
  return bytes / kKiB;
}

protocol::ServerMessage left_out(AttemptId attempt) {
  return protocol::ErrorMessage{
      .code = "points_quota",
      .message = "This device sends more points than the server takes: report less often.",
      .field = {},
      .id = {},
      .attempt = attempt};
}

// Returns whether the failure fails its trial at once (R18), so that it cannot be repeated.
bool fails_trial(const std::optional<protocol::Failure>& failure) {
  return failure && (failure->cause == Cause::user_error || failure->cause == Cause::timeout ||
                     failure->cause == Cause::invalid);
}

}  // namespace

DeviceBudget::DeviceBudget(const DeviceLimits& limits)
    : attempts_({.burst = limits.attempts_burst,
                 .per_second = limits.attempts_per_s,
                 .max_keys = kMostDevices}),
      records_(
          {.burst = limits.kib_burst, .per_second = limits.kib_per_s, .max_keys = kMostDevices}) {}

DeviceBudget::Kept DeviceBudget::keep(const std::string& device, protocol::ClientMessage& message,
                                      Instant now) {
  const auto admits = [&](double kib) { return kib == 0 || records_.allow(device, now, kib); };
  if (auto* report = std::get_if<protocol::Report>(&message)) {
    if (admits(kib_of(report->points, report->series))) return {};
    report->points.clear();
    report->series.reset();
    return {true, left_out(report->attempt)};
  }
  if (auto* call = std::get_if<protocol::Call>(&message)) {
    if (admits(kib_of(call->points))) return {};
    call->points.clear();
    return {true, left_out(call->attempt)};
  }
  auto* result = std::get_if<protocol::TrialResult>(&message);
  if (result == nullptr && !std::holds_alternative<protocol::Ready>(message)) return {};
  const Millis wait_ms = attempts_.wait_ms(device, now);
  if (wait_ms == 0) return {};
  if (result == nullptr) return {false, protocol::Wait{wait_ms, protocol::WaitReason::no_work}};
  result->next = false;  // the device asks again later
  return {};
}

void DeviceBudget::note(const storage::Transition& transition, const storage::Outcome& outcome,
                        Instant now) {
  if (outcome.applied != storage::Applied::applied) return;
  if (const auto* start = std::get_if<storage::StartAttempt>(&transition)) {
    attempts_.take(start->device, now, 1);
  } else if (const auto* stored = std::get_if<storage::StoreResult>(&transition)) {
    if (outcome.verdict == protocol::Verdict::accepted || fails_trial(stored->result.failure))
      attempts_.take(stored->device, now, -1);
  }
}

MessageBudget::MessageBudget(const MessageLimits& limits)
    : kib_({.burst = limits.kib_burst, .per_second = limits.kib_per_s, .max_keys = kMostDevices}) {}

bool MessageBudget::admit(const std::string& device, std::size_t bytes, Instant now) {
  const std::lock_guard lock(mutex_);
  return kib_.allow(device, now, static_cast<double>(bytes) / kKiB);
}

}  // namespace hyperflock::hub
