// Builds the curve and the series of an attempt that may have continued from a checkpoint. First
// come the points of the attempt that saved the checkpoint, up to the checkpoint's step, and then
// the points of the attempt itself. The earlier attempt may have continued from a checkpoint too.
// Pure; any thread.
//
//   Lineage lineage(attempt);
//   while (const auto id = lineage.wanted()) {
//     for (point of id) lineage.add(point);
//     lineage.go_on(checkpoint from which id continued);
//   }
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <vector>

#include "storage/records.h"

namespace hyperflock::storage {

// Visits an attempt, then the attempt whose checkpoint it continues, and so on. Knows up to which
// step the points of each attempt are used. `cut` is the field of a checkpoint that contains this
// step.
class Ancestry {
 public:
  using Cut = std::optional<std::int64_t> protocol::Checkpoint::*;

  Ancestry(AttemptId attempt, Cut cut) : wanted_(attempt), cut_(cut) {}

  // Returns the attempt whose points come next; nullopt after the last one.
  std::optional<AttemptId> wanted() const { return wanted_; }
  // Returns whether the points of the current attempt at this step are used.
  bool counts(std::int64_t step) const { return step <= most_; }
  // Continues with the attempt that saved `from`, the checkpoint from which the current attempt
  // continued.
  void go_on(const std::optional<protocol::Checkpoint>& from) {
    wanted_.reset();
    if (!from) return;
    const std::optional<std::int64_t> last = (*from).*cut_;
    if (!last) return;
    wanted_ = from->attempt;
    most_ = std::min(most_, *last);
  }

 private:
  std::optional<AttemptId> wanted_;
  const Cut cut_;
  std::int64_t most_ = std::numeric_limits<std::int64_t>::max();  // later steps are ignored
};

class Lineage {
 public:
  explicit Lineage(const AttemptRow& attempt)
      : ancestry_(attempt.id, &protocol::Checkpoint::step) {}

  std::optional<AttemptId> wanted() const { return ancestry_.wanted(); }

  // Adds a point of the current attempt, unless its step comes after the checkpoint from which the
  // next attempt continued, or already has a point.
  void add(const protocol::Point& point) {
    if (ancestry_.counts(point.step)) points_.emplace(point.step, point.value);
  }

  void go_on(const std::optional<protocol::Checkpoint>& from) { ancestry_.go_on(from); }

  std::vector<protocol::Point> points() const {
    std::vector<protocol::Point> out;
    out.reserve(points_.size());
    for (const auto& [step, value] : points_) out.push_back({step, value});
    return out;
  }

 private:
  Ancestry ancestry_;
  std::map<std::int64_t, double> points_;
};

// The values of one series, added in pieces. If a step comes twice, its first value counts.
class SeriesPieces {
 public:
  // Adds a piece that the current attempt of `ancestry` reported.
  void add(const std::vector<std::int64_t>& steps, const std::vector<double>& values,
           const Ancestry& ancestry) {
    for (std::size_t i = 0; i < steps.size() && ancestry.counts(steps[i]); ++i) {
      steps_.push_back(steps[i]);
      values_.push_back(values[i]);
    }
  }

  bool empty() const { return steps_.empty(); }

  // Sorts the values by their steps. Call it once, after the last piece.
  void settle() {
    if (std::ranges::adjacent_find(steps_, std::greater_equal<>()) == steps_.end()) return;
    std::vector<std::size_t> order(steps_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [this](std::size_t i) { return steps_[i]; });
    std::vector<std::int64_t> steps;
    std::vector<double> values;
    for (const std::size_t i : order) {
      if (!steps.empty() && steps.back() == steps_[i]) continue;
      steps.push_back(steps_[i]);
      values.push_back(values_[i]);
    }
    steps_ = std::move(steps);
    values_ = std::move(values);
  }

  const std::vector<std::int64_t>& steps() const { return steps_; }
  const std::vector<double>& values() const { return values_; }

 private:
  std::vector<std::int64_t> steps_;
  std::vector<double> values_;
};

}  // namespace hyperflock::storage
