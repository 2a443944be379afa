// Which attempts of a trial count, the budgets of failed ones, and the failure of a trial whose
// result was rejected (R18, R71). The dispatcher and
// storage use the same ones, so that they agree about which trials have failed. Pure; any thread.
//
//   FailureBudget budget;
//   if (auto last = budget.spend(device, failure)) fail the trial with *last;
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/study_spec.h"
#include "storage/records.h"
#include "storage/reported_points.h"

namespace hyperflock::storage {

inline constexpr std::size_t kCauses = 7;
// After this many failed attempts with the same cause, a trial fails. In the order of
// protocol::Cause; 0: no limit.
inline constexpr std::array<int, kCauses> kBudget{20, 1, 2, 3, 1, 1, 0};
// After this many different devices were lost while they ran a trial, the trial fails.
inline constexpr std::size_t kPoisonDevices = 3;

// Returns whether the failure of an attempt counts. A failure that is blamed on a checkpoint does
// not (R38), nor does that of a rejected attempt (R71).
inline bool counts(const AttemptRow& attempt) {
  if (!attempt.failure || attempt.rejection) return false;
  if (attempt.from && blames_checkpoint(*attempt.failure)) return false;
  return attempt.state == AttemptState::failed || attempt.state == AttemptState::expired;
}

// Returns the failure of a trial of an ask-and-tell study whose result was rejected (R71).
inline protocol::Failure result_rejected(const std::string& by, const std::string& reason) {
  std::string message = by.empty() ? "The result was rejected" : by + " rejected the result";
  message += reason.empty() ? "." : ": " + reason;
  return {protocol::Cause::invalid, kResultRejected, std::move(message), ""};
}

// Returns the trial with its attempts after `forgiven`. `attempts`: all of them, or those after
// `forgiven` if none is rejected.
inline RunningTrial running_trial(TrialKey key, std::vector<AttemptRow> attempts,
                                  AttemptId forgiven) {
  RunningTrial trial{.key = key, .attempts = {}};
  for (AttemptRow& one : attempts) {
    if (one.rejection && one.rejection->excludes()) trial.rejected_devices.push_back(one.device);
    if (one.id > forgiven) trial.attempts.push_back(std::move(one));
  }
  std::ranges::sort(trial.rejected_devices);
  const auto same = std::ranges::unique(trial.rejected_devices);
  trial.rejected_devices.erase(same.begin(), same.end());
  return trial;
}

class FailureBudget {
 public:
  // Counts a failure. Returns the trial's failure if a budget is spent now.
  std::optional<protocol::Failure> spend(const std::string& device,
                                         const protocol::Failure& failure) {
    if (failure.code == protocol::kValueOutOfRange) return spend_on_value(failure);
    if (failure.code == kNoPoints) {
      doubted_.push_back(device);
      return std::nullopt;
    }
    const auto cause = static_cast<std::size_t>(failure.cause);
    const int nth = ++failures_[cause];
    if (failure.cause == protocol::Cause::worker_lost) {
      const auto found = std::ranges::find(lost_, device, &Lost::device);
      if (found != lost_.end()) {
        ++found->times;
      } else {
        lost_.push_back({device, 1});
        if (lost_.size() == kPoisonDevices) {
          return protocol::Failure{
              protocol::Cause::worker_lost, "poison",
              "Three different devices were lost with this trial: look for what ends them, then "
              "replay it.",
              ""};
        }
      }
    }
    if (kBudget[cause] == 0 || nth < kBudget[cause]) return std::nullopt;
    return failure;
  }

  // Counts a failure no longer. REQUIRES: spend() was called with the same arguments.
  void give_back(const std::string& device, const protocol::Failure& failure) {
    if (failure.code == protocol::kValueOutOfRange) return odd_value_.reset();
    if (failure.code == kNoPoints) {
      if (const auto one = std::ranges::find(doubted_, device); one != doubted_.end())
        doubted_.erase(one);
      return;
    }
    --failures_[static_cast<std::size_t>(failure.cause)];
    const auto found = std::ranges::find(lost_, device, &Lost::device);
    if (failure.cause != protocol::Cause::worker_lost || found == lost_.end()) return;
    if (--found->times == 0) lost_.erase(found);
  }

  int failures(protocol::Cause cause) const { return failures_[static_cast<std::size_t>(cause)]; }

  // Returns the devices whose results were not accepted because they had reported no point (R74).
  const std::vector<std::string>& doubted() const { return doubted_; }

  // Returns whether this device was lost with the trial.
  bool was_lost_with(const std::string& device) const {
    return std::ranges::find(lost_, device, &Lost::device) != lost_.end();
  }

 private:
  // The first value outside of the study's range may be the device's fault. A second one fails the
  // trial (R73).
  std::optional<protocol::Failure> spend_on_value(const protocol::Failure& failure) {
    if (!odd_value_) {
      odd_value_ = failure.message;
      return std::nullopt;
    }
    protocol::Failure both = failure;
    both.message = "Two attempts gave such values. " + *odd_value_ + " " + failure.message;
    return both;
  }

  struct Lost {
    std::string device;
    int times = 0;
  };
  std::array<int, kCauses> failures_{};
  std::vector<Lost> lost_;                  // at most kPoisonDevices
  std::optional<std::string> odd_value_{};  // what the first failure for this reason says
  std::vector<std::string> doubted_{};      // one for each attempt; there are at most two
};

}  // namespace hyperflock::storage
